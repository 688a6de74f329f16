package service

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// paused is ten seconds of a service whose collector stops it for stop ms in so many of the seconds, and for a tenth of that in the
// others, as its own requests saw it: some were under way, or all came before and after.
func paused(t *testing.T, stop, stops int64, met bool) *check.Case {
	t.Helper()
	b := evidence.NewBundle()
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "shop.nettrace"}), "nettrace")
	s := p.Subject(evidence.Subject{Runtime: "dotnet", CPUs: 2})
	stack := p.Stack([]evidence.Frame{{Func: p.Name("System.Private.CoreLib!System.GC.Collect()")}, {Func: p.Name("Shop!Shop.Memory.Trim()")}})
	long := stop
	for i := range int64(10) {
		if stop = long; i >= stops {
			stop = max(1, long/10)
		}
		from := epoch + i*1000*ms + 500*ms
		p.Interval(evidence.Interval{Subject: s, Lane: evidence.AllLanes, Kind: evidence.StopTheWorld, Start: from, End: from + stop*ms, Cause: p.Name("gen 2"), Origin: p.Origin(i + 1)})
		p.Interval(evidence.Interval{Subject: s, Kind: evidence.GCCycle, Start: from + 1, End: from + stop*ms - 1, Cause: p.Name("gen 2, large allocations"), Stack: stack, Origin: p.Origin(i + 1)})
		for k := range int64(100) {
			at := epoch + i*1000*ms + k*10*ms
			took := 2 * ms
			switch in := at >= from && at < from+stop*ms; {
			case in && !met:
				continue
			case in:
				took = from + stop*ms - at + 2*ms
			}
			p.Request(evidence.Request{Subject: s, Lane: 1, Route: p.Name("GET /"), Start: at, End: at + took, Path: evidence.Path(nil).Append(evidence.Segment{Kind: evidence.Paused, Dur: took - 2*ms}).Append(evidence.Segment{Kind: evidence.Running, Dur: 2 * ms})})
		}
	}
	for _, kind := range []string{evidence.CoverRequests, evidence.CoverStates, evidence.CoverGC} {
		p.Cover(evidence.Coverage{Subject: s, Kind: kind, From: epoch, Until: epoch + 10_000*ms, Sampled: ms})
	}
	p.Close()
	return &check.Case{Bundle: b, Subject: s, Ledger: ledger.Build(b, ledger.Options{})[0]}
}

func TestPauses(t *testing.T) {
	for _, tt := range []struct {
		name        string
		stop, stops int64
		met         bool
		state, says string
	}{
		{"they met requests", 60, 10, true, check.Supported, "Slow requests are paused by GC, mostly by collections of gen 2, large allocations"},
		{"requests wait before the service knows of them", 60, 10, false, check.Supported, "GC pauses the program 6 % of the time, mostly by collections of gen 2"},
		{"short ones", 5, 10, false, check.RuledOut, ""},
		{"one long among short ones", 200, 1, true, check.Inconclusive, "mostly by 1 pause, which another recording may not have"},
		{"three long among short ones", 200, 3, true, check.Supported, "Slow requests are paused by GC"},
		{"one of a second", 1100, 1, true, check.Supported, "Slow requests are paused by GC"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := judgeWaiting(paused(t, tt.stop, tt.stops, tt.met))
			if text := v.Title + " " + v.Summary; v.State != tt.state || !strings.Contains(text, tt.says) {
				t.Errorf("%s: %s, want %s: %s", v.State, text, tt.state, tt.says)
			}
			if v.Supported() && tt.met && (v.Saves == nil || len(v.Fix) == 0 || v.Fix[0].Code != "Shop!Memory.Trim()") {
				t.Errorf("saves %+v, fix %+v", v.Saves, v.Fix)
			}
		})
	}
}
