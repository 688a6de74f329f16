package diagnose

import (
	"math"
	"testing"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
)

// TestBursts: requests that are slow for 2 s out of every 7 s come in bursts; slow ones here and there, or from some moment on,
// do not.
func TestBursts(t *testing.T) {
	const ms, span, epoch = 1e6, 30_000, int64(1e18)
	for name, c := range map[string]struct {
		slow   func(at int) bool // at: ms since the beginning
		bursts int
		every  float64
	}{
		"every 7 s":     {func(at int) bool { return at%7000 >= 4000 && at%7000 < 6000 }, 4, 7},
		"from 10 s on":  {func(at int) bool { return at >= 10_000 }, 0, 0},
		"one in twenty": {func(at int) bool { return at/10%20 == 0 }, 0, 0},
		"all":           {func(int) bool { return true }, 0, 0},
		"one stretch with a fringe": {func(at int) bool {
			return at >= 2000 && at < 2200 || at >= 10_000 && at < 20_000 || at >= 25_000 && at < 25_300
		}, 0, 0},
		"at uneven moments": {func(at int) bool {
			return at >= 2000 && at < 3000 || at >= 5000 && at < 6000 || at >= 20_000 && at < 21_000
		}, 3, 0},
	} {
		b := evidence.NewBundle()
		file := b.Builder(b.AddArtifact(evidence.Artifact{Name: "access.log"}), "accesslog")
		*file.Clock() = evidence.Clock{Name: "unix"}
		s := file.Subject(evidence.Subject{Kind: evidence.Process, Name: "shop"})
		l := &ledger.Ledger{Subject: s, From: epoch, To: epoch + span*ms}
		for at := 0; at < span; at += 10 {
			took := int64(5 * ms)
			if c.slow(at) {
				took = 300 * ms
				l.Slow = append(l.Slow, len(l.Rows))
			}
			l.Rows = append(l.Rows, len(l.Rows))
			start := epoch + int64(at)*ms
			file.Request(evidence.Request{Subject: s, Start: start, End: start + took})
		}
		file.Close()
		x := findBursts(b, l)
		switch {
		case c.bursts == 0:
			if x != nil {
				t.Errorf("%s: %+v", name, x)
			}
		case x == nil || x.Count != c.bursts || (x.EveryS != nil) != (c.every > 0) || x.EveryS != nil && math.Abs(*x.EveryS-c.every) > .2 || x.Slow < .9 || x.Between > .05:
			t.Errorf("%s: %+v", name, x)
		}
	}
}
