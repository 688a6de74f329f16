package exchanges

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// Calls that a client's threads make belong to the requests that wait for them. Calls of the program's own, at any time or to the same dependency, belong to none.
func TestLinkDelegated(t *testing.T) {
	for name, c := range map[string]struct {
		waits, beside bool // requests wait for calls; others are made beside them
		linked        bool
	}{
		"for requests":                        {true, false, true},
		"for requests, beside others":         {true, true, true},
		"beside requests that wait otherwise": {false, true, false},
	} {
		w, random := newText(), rand.New(rand.NewPCG(1, 2))
		call := func(at, took float64, n int) {
			fmt.Fprintf(w, "k %d 0 %d 0 80 90 1 1 %d 51 %d 10.0.0.8:80 http 200 GET /offers\n", began+ns(at), ns(took), 60+n%4, 9000+n)
		}
		at := 0.
		for i := range 200 {
			at += 10 + random.ExpFloat64()*90
			took := 40 + 20*random.Float64()
			fmt.Fprintf(w, "k %d 0 %d 0 80 90 1 1 %d %[3]d %d 10.0.0.7:5432 postgresql idle SELECT\n", began+ns(at+.3), ns(1), 100+i, 4000+i)
			if c.waits {
				call(at+2, took, i)
			}
			if c.beside {
				call(at+100*random.Float64(), 40+20*random.Float64(), 500+i)
			}
			w.request(at, at, at+2+took+.5, 100+i, 1+i, "GET /sales")
		}
		got := spent(w.read(t, at+200), "GET /sales")["network wait | 10.0.0.8:80"]
		if least := 200 * 30.; c.linked != (got > least) || !c.linked && got > 0 {
			t.Errorf("%s: requests waited %v ms for these calls", name, got)
		}
	}
}
