package nettrace

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

const corpus = "../../../../shared/corpus/nettrace"

func readFile(t testing.TB, path string) *evidence.Bundle {
	t.Helper()
	b := evidence.NewBundle()
	if err := format.Read(context.Background(), []format.Format{Format}, format.File(path), b); err != nil {
		t.Fatal(err)
	}
	return b
}

// file skips the test without the corpus.
func file(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join(corpus, name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no corpus of traces beside the checkout: %v", err)
	}
	return path
}

func rows(b *evidence.Bundle, title string) map[string][]string {
	for _, t := range b.Tables {
		if t.Title == title {
			out := make(map[string][]string)
			for _, r := range t.Rows {
				out[r[0]] = r[1:]
			}
			return out
		}
	}
	return nil
}

// expected is what is known of the corpus from outside: TraceEvent's counts, the
// programs' own GC.CollectionCount and GC.GetTotalPauseDuration.
type expected struct {
	PID            int              `json:"pid"`
	Processors     int              `json:"processors"`
	Events         map[string]int64 `json:"event_counts"`
	Samples        int64            `json:"thread_samples"`
	Gen0           *int             `json:"gen0"`
	Gen1           *int             `json:"gen1"`
	Gen2           *int             `json:"gen2"`
	Induced        int              `json:"induced"`
	PauseMs        float64          `json:"pause_ms"`
	PauseTolerance float64          `json:"pause_tolerance"`
	Large          int64            `json:"loh_allocations"`
}

func TestCorpus(t *testing.T) {
	data, err := os.ReadFile(file(t, "EXPECTED.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]expected
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	for name, want := range all {
		t.Run(name, func(t *testing.T) {
			b := readFile(t, file(t, name))
			events := rows(b, "Events")
			for event, n := range want.Events {
				if got := events[event]; got == nil || got[0] != strconv.FormatInt(n, 10) {
					t.Errorf("%s: %v, want %d", event, got, n)
				}
			}
			if s := b.Subjects[0]; want.PID != 0 && s.PID != want.PID || want.Processors != 0 && s.CPUs != want.Processors || s.Runtime != "dotnet" {
				t.Errorf("subject %+v, want pid %d, %d processors", s, want.PID, want.Processors)
			}
			if got := samples(b, "thread"); want.Samples != 0 && got != want.Samples {
				t.Errorf("%d thread samples, want %d", got, want.Samples)
			}
			if want.Gen0 != nil {
				collections(t, b, want)
			}
			for i, to := range b.Intervals.End {
				if to < b.Intervals.Start[i] {
					t.Fatalf("interval %d ends before it begins", i)
				}
			}
		})
	}
}

func samples(b *evidence.Bundle, kind string) (n int64) {
	for i, id := range b.Samples.Type {
		if b.Names.Text(id) == kind {
			n += b.Samples.Value[i]
		}
	}
	return n
}

func collections(t *testing.T, b *evidence.Bundle, want expected) {
	var gens [3]int
	forced := 0
	for _, i := range b.Intervals.Select(evidence.GCCycle, -1) {
		g, _ := b.Intervals.Get(i, evidence.Generation)
		gens[int(g)]++
		if f, _ := b.Intervals.Get(i, evidence.Forced); f == 1 {
			forced++
		}
	}
	if gens != [3]int{*want.Gen0, *want.Gen1, *want.Gen2} || forced != want.Induced {
		t.Errorf("collections by generation %v, %d induced; want %d %d %d, %d", gens, forced, *want.Gen0, *want.Gen1, *want.Gen2, want.Induced)
	}
	paused := 0.0
	for _, i := range b.Intervals.Select(evidence.StopTheWorld, -1) {
		paused += float64(b.Intervals.End[i]-b.Intervals.Start[i]) / 1e6
	}
	if math.Abs(paused/want.PauseMs-1) > want.PauseTolerance {
		t.Errorf("paused %.3f ms, want %.3f", paused, want.PauseMs)
	}
	if got := rows(b, "Allocations by type")["large objects"]; got == nil || got[0] != strconv.FormatInt(want.Large, 10) {
		t.Errorf("large objects: %v, want %d", got, want.Large)
	}
}

// TestPausesBesideSamples checks the pauses of a program whose threads were sampled
// at the same time: the profiler requests suspensions of its own during a collection.
func TestPausesBesideSamples(t *testing.T) {
	b := readFile(t, file(t, "dotnetcore3.0-win.nettrace.gz"))
	pauses := b.Intervals.Select(evidence.StopTheWorld, 0)
	paused := 0.0
	for _, i := range pauses {
		paused += float64(b.Intervals.End[i]-b.Intervals.Start[i]) / 1e6
	}
	// 478 suspensions for collections, 7730.3 ms from each to the same thread's restart.
	if len(pauses) != 478 || math.Abs(paused-7730.34) > 1 {
		t.Errorf("%d pauses of %.2f ms", len(pauses), paused)
	}
}

// TestStarvation checks the evidence for a diagnosis of the recorded starving server.
func TestStarvation(t *testing.T) {
	b := readFile(t, file(t, "starve10.nettrace.gz"))
	if s := b.Subjects[0]; s.Version != "10.0.15" || s.Name != "app10" {
		t.Errorf("subject %+v", s)
	}
	if f, ok := b.Fact(0, factAssembly); !ok || f.Value != "app10" {
		t.Errorf("assembly %+v", f)
	}
	adjusted := b.Intervals.Select(evidence.PoolAdjusted, 0)
	if len(adjusted) != 21 {
		t.Errorf("%d adjustments of the pool, want 21", len(adjusted))
	}
	for _, i := range adjusted {
		if why := b.Names.Text(b.Intervals.Cause.At(i)); why != "CooperativeBlocking" {
			t.Errorf("adjusted for %s", why)
		}
	}
	for _, name := range []string{evidence.SeriesCPU, evidence.SeriesPoolThreads, evidence.SeriesPoolQueue, evidence.SeriesPoolCompleted, evidence.SeriesWorkingSet, evidence.SeriesTimers} {
		if s := b.SeriesOf(0, name); s == nil || len(s.T) != 4 {
			t.Errorf("series %s: %+v", name, s)
		}
	}
	if got := samples(b, "thread"); got != 93531 {
		t.Errorf("%d samples", got)
	}
	named, of := 0, 0
	blocked := 0
	for i, id := range b.Samples.Stack {
		for _, f := range b.Stacks.Frames(id) {
			of++
			if b.Names.Text(f.Func) != unknownFrame {
				named++
			}
		}
		if frames := b.Stacks.Frames(id); contains(b, frames, "Task.InternalWaitCore(") && contains(b, frames, "ThreadPoolWorkQueue.Dispatch()") {
			blocked += int(b.Samples.Value[i])
		}
	}
	if float64(named) < .99*float64(of) {
		t.Errorf("only %d of %d frames have names", named, of)
	}
	if float64(blocked) < .8*93531 {
		t.Errorf("only %d samples are of pool threads that wait for a task", blocked)
	}
}

func contains(b *evidence.Bundle, frames []evidence.Frame, text string) bool {
	for _, f := range frames {
		if strings.Contains(b.Names.Text(f.Func), text) {
			return true
		}
	}
	return false
}
