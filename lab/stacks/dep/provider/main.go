// Command provider is a payment provider over TLS 1.2, as old ones are. It writes its
// certificate to provider.pem before it listens, and answers after -delay.
package main

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"flag"
	"fmt"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"
)

func main() {
	delay := flag.Duration("delay", 5*time.Millisecond, "time to answer")
	flag.Parse()
	certificate, err := issue()
	if err != nil {
		log.Fatal(err)
	}
	var numbers atomic.Int64
	server := &http.Server{
		Addr: os.Getenv("ADDR"),
		TLSConfig: &tls.Config{
			Certificates:           []tls.Certificate{certificate},
			MaxVersion:             tls.VersionTLS12,
			SessionTicketsDisabled: true,
		},
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(*delay)
			fmt.Fprintf(w, `{"receipt":"p-%d"}`, numbers.Add(1))
		}),
	}
	log.Fatal(server.ListenAndServeTLS("", ""))
}

// issue makes a certificate for localhost and writes it for clients.
func issue() (tls.Certificate, error) {
	key, err := rsa.GenerateKey(rand.Reader, 3072)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()),
		Subject:      pkix.Name{CommonName: "payments"},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(24 * time.Hour),
		KeyUsage:     x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:     []string{"payments"},
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, os.WriteFile("provider.pem", text, 0o644)
}
