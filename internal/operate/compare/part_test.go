package compare

import (
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Measuring a part of one recording gives the figures of one process in that part, whichever other processes were
// recorded. It counts the requests that ended in the part, under the schedule of the whole load.
func TestPart(t *testing.T) {
	b := evidence.NewBundle()
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "procfs"}), "procfs")
	at := func(s int) int64 { return noon.Add(time.Duration(s) * time.Second).UnixNano() }
	host := p.Subject(evidence.Subject{Kind: evidence.Host, Name: "host", CPUs: 2})
	p.Subject(evidence.Subject{Name: "one", PID: 11, StartTime: at(-100)}) // only named, not recorded
	one, other := p.Subject(evidence.Subject{Name: "one", PID: 11, StartTime: at(-50)}), p.Subject(evidence.Subject{Name: "other", PID: 12})
	half := func(s evidence.SubjectID, name string, first, second float64) {
		p.Series(evidence.Series{Subject: s, Name: name, T: []int64{at(0), at(10), at(20)}, V: []float64{first, second, second}})
	}
	half(one, evidence.SeriesProcessCPU, .5, 1.5)
	half(one, evidence.SeriesProcessCPUSystem, .125, 1)
	half(one, evidence.SeriesProcessRunDelay, .25, .5)
	half(one, evidence.SeriesProcessMinorFaults, 100, 9000)
	half(other, evidence.SeriesProcessCPU, .1, .1)
	half(host, evidence.SeriesHostCPUBusy, 1, 1.75)
	half(host, evidence.SeriesHostPressureMemorySome, 0, .25)
	p.Cover(evidence.Coverage{Subject: one, Kind: evidence.CoverRequests, From: at(0), Until: at(20)})
	route := p.Name("GET /")
	for i := range 2000 {
		end, took := at(0)+int64(i)*1e7, int64(1e6)
		if i >= 1000 {
			took = 4e6
		}
		p.Request(evidence.Request{Subject: one, Route: route, Intended: end - took, Start: end - took, End: end})
	}
	p.Load(evidence.LoadResult{URL: "http://127.0.0.1/", Tool: "unstall", Mode: "open", Offered: 100, Rate: 100, Completed: 2000, Duration: 20e9,
		Quantiles: []evidence.Quantile{{Q: .5, Ns: 3e6}}})
	p.Close()
	for from, want := range map[int]map[string]float64{
		0:  {"cpu_cores": .5, "system_cores": .125, "user_cores": .375, "run_queue_ms_per_s": 250, "minor_faults_per_s": 100, "memory_pressure": 0, "p50_ms": 1},
		12: {"cpu_cores": 1.5, "system_cores": 1, "user_cores": .5, "run_queue_ms_per_s": 500, "minor_faults_per_s": 9000, "memory_pressure": .25, "p50_ms": 4},
	} {
		since := time.Unix(0, at(from))
		runs := Measure(b, "part", MeasureOptions{Since: since, Until: since.Add(8 * time.Second), Process: 11})
		if len(runs) != 1 {
			t.Fatal(runs)
		}
		r := runs[0]
		for name, v := range want {
			if got, ok := r.Metrics[name]; !ok || got < .99*v || got > 1.01*v {
				t.Errorf("from %d s: %s is %g, %v; want %g", from, name, got, ok, v)
			}
		}
		if r.Load.Mode != "open" || r.Load.Offered != 100 || r.Load.Duration != 8*time.Second || r.Load.Rate < 95 || r.Load.Rate > 105 || !r.Start.Equal(since) {
			t.Errorf("from %d s: %+v, %v", from, r.Load, r.Start)
		}
	}
	since := time.Unix(0, at(0))
	if r := Measure(b, "part", MeasureOptions{Since: since, Until: since.Add(8 * time.Second), Process: 13})[0]; r.Metrics["cpu_cores"] != 0 {
		t.Errorf("of a process that was not recorded: %v", r.Metrics)
	}
	if r := Measure(b, "whole", MeasureOptions{})[0]; r.Metrics["p50_ms"] != 3 {
		t.Errorf("all of it: %v", r.Metrics)
	}
}

// Pieces of one stretch of time whose sides were drawn by lot are compared under any load. Differences of the
// load are reported.
func TestInTurn(t *testing.T) {
	six := []float64{1, 1.1, .9, 1, 1.2, 1}
	before, after := series("cpu_cores", six...), series("cpu_cores", times(six, .5)...)
	for i := range before {
		before[i].Load = Load{Arrivals: true, LatencyFrom: "server", Rate: 100 + 40*float64(i%2), Duration: 4 * time.Second}
		after[i].Load = Load{Arrivals: true, LatencyFrom: "server", Rate: 120, Duration: 4 * time.Second}
	}
	c, err := Compare(before, after, Options{})
	if err != nil || !c.Refused() {
		t.Fatalf("runs of other days are refused: %+v, %v", c, err)
	}
	c, err = Compare(before, after, Options{InTurn: true})
	if err != nil || c.Refused() {
		t.Fatalf("%+v, %v", c, err)
	}
	if m, ok := c.Of("cpu_cores"); !ok || m.Result != Improved {
		t.Errorf("%+v", m)
	}
	if len(c.Warnings) == 0 || !strings.Contains(strings.Join(c.Warnings, "\n"), "100/s") {
		t.Errorf("it is not said: %q", c.Warnings)
	}
	for i := range before {
		before[i].Load, after[i].Load = Load{}, Load{}
	}
	c, err = Compare(before, after, Options{InTurn: true})
	if m, ok := c.Of("cpu_cores"); err != nil || !ok || m.Result != Improved || c.Why != "" {
		t.Errorf("nobody knows the load: %+v, %v", c, err)
	}
}
