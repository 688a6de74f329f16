package service

import (
	"slices"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// The article's first three steps: 40 queries of 0.3 ms, never more than 7 of 10
// connections, and requests that take 2.3 s in the process itself.
func TestElimination(t *testing.T) {
	b := evidence.NewBundle()
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "spans.json"}), "spans")
	s := p.Subject(evidence.Subject{Service: "console", Runtime: "jvm"})
	db := p.Subject(evidence.Subject{Kind: evidence.Dependency, Name: "org"})
	for i := range int64(40) {
		at, local := epoch+i*5000*ms, 1*ms
		if i >= 20 {
			local = 57 * ms
		}
		var path evidence.Path
		for range 40 {
			path = path.Append(evidence.Segment{Kind: evidence.Unobserved, Dur: local}).Append(evidence.Segment{Kind: evidence.NetWait, Dur: 300_000, Cause: p.Name("mysql org")})
		}
		end := at + 40*(local+300_000)
		r := p.Request(evidence.Request{Subject: s, Route: p.Name("GET /tree"), Start: at, End: end, Path: path})
		for k := range int64(40) {
			from := at + local + k*(local+300_000)
			p.Interval(evidence.Interval{Subject: s, Kind: evidence.Call, Start: from, End: from + 300_000, Request: r, Cause: p.Name("mysql org"),
				Extra: []evidence.Extra{{Key: evidence.Operation, Value: float64(p.Name("SELECT node"))}, {Key: evidence.ServerTime, Value: 200_000}}})
		}
	}
	for _, kind := range []string{evidence.CoverRequests, evidence.CoverSpans, evidence.CoverPool} {
		p.Cover(evidence.Coverage{Subject: s, Kind: kind, From: epoch, Until: epoch + 200_000*ms})
	}
	series := func(name string, v ...float64) {
		x := evidence.Series{Subject: s, Name: name, Unit: "connections", V: v, Origin: p.Origin(2)}
		for i := range v {
			x.T = append(x.T, epoch+int64(i)*1000*ms)
		}
		p.Series(x)
	}
	series(evidence.SeriesClientPoolUsed+":org", 3, 7, 5)
	series(evidence.SeriesClientPoolMax+":org", 10, 10, 10)
	series(evidence.SeriesClientPoolWaits+":org", 0, 0, 0)
	p.Fact(evidence.Fact{Subject: db, Key: evidence.FactDependencyMean, Number: 280_000, Value: "in its readings", Origin: p.Origin(3)})
	p.Close()
	l := ledger.Build(b, ledger.Options{})
	c := &check.Case{Bundle: b, Subject: s, Ledger: l[0]}

	v := judgeDependency(c)
	if v.State != check.RuledOut || v.Summary != "a slow request makes 40 calls × 0.3 ms = 12 ms of 2.29 s; 2.28 s pass outside its known calls" {
		t.Errorf("dependency: %s %q", v.State, v.Summary)
	}
	for _, want := range []string{"mysql org, most often SELECT node", "the same calls as the called service saw them (mean of 800", "measured by org", "time of a slow request outside its known calls"} {
		if !strings.Contains(evidenceOf(v), want) {
			t.Errorf("dependency does not say %q: %s", want, evidenceOf(v))
		}
	}
	if v := judgePool(c); v.State != check.RuledOut || v.Summary != "at most 7 of 10 connections in use, none waited (3 readings)" {
		t.Errorf("pool: %s %q", v.State, v.Summary)
	}
	// Somebody waits before a pool that is nearly free: not for a place in it.
	told := slices.Clone(b.Series)
	for i, v := range [][]float64{{1, 1, 2, 1, 0, 1}, {10, 10, 10, 10, 10, 10}, {1, 1, 1, 1, 1, 1}} {
		b.Series[i].V, b.Series[i].T = v, nil
		for k := range v {
			b.Series[i].T = append(b.Series[i].T, epoch+int64(k)*500*ms)
		}
	}
	if v := judgePool(c); v.State != check.RuledOut || !strings.Contains(v.Summary, "with free ones in the pool") {
		t.Errorf("nearly free: %s %q", v.State, v.Summary)
	}
	b.Series = told
	// Gauges that do not say who waited clear a pool only where it was never full.
	b.Series = b.Series[:2]
	if v := judgePool(c); v.State != check.RuledOut {
		t.Errorf("never full: %s %q", v.State, v.Summary)
	}
	b.Series[0].V[1] = 10
	if v := judgePool(c); v.State != check.Inconclusive || len(v.Needs) == 0 || !strings.Contains(v.Summary, "all in use in 1 of them; whether requests waited was not recorded") {
		t.Errorf("full once: %s %q", v.State, v.Summary)
	}
	b.Series = nil
	if v := judgePool(c); v.State != check.Inconclusive || len(v.Needs) == 0 {
		t.Errorf("no gauges: %s %q", v.State, v.Summary)
	}
}
