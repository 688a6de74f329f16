package service

import (
	"testing"
	"time"

	"github.com/unstall/unstall/internal/analyze/incident"
)

// tariffs are requests of which one in four finds its answer in a cache, and the others ask a peer; each tenth call takes late.
func tariffs(peer, said string, takes, late int64) []byte {
	const seconds = 25
	s := newKernelSaw()
	s.lookups(20, seconds, false)
	for i, at := range s.arrivals(20, seconds) {
		w := s.worker(at)
		end := at + s.vary(300_000)
		if i%4 > 0 {
			took := s.vary(takes)
			if i%10 == 9 {
				took = s.vary(late)
			}
			end = s.call(w, at+200_000, took, 133, peer, said)
		}
		s.request(w, at, end+200_000, 200, "GET /stations/{id}/tariff")
	}
	return s.bytes(seconds)
}

// A call that takes as long as ever makes its request slower than those that a cache answers, which is no fault of the peer, however long it takes, unless
// the user says what is too slow. Late calls are, and so is a statement that always takes long.
func TestCallsAsLongAsEver(t *testing.T) {
	const partner, statement = "http 200 GET /tariffs/{id}", "postgresql idle SELECT tariffs"
	for name, x := range map[string]struct {
		text  []byte
		slo   time.Duration
		found bool
	}{
		"55 ms, as ever":             {tariffs(payments, partner, 55*ms, 55*ms), 0, false},
		"240 ms, as ever":            {tariffs(payments, partner, 240*ms, 240*ms), 0, false},
		"55 ms, and at times 600":    {tariffs(payments, partner, 55*ms, 600*ms), 0, true},
		"240 ms, which is too long":  {tariffs(payments, partner, 240*ms, 240*ms), 100 * time.Millisecond, true},
		"a statement that takes 120": {tariffs(database, statement, 120*ms, 120*ms), 0, true},
	} {
		c := caseWith(t, x.text, incident.Options{SLO: x.slo})
		if v := judgeDependency(c); v.Supported() != x.found {
			t.Errorf("%s: %s: %s %s", name, v.State, v.Title, v.Summary)
		}
	}
}
