package service

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/diagnose/check"
)

// stocks are requests whose statement always takes long, by some spread (0.1: ±5 %), beside lookups at the same database.
func stocks(database string, took int64, spread float64) []byte {
	const seconds = 25
	s := newKernelSaw()
	s.lookups(30, seconds, false)
	for _, at := range s.arrivals(4, seconds) {
		w := s.worker(at)
		d := int64(float64(took) * (1 + spread*(s.random.Float64()-.5)))
		end := s.call(w, at+300_000, d, 110, database, "mysql idle SELECT dishes")
		end = s.call(w, end+100_000, s.vary(500_000), 60, database, "mysql idle SELECT kitchens")
		s.request(w, at, end+300_000, 200, "GET /stocks/{id}")
	}
	return s.bytes(seconds)
}

// A statement that always takes long is a fault if the database works on it. Its length is then not always the same.
func TestAlwaysSlow(t *testing.T) {
	for name, x := range map[string]struct {
		took   int64
		spread float64
		state  string
		says   string
	}{
		"the database reads a table":       {150 * ms, .3, check.Supported, "Requests of GET /stocks/{id} always wait"},
		"it reads one on an idle host":     {80 * ms, .05, check.Supported, "Requests of GET /stocks/{id} always wait"},
		"a clock ends it after 150 ms":     {150 * ms, .004, check.Inconclusive, "a clock ends that statement"},
		"a clock ends it after one second": {1000 * ms, .001, check.Inconclusive, "a clock ends that statement"},
		"it takes twice what is noticed":   {44 * ms, .1, check.Supported, "Requests of GET /stocks/{id} always wait"},
		"it takes a little less":           {37 * ms, .1, check.RuledOut, ""},
		"it takes a tenth of that":         {15 * ms, .3, check.RuledOut, ""},
	} {
		v := judgeDependency(caseOf(t, stocks("10.0.0.8:3306", x.took, x.spread)))
		if v.State != x.state || !strings.Contains(v.Title+v.Summary, x.says) {
			t.Errorf("%s: %s %q %q", name, v.State, v.Title, v.Summary)
		}
	}
}
