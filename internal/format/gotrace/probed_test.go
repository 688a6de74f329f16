package gotrace

import (
	"net/http"
	"net/http/httptest"
	"net/http/pprof"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestProfilesAreNoRequests asks for a profile that takes a second, of servers that wrap
// the handler in their own ways: only the requests beside it are the service's.
func TestProfilesAreNoRequests(t *testing.T) {
	elsewhere := func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			done := make(chan bool)
			go func() {
				defer close(done)
				h.ServeHTTP(w, r)
			}()
			<-done
		})
	}
	logged := func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			h.ServeHTTP(w, r)
			time.Sleep(20 * time.Millisecond)
		})
	}
	for _, c := range []struct {
		name  string
		wrap  func(http.Handler) http.Handler
		http2 bool
	}{
		{name: "plain", wrap: func(h http.Handler) http.Handler { return h }},
		{name: "with a time limit", wrap: func(h http.Handler) http.Handler { return http.TimeoutHandler(h, time.Minute, "") }},
		{name: "on a goroutine of its own", wrap: elsewhere},
		{name: "logged", wrap: logged},
		{name: "HTTP/2", wrap: logged, http2: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			mux := http.NewServeMux()
			mux.HandleFunc("/", func(http.ResponseWriter, *http.Request) { time.Sleep(time.Millisecond) })
			mux.HandleFunc("/internal/{name}", func(w http.ResponseWriter, r *http.Request) {
				pprof.Handler(r.PathValue("name")).ServeHTTP(w, r)
			})
			s := httptest.NewUnstartedServer(c.wrap(mux))
			if c.http2 {
				s.EnableHTTP2 = true
				s.StartTLS()
			} else {
				s.Start()
			}
			defer s.Close()
			b := record(t, func() {
				var both sync.WaitGroup
				both.Go(func() { ask(t, s, 1, 1, "/internal/threadcreate?seconds=1", 0) })
				both.Go(func() { ask(t, s, 2, 20, "/", 0) })
				both.Wait()
			})
			for i := range b.Requests.Len() {
				if d := time.Duration(b.Requests.Latency(i)); d > time.Second/2 {
					t.Errorf("a request of %v (%v, %s)", d, b.Requests.Outcome.At(i), b.Names.Text(b.Requests.Route.At(i)))
				}
			}
			if n := complete(b); n < 38 || n > 40 {
				t.Errorf("%d requests, want 40\n%s", n, inspect(b))
			}
			if text := inspect(b); !strings.Contains(text, "not counted: 1\n") || strings.Contains(text, "are missing") {
				t.Errorf("the profile is not told apart\n%s", text)
			}
		})
	}
}
