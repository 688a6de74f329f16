// Gateway before a service that speaks HTTP/2 without TLS: what it is asked over HTTP/1 goes
// over one connection, and so do 40 streams of its own that follow gauges for 3 to 22
// seconds, one after the other.
package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"time"

	"golang.org/x/net/http2"
)

func main() {
	service := &url.URL{Scheme: "http", Host: os.Getenv("ADDR_SERVICE")}
	var dialer net.Dialer
	over := &http2.Transport{
		AllowHTTP: true,
		DialTLSContext: func(ctx context.Context, network, addr string, _ *tls.Config) (net.Conn, error) {
			return dialer.DialContext(ctx, network, addr)
		},
	}
	for i := range 40 {
		go func() {
			for n := i; ; n++ {
				follow(over, fmt.Sprintf("%s/follow/%d/%d", service, i, 3+n%20))
				time.Sleep(500 * time.Millisecond)
			}
		}()
	}
	proxy := httputil.NewSingleHostReverseProxy(service)
	proxy.Transport = over
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), proxy))
}

func follow(over http.RoundTripper, gauge string) {
	request, err := http.NewRequest(http.MethodGet, gauge, nil)
	if err != nil {
		log.Fatal(err)
	}
	answer, err := over.RoundTrip(request)
	if err != nil {
		return
	}
	defer answer.Body.Close()
	io.Copy(io.Discard, answer.Body)
}
