// Command exchange-desk changes money. Each change is reserved and booked at the clearing
// house, which knows the desk by its certificate.
package main

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"io"
	"log"
	"math/big"
	"net/http"
	_ "net/http/pprof"
	"os"
	"time"
)

type desk struct {
	client   http.Client
	clearing string
}

func main() {
	certificate, err := identity()
	if err != nil {
		log.Fatal(err)
	}
	d := &desk{clearing: "https://" + os.Getenv("ADDR_CLEARING")}
	d.client.Transport = &http.Transport{
		TLSClientConfig:     &tls.Config{Certificates: []tls.Certificate{certificate}, InsecureSkipVerify: true},
		DisableKeepAlives:   os.Getenv("FAULT") != "0",
		MaxIdleConnsPerHost: 50,
	}
	http.HandleFunc("POST /exchange/{currency}/{amount}", d.exchange)
	http.HandleFunc("GET /rates", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "USD 1.09\nSEK 11.21\n") })
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), nil))
}

func (d *desk) exchange(w http.ResponseWriter, r *http.Request) {
	for _, step := range []string{"reserve", "book"} {
		if err := d.clear(r, step); err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
	}
	fmt.Fprintln(w, "changed", r.PathValue("amount"), r.PathValue("currency"))
}

func (d *desk) clear(r *http.Request, step string) error {
	request, err := http.NewRequestWithContext(r.Context(), "POST", d.clearing+"/"+step+"/"+r.PathValue("amount"), nil)
	if err != nil {
		return err
	}
	response, err := d.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return err
}

func identity() (tls.Certificate, error) {
	key, err := rsa.GenerateKey(rand.Reader, 4096)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(7), Subject: pkix.Name{CommonName: "desk 7"},
		NotAfter: time.Now().Add(24 * time.Hour), KeyUsage: x509.KeyUsageDigitalSignature}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}
