package exchanges

import (
	"fmt"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

var suite = formattest.Suite{Format: Format, Name: "exchanges.txt",
	Match: map[string]format.Confidence{
		"# exchanges of pid 4711\nfrom 1763689985000000000\n":       format.Sure,
		"# system calls of pid 4711 on amd64\n@ 1763689985000000\n": format.No,
		"q 1763689985100000000 0 0 0\n":                             format.No,
	},
	Hold: func(t testing.TB, b *evidence.Bundle, err error) {
		r := &b.Requests
		for i := range r.Len() {
			var sum int64
			for s := range r.Path(i).All {
				sum += s.Dur
			}
			if r.Latency(i) < 0 || sum > r.Latency(i) {
				t.Errorf("request %d takes %d ns, its states %d", i, r.Latency(i), sum)
			}
		}
		if err == nil && len(b.Coverage) != 1 {
			t.Errorf("covered %v", b.Coverage)
		}
	}}

func TestFormat(t *testing.T)     { suite.Test(t) }
func FuzzParse(f *testing.F)      { suite.Fuzz(f) }
func BenchmarkParse(b *testing.B) { suite.Benchmark(b, large()) }

func large() []byte {
	var w strings.Builder
	w.WriteString("# exchanges of pid 4711\nfrom 1763689985000000000\n")
	for i := range 50_000 {
		at := 1763689985000000000 + int64(i)*1e6
		fmt.Fprintf(&w, "k %d 60000 2100000 0 5012 220 1 1 %d %[2]d 43210 10.0.0.7:5432 postgresql\n", at+400_000, 4712+i%8)
		fmt.Fprintf(&w, "q %d 210000 2600000 40000 180 5120 1 2 %d %[2]d 8080 - http 200 GET /orders/{id}\n", at, 4712+i%8)
	}
	w.WriteString("until 1763690035000000000\n")
	return []byte(w.String())
}

// TestLink links the calls of an event loop that handles one request after the other, with calls side by side.
func TestLink(t *testing.T) {
	const loop = 7
	requests := []exchange{
		{came: 100, begun: 100, first: 900, last: 900, thread: loop, other: loop},
		{came: 200, begun: 200, first: 700, last: 700, thread: loop, other: loop},
	}
	calls := []exchange{
		{begun: 110, first: 500, last: 500, thread: loop, other: loop, request: -1},
		{begun: 210, first: 600, last: 600, thread: loop, other: loop, request: -1},
		{begun: 510, first: 800, last: 800, thread: loop, other: loop, request: -1}, // after the answer of the first
		{begun: 950, first: 990, last: 990, thread: loop, other: loop, request: -1}, // of no request
		{begun: 300, first: 400, last: 400, thread: 8, other: 8, request: -1},       // by a thread that reads no requests
	}
	if n := linkByThreads(requests, calls, nil); n != 3 {
		t.Errorf("%d calls are of requests", n)
	}
	for i, want := range []int32{0, 1, 0, -1, -1} {
		if calls[i].request != want {
			t.Errorf("call %d is of request %d, want %d", i, calls[i].request, want)
		}
	}
}

// Where one thread makes the calls of all requests, nothing tells whose they are.
func TestLinkNotTold(t *testing.T) {
	var requests, calls []exchange
	for i := range int64(40) {
		at := 1000 * i
		requests = append(requests, exchange{came: at, begun: at, first: at + 300, last: at + 300, thread: 1, other: 2})
		calls = append(calls, exchange{begun: at + 250, first: at + 900, last: at + 900, thread: 1, other: 3, request: -1})
	}
	if n := linkByThreads(requests, calls, nil); n != 0 {
		t.Errorf("%d calls are taken to be of requests that were answered before", n)
	}
}

// A goroutine goes on on other threads, and what it calls is for the request that it read, or for none once that is answered.
func TestLinkGoroutines(t *testing.T) {
	requests := []exchange{
		{came: 100, begun: 100, first: 900, last: 900, thread: 1, other: 3, goroutines: [2]int64{41, 41}},
		{came: 200, begun: 200, first: 700, last: 700, thread: 1, other: 2, goroutines: [2]int64{42, 42}},
	}
	calls := []exchange{
		{begun: 300, first: 400, last: 400, thread: 1, other: 2, request: -1, goroutines: [2]int64{41, 41}},
		{begun: 350, first: 500, last: 500, thread: 2, other: 1, request: -1, goroutines: [2]int64{42, 42}},
		{begun: 410, first: 600, last: 600, thread: 2, other: 1, request: -1, goroutines: [2]int64{50, 51}}, // written by another, on the thread where 41 read its answer
		{begun: 750, first: 800, last: 800, thread: 2, other: 1, request: -1, goroutines: [2]int64{42, 42}},
	}
	if n := linkByThreads(requests, calls, nil); n != 3 {
		t.Errorf("%d calls are of requests", n)
	}
	for i, want := range []int32{0, 1, 0, -1} {
		if calls[i].request != want {
			t.Errorf("call %d is of request %d, want %d", i, calls[i].request, want)
		}
	}
}
