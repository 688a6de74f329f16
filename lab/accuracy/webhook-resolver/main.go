// Command webhook-resolver tells whether the receiver of a webhook can be found, with a
// name server of its own.
package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"strings"
	"time"
)

var resolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "udp", os.Getenv("ADDR_NAMES"))
}}

func main() {
	http.HandleFunc("GET /check/{host}", check)
	http.HandleFunc("GET /version", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "1.4.2") })
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), nil))
}

func check(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 3*time.Second)
	defer cancel()
	found, err := resolver.LookupNetIP(ctx, "ip4", r.PathValue("host")+".")
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	var text []string
	for _, ip := range found {
		text = append(text, ip.String())
	}
	fmt.Fprintln(w, strings.Join(text, " "))
}
