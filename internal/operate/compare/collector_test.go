package compare

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// fixture measures the recording of a cause's fixture.
func fixture(t *testing.T, name string) Run {
	t.Helper()
	var files []string
	for _, pattern := range []string{"*.gz", "*.zst", "*.log"} {
		more, err := filepath.Glob(filepath.Join("../../diagnose/check/testdata", name, pattern))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, more...)
	}
	b := reader(t)(files)
	if len(files) == 0 || b == nil {
		t.Fatalf("%s could not be read", name)
	}
	return Measure(b, name, MeasureOptions{})[0]
}

// collectors are the metrics of garbage collectors.
var collectors = []string{"gc_cycles_per_s", "full_collections_per_s", "gc_cpu_share", "gc_pause_cpu_share", "assist_ms_per_s", "assist_us_per_request", "stopped_ms_per_s",
	"longest_pause_ms", "alloc_mib_per_s", "promoted_mib_per_s", "live_heap_mib", "heap_goal_mib"}

// Figures equal those counted by hand in the logs. A figure that a runtime does not have, or that its source
// does not give, is absent and not 0.
func TestCollectorsOfAllRuntimes(t *testing.T) {
	for name, want := range map[string]map[string]float64{
		"jvm.young-gc-rate/sick": {"gc_cycles_per_s": 3.25, "full_collections_per_s": 0, "stopped_ms_per_s": 117.8, "longest_pause_ms": 45.99,
			"alloc_mib_per_s": 308.3, "promoted_mib_per_s": 72.7, "live_heap_mib": 65.5},
		"jvm.young-gc-rate/healthy":            {"gc_cycles_per_s": .5, "full_collections_per_s": 0, "stopped_ms_per_s": 1.63, "longest_pause_ms": 3.946, "alloc_mib_per_s": 48.8, "promoted_mib_per_s": 0},
		"jvm.full-gc/sick":                     {"gc_cycles_per_s": .674, "full_collections_per_s": .674, "stopped_ms_per_s": 141.8, "longest_pause_ms": 240.9, "alloc_mib_per_s": 48.6, "live_heap_mib": 160},
		"jvm.allocation-stall/sick":            {"gc_cycles_per_s": 2.25, "full_collections_per_s": 0, "stopped_ms_per_s": .12, "longest_pause_ms": .065, "alloc_mib_per_s": 236, "live_heap_mib": 353},
		"dotnet.threadpool-starvation/sick":    {"gc_cycles_per_s": 0, "full_collections_per_s": 0, "stopped_ms_per_s": 0, "alloc_mib_per_s": .32},
		"dotnet.threadpool-starvation/healthy": {"gc_cycles_per_s": 0, "full_collections_per_s": 0, "stopped_ms_per_s": 0, "alloc_mib_per_s": 1.41},
		"go.gc-rate/sick": {"gc_cycles_per_s": 6.65, "gc_cpu_share": .614, "assist_ms_per_s": 76, "assist_us_per_request": 126, "stopped_ms_per_s": 1.33, "longest_pause_ms": 1.2,
			"alloc_mib_per_s": 292.7, "live_heap_mib": 50, "heap_goal_mib": 101},
	} {
		r := fixture(t, name)
		for _, metric := range collectors {
			got, known := r.Metrics[metric]
			figure, wanted := want[metric]
			switch {
			case known != wanted:
				t.Errorf("%s: %s is %g, known: %v, want known: %v", name, metric, got, known, wanted)
			case math.Abs(got-figure) > .02*figure:
				t.Errorf("%s: %s is %g, want %g", name, metric, got, figure)
			}
		}
	}
}

// A JVM's GC share is of its CPU time in pauses, from its GC log and the process's CPU time.
func TestCPUOfPauses(t *testing.T) {
	r := fixture(t, "jvm.gc-kernel-time/sick")
	if share, ok := r.Metrics["gc_pause_cpu_share"]; !ok || share <= .05 || share >= 1 {
		t.Errorf("%g, %v of the process's CPU time", share, ok)
	}
	if _, ok := r.Metrics["gc_cpu_share"]; ok {
		t.Error("a JVM's log tells what its collector used beside the program")
	}
}

// Two captures of a JVM show the uncertainty of the GC figures.
func TestIntervalsOfCollectors(t *testing.T) {
	sick, healthy := fixture(t, "jvm.young-gc-rate/sick"), fixture(t, "jvm.young-gc-rate/healthy")
	for _, metric := range []string{"gc_cycles_per_s", "stopped_ms_per_s", "alloc_mib_per_s", "promoted_mib_per_s"} {
		iv, ok := sick.Within[metric]
		if v := sick.Metrics[metric]; !ok || !iv.Contains(v) || iv.Low < v/2 || iv.High > 2*v {
			t.Errorf("%s is %g, within %+v (%v)", metric, v, iv, ok)
		}
	}
	if _, ok := sick.Within["longest_pause_ms"]; ok {
		t.Error("blocks of time say nothing of the longest pause")
	}
	c, err := Compare([]Run{sick}, []Run{healthy}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, metric := range []string{"gc_cycles_per_s", "stopped_ms_per_s"} {
		m, ok := c.Of(metric)
		if !ok || m.Low == nil || m.High == nil || *m.Basis != BasisWithin || *m.Low >= *m.Change || *m.High <= *m.Change || *m.High > -.5 {
			t.Errorf("%s: %+v", metric, m)
		}
	}
}

// GC figures are absent where GC was not recorded or where its process is unknown.
func TestNoCollector(t *testing.T) {
	for name, subject := range map[string]evidence.Subject{"a JVM that nobody watched": {Runtime: "jvm"}, "a program of its own": {Name: "nginx"}} {
		b := evidence.NewBundle()
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "procfs"}), "procfs")
		s := p.Subject(subject)
		p.Series(evidence.Series{Subject: s, Name: evidence.SeriesProcessCPU, T: []int64{noon.UnixNano(), noon.UnixNano() + 1e9}, V: []float64{1, 1}})
		p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverCPUProfile, From: noon.UnixNano(), Until: noon.UnixNano() + 1e9})
		p.Close()
		r := Measure(b, name, MeasureOptions{})[0]
		for _, metric := range collectors {
			if v, ok := r.Metrics[metric]; ok {
				t.Errorf("%s: %s is %g", name, metric, v)
			}
		}
		if len(r.Metrics) == 0 {
			t.Errorf("%s: no figure at all", name)
		}
	}
}
