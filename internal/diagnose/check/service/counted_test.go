package service

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// A rush that comes too fast for each request to be followed is in the service's own counters: more come, and
// wait before it begins with them.
func TestCountedSurge(t *testing.T) {
	steady := []float64{50, 52, 49, 51, 50, 48, 50, 51, 50, 50, 49, 51}
	rush := []float64{50, 52, 49, 51, 50, 48, 50, 51, 480, 470, 490, 480, 100, 50}
	for _, tt := range []struct {
		name        string
		done, queue []float64
		state       string
	}{
		{"a rush", rush, []float64{0, 0, 0, 0, 0, 0, 0, 0, 180, 300, 420, 300, 0, 0}, check.Supported},
		{"a rush that it can bear", rush, make([]float64, len(rush)), ""},
		{"a queue without one", steady, []float64{0, 0, 90, 120, 110, 90, 130, 120, 110, 90, 100, 120}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := evidence.NewBundle()
			p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "events.nettrace"}), "nettrace")
			*p.Clock() = evidence.Clock{Name: "unix"}
			s := p.Subject(evidence.Subject{Runtime: "dotnet", CPUs: 2})
			for i := range int64(300) {
				at := began + i*20e6
				p.Request(evidence.Request{Subject: s, Lane: 7, Route: p.Name("GET /ticket"), Start: at, End: at + 4e6, Origin: p.Origin(i + 1)})
			}
			var times []int64
			for i := range tt.done {
				times = append(times, began+int64(i+1)*1e9)
			}
			p.Series(evidence.Series{Subject: s, Name: evidence.SeriesRequestRate, T: times, V: tt.done, Origin: p.Origin(1)})
			p.Series(evidence.Series{Subject: s, Name: evidence.SeriesPoolQueue, T: times, V: tt.queue, Origin: p.Origin(2)})
			p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverRequests, From: began, Until: began + 6e9})
			p.Close()
			var v check.Verdict
			judgeCountedSurge(&check.Case{Bundle: b, Subject: s, Ledger: ledger.Build(b, ledger.Options{})[0]}, &v)
			if v.State != tt.state {
				t.Errorf("%s: %s", v.State, v.Summary)
			}
			if tt.state == check.Supported && !strings.Contains(v.Title, "rose 1") {
				t.Error(v.Title)
			}
		})
	}
}
