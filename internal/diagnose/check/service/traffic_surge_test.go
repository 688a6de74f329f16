package service

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// traffic is a service on two processors whose requests each need 18 ms of one.
type traffic struct {
	rates    []float64 // per second, a minute each
	servers  int
	cpu      float64 // percent, 0 not recorded
	expected float64
	well     float64 // ns: p50 of a baseline at its rate
	wellRate float64
	repeats  float64
}

func (x traffic) judge(t *testing.T) check.Verdict {
	t.Helper()
	m := &made{random: rand.New(rand.NewPCG(3, 4))}
	for _, r := range x.rates {
		m.arrive(r, 60)
	}
	m.queue(x.servers)
	b := evidence.NewBundle()
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "access.log"}), "accesslog")
	s := p.Subject(evidence.Subject{Runtime: "jvm", CPUs: x.servers})
	var last int64
	for i, at := range m.at {
		p.Request(evidence.Request{Subject: s, Route: p.Name("GET /tree"), Start: at, End: at + m.took[i], Origin: p.Origin(int64(i + 1))})
		last = max(last, at+m.took[i])
	}
	if x.cpu > 0 {
		p.Series(evidence.Series{Subject: s, Name: evidence.SeriesCPU, T: []int64{began, last + 1}, V: []float64{x.cpu, x.cpu}, Origin: p.Origin(1)})
	}
	p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverRequests, From: began, Until: last})
	for key, v := range map[string]float64{evidence.FactExpectedRate: x.expected, evidence.FactBaselineP50: x.well, evidence.FactBaselineP99: 2 * x.well, evidence.FactBaselineRate: x.wellRate, evidence.FactRepeated: x.repeats} {
		if v > 0 {
			p.Fact(evidence.Fact{Subject: s, Key: key, Number: v, Value: "10 s"})
		}
	}
	p.Close()
	l := ledger.Build(b, ledger.Options{SLO: 100e6})
	return judgeSurge(&check.Case{Bundle: b, Subject: s, Ledger: l[0]})
}

func TestSurge(t *testing.T) {
	for _, tt := range []struct {
		name  string
		in    traffic
		state string
		says  string
	}{
		{"as agreed", traffic{rates: []float64{20, 20}, servers: 2, expected: 18}, check.RuledOut, "/s, 18/s expected"},
		{"more, and nothing slow", traffic{rates: []float64{60, 60}, servers: 2, expected: 5}, check.RuledOut, "almost no requests are slow"},
		{"a stretch at the expected rate", traffic{rates: []float64{20, 150}, servers: 2, expected: 20}, check.Supported, "× the expected 20"},
		{"a rise, of which nobody told what was expected", traffic{rates: []float64{20, 150}, servers: 2}, check.Supported, "The request rate rose"},
		{"steady, of which nobody told", traffic{rates: []float64{120, 120}, servers: 2}, check.Inconclusive, "the expected rate is unknown"},
		{"full processors", traffic{rates: []float64{120, 120}, servers: 2, cpu: 99, expected: 10}, check.Supported, "12 × the expected 10"},
		{"processors not recorded", traffic{rates: []float64{120, 120}, servers: 2, expected: 10}, check.Inconclusive, "is unknown"},
		{"processors with room", traffic{rates: []float64{120, 120}, servers: 2, cpu: 30, expected: 10}, check.Inconclusive, "is unknown"},
		{"the baseline was fast", traffic{rates: []float64{120, 120}, servers: 2, well: 20e6, wellRate: 12}, check.Supported, "the expected 12"},
		{"the baseline was as slow", traffic{rates: []float64{120, 120}, servers: 2, well: 9e9, wellRate: 12}, check.RuledOut, "just as slow at the expected rate"},
		{"callers do not cache", traffic{rates: []float64{20, 150}, servers: 2, expected: 20, repeats: .6}, check.Supported, "× the expected"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := tt.in.judge(t)
			if text := v.Title + " " + v.Summary; v.State != tt.state || !strings.Contains(text, tt.says) {
				t.Errorf("%s: %s, want %s: %s", v.State, text, tt.state, tt.says)
			}
			if (v.Saves != nil) != (v.State == check.Supported) {
				t.Errorf("saves %v", v.Saves)
			}
			if v.State == check.Inconclusive && len(v.Needs) == 0 {
				t.Error("does not say what is missing")
			}
			if tt.in.repeats > 0 && !strings.Contains(evidenceOf(v), "callers do not cache") {
				t.Errorf("%s", evidenceOf(v))
			}
		})
	}
}

func evidenceOf(v check.Verdict) string {
	var texts []string
	for _, e := range v.Evidence {
		texts = append(texts, e.Text)
	}
	return strings.Join(texts, "; ")
}
