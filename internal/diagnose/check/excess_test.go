package check

import (
	"testing"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
)

// What requests usually wait is left out of what slow ones lose. Where most miss the objective and take about as long as the others, the
// objective says that what is usual takes too long; where they take far longer, the others show what is usual.
func TestExcessWhereMostAreSlow(t *testing.T) {
	const ms = int64(1e6)
	for name, tt := range map[string]struct {
		fast, slow int64 // ms that such requests take, half of it in the wait
		want       int64 // ms beyond what is usual, of each slow request
	}{
		"one kind":  {8, 12, 6},
		"two kinds": {8, 40, 16},
	} {
		b := evidence.NewBundle()
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "requests.txt"}), "requests")
		s := p.Subject(evidence.Subject{Runtime: "go"})
		var all, slow []int
		for i := range 100 {
			took := tt.fast
			if i%4 > 0 {
				took = tt.slow
				slow = append(slow, i)
			}
			all = append(all, i)
			p.Request(evidence.Request{Subject: s, Start: int64(i) * 100 * ms, End: (int64(i)*100 + took) * ms})
		}
		p.Close()
		c := &Case{Bundle: b, Subject: s, Ledger: &ledger.Ledger{Rows: all, Slow: slow}}
		per, _, _ := c.Excess(all, slow, func(row int) int64 { return b.Requests.Latency(row) / 2 })
		if per[0] != tt.want*ms {
			t.Errorf("%s: %d ns beyond what is usual, want %d ms", name, per[0], tt.want)
		}
	}
}
