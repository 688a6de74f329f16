package html

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/diagnose/timeline"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/all"
)

// Each collector's page has what its log tells: how much of the time the program ran, how
// long pauses were, why collections came, the heap and what was allocated; and nothing of
// another runtime.
func TestCollected(t *testing.T) {
	for name, c := range map[string]struct {
		file        string
		want, never []string
		charts      []string
	}{
		"Go":   {"../../../lab/go-ballast/recorded/sick/gctrace.log", []string{"Throughput", "99.", "the heap had reached its goal", "GC mark termination", "p99", "Allocation rate", "Live heap", "Longest GC pause", "most per collection"}, []string{"Promotion", "young", "generation"}, []string{"heap", "allocation"}},
		"JVM":  {"../../diagnose/check/testdata/jvm.young-gc-rate/sick/gc.log.gz", []string{"ParNew", "Throughput", "Why GC ran", "Allocation Failure", "Promotion rate", "Heap limit"}, []string{"Processors", "GOGC", "goroutine"}, []string{"heap", "allocation", "promotion", "pauses"}},
		".NET": {"../../diagnose/check/testdata/dotnet.gen2-pause/sick/events-0001.nettrace.zst", []string{"Throughput", "generation 2", "p50"}, []string{"Processors", "goroutine", "young"}, []string{"collected"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := incident.NewBundle()
			if err := format.Read(context.Background(), all.Formats, format.File(c.file), b); err != nil {
				t.Fatal(err)
			}
			d, err := diagnose.Run(context.Background(), b, diagnose.Options{})
			if err != nil {
				t.Fatal(err)
			}
			page := written(t, Diagnosed{Diagnosis: d})
			from := strings.Index(page, `<section id="collected-0"`)
			if from < 0 {
				t.Fatal("there is no section about the collector")
			}
			section := page[from:]
			section = section[:strings.Index(section, "</section>")]
			for _, want := range c.want {
				if !strings.Contains(section, want) {
					t.Errorf("%q is not in it", want)
				}
			}
			for _, never := range c.never {
				if strings.Contains(section, never) {
					t.Errorf("%q is in it", never)
				}
			}
			for _, id := range c.charts {
				if !slices.ContainsFunc(d.Timeline().Charts, func(x timeline.Chart) bool { return x.ID == id }) {
					t.Errorf("no chart %s over time", id)
				}
			}
		})
	}
}

// Bars are from 1 to 2 to 5 to 10, and hold the shortest and the longest.
func TestSteps(t *testing.T) {
	for _, c := range []struct {
		low, high int64
		want      []int64
	}{{1, 1, []int64{1, 2}}, {3, 49, []int64{2, 5, 10, 20, 50}}, {10, 50, []int64{10, 20, 50, 100}}, {999, 1001, []int64{500, 1000, 2000}}} {
		if got := histogramEdges(c.low, c.high); !slices.Equal(got, c.want) {
			t.Errorf("%d to %d: %v, want %v", c.low, c.high, got, c.want)
		}
	}
}

func TestThroughput(t *testing.T) {
	for stopped, want := range map[float64]string{0: "100 %", .155: "85 %", .0046: "99.54 %", .00005: "99.995 %", 1e-7: "> 99.999 %"} {
		if got := formatThroughput(stopped); got != want {
			t.Errorf("%v stopped: %s, want %s", stopped, got, want)
		}
	}
}

// Where the cause was judged by the rate of another time, the collections say so; where it is the same, nothing.
func TestJudgedRate(t *testing.T) {
	judged := func(verdict string, rate float64) *diagnose.Diagnosis {
		return &diagnose.Diagnosis{Verdicts: []diagnose.Verdict{{Verdict: verdict, Evidence: []diagnose.Evidence{{ID: "gc.cycles_per_s", Value: &rate, Unit: "1/s", Origin: "day/trace.out.gz:7"}}}}}
	}
	c := &timeline.Collected{Rate: 8.571}
	for want, d := range map[string]*diagnose.Diagnosis{"; 8.28 per second in that of trace.out.gz": judged("supported", 8.284), "": judged("supported", 8.5714)} {
		if got := judgedRate(d, c); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := judgedRate(judged("ruled_out", 2), c); got != "" {
		t.Errorf("a cause that is ruled out: %q", got)
	}
}
