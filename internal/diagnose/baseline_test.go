package diagnose_test

import (
	"context"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose"
)

// TestBaseline: every request takes twice as long as it used to. No floor of
// today's shows that, the baseline does.
func TestBaseline(t *testing.T) {
	log := func(n int, latency int64) *evidence.Bundle {
		b := evidence.NewBundle()
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "access.log"}), "accesslog")
		*p.Clock() = evidence.Clock{Name: "unix"}
		s := p.Subject(evidence.Subject{})
		for i := range int64(n) {
			at := int64(1_700_000_000e9) + i*10e6
			p.Request(evidence.Request{Subject: s, Route: p.Name("GET /play"), Start: at, End: at + latency + i%10*1e5, Origin: p.Origin(i + 1)})
		}
		p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverRequests, From: int64(1_700_000_000e9), Until: int64(1_700_000_000e9) + int64(n)*10e6})
		p.Close()
		return b
	}
	diagnosed := func(o diagnose.Options) *diagnose.Diagnosis {
		d, err := diagnose.Run(context.Background(), log(500, 10e6), o)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	if r := diagnosed(diagnose.Options{}).Requests; r.Slow != 0 || r.SlowRule != "3x_route_floor" {
		t.Errorf("without a baseline %d are slow by %s", r.Slow, r.SlowRule)
	}
	if r := diagnosed(diagnose.Options{Baseline: log(500, 5e6)}).Requests; r.Slow != 500 || r.SlowRule != "baseline" || *r.SlowThresholdMs != 5.9 {
		t.Errorf("against the baseline %d are slow by %s over %g ms", r.Slow, r.SlowRule, *r.SlowThresholdMs)
	}
	d := diagnosed(diagnose.Options{Baseline: log(5, 5e6)})
	if len(d.Warnings) == 0 || !strings.Contains(d.Warnings[0].Text, "baseline holds too few requests") || d.Requests.SlowRule != "3x_route_floor" {
		t.Errorf("a baseline of five requests: %v, %s", d.Warnings, d.Requests.SlowRule)
	}
}
