// Command bank is a bank over HTTPS: it answers after -delay, and keeps connections open
// for whoever does. Its certificate is in bank.pem.
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
	"time"
)

func main() {
	delay := flag.Duration("delay", 15*time.Millisecond, "time to answer")
	flag.Parse()
	certificate, err := certify("bank.pem")
	if err != nil {
		log.Fatal(err)
	}
	server := http.Server{
		Addr:      os.Getenv("ADDR"),
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}},
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(*delay)
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"path":%q,"rate":1.0734}`, r.URL.Path)
		}),
	}
	log.Fatal(server.ListenAndServeTLS("", ""))
}

// certify makes a key and a certificate for it, which it writes to a file.
func certify(file string) (c tls.Certificate, err error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return c, err
	}
	about := x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "bank.example"},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(24 * time.Hour),
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		IsCA:                  true,
		BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, &about, &about, &key.PublicKey, key)
	if err != nil {
		return c, err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, os.WriteFile(file, text, 0o644)
}
