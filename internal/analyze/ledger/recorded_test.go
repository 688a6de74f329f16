package ledger

import (
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// TestSlowBesideTheRecording has a load of 30 s, 20 of which were recorded: what was slow before and
// after is counted apart. Where next to nothing was recorded with the requests, or only moments
// were, all are charged.
func TestSlowBesideTheRecording(t *testing.T) {
	const second = 1000 * ms
	for name, x := range map[string]struct {
		kind        string
		from, until int64
		slow, apart int
	}{
		"twenty seconds":             {evidence.CoverHostCPU, 5 * second, 25 * second, 20, 10},
		"all of it":                  {evidence.CoverHostCPU, -second, 31 * second, 30, 0},
		"looks at threads":           {evidence.CoverThreads, 5 * second, 25 * second, 30, 0},
		"another hour":               {evidence.CoverHostCPU, 3600 * second, 3620 * second, 30, 0},
		"too short to tell of a few": {evidence.CoverHostCPU, 5 * second, 6 * second, 30, 0},
	} {
		b := newBundle(evidence.Subject{})
		s := newSource(b, "rows", exact, 0)
		for i := range int64(300) { // one in ten is slow
			dur := 10 * ms
			if i%10 == 9 {
				dur = 90 * ms
			}
			at := epoch + i*100*ms
			s.Request(evidence.Request{Subject: s.subject, Route: s.Name("GET /"), Start: at, End: at + dur})
		}
		p := newSource(b, "procfs", exact, 0)
		p.Cover(evidence.Coverage{Subject: p.Subject(evidence.Subject{Kind: evidence.Host}), Kind: x.kind, From: epoch + x.from, Until: epoch + x.until})
		l := one(t, b, Options{})
		if len(l.Slow) != x.slow || len(l.Apart) != x.apart || l.Total != int64(x.slow)*90*ms {
			t.Errorf("%s: %d are slow for %d ms in all and %d apart, want %d and %d", name, len(l.Slow), l.Total/ms, len(l.Apart), x.slow, x.apart)
		}
		if len(l.Rows) != 300 || l.Requests.Count != 300 {
			t.Errorf("%s: of 300 requests %d are left", name, len(l.Rows))
		}
	}
}
