// Command ham-radio is a gate before a relay: WebSockets go through it, and a list.
package main

import (
	"log"
	"net/http"
	"net/http/httputil"
	_ "net/http/pprof"
	"net/url"
	"os"
)

func main() {
	to, _ := url.Parse("http://" + os.Getenv("ADDR_RELAY"))
	http.Handle("/", httputil.NewSingleHostReverseProxy(to))
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), nil))
}
