package metrics

import (
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// TestClosely holds which part of evidence was looked at closely: of two minutes that were watched the
// seconds that were traced, as far as they are long enough, and not most of it.
func TestClosely(t *testing.T) {
	const began, second = 1_795_423_700e9, int64(1e9)
	for name, x := range map[string]struct {
		from, until int64 // s that were traced, in two pieces
		kind        string
		ok          bool
	}{
		"the last seconds of an alarm's capture": {105, 120, evidence.CoverStates, true},
		"profiles":                               {105, 120, evidence.CoverCPUProfile, true},
		"too short to tell":                      {115, 120, evidence.CoverStates, false},
		"most of it":                             {10, 120, evidence.CoverStates, false},
		"what is watched all the time":           {105, 120, evidence.CoverHostCPU, false},
	} {
		b := evidence.NewBundle()
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "x"}), "x")
		s := p.Subject(evidence.Subject{Kind: evidence.Process, Name: "shop"})
		at := func(s int64) int64 { return began + s*second }
		p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverRequests, From: at(0), Until: at(120)})
		p.Cover(evidence.Coverage{Subject: s, Kind: x.kind, From: at(x.from), Until: at(x.from + 1)})
		p.Cover(evidence.Coverage{Subject: s, Kind: x.kind, From: at(x.until - 1), Until: at(x.until)})
		w, ok := CloselyWatched(b)
		if ok != x.ok || ok && (w.From != at(x.from) || w.Until != at(x.until)) {
			t.Errorf("%s: %v, from %d s to %d s", name, ok, (w.From-began)/second, (w.Until-began)/second)
		}
	}
}
