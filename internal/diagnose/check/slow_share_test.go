package check

import (
	"testing"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
)

// Slow requests of a quick route are common though others, which take long as ever, have nearly all of the time. With an objective all
// requests count alike, and a few slow ones of a route are a chance meeting.
func TestSlowOfARoute(t *testing.T) {
	const ms = int64(1e6)
	for name, c := range map[string]struct {
		rule        string
		slow, quick int // requests of 80 ms and of 1 ms to one route, beside 1000 of 350 ms to another
		want        bool
	}{
		"a route's own":                {ledger.RuleFloor, 20, 480, true},
		"too few of a route":           {ledger.RuleFloor, SomeSlow.Int() - 1, 480, false},
		"too little of a route's time": {ledger.RuleFloor, SomeSlow.Int(), 50_000, false},
		"of all, with an objective":    {ledger.RuleSLO, 20, 480, false},
	} {
		b := evidence.NewBundle()
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "access.log"}), "accesslog")
		s := p.Subject(evidence.Subject{Runtime: "go"})
		l := &ledger.Ledger{Rule: c.rule}
		add := func(n int, route string, took int64, slow bool) {
			for range n {
				row := len(l.Rows)
				p.Request(evidence.Request{Subject: s, Route: p.Name(route), Start: 0, End: took})
				if l.Rows = append(l.Rows, row); slow {
					l.Slow, l.Total = append(l.Slow, row), l.Total+took
				}
			}
		}
		add(1000, "GET /file", 350*ms, false)
		add(c.quick, "GET /title", ms, false)
		add(c.slow, "GET /title", 80*ms, true)
		p.Close()
		if got := (&Case{Bundle: b, Subject: s, Ledger: l}).Slow(); got != c.want {
			t.Errorf("%s: slow requests are common: %v, want %v", name, got, c.want)
		}
	}
}
