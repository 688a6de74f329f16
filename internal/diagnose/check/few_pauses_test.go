package check

import (
	"testing"
	"time"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
)

// Requests that all meet one pause say nothing of how often there is one.
func TestByFewPauses(t *testing.T) {
	const ms = int64(1e6)
	for name, x := range map[string]struct {
		long  []int64 // ms: pauses of each second
		limit int64   // ns: an objective, 0 none
		count int
		few   bool
	}{
		"one":                       {[]int64{0, 0, 180, 0, 0, 0}, 0, 1, true},
		"one long and many short":   {[]int64{5, 5, 180, 5, 5, 5}, 0, 1, true},
		"two":                       {[]int64{0, 150, 0, 0, 150, 0}, 0, 2, false},
		"three":                     {[]int64{0, 150, 0, 150, 150, 0}, 0, 3, false},
		"each second":               {[]int64{60, 60, 60, 60, 60, 60}, 0, 5, false},
		"one, against an objective": {[]int64{0, 0, 180, 0, 0, 0}, 50 * ms, 0, false},
		"one of a second":           {[]int64{0, 0, 1000, 0, 0, 0}, 0, 0, false},
	} {
		b := evidence.NewBundle()
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "requests.txt"}), "requests")
		s := p.Subject(evidence.Subject{Runtime: "dotnet"})
		var pauses metrics.Pauses
		for second, long := range x.long {
			from := int64(1e18) + int64(second)*1000*ms
			if long > 0 {
				pauses = append(pauses, metrics.Pause{From: from + 300*ms, To: from + (300+long)*ms})
			}
			for k := range int64(100) {
				at := from + k*10*ms
				took := 2 * ms
				if end := from + (300+long)*ms; at >= from+300*ms && at < end {
					took += end - at
				}
				p.Request(evidence.Request{Subject: s, Route: p.Name("GET /"), Start: at, End: at + took})
			}
		}
		p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverRequests, From: 1e18, Until: 1e18 + 6000*ms})
		p.Close()
		c := &Case{Bundle: b, Subject: s, Ledger: ledger.Build(b, ledger.Options{SLO: time.Duration(x.limit)})[0]}
		if count, few := c.ByFewPauses(pauses); count != x.count || few != x.few {
			t.Errorf("%s: %d pauses, few %v, want %d, %v", name, count, few, x.count, x.few)
		}
	}
}
