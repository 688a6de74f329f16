package exchanges

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// brokered writes requests that ask a message broker over one connection, and returns how long (ms) they waited for its answers. A worker
// behind it takes each label in turn. With turns the program itself asks for one after the other; with quick answers it is told at once that a label
// is stored, and works on them in turn itself.
func brokered(w *text, turns, quick bool) (waited float64) {
	random := rand.New(rand.NewPCG(3, 4))
	type event struct {
		at    float64
		sends bool
	}
	var events []event
	at, free := 0., 0.
	for i := 0; i < 400; i++ {
		at += random.ExpFloat64() * 35
		asks := at + .2
		if turns {
			asks = max(asks, free+.1)
		}
		free = max(free, at) + 30
		answered := free
		if quick {
			answered = asks + .4
		}
		events = append(events, event{asks, true}, event{answered, false})
		waited += answered - at
		fmt.Fprintf(w, "q %d 0 %d 0 80 90 1 1 9/%d 9/%[3]d 8080/%[3]d - http 200 POST /labels\n", began+ns(at), ns(free+.3-at), 10+i%40)
	}
	slices.SortFunc(events, func(a, b event) int {
		if a.at < b.at {
			return -1
		}
		return 1
	})
	var begun, first, last float64 // of an exchange, as the kernel's programs tell it
	sends, reads := 0, 0
	tell := func() {
		if sends > 0 && reads > 0 {
			fmt.Fprintf(w, "k %d 0 %d %d %d %d %d %d 9/3 9/4 50820 10.0.0.7:4222 -\n", began+ns(begun), ns(first-begun), ns(last-first), 60*reads, 60*sends, reads, sends)
		}
	}
	for _, e := range events {
		switch {
		case e.sends && (sends == 0 || reads > 0):
			tell()
			begun, sends, reads = e.at, 1, 0
		case e.sends:
			sends++
		default:
			if reads++; reads == 1 {
				first = e.at
			}
			last = e.at
		}
	}
	tell()
	return waited
}

// Requests whose pieces are sent at once wait for the peer, and those that send one after the other wait for their turn.
func TestPipelined(t *testing.T) {
	const peer = "network wait | 10.0.0.7:4222"
	for name, of := range map[string]struct{ turns, quick, waits bool }{
		"all are sent at once":                   {false, false, true},
		"one is sent after the other":            {true, false, false},
		"sent and answered at once, and waiting": {false, true, false},
	} {
		w := newText()
		waited := brokered(w, of.turns, of.quick)
		got := spent(w.read(t, 20000), "POST /labels")
		if of.waits != (got[peer] > .95*waited) {
			t.Errorf("%s: waited %.0f ms for the peer, of %v", name, waited, got)
		}
	}
}
