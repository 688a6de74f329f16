package exchanges

import (
	"fmt"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// gateway writes requests over HTTP that the process passes on to itself over gRPC, where a handler waits and then asks a database.
func gateway(w *text, inner string, waits, asks float64) {
	for i := range 60 {
		at := 50 * float64(i)
		fmt.Fprintf(w, "q %d 0 %d 0 90 80 1 1 31/3 31/3 9090/1 - %s\n", began+ns(at+1.01), ns(waits+asks+.2), inner)
		fmt.Fprintf(w, "k %d 0 %d 0 80 90 1 1 32/4 32/4 5000 10.0.0.7:5432 postgresql idle SELECT fares\n", began+ns(at+1.1+waits), ns(asks))
		fmt.Fprintf(w, "k %d 0 %d 0 80 90 1 1 33/5 33/6 4000 127.0.0.1:9090 %s\n", began+ns(at+1), ns(waits+asks+.3), inner)
		fmt.Fprintf(w, "q %d 0 %d 0 80 90 1 1 30/7 30/7 8080/%d - http 200 GET /fares\n", began+ns(at), ns(waits+asks+2), i%4+1)
	}
}

// A process that calls itself has each request once, and what the inner one waits for is what the outer one does.
func TestOwnCalls(t *testing.T) {
	for name, inner := range map[string]string{"gRPC": "grpc 0 POST /fares.Fares/Get", "HTTP/1": "http 200 GET /internal/fares"} {
		w := newText()
		gateway(w, inner, 20, 5)
		b := w.read(t, 3100)
		if n := b.Requests.Len(); n != 60 {
			t.Fatalf("%s: %d requests, want 60", name, n)
		}
		got := spent(b, "GET /fares")
		about(t, got, "network wait | PostgreSQL at 10.0.0.7:5432", 60*5)
		for what, ms := range got {
			if what == "network wait | gRPC at 127.0.0.1:9090" || what == "network wait | 127.0.0.1:9090" {
				t.Errorf("%s: waits %.0f ms for itself", name, ms)
			}
		}
		for i, k := range b.Intervals.Kind {
			if k == evidence.Call && b.Names.Text(b.Intervals.Cause.At(i)) != "PostgreSQL at 10.0.0.7:5432" {
				t.Fatalf("%s: a call to %s", name, b.Names.Text(b.Intervals.Cause.At(i)))
			}
			if k == evidence.Call && b.Intervals.Request.At(i) == evidence.NoRequest {
				t.Fatalf("%s: a call of no request", name)
			}
		}
	}
}

// Another process may listen at the same port of another address: its requests are not the process's own.
func TestNotOwnCalls(t *testing.T) {
	w := newText()
	for i := range 60 {
		at := 50 * float64(i)
		fmt.Fprintf(w, "k %d 0 %d 0 80 90 1 1 30 30 4000 10.0.0.9:8080 http 200 GET /prices\n", began+ns(at+1), ns(20))
		fmt.Fprintf(w, "q %d 0 %d 0 80 90 1 1 30 30 8080/%d - http 200 GET /fares\n", began+ns(at), ns(22), i%4+1)
	}
	b := w.read(t, 3100)
	if n := b.Requests.Len(); n != 60 {
		t.Fatalf("%d requests, want 60", n)
	}
	about(t, spent(b, "GET /fares"), "network wait | 10.0.0.9:8080", 60*20)
}
