package diagnose

import (
	"testing"

	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/incident"
)

// Since when requests are slow is known where they were not before, and only there.
func TestOnset(t *testing.T) {
	const began = 1_795_423_700e9
	for name, c := range map[string]struct {
		slow   func(i int64) bool
		within bool
		from   float64
	}{
		"from a moment on":   {func(i int64) bool { return i >= 400 }, true, 40},
		"all the time":       {func(i int64) bool { return i%3 == 0 }, false, 0},
		"one burst":          {func(i int64) bool { return i >= 400 && i < 420 }, false, 0},
		"at the very end":    {func(i int64) bool { return i >= 980 }, false, 0},
		"from the beginning": {func(i int64) bool { return i < 400 }, false, 0},
	} {
		b := incident.NewBundle()
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "access.log"}), "accesslog")
		*p.Clock() = evidence.Clock{Name: "unix"}
		s := p.Subject(evidence.Subject{})
		for i := range int64(1000) {
			at, took := began+i*100e6, int64(5e6)
			if c.slow(i) {
				took = 90e6
			}
			p.Request(evidence.Request{Subject: s, Route: p.Name("GET /"), Start: at, End: at + took})
		}
		p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverRequests, From: began, Until: began + 100e9})
		p.Close()
		i := incident.Of(b, incident.Options{})
		got := onset(i.Bundle, i.Ledgers()[0])
		if got == nil || got.Within != c.within || got.From != c.from || got.At == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
