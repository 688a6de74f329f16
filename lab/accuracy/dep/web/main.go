// Command web is an HTTP service others depend on. It takes -delay for an answer, or
// -slow for a -share of them (or only for paths that begin with -only). FAULT=0 leaves out
// what is slow.
package main

import (
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"time"
)

var (
	delay = flag.Duration("delay", time.Millisecond, "usual time to answer")
	slow  = flag.Duration("slow", 0, "time to answer when slow")
	share = flag.Float64("share", 0, "share of answers that are slow")
	only  = flag.String("only", "/", "paths that can be slow")
)

func main() {
	flag.Parse()
	if os.Getenv("FAULT") == "0" {
		*share = 0
	}
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), http.HandlerFunc(answer)))
}

func answer(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, *only) && rand.Float64() < *share {
		time.Sleep(*slow)
	} else {
		time.Sleep(*delay)
	}
	fmt.Fprintf(w, `{"path":%q,"score":%d}`, r.URL.Path, rand.IntN(100))
}
