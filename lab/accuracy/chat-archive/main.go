// Command chat-archive serves old messages (net/http) on one CPU, as its container has it.
// A goroutine packs what is old, a good part of each second.
package main

import (
	"bytes"
	"compress/flate"
	"fmt"
	"log"
	"net/http"
	"net/http/pprof"
	"os"
	"strconv"
	"time"
)

type archive struct {
	messages []string
	packed   int
}

func main() {
	a := &archive{}
	for n := range 5000 {
		a.messages = append(a.messages, fmt.Sprintf("%d: see you at %d:%02d, bring %d of it", n, n%24, n%60, n%9))
	}
	if os.Getenv("FAULT") != "0" {
		for range 4 {
			go a.compact()
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /before/{n}", a.before)
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), mux))
}

func (a *archive) compact() {
	for {
		for until := time.Now().Add(700 * time.Millisecond); time.Now().Before(until); {
			var out bytes.Buffer
			w, _ := flate.NewWriter(&out, flate.BestCompression)
			for _, m := range a.messages[:2000] {
				w.Write([]byte(m))
			}
			w.Close()
			a.packed += out.Len()
		}
		time.Sleep(900 * time.Millisecond)
	}
}

func (a *archive) before(w http.ResponseWriter, r *http.Request) {
	n, _ := strconv.Atoi(r.PathValue("n"))
	n %= len(a.messages)
	for _, m := range a.messages[max(0, n-50):n] {
		fmt.Fprintln(w, m)
	}
}
