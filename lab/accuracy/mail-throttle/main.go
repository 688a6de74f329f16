// Command mail-throttle sends mail so that no provider blocks it: a gap of at least 11 ms
// between two mails. Who comes too early sleeps, and keeps the lock, so that order is kept.
package main

import (
	"fmt"
	"log"
	"net/http"
	"net/http/pprof"
	"os"
	"sync"
	"time"
)

type sluice struct {
	mu   sync.Mutex
	last time.Time
	gap  time.Duration
}

func main() {
	s := &sluice{gap: 11 * time.Millisecond}
	if os.Getenv("FAULT") == "0" {
		s.gap = 0
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /mail/{to}", func(w http.ResponseWriter, r *http.Request) {
		s.pass()
		fmt.Fprintln(w, "sent to", r.PathValue("to"))
	})
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), mux))
}

func (s *sluice) pass() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if early := s.gap - time.Since(s.last); early > 0 {
		time.Sleep(early)
	}
	s.last = time.Now()
}
