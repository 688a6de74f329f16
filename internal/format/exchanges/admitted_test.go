package exchanges

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// admit writes requests of two routes, of which one calls a slow peer, that a limit of so many lets through in their order, read by one event loop or by
// a thread for each, and returns how long (ms) they wait. Delay is what each waits besides, whatever others do.
func admit(w *text, places int, loop bool, delay float64) (waited float64) {
	random := rand.New(rand.NewPCG(1, 2))
	free := make([]float64, places)
	at := 0.
	for i := range 900 {
		at += random.ExpFloat64() * 28 / float64(min(places, 3))
		first := 0
		for k := range free {
			if free[k] < free[first] {
				first = k
			}
		}
		begins := max(at+delay*(.5+random.Float64()), free[first]) + .3 + .4*random.Float64()
		thread, route, peer, took := 9, "POST /loans", "10.0.0.8:80 http 200 GET /lend", 40+10*random.Float64()
		if !loop {
			thread = 100 + i
		}
		if i%2 == 0 {
			route, peer, took = "GET /orders", "10.0.0.7:5432 postgresql idle SELECT orders", .5+random.Float64()
		}
		fmt.Fprintf(w, "k %d 0 %d 0 80 90 1 1 %d %[3]d %d %s\n", began+ns(begins), ns(took), thread, 4000+i, peer)
		free[first] = begins + took + .4
		w.request(at, at, free[first], thread, 1+i%60, route)
		if ms := begins - at; ms >= 5 {
			waited += ms
		}
	}
	return waited
}

// Requests that a limit within the program keeps waiting, although they call different peers, wait for those that it has let through.
func TestAdmission(t *testing.T) {
	for name, of := range map[string]struct {
		places int
		loop   bool
		delay  float64
		limit  string
	}{
		"a loop":               {2, true, 0, "a limit of 2 requests at a time: GET /orders, POST /loans"},
		"threads":              {2, false, 0, "a limit of 2 requests at a time: GET /orders, POST /loans"},
		"a larger one":         {3, false, 0, "a limit of 3 requests at a time: GET /orders, POST /loans"},
		"no limit":             {1000, true, 0, ""},
		"no limit, threads":    {1000, false, 0, ""},
		"a delay for each":     {1000, true, 25, ""},
		"a delay, for threads": {1000, false, 25, ""},
	} {
		w := newText()
		waited := admit(w, of.places, of.loop, of.delay)
		b := w.read(t, 16000)
		charged, said := 0., ""
		for _, route := range []string{"GET /orders", "POST /loans"} {
			for what, ms := range spent(b, route) {
				if strings.HasPrefix(what, "pool wait") {
					charged += ms
					said = what
				}
			}
		}
		if of.limit == "" && charged > 0 {
			t.Errorf("%s: charged %v ms to %s", name, charged, said)
		}
		if of.limit != "" && (!strings.Contains(said, of.limit) || charged < .8*waited || charged > 1.05*waited || !strings.HasSuffix(said, "10.0.0.8:80")) {
			t.Errorf("%s: waited %v ms, charged %v to %q", name, waited, charged, said)
		}
	}
}
