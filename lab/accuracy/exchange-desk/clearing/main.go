// Command clearing is a clearing house: HTTPS, and a client needs a certificate. It takes
// a millisecond for an answer.
package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log"
	"math/big"
	"net/http"
	"os"
	"time"
)

func main() {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		log.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(24 * time.Hour), DNSNames: []string{"clearing"}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		log.Fatal(err)
	}
	server := http.Server{
		Addr: os.Getenv("ADDR"),
		TLSConfig: &tls.Config{ClientAuth: tls.RequireAnyClientCert,
			Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}},
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(time.Millisecond)
			fmt.Fprintln(w, "cleared", r.URL.Path)
		}),
	}
	log.Fatal(server.ListenAndServeTLS("", ""))
}
