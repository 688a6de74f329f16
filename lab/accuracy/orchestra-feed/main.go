// Command orchestra-feed turns the pages of digital music stands: each holds a stream of
// HTTP/2 that says the bar. What is played today is a page of its own.
package main

import (
	"fmt"
	"log"
	"math/rand/v2"
	"net/http"
	_ "net/http/pprof"
	"os"
	"time"
)

func main() {
	http.HandleFunc("GET /stand/{part}", func(w http.ResponseWriter, r *http.Request) {
		until := time.Now().Add(time.Duration(15+rand.IntN(25)) * time.Second)
		for bar := 1; time.Now().Before(until); bar++ {
			fmt.Fprintln(w, r.PathValue("part"), bar)
			w.(http.Flusher).Flush()
			select {
			case <-r.Context().Done():
				return
			case <-time.After(time.Duration(500+rand.IntN(1500)) * time.Millisecond):
			}
		}
	})
	http.HandleFunc("GET /programme", programme)
	http.HandleFunc("GET /programme/{day}", programme)
	server := http.Server{Addr: os.Getenv("ADDR"), Protocols: new(http.Protocols)}
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetUnencryptedHTTP2(true)
	log.Fatal(server.ListenAndServe())
}

func programme(w http.ResponseWriter, r *http.Request) {
	for n := range 12 {
		fmt.Fprintf(w, "%d. opus %d (day %q)\n", n+1, 17*n%60, r.PathValue("day"))
	}
}
