package diagnose

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
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
		got := findOnset(i.Bundle, i.Ledgers()[0])
		if got == nil || got.Within != c.within || got.From != c.from || got.At == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// Whatever the cells leave out, the moment is that which a look at each request in order finds.
func TestOnsetInOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	within := 0
	for range 300 {
		b := incident.NewBundle()
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "access.log"}), "accesslog")
		*p.Clock() = evidence.Clock{Name: "unix"}
		s := p.Subject(evidence.Subject{})
		n, grain := int64(200+r.IntN(3000)), []int64{1, 1e6, 1e9}[r.IntN(3)] // coarse ones begin together
		from, often, rarely := r.Int64N(n), r.Float64(), r.Float64()*r.Float64()*.2
		for i := range n {
			share := rarely
			if i >= from {
				share = often
			}
			took := int64(5e6)
			if r.Float64() < share {
				took = 60e6 + r.Int64N(500e6)
			}
			at := int64(1_795_423_700e9) + i*r.Int64N(40e6)/grain*grain
			p.Request(evidence.Request{Subject: s, Route: p.Name("GET /"), Start: at, End: at + took})
		}
		p.Close()
		i := incident.Of(b, incident.Options{SLO: 50 * time.Millisecond})
		l := i.Ledgers()[0]
		got, want := findOnset(i.Bundle, l), inOrder(i.Bundle, l)
		if got == nil != (want == nil) || got != nil && (got.From != want.From || got.Within != want.Within || got.Before != want.Before || got.Since != want.Since || !got.At.Equal(*want.At)) {
			t.Fatalf("%+v, in order %+v", got, want)
		}
		if got != nil && got.Within {
			within++
		}
	}
	if within < 30 {
		t.Errorf("only %d of them have an onset", within)
	}
}

// inOrder looks at each request, in the order in which they began.
func inOrder(b *evidence.Bundle, l *ledger.Ledger) *Onset {
	if len(l.Slow) == 0 {
		return nil
	}
	rows := slices.Clone(l.Rows)
	began := func(i int) int64 { return b.Requests.End.At(i) - b.Requests.Latency(i) }
	slices.SortStableFunc(rows, func(i, j int) int { return cmp.Compare(began(i), began(j)) })
	out, at, n, most := &Onset{}, l.From, 0, 0.
	least := onsetTime * float64(l.To-l.From)
	for k, i := range rows {
		if !slices.Contains(l.Slow, i) {
			continue
		}
		before, after, t := float64(n)/float64(max(1, k)), float64(len(l.Slow)-n)/float64(len(rows)-k), began(i)
		if k >= onsetRequests && len(rows)-k >= onsetRequests && float64(t-l.From) >= least && float64(l.To-t) >= least &&
			after >= onsetShare && after >= onsetTimes*before && after-before > most {
			most, at = after-before, t
			out.Within, out.Before, out.Since = true, before, after
		}
		n++
	}
	out.From = float64(at-l.From) / 1e9
	first := time.Unix(0, at).UTC()
	out.At = &first
	return out
}
