package service

import (
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// Workers that are replaced again and again are what helps against waiting at the sockets where most of that wait follows their starts.
func TestReplaceLess(t *testing.T) {
	at := func(s float64) int64 { return epoch + int64(s*float64(time.Second)) }
	for name, x := range map[string]struct {
		starts []int64
		ok     bool
	}{
		"two starts, and every wait follows one":   {[]int64{at(4), at(6)}, true},
		"one start":                                {[]int64{at(4)}, false},
		"two, of which one was before":             {[]int64{at(-4), at(4)}, false},
		"two starts long after what waited":        {[]int64{at(9), at(9.2)}, false},
		"two starts that ended long before a wait": {[]int64{at(1), at(1.1)}, false},
		"none": {nil, false},
	} {
		b := evidence.NewBundle()
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "procfs.txt"}), "procfs")
		master := p.Subject(evidence.Subject{Kind: evidence.Process, Name: "python", PID: 100, StartTime: at(-60)})
		for i, start := range x.starts {
			p.Subject(evidence.Subject{Kind: evidence.Process, Name: "python", PID: 101 + i, StartTime: start})
			p.Fact(evidence.Fact{Subject: master, Key: evidence.FactWorker, Number: float64(101 + i), Origin: p.Origin(1)})
		}
		wait := p.Wait(evidence.UnreadAt, "127.0.0.1:80")
		for i := range int64(100) {
			began, took := at(float64(i)/10), 5*ms
			var path evidence.Path
			if i >= 45 && i < 70 {
				took = 400 * ms
				path = path.Append(evidence.Segment{Kind: evidence.BeforeService, Cause: wait, Dur: took - 5*ms})
			}
			path = path.Append(evidence.Segment{Kind: evidence.Running, Dur: 5 * ms})
			p.Request(evidence.Request{Subject: master, Lane: evidence.LaneID(1 + i), Route: p.Name("GET /"), Start: began, End: began + took, Path: path})
		}
		for _, kind := range []string{evidence.CoverRequests, evidence.CoverStates} {
			p.Cover(evidence.Coverage{Subject: master, Kind: kind, From: epoch, Until: at(10), Sampled: ms})
		}
		p.Close()
		c := &check.Case{Bundle: b, Subject: master, Ledger: ledger.Build(b, ledger.Options{SLO: 100 * time.Millisecond})[0]}
		var v check.Verdict
		fix, ok := replaceLess(c, &v, epoch, at(10))
		if ok != x.ok || ok != strings.Contains(fix.Text, "2 workers") || ok != (len(v.Evidence) == 1) {
			t.Errorf("%s: %v, %q, %v", name, ok, fix.Text, v.Evidence)
		}
	}
}

// A select may end by a timer: it is no wait for another request.
func TestTitleOfSelect(t *testing.T) {
	for name, want := range map[string]string{
		"select in main.(*gate).wait":  "Slow requests wait for another goroutine or for a timer: select in main.(*gate).wait",
		"chan receive in main.collect": "Slow requests wait for other requests: chan receive in main.collect",
	} {
		if got := placeTitle(ledger.Goroutine, evidence.Wait{}, name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
