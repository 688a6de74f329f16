package golang

import (
	"context"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/model"
	"github.com/unstall/unstall/internal/analyze/model/goheap"
	"github.com/unstall/unstall/internal/analyze/model/queue"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/format"
	formats "github.com/unstall/unstall/internal/format/all"
)

// recorded reads files of a recording as a case with its requests.
func recorded(t *testing.T, dir string, names ...string) *check.Case {
	t.Helper()
	b := incident.NewBundle()
	for _, name := range names {
		if err := format.Read(context.Background(), formats.Formats, format.File(filepath.Join(dir, name)), b); err != nil {
			t.Fatal(err)
		}
	}
	b.Unify()
	b.Align()
	for _, l := range ledger.Build(b, ledger.Options{}) {
		if c := (&check.Case{Bundle: b, Subject: l.Subject, Ledger: l}); c.Runtime() == "go" {
			return c
		}
	}
	t.Fatal("no Go process with requests")
	return nil
}

// The replay gives what was observed of the setting in force, and requests are never
// slower with more headroom.
func TestReplayOfRecordings(t *testing.T) {
	const lab, fixture = "../../../../lab/go-ballast/recorded/sick", "../testdata/go.gc-rate/sick"
	for _, tt := range []struct {
		name, dir string
		files     []string
	}{
		{"a trace alone", lab, []string{"trace.out.gz"}},
		{"a short trace alone", fixture, []string{"trace.out.gz"}},
		{"all there is, of which the access log does not show who waits for its handler", fixture, []string{"trace.out.gz", "gctrace.log", "cpu.pb.gz", "access.log.gz"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := recorded(t, tt.dir, tt.files...)
			l, err := collectorOf(c).Latencies()
			if err != nil {
				t.Fatal(err)
			}
			h, err := heapOfCase(c)
			if err != nil {
				t.Fatal(err)
			}
			at := func(s goheap.Setting) goheap.Outcome {
				o, err := h.Predict(goheap.Scenario{Setting: s})
				if err != nil {
					t.Fatal(err)
				}
				return o
			}
			now := at(h.Setting)
			observed, before := float64(l.Fit.P99.Observed)/1e6, l.At(now, now)
			t.Logf("p99 %.2f ms, observed %.2f", before.Value, observed)
			if math.Abs(before.Value/observed-1) > queue.Tolerance {
				t.Errorf("p99 %.2f ms now, %.2f were observed", before.Value, observed)
			}
			for _, s := range []goheap.Setting{{GOGC: 200}, {GOGC: 400}, {GOGC: goheap.Off, Limit: 2 << 30}} {
				then := l.At(now, at(s))
				t.Logf("%v: %.2f ms (%.2f–%.2f)", s, then.Value, then.Low, then.High)
				if !then.Ranged() || then.Value > before.Value {
					t.Errorf("%v: p99 %+v, with less headroom %+v", s, then, before)
				}
				before = then
			}
		})
	}
}

// logged is a service seen by a log of requests and one of cycles: a run of the model,
// with a cycle in each stretch of 100 ms. The requests' stamps are right within error
// (ns); handlers alone leaves out of their times what they waited.
func logged(t *testing.T, err int64, handlers bool) *check.Case {
	t.Helper()
	const stretch, work, slower = 100_000_000, 30e6, 2
	b := incident.NewBundle()
	gc := b.Builder(b.AddArtifact(evidence.Artifact{Name: "gc.log"}), "gctrace")
	s := gc.Subject(evidence.Subject{Runtime: "go", CPUs: 2})
	log := b.Builder(b.AddArtifact(evidence.Artifact{Name: "requests.log"}), "accesslog")
	log.Clock().Resolution = err
	peer := log.Subject(evidence.Subject{})
	chance := rand.New(rand.NewPCG(1, 2))
	const n = 50
	for k := range int64(n) {
		var arrive, own []int64
		for at := k * stretch; ; {
			if at += int64(chance.ExpFloat64() * 1e6); at >= (k+1)*stretch-20e6 { // the last ones end before the next cycle
				break
			}
			arrive, own = append(arrive, 1e9+at), append(own, int64(4e5*(.8+.4*chance.Float64())))
		}
		out, e := goheap.Program{Processors: 2, Marking: goheap.Marking{Every: 1e15, Phase: 1, Work: work, Runway: 1e7, Slower: slower}}.Serve(arrive, own)
		if e != nil || out.Cycles != 1 {
			t.Fatalf("%d cycles, %v", out.Cycles, e)
		}
		for i, at := range arrive {
			r := evidence.Request{Subject: peer, Start: at, End: at + out.Latency[i]}
			if handlers {
				r.Start = r.End - own[i]
			}
			log.Request(r)
		}
		from, to := arrive[0], arrive[0]+int64(out.Marked)
		gc.Interval(evidence.Interval{Subject: s, Kind: evidence.GCCycle, Start: from, End: to, Origin: gc.Origin(k + 1), Extra: []evidence.Extra{
			{Key: evidence.HeapLive, Value: 40 * mib}, {Key: evidence.HeapGoal, Value: 80 * mib}, {Key: evidence.HeapBefore, Value: 74 * mib}, {Key: evidence.HeapAfter, Value: 80 * mib},
			{Key: evidence.MarkTime, Value: out.Marked}, {Key: evidence.AssistTime, Value: out.Assist}, {Key: evidence.BackgroundTime, Value: out.Workers},
			{Key: evidence.IdleTime, Value: out.Idle}, {Key: evidence.Processors, Value: 2}}})
		gc.Interval(evidence.Interval{Subject: s, Kind: evidence.GCMark, Start: from, End: to, Origin: gc.Origin(k + 1)})
	}
	gc.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverGC, From: 1e9, Until: 1e9 + n*stretch})
	log.Cover(evidence.Coverage{Subject: peer, Kind: evidence.CoverRequests, From: 1e9, Until: 1e9 + n*stretch})
	gc.Clock().Error = 1e5
	gc.Close()
	log.Close()
	b.Unify()
	b.Align()
	return &check.Case{Bundle: b, Subject: s, Ledger: ledger.Build(b, ledger.Options{})[0]}
}

func TestReplayOfLogs(t *testing.T) {
	for _, tt := range []struct {
		name     string
		err      int64
		handlers bool
		refused  string
	}{
		{"stamps of a microsecond", 1e3, false, ""},
		{"stamps of a millisecond", 1e6, false, ""},
		{"stamps of a second", 1e9, false, "the clocks of requests and GC cycles may differ by 999.9"},
		{"handlers alone", 1e3, true, "the log does not show how long requests waited before their handler ran"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l, err := collectorOf(logged(t, tt.err, tt.handlers)).Latencies()
			if tt.refused != "" {
				if err == nil || !strings.Contains(err.Error(), tt.refused) {
					t.Fatalf("%v, want %q", err, tt.refused)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(l.Slower-2) > .4 {
				t.Errorf("found %.2f times slower, made with 2", l.Slower)
			}
			now := goheap.Outcome{Cycles: model.Exactly(10), Collector: model.Exactly(.3)}
			before := l.At(now, now).Value
			if observed := float64(l.Fit.P99.Observed) / 1e6; math.Abs(before/observed-1) > queue.Tolerance {
				t.Errorf("p99 %.2f ms now, %.2f were observed", before, observed)
			}
			for _, times := range []float64{.5, .1} {
				then := l.At(now, goheap.Outcome{Cycles: model.Exactly(10 * times), Collector: model.Exactly(.3 * times)}).Value
				if !(then < before) {
					t.Errorf("p99 %.2f ms with %g times the cycles, %.2f before", then, times, before)
				}
				before = then
			}
		})
	}
	t.Run("cycles without stamps", func(t *testing.T) {
		_, err := collectorOf(recorded(t, "../../../../lab/go-ballast/recorded/sick", "gctrace.log", "access.log.gz")).Latencies()
		if err == nil || !strings.Contains(err.Error(), "add timestamps to its lines") {
			t.Errorf("%v", err)
		}
	})
}
