package gotrace

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// TestHTTP2Streams serves events over HTTP/2, where another goroutine writes what a handler
// flushes: they are no requests, while answers that are written once are, flushed or not.
func TestHTTP2Streams(t *testing.T) {
	const events, answers = 5, 50
	mux := http.NewServeMux()
	mux.HandleFunc("/events", func(w http.ResponseWriter, r *http.Request) {
		for range 10 {
			<-time.After(2 * time.Millisecond)
			io.WriteString(w, "event\n")
			w.(http.Flusher).Flush()
		}
	})
	mux.HandleFunc("/flushed", func(w http.ResponseWriter, r *http.Request) {
		<-time.After(2 * time.Millisecond)
		io.WriteString(w, "part\n")
		w.(http.Flusher).Flush()
		io.WriteString(w, "rest\n")
	})
	mux.HandleFunc("/once", func(w http.ResponseWriter, r *http.Request) {
		<-time.After(time.Millisecond)
		io.WriteString(w, "answer\n")
	})
	b := record(t, func() {
		s := httptest.NewUnstartedServer(mux)
		s.EnableHTTP2 = true
		s.StartTLS()
		defer s.Close()
		for path, n := range map[string]int{"/events": events, "/flushed": answers, "/once": answers} {
			for range n {
				r, err := s.Client().Get(s.URL + path)
				if err != nil {
					t.Fatal(err)
				}
				if r.ProtoMajor != 2 {
					t.Fatal("asked over ", r.Proto)
				}
				io.Copy(io.Discard, r.Body)
				r.Body.Close()
			}
		}
	})
	if n := complete(b); n < 2*answers-2 || n > 2*answers {
		t.Errorf("recovered %d requests, want %d\n%s", n, 2*answers, inspect(b))
	}
}
