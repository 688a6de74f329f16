package exchanges

import (
	"fmt"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

const began = int64(1763689985000000000)

// text makes a recording, with times in ms since its beginning.
type text struct{ strings.Builder }

func newText() *text {
	var w text
	fmt.Fprintf(&w, "# exchanges of pid 4711\nfrom %d\n", began)
	return &w
}

func ns(ms float64) int64 { return int64(ms * 1e6) }

func (w *text) request(came, begun, answered float64, thread, connection int, route string) {
	fmt.Fprintf(w, "q %d %d %d 0 80 90 1 1 %d %[4]d 8080/%[5]d - http 200 %[6]s\n", began+ns(came), ns(begun-came), ns(answered-begun), thread, connection, route)
}

func (w *text) call(begun, answered float64, thread, port int) {
	fmt.Fprintf(w, "k %d 0 %d 0 80 90 1 1 %d %[3]d %d 10.0.0.7:5432 postgresql\n", began+ns(begun), ns(answered-begun), thread, port)
}

func (w *text) read(t *testing.T, until float64) *evidence.Bundle {
	t.Helper()
	fmt.Fprintf(w, "until %d\n", began+ns(until))
	return suite.MustRead(t, []byte(w.String()))
}

// spent sums up (ms) what requests of a route did by kind, cause, the holder's state and route.
func spent(b *evidence.Bundle, route string) map[string]float64 {
	sums := make(map[string]float64)
	r := &b.Requests
	for i := range r.Len() {
		if b.Names.Text(r.Route.At(i)) != route {
			continue
		}
		for s := range r.Path(i).All {
			words := []string{s.Kind.String()}
			for _, w := range []string{b.Names.Text(s.Cause), b.Names.Text(s.Via), b.Names.Text(s.HolderCause)} {
				if w != "" {
					words = append(words, w)
				}
			}
			sums[strings.Join(words, " | ")] += float64(s.Dur) / 1e6
		}
	}
	return sums
}

func about(t *testing.T, got map[string]float64, what string, want float64) {
	t.Helper()
	if v := got[what]; v < want-.01 || v > want+.01 {
		t.Errorf("%s: %v ms, want %v, of %v", what, v, want, got)
	}
}

// A loop computes for one request while another waits, and then blocks in a call.
func TestLoop(t *testing.T) {
	w := newText()
	w.WriteString("t 9 main-loop\n")
	for i := range 10 { // both connections are read in turns
		at := float64(100 * i)
		w.request(at, at, at+40, 9, 1, "GET /slow")
		w.request(at+10, at+40.1, at+41.1, 9, 2, "GET /quick")
		w.request(at+50, at+50, at+71, 9, 1, "GET /rows")
		w.call(at+50.5, at+70.5, 9, 4000)
		w.request(at+55, at+71.5, at+72, 9, 2, "GET /quick")
	}
	got := spent(w.read(t, 1000), "GET /quick")
	about(t, got, "thread wait | event loop main-loop | GET /slow", 300)
	about(t, got, "thread wait | event loop main-loop | GET /rows | PostgreSQL at 10.0.0.7:5432", 155)
}

// A request that a loop has read waits for it, too, while that goes on with another.
func TestLoopInside(t *testing.T) {
	w := newText()
	for i := range 10 {
		at := float64(100 * i)
		w.request(at, at, at+60, 9, 1, "GET /rows")
		w.request(at+.1, at+.1, at+61, 9, 2, "GET /quick")
		w.call(at+.5, at+59.5, 9, 4000)
		w.request(at+10, at+60.5, at+61.5, 9, 3, "GET /late") // whose data the loop does not read, so that it is busy
	}
	got := spent(w.read(t, 1000), "GET /quick")
	if v := got["thread wait | event loop of thread 9 | GET /rows | PostgreSQL at 10.0.0.7:5432"]; v < 580 {
		t.Errorf("waited %v ms for the loop, of %v", v, got)
	}
}

// Where any thread of a pool reads any connection, none is an event loop; nor is one that has a connection of its own.
func TestNoLoop(t *testing.T) {
	pool, own := newText(), newText()
	for i := range 40 {
		at := float64(100 * i)
		pool.request(at, at+50, at+60, 9+i%4, 1+i%3, "GET /")
		own.request(at, at+50, at+60, 9+i%4, 1+i%4, "GET /")
	}
	for _, w := range []*text{pool, own} {
		got := spent(w.read(t, 4000), "GET /")
		about(t, got, "before the service | arrived and not read yet, port 8080", 2000)
	}
}

// Two connections to a database are all busy, and the next call begins when one ends.
func TestPool(t *testing.T) {
	w := newText()
	for i := range 40 {
		at := float64(10 * i)
		w.request(at, at, at+60+1, 9+i%3, 1+i%7, "GET /rows") // answered on another thread than its call's answer is read by
		w.call(at+40.5, at+60.4, 20+i%5, 4000+i%2)
	}
	got := spent(w.read(t, 600), "GET /rows")
	what := "pool wait | the pool of 2 connections to PostgreSQL at 10.0.0.7:5432 | PostgreSQL at 10.0.0.7:5432"
	if v := got[what]; v < 35*38 || v > 40.5*40 {
		t.Errorf("waited %v ms for the pool, of %v", v, got)
	}
}

// Connections that are seldom busy all at once are no pool that is exhausted.
func TestPoolFree(t *testing.T) {
	w := newText()
	for i := range 40 {
		at := float64(50 * i)
		w.request(at, at, at+31, 9, 1, "GET /rows")
		w.call(at+10, at+30, 9, 4000+i%4)
	}
	got := spent(w.read(t, 2000), "GET /rows")
	about(t, got, "network wait | PostgreSQL at 10.0.0.7:5432", 800)
	for what := range got {
		if strings.HasPrefix(what, "pool wait") {
			t.Errorf("%v", got)
		}
	}
}

// Calls in a row belong to the request that is answered when the last has ended.
func TestLinkByTime(t *testing.T) {
	var requests, calls []exchange
	for i := range int64(30) {
		at := i * 40e6
		requests = append(requests, exchange{came: at, begun: at, first: at + 30.2e6, last: at + 30.2e6})
		for k := range int64(3) {
			calls = append(calls, exchange{begun: at + k*10e6 + 100e3, first: at + k*10e6 + 9.9e6, last: at + k*10e6 + 10e6, request: -1})
		}
	}
	if n := linkByTime(requests, calls, 1200e6); n != 90 {
		t.Errorf("%d calls are linked, want 90", n)
	}
	for i := range calls {
		if calls[i].request != int32(i/3) {
			t.Fatalf("call %d is linked to request %d", i, calls[i].request)
		}
	}
	for i := range calls { // ends that answers do not follow
		calls[i].request = -1
		calls[i].first, calls[i].last = calls[i].first-4e6, calls[i].last-4e6
	}
	if n := linkByTime(requests, calls, 1200e6); n != 0 {
		t.Errorf("%d calls are linked, want none", n)
	}
}
