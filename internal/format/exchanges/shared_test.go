package exchanges

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// Answers on a shared connection come in the order of the commands: a request whose command is sent during one exchange may be answered with the next, and
// waits for both. A request that computes while short exchanges follow one another on the connection waits for none of them.
func TestSharedChain(t *testing.T) {
	for name, of := range map[string]struct {
		each float64 // ms that an exchange lasts
		next int     // exchanges that a request waits for beyond the present one; −1: it computes for 30 ms
		wait bool
	}{
		"the next":                  {500, 1, true},
		"the one after":             {300, 2, true},
		"computes beside":           {3, -1, false},
		"computes beside long ones": {60, -1, false},
	} {
		w := newText()
		random := rand.New(rand.NewPCG(1, 2))
		const loop = 9
		for at := 0.; at < 20000; at += of.each {
			fmt.Fprintf(w, "k %d 0 %d 0 80 90 1 5 %d %[3]d 4000 10.0.0.9:6379 resp - HGET\n", began+ns(at+.5), ns(of.each-1), loop)
		}
		lasts := 0.
		at := 0.
		for i := 0; at < 17000; i++ {
			at += random.ExpFloat64() * 40
			answered := at + 30
			if of.next >= 0 {
				answered = (float64(int(at/of.each))+1+float64(of.next))*of.each - .5 + .2 + .001*float64(i%50)
			}
			lasts += answered - at
			w.request(at, at, answered, loop, 1+i%90, "GET /cars")
		}
		charged := 0.
		got := spent(w.read(t, 20500), "GET /cars")
		for what, ms := range got {
			if strings.HasPrefix(what, "network wait") || of.wait && strings.HasPrefix(what, "pool wait") { // the only connection
				charged += ms
			}
		}
		if of.wait && charged < .95*lasts || !of.wait && charged > .5*lasts {
			t.Errorf("%s: lasted %v ms, charged %v, of %v", name, lasts, charged, got)
		}
	}
}
