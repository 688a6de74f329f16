package load

import (
	"testing"
	"time"
)

// A rate is beyond the generator if what it sent shows that the rest would take
// more processors than there are, and only then.
func TestBeyondGenerator(t *testing.T) {
	for _, c := range []struct {
		name          string
		offered, sent int64
		perRequest    time.Duration
		rate          float64
		limited       bool
	}{
		{name: "a million a second", offered: 1e6, sent: 15e3, perRequest: 100 * time.Microsecond, rate: 1e6, limited: true},
		{name: "a slow server", offered: 50e3, sent: 10e3, perRequest: 50 * time.Microsecond, rate: 5e3 * float64(cpuCount())},
		{name: "all sent", offered: 1e6, sent: 1e6, perRequest: 100 * time.Microsecond, rate: 1e6},
	} {
		counted := &tally{plan: &Plan{Mode: Open}, sent: c.sent, neverSent: c.offered - c.sent}
		counted.cpu.used = c.perRequest * time.Duration(c.sent)
		r := &Result{Offered: c.offered, OfferedRate: &c.rate}
		counted.judgeGenerator(r)
		if r.GeneratorLimited != c.limited || c.limited != (len(r.Warnings) == 1) {
			t.Errorf("%s: limited is %v with %q, want %v", c.name, r.GeneratorLimited, r.Warnings, c.limited)
		}
	}
}
