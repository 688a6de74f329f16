// Command reverseproxy is the gateway of an insurance company: it checks the token of each request,
// hands it on to the policies or the claims, and logs it by zap to standard output.
package main

import (
	"crypto/ed25519"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

func fault(name string) bool { return os.Getenv("FAULT") == name }

func main() {
	seed := make([]byte, ed25519.SeedSize)
	copy(seed, "the key of a test company")
	key := ed25519.NewKeyFromSeed(seed)
	g := &gate{key: key.Public().(ed25519.PublicKey), log: newLog(), ratings: newRatings(os.Getenv("ADDR_RATINGS"))}

	routes := http.NewServeMux()
	routes.HandleFunc("POST /tokens/{name}", issue(key))
	routes.Handle("/policies/", g.checked(handOn(os.Getenv("ADDR_POLICIES"))))
	routes.Handle("/ratings/{id}", g.checked(http.HandlerFunc(g.ratings.rating)))
	server := http.Server{Addr: os.Getenv("ADDR"), Handler: routes, ReadHeaderTimeout: 5 * time.Second}
	log.Fatal(server.ListenAndServe())
}

// newLog writes lines of JSON.
func newLog() *zap.Logger {
	config := zap.NewProductionEncoderConfig()
	config.EncodeTime = zapcore.ISO8601TimeEncoder
	return zap.New(zapcore.NewCore(zapcore.NewJSONEncoder(config), newSink(os.Stdout), zap.InfoLevel))
}

func handOn(address string) http.Handler {
	to := &url.URL{Scheme: "http", Host: address}
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.SetXForwarded()
		},
		Transport: &http.Transport{MaxIdleConnsPerHost: 64},
	}
}
