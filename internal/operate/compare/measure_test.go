package compare

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/all"
)

const ms = int64(1e6)

// watched is a service recorded for ten seconds by all sources: its access log, GC, MemStats at both ends, a
// CPU profile and /proc.
func watched() *evidence.Bundle {
	b := incident.NewBundle()
	from := noon.UnixNano()
	source := func(name string) *evidence.Builder {
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: name}), name)
		*p.Clock() = evidence.Clock{Name: "unix"}
		return p
	}
	p := source("access.log")
	s := p.Subject(evidence.Subject{})
	for i := range int64(5000) {
		at := from + i*2*ms
		r := evidence.Request{Subject: s, Route: p.Name("GET /a"), Start: at, End: at + 2*ms, Origin: p.Origin(i + 1)}
		if i%50 == 0 {
			r.End += 10 * ms
		}
		if i%100 == 0 {
			r.Route, r.Outcome = p.Name("GET /b"), evidence.Failed
		}
		p.Request(r)
	}
	p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverRequests, From: from, Until: from + 10_000*ms})
	p.Close()

	p = source("gctrace")
	s = p.Subject(evidence.Subject{Runtime: "go"})
	for i := range int64(50) { // 5 a second, each with 4 ms of assists
		at := from + i*200*ms
		p.Interval(evidence.Interval{Subject: s, Kind: evidence.GCCycle, Start: at, End: at + 20*ms, Origin: p.Origin(i + 1), Extra: []evidence.Extra{
			{Key: evidence.AssistTime, Value: 4e6}, {Key: evidence.HeapLive, Value: 40 << 20}, {Key: evidence.HeapGoal, Value: 80 << 20}}})
	}
	p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverGC, From: from, Until: from + 10_000*ms})
	p.Close()

	p = source("heap")
	s = p.Subject(evidence.Subject{Runtime: "go"})
	for _, at := range []int64{0, 10} {
		for key, perSecond := range map[string]float64{"NumGC": 6, "NumForcedGC": 1, "TotalAlloc": 100 << 20} {
			p.Fact(evidence.Fact{Subject: s, Key: key, Number: 1000 + perSecond*float64(at), From: from + at*1000*ms, Until: from + at*1000*ms, Origin: p.Origin(0)})
		}
	}
	p.Close()

	p = source("cpu.pb.gz")
	s = p.Subject(evidence.Subject{Runtime: "go"})
	for class, v := range map[string]int64{"": 3e9, "gc background mark (dedicated)": 8e8, "gc assist": 2e8} {
		p.Sample(evidence.Sample{Subject: s, Type: p.Name("cpu"), Unit: p.Name("nanoseconds"), Class: p.Name(class), Value: v, Origin: p.Origin(1)})
	}
	p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverCPUProfile, From: from, Until: from + 5000*ms})
	p.Close()

	p = source("procfs")
	host := p.Subject(evidence.Subject{Kind: evidence.Host, CPUs: 4})
	s = p.Subject(evidence.Subject{PID: 4711, Name: "gateway"})
	other := p.Subject(evidence.Subject{PID: 12, Name: "burn"})
	for _, x := range []evidence.Series{{Subject: host, Name: "host.cpu.busy", V: []float64{2, 2}}, {Subject: host, Name: "host.cpu.steal", V: []float64{.2, .2}},
		{Subject: s, Name: "process.cpu", V: []float64{1.2, 1.2}}, {Subject: s, Name: "process.rss", V: []float64{100 << 20, 100 << 20}},
		{Subject: other, Name: "process.cpu", V: []float64{.5, .5}}} {
		x.T, x.Origin = []int64{from, from + 10_000*ms}, p.Origin(1)
		p.Series(x)
	}
	p.Cover(evidence.Coverage{Subject: host, Kind: evidence.CoverHostCPU, From: from, Until: from + 10_000*ms})
	p.Close()
	return b
}

func TestMeasure(t *testing.T) {
	runs := Measure(watched(), "x", MeasureOptions{SLO: 5 * time.Millisecond})
	if len(runs) != 1 {
		t.Fatalf("%d runs", len(runs))
	}
	r := runs[0]
	want := map[string]float64{"p50_ms": 2, "p90_ms": 2, "p99_ms": 12, "p999_ms": 12, "mean_ms": 2.2, "slow_share": .02, "rate": 500, "errors": .01,
		"gc_cycles_per_s": 5, "gc_cpu_share": .25, "assist_ms_per_s": 20, "assist_us_per_request": 40, "cpu_cores": 1.2, "cpu_ms_per_request": 2.4,
		"alloc_mib_per_s": 100, "live_heap_mib": 40, "heap_goal_mib": 80, "rss_mib": 100, "stopped_ms_per_s": 0}
	for name, v := range want {
		if got, ok := r.Metrics[name]; !ok || math.Abs(got-v) > 1e-6*v {
			t.Errorf("%s is %g (%v), want %g", name, got, ok, v)
		}
	}
	for name := range r.Metrics {
		if _, ok := want[name]; !ok {
			t.Errorf("%s was not there to be measured", name)
		}
	}
	l := r.Load
	if l.Rate != 500 || !l.Arrivals || l.LatencyFrom != "server" || l.Duration != 10*time.Second || l.Sent != 5000 || l.Failed != 50 ||
		math.Abs(l.Routes["GET /b"]-.01) > 1e-9 || l.Others == nil || math.Abs(*l.Others-.25) > 1e-9 || !r.Start.Equal(noon) {
		t.Errorf("%+v, start %v", l, r.Start)
	}
	if iv, ok := r.Within["p99_ms"]; !ok || iv.Low > 12*1.01 || iv.High < 12/1.01 || iv.High-iv.Low > 2 { // buckets are 1 % wide
		t.Errorf("within the run p99 is %+v", r.Within)
	}
}

// A generator's latencies replace those the service recorded, because they include the wait before the
// service.
func TestTheLoadGeneratorSeesMore(t *testing.T) {
	b := watched()
	b.Loads = append(b.Loads, evidence.LoadResult{Tool: "unstall", URL: "http://h/", Mode: "open", Duration: 10e9, Offered: 500, Rate: 499, Sent: 5000, Completed: 4990, Errors: 50,
		Quantiles: []evidence.Quantile{{Q: .5, Ns: 3e6}, {Q: .99, Ns: 20e6}}})
	r := Measure(b, "x", MeasureOptions{})[0]
	if _, ok := r.Metrics["p999_ms"]; ok || r.Metrics["p50_ms"] != 3 || r.Metrics["p99_ms"] != 20 || r.Metrics["rate"] != 499 || r.Within["p99_ms"] != (stats.Interval{}) {
		t.Errorf("%v, within %v", r.Metrics, r.Within)
	}
	if l := r.Load; l.Offered != 500 || l.Mode != "open" || l.LatencyFrom != "intended" || l.Arrivals || len(l.Routes) != 2 || l.Others == nil {
		t.Errorf("%+v", l)
	}
}

// A program that serves no requests and shows no GC has the figures that the kernel counts of it; those of its neighbour are not
// taken for them.
func TestWithoutRequests(t *testing.T) {
	b := incident.NewBundle()
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "procfs.txt"}), "procfs")
	*p.Clock() = evidence.Clock{Name: "unix"}
	from := noon.UnixNano()
	neighbour, s := p.Subject(evidence.Subject{PID: 12, Name: "burn"}), p.Subject(evidence.Subject{PID: 4711, Name: "grinder"})
	for id, cpu := range map[evidence.SubjectID]float64{neighbour: 1.5, s: .4} {
		p.Series(evidence.Series{Subject: id, Name: "process.cpu", T: []int64{from, from + 10_000*ms}, V: []float64{cpu, cpu}, Origin: p.Origin(1)})
	}
	p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverOnCPU, From: from, Until: from + 10_000*ms})
	p.Close()
	r := Measure(b, "x", MeasureOptions{})[0]
	if got, ok := r.Metrics["cpu_cores"]; !ok || got != .4 {
		t.Errorf("cpu_cores is %g (%v), want .4", got, ok)
	}
}

func TestNothingToMeasure(t *testing.T) {
	if runs := Measure(incident.NewBundle(), "x", MeasureOptions{}); len(runs) != 1 || len(runs[0].Metrics) != 0 {
		t.Errorf("%+v", runs)
	}
}

func reader(t *testing.T) Reader {
	return func(names []string) *evidence.Bundle {
		b := incident.NewBundle()
		for _, name := range names {
			paths := []string{name}
			if entries, err := os.ReadDir(name); err == nil {
				paths = nil
				for _, e := range entries {
					paths = append(paths, filepath.Join(name, e.Name()))
				}
			}
			for _, p := range paths {
				if c, err := capture.Open(p); err == nil {
					for _, a := range c.Artifacts() {
						if err := format.Read(context.Background(), all.Formats, a, b); err != nil {
							t.Log(err)
						}
					}
					continue
				}
				if err := format.Read(context.Background(), all.Formats, format.File(p), b); err != nil {
					t.Log(err)
					return nil
				}
			}
		}
		return b
	}
}

const (
	loadJSON = `{"schema":"unstall.load/v1","url":"http://h/","mode":"open","latency_from":"intended","duration_s":10,"offered_rate":100,"sent":1000,"completed":1000,"errors":0,"rate":{"mean":100},"latency_ms":{"p50":1,"p99":NINE}}`
	gcLine   = "gc 1 @0.200s 17%: 0.11+81+0.02 ms clock, 0.22+21/40/13+0.04 ms cpu, 79->88->41 MB, 82 MB goal, 0 MB stacks, 0 MB globals, 2 P\n"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	load := func(p99 string) string { return strings.Replace(loadJSON, "NINE", p99, 1) }
	write("each/1.json", load("9"))
	write("each/2.json", load("8"))
	write("each/.hidden", "x")
	write("each/notes.txt", "what was changed\n")
	diagnosis := write("each/3.json", `{"schema": "unstall.diagnosis/v1", "window": {"start": "2026-11-20T14:02:10Z", "duration_s": 30}, "requests": {"count": 9, "rate": 100, "p50_ms": 1, "p99_ms": 7, "p999_ms": null, "slow": 1, "slow_rule": "slo"}}`)
	write("together/load.json", load("6"))
	write("together/gc.log", gcLine+strings.ReplaceAll(gcLine, "gc 1 @0.2", "gc 2 @0.9"))
	write("dirs/b/load.json", load("5"))
	write("dirs/a/load.json", load("4"))
	write("many.json", load("3")+"\n"+load("2"))
	for name, want := range map[string][]float64{"each": {9, 8, 7}, "each/1.json": {9}, "together": {6}, "dirs": {4, 5}, "many.json": {3, 2}} {
		runs, err := Read(filepath.Join(dir, name), reader(t), MeasureOptions{})
		var got []float64
		for _, r := range runs {
			got = append(got, r.Metrics["p99_ms"])
		}
		if err != nil || len(got) != len(want) {
			t.Errorf("%s: %v, %v; want %v", name, got, err, want)
			continue
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%s: %v, want %v", name, got, want)
			}
		}
	}
	for _, name := range []string{"each", "together"} {
		write(name+"/notes.txt", "what was changed\n")
		if runs, err := Read(filepath.Join(dir, name), reader(t), MeasureOptions{}); err != nil || !slices.ContainsFunc(runs[0].Warnings, func(w string) bool { return strings.HasSuffix(w, "skipped: unknown format: notes.txt") }) {
			t.Errorf("%s: %+v, %v", name, runs, err)
		}
	}
	write("unknown/notes.txt", "what was changed\n")
	if _, err := Read(filepath.Join(dir, "unknown"), reader(t), MeasureOptions{}); err == nil || !strings.Contains(err.Error(), "no file in this directory (of 1) has a known format") {
		t.Error(err)
	}
	runs, err := Read(diagnosis, reader(t), MeasureOptions{})
	if err != nil || runs[0].Load.Rate != 100 || !runs[0].Load.Arrivals || runs[0].Start.IsZero() || len(runs[0].Metrics) != 4 {
		t.Errorf("%+v, %v", runs, err)
	}
	broken := write("broken.json", `{"schema":"unstall.diagnosis/v1", "window": 7}`)
	if _, err := Read(broken, reader(t), MeasureOptions{}); err == nil || !strings.Contains(err.Error(), "broken.json") {
		t.Error(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(filepath.Join(dir, "empty"), reader(t), MeasureOptions{}); err == nil {
		t.Error("an empty directory was a run")
	}
}

// A directory of captures is a run for each.
func TestReadCaptures(t *testing.T) {
	dir := t.TempDir()
	for name, p99 := range map[string]string{"a.unstall": "9", "b.unstall": "8"} {
		w, err := capture.Create(filepath.Join(dir, name), capture.Info{})
		if err != nil {
			t.Fatal(err)
		}
		f, err := w.Create(capture.Meta{Name: "load.json"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(strings.Replace(loadJSON, "NINE", p99, 1))); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(f.Close(), w.Close()); err != nil {
			t.Fatal(err)
		}
	}
	runs, err := Read(dir, reader(t), MeasureOptions{})
	if err != nil || len(runs) != 2 || runs[0].Metrics["p99_ms"] != 9 || runs[1].Metrics["p99_ms"] != 8 || runs[0].Load.Offered != 100 {
		t.Errorf("%+v, %v", runs, err)
	}
}

func FuzzReadDiagnosis(f *testing.F) {
	f.Add(`{"schema":"unstall.diagnosis/v1","requests":{"p99_ms":1},"loads":[{"rate":1}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ReadDiagnosis(strings.NewReader(text), "x")
		if err != nil {
			return
		}
		for name, v := range r.Metrics {
			if !(v >= 0) || math.IsInf(v, 0) {
				t.Errorf("%s is %g", name, v)
			}
		}
	})
}
