package golang

import (
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// What only MemStats told: how often, not at what cost.
func TestCyclesThatAreOnlyCounted(t *testing.T) {
	for _, c := range []struct {
		cycles float64
		want   string
	}{{5, check.RuledOut}, {90, check.Inconclusive}} {
		b := evidence.NewBundle()
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "heap", Series: "heap"}), "gopprof")
		s := p.Subject(evidence.Subject{Runtime: "go"})
		const second = int64(1e9)
		p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverHeap, From: 100 * second, Until: 100 * second})
		p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverHeap, From: 110 * second, Until: 110 * second})
		// The runtime remembers cycles of long before.
		p.Series(evidence.Series{Subject: s, Name: "/gc/cycles/total:gc-cycles", T: []int64{second, 50 * second, 100 * second, 110 * second},
			V: []float64{1, 900, 1000, 1000 + c.cycles}, Origin: p.Origin(1)})
		p.Close()
		v := judgeGCRate(&check.Case{Bundle: b, Subject: s})
		if v.State != c.want || len(v.Evidence) == 0 || *v.Evidence[0].Value != c.cycles/10 {
			t.Errorf("%.0f cycles in 10 s: %+v, want %s", c.cycles, v, c.want)
		}
	}
}
