package golang

import (
	"testing"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// beside puts an access log beside a gc log: a request of 1 ms every 4 ms, of
// which those that meet a cycle take longer by the given time.
func beside(t *testing.T, l log, slower, resolution int64) *check.Case {
	t.Helper()
	c := l.build()
	c.Bundle.Clocks[0].Error = 1e6
	b := c.Bundle.Builder(c.Bundle.AddArtifact(evidence.Artifact{Name: "access.log"}), "accesslog")
	b.Clock().Resolution = resolution
	s := b.Subject(evidence.Subject{})
	until := 1e9 + int64(l.n)*l.period
	for at := int64(1e9); at < until; at += 4e6 {
		dur := int64(1e6)
		if (at-1e9)%l.period < l.mark {
			dur += slower
		}
		b.Request(evidence.Request{Subject: s, Start: at, End: at + dur})
	}
	b.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverRequests, From: 1e9, Until: until})
	b.Close()
	c.Bundle.Unify()
	c.Bundle.Align()
	c.Ledger = ledger.Build(c.Bundle, ledger.Options{})[0]
	return c
}

// TestGCRateBesideAccessLog: without states, requests that meet cycles are held
// against those that do not, if the clocks are good enough.
func TestGCRateBesideAccessLog(t *testing.T) {
	often := log{n: 100, period: 110e6, mark: 30e6, live: wobble, goal: follows, workers: .5}
	for _, c := range []struct {
		name       string
		slower     int64
		resolution int64
		want       string
	}{
		{"slower in cycles", 5e6, 1e6, check.Supported},
		{"the same in cycles", 0, 1e6, check.Inconclusive},
		{"stamps of 1 s", 5e6, 1e9, check.Inconclusive},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := GCRate.Judge(beside(t, often, c.slower, c.resolution))
			if v.State != c.want {
				t.Fatalf("%s (%s), want %s", v.State, v.Summary, c.want)
			}
			if c.want == check.Supported && (v.Saves == nil || *v.Saves.Low != 0 || *v.Saves.High < v.Saves.Value) {
				t.Errorf("saves %+v, want a bound from 0", v.Saves)
			}
		})
	}
}
