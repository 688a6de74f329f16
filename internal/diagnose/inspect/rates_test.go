package inspect

import (
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// TestRatesOfFew tells no rate of what nothing tells, and none from too few collections.
func TestRatesOfFew(t *testing.T) {
	const mib = 1 << 20
	young := func(n int, sized bool) (*evidence.Bundle, evidence.ArtifactID) {
		b := evidence.NewBundle()
		a := b.AddArtifact(evidence.Artifact{Name: "gc.log"})
		p := b.Builder(a, "hotspotgc")
		s := p.Subject(evidence.Subject{Runtime: "jvm"})
		for i := range n {
			at := int64(i) * 1e9
			after := 120. * mib // ten are promoted, by the first one a hundred
			if i == 0 {
				after = 210 * mib
			}
			extra := []evidence.Extra{{Key: evidence.PauseOf, Value: float64(evidence.PauseYoung)}, {Key: evidence.HeapBefore, Value: 400 * mib}, {Key: evidence.HeapAfter, Value: after}}
			if sized {
				extra = append(extra, evidence.Extra{Key: evidence.YoungBefore, Value: 300 * mib}, evidence.Extra{Key: evidence.YoungAfter, Value: 10 * mib})
			}
			p.Interval(evidence.Interval{Subject: s, Lane: evidence.AllLanes, Kind: evidence.StopTheWorld, Start: at, End: at + 1e7, Cause: p.Name("Pause Young"), Extra: extra, Origin: p.Origin(int64(i + 1))})
		}
		p.Close()
		return b, a
	}
	for name, tt := range map[string]struct {
		n                int
		sized            bool
		cycles, promoted bool
	}{
		"sizes of the whole heap alone": {20, false, true, false},
		"two collections":               {2, true, false, true},
		"twenty":                        {20, true, true, true},
	} {
		b, a := young(tt.n, tt.sized)
		g := summarizeGC(b, a)
		if got := g.Rates.Cycles != nil; got != tt.cycles {
			t.Errorf("%s: a rate of collections is told: %v, want %v", name, got, tt.cycles)
		}
		if got := g.Rates.Promote != nil; got != tt.promoted {
			t.Errorf("%s: a rate of promotion is told: %v, want %v", name, got, tt.promoted)
		}
		if p := g.Rates.Promote; p != nil && (*p < 9.9*mib || *p > 10.1*mib) {
			t.Errorf("%s: %g bytes/s are promoted, want 10 MiB", name, *p)
		}
	}
}
