package metrics_test

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	formats "github.com/unstall/unstall/internal/format/all"
)

// TestGoCollectorsAreTrue holds readings against what runtime/metrics of the service itself
// counted, from outside the recording.
func TestGoCollectorsAreTrue(t *testing.T) {
	for _, name := range []string{"go.gc-rate/sick", "go.memory-limit-thrash/sick"} {
		dir := filepath.Join("../../diagnose/check/testdata", name)
		b, truth := evidence.NewBundle(), readTruth(t, dir)
		for _, file := range []string{"gctrace.log", "cpu.pb.gz"} {
			if err := format.Read(context.Background(), formats.Formats, format.File(filepath.Join(dir, file)), b); err != nil {
				t.Fatal(err)
			}
		}
		b.Unify()
		g := metrics.GoCollector(b, 0, metrics.Scope{Whole: true})
		if g == nil {
			t.Fatalf("%s: nobody watched", name)
		}
		for what, x := range map[string]struct{ got, want, off float64 }{
			"cycles per second":   {g.Rate.Number, truth.All.GCRate, .15}, // the log goes on for longer than the load
			"allocated":           {g.Alloc.Number, truth.All.AllocRate, .1},
			"live":                {g.Live.Number, truth.All.Live, .15},
			"goal":                {g.Goal.Number, truth.All.Goal, .15},
			"assist":              {g.Assist.Number, truth.All.Assist / truth.All.Seconds, .15},
			"part of the CPU":     {g.Share.Number, truth.Share, .15},
			"GOMAXPROCS":          {g.Processors.Number, truth.Procs, 0},
			"cycles, one by one":  {float64(len(g.Began().At)), truth.All.Cycles, .25},
			"allocated, in pairs": {g.Allocated().Sum() / g.Span, truth.All.AllocRate, .15},
		} {
			if math.IsNaN(x.got) || math.Abs(x.got/x.want-1) > x.off {
				t.Errorf("%s: %s: %.4g, and was %.4g", name, what, x.got, x.want)
			}
		}
		if g.Promoted.Known() || g.Full.Known() || g.Capacity.Known() {
			t.Errorf("%s: Go has no generations: %+v", name, g)
		}
	}
}

type truth struct {
	Procs float64 `json:"gomaxprocs"`
	Share float64 `json:"collector_share"`
	All   struct {
		Seconds   float64 `json:"seconds"`
		Cycles    float64 `json:"gc_cycles"`
		GCRate    float64 `json:"gc_cycles_per_s"`
		Assist    float64 `json:"gc_assist_s"`
		AllocRate float64 `json:"alloc_bytes_per_s"`
		Live      float64 `json:"live_bytes"`
		Goal      float64 `json:"goal_bytes"`
	} `json:"all"`
}

func readTruth(t *testing.T, dir string) (x truth) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "truth.json"))
	if err == nil {
		err = json.Unmarshal(text, &x)
	}
	if err != nil {
		t.Fatal(err)
	}
	return x
}
