package exchanges

import (
	"fmt"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// callsOf returns how many calls each request of a route has.
func callsOf(b *evidence.Bundle, route string) []int {
	var n []int
	at := make(map[int]int)
	for i := range b.Requests.Len() {
		if b.Names.Text(b.Requests.Route.At(i)) == route {
			at[i] = len(n)
			n = append(n, 0)
		}
	}
	for i, k := range b.Intervals.Kind {
		if row := int(b.Intervals.Request.At(i)) - 1; k == evidence.Call && row >= 0 {
			if j, is := at[row]; is {
				n[j]++
			}
		}
	}
	return n
}

// An event loop (thread 9) reads and answers; threads to which it hands requests ask for one row after the other, side by side, a few ms apart.
func TestJobsOfWorkers(t *testing.T) {
	w := newText()
	for i := range 40 {
		at := float64(300 * i)
		for n := range 3 { // three at a time, each on a thread and a connection of its own
			begins := at + 7*float64(n)
			for k := range 30 {
				w.call(begins+2+4.5*float64(k)+.3*float64(n), begins+4+4.5*float64(k)+.3*float64(n), 20+n, 4000+n)
			}
			w.request(begins, begins+.1, begins+2+4.5*30+2, 9, 10*i+n+1, "GET /visits")
		}
		for n := range 5 { // short ones beside them
			begins := at + 20 + 25*float64(n)
			w.call(begins+1, begins+2, 30+n%2, 4010+n%2)
			w.call(begins+3, begins+4, 30+n%2, 4010+n%2)
			w.request(begins, begins+.1, begins+6, 9, 10*i+n+4, "GET /animal")
		}
	}
	b := w.read(t, 12500)
	for route, want := range map[string]int{"GET /visits": 30, "GET /animal": 2} {
		for i, n := range callsOf(b, route) {
			if n != want {
				t.Fatalf("request %d of %s has %d calls, want %d", i, route, n, want)
			}
		}
	}
}

// Two threads serve what queues for them: each begins with the next request as soon as it has done one, long after the loop has read it.
func TestJobsThatQueue(t *testing.T) {
	w := newText()
	free := [2]float64{}
	for i := range 60 {
		came := float64(150*(i/6)) + float64(i%6)
		n := 0
		if free[1] < free[0] {
			n = 1
		}
		begins := max(came+1, free[n]+.5)
		for k := range 5 {
			w.call(begins+8*float64(k), begins+7+8*float64(k), 20+n, 4000+n)
		}
		free[n] = begins + 40
		w.request(came, came+.1, begins+40.5, 9, i+1, "GET /reports")
	}
	right := 0
	for _, n := range callsOf(w.read(t, 1700), "GET /reports") {
		if n == 5 {
			right++
		}
	}
	if right < 54 {
		t.Errorf("%d of 60 requests have their five calls", right)
	}
}

// A thread that asks a database all the time works for no request, and neither does one whose calls overlap.
func TestNoJobs(t *testing.T) {
	for name, call := range map[string]func(w *text, at float64, i int){
		"a thread that polls": func(w *text, at float64, i int) { w.call(at, at+2, 20, 4000) },
		"a client of its own": func(w *text, at float64, i int) { w.call(at, at+9, 20, 4000+i%5) },
		"threads that take on": func(w *text, at float64, i int) {
			fmt.Fprintf(w, "k %d 0 %d 0 80 90 1 1 20 21 4000 10.0.0.7:5432 postgresql\n", began+ns(at), ns(2))
		},
	} {
		w := newText()
		for i := range 3000 {
			call(w, 3*float64(i), i)
		}
		for i := range 60 {
			at := 140*float64(i) + float64(i%7)
			w.request(at, at+.1, at+30+float64(i%5), 9, i+1, "GET /search")
		}
		requests, linked := 0, 0
		for _, n := range callsOf(w.read(t, 9100), "GET /search") {
			if requests++; n > 1 {
				linked++
			}
		}
		if linked > 6 {
			t.Errorf("%s: %d of %d requests have calls", name, linked, requests)
		}
	}
}
