package threadpool

import (
	"math"
	"testing"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
)

// A process that uses a third of a CPU whatever it is asked, and 2 ms for each request, is not taken for
// one whose requests need thirty times as much.
func TestEach(t *testing.T) {
	const start, seconds = 1_700_000_000_000_000_000, 20
	for _, tt := range []struct {
		name string
		n    func(second int) int
		want [2]float64 // s
	}{
		{"answers in bursts", func(k int) int { return k % 5 * 6 }, [2]float64{.0019, .003}},
		{"answers evenly", func(int) int { return 12 }, [2]float64{1, math.Inf(1)}},
	} {
		b := evidence.NewBundle()
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "requests.txt"}), "load")
		subject := p.Subject(evidence.Subject{Kind: evidence.Process, PID: 4711})
		used := evidence.Series{Subject: subject, Name: evidence.SeriesProcessCPU, Unit: "1"}
		for k := range seconds {
			at := int64(start) + int64(k)*1e9
			n := tt.n(k)
			for i := range n {
				p.Request(evidence.Request{Subject: subject, Start: at - 5e8, End: at + 1e9*int64(i+1)/int64(n+1), Outcome: evidence.OK, Origin: p.Origin(1)})
			}
			used.T, used.V = append(used.T, at), append(used.V, .33+.002*float64(n))
		}
		used.T, used.V = append(used.T, start+seconds*1e9), append(used.V, .33)
		b.Series = append(b.Series, used)
		l := &ledger.Ledger{Subject: subject, From: start, To: start + seconds*1e9}
		l.Requests.From, l.Requests.To = l.From, l.To
		if got := (&Process{Bundle: b, Subject: subject, Ledger: l}).marginalCPU(); got < tt.want[0] || got > tt.want[1] {
			t.Errorf("%s: %v s, want %v", tt.name, got, tt.want)
		}
	}
}

// What threads were seen to compute while slow requests were under way bounds what one computes; not where most was not seen.
func TestOwn(t *testing.T) {
	slow := make([]int, 50)
	for _, tt := range []struct {
		name    string
		charges ledger.Charges
		slow    []int
		want    float64 // s
	}{
		{"waits for threads", ledger.Charges{ledger.PoolThread: 49e9, ledger.Own: 1e9}, slow, .02},
		{"computes where it finds a processor", ledger.Charges{ledger.Own: 20e9, ledger.RequestsCPU: 30e9}, slow, 1},
		{"not seen", ledger.Charges{ledger.PoolThread: 40e9, ledger.Unobserved: 10e9}, slow, math.Inf(1)},
		{"few", ledger.Charges{ledger.PoolThread: 49e9, ledger.Own: 1e9}, slow[:5], math.Inf(1)},
	} {
		if got := (&Process{Ledger: &ledger.Ledger{Slow: tt.slow, Charges: tt.charges, Total: 50e9}}).slowRequestCPU(); got != tt.want {
			t.Errorf("%s: %v s, want %v", tt.name, got, tt.want)
		}
	}
}
