// Command partner-api gives prices to partners (chi), each partner at most so many a
// second; who asks for more waits for his turn (x/time/rate).
package main

import (
	"fmt"
	"log"
	"net/http"
	_ "net/http/pprof"
	"os"
	"sync"

	"github.com/go-chi/chi/v5"
	"golang.org/x/time/rate"
)

type limits struct {
	mu      sync.Mutex
	perSec  rate.Limit
	partner map[string]*rate.Limiter
}

func main() {
	l := &limits{perSec: 40, partner: map[string]*rate.Limiter{}}
	if os.Getenv("FAULT") == "0" {
		l.perSec = 400
	}
	r := chi.NewRouter()
	r.Mount("/debug", http.DefaultServeMux)
	r.Route("/partner/{name}", func(r chi.Router) {
		r.Use(l.throttle)
		r.Get("/prices", func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintln(w, "prices for", chi.URLParam(r, "name"))
		})
	})
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), r))
}

func (l *limits) of(partner string) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.partner[partner] == nil {
		l.partner[partner] = rate.NewLimiter(l.perSec, 2)
	}
	return l.partner[partner]
}

func (l *limits) throttle(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := l.of(chi.URLParam(r, "name")).Wait(r.Context()); err != nil {
			http.Error(w, err.Error(), http.StatusTooManyRequests)
			return
		}
		next.ServeHTTP(w, r)
	})
}
