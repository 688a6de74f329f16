package exchanges

import (
	"fmt"
	"strings"
	"testing"
)

// dispatched writes requests on threads of their own that each hand several calls at once to a client, which makes some at a time, first come, first served, on as many
// threads and connections: a dispatcher with a limit. It returns how long (ms) the last calls of all waited.
func dispatched(w *text, places, each int, apart, takes float64) (waited float64) {
	free := make([]float64, places)
	for i := range 100 {
		came := apart * float64(i)
		if i%10 == 9 {
			came += apart / 2
		}
		end := 0.
		for range each {
			n := 0
			for k := range free {
				if free[k] < free[n] {
					n = k
				}
			}
			begins := max(came+.5, free[n]+.3)
			free[n] = begins + takes
			end = max(end, free[n])
			fmt.Fprintf(w, "k %d 0 %d 0 80 90 1 1 %d %[3]d %[4]d 10.0.0.9:80 http 200 GET /licences\n", began+ns(begins), ns(takes), 50+n, 4000+n)
		}
		waited += end - takes - came - .5
		w.request(came, came+.1, end+.4, 100+i%30, i+1, "GET /licences")
	}
	return waited
}

// A client that makes some calls at a time, of several that each request sends at once, is a pool that requests wait for: the end of one's call, with which
// another's begins, does not make the first one a call of the second.
func TestDispatcher(t *testing.T) {
	for _, x := range []struct {
		places, each int
		apart, takes float64
	}{{5, 4, 75, 90}, {3, 6, 42, 20}} {
		w := newText()
		waited := dispatched(w, x.places, x.each, x.apart, x.takes)
		pool, network := 0., 0.
		for what, ms := range spent(w.read(t, 12000), "GET /licences") {
			switch {
			case strings.HasPrefix(what, fmt.Sprintf("pool wait | the pool of %d connections to 10.0.0.9:80", x.places)):
				pool += ms
			case strings.HasPrefix(what, "network wait"):
				network += ms
			}
		}
		if network > 100*1.1*x.takes || pool < .9*waited {
			t.Errorf("%d places: of %.0f ms %.0f at the pool, %.0f ms in calls", x.places, waited, pool, network)
		}
	}
}

// Requests that make one call after the other wait for each of them, however many are in progress.
func TestOneAfterTheOther(t *testing.T) {
	w := newText()
	for i := range 60 {
		at := 100 * float64(i)
		for n := range 3 { // side by side, each on its connection
			for k := range 4 {
				w.call(at+.5+20*float64(k)+.1*float64(n), at+20+20*float64(k)+.1*float64(n), 9, 4000+n)
			}
			w.request(at, at+.1, at+80.2+.1*float64(n), 9, 3*i+n+1, "GET /chain")
		}
	}
	network, pool := 0., 0.
	for what, ms := range spent(w.read(t, 6100), "GET /chain") {
		if strings.HasPrefix(what, "network wait") {
			network += ms
		}
		if strings.HasPrefix(what, "pool wait") {
			pool += ms
		}
	}
	if network < .8*180*78 || pool > .1*network {
		t.Errorf("%.0f ms in calls, %.0f ms at a pool", network, pool)
	}
}
