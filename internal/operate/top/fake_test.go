package top

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/goldentest"
)

// golden compares a text with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *goldentest.Update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s differs; if the new one is right: %s\n%s", path, goldentest.Command(), d)
	}
}

var start = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)

// fake is a source that returns the readings of one second for each call.
type fake struct {
	second int
	at     func(second int) ([]Reading, error)
	closed bool
}

func (f *fake) Read(context.Context) ([]Reading, error) {
	out, err := f.at(f.second)
	for i := range out {
		out[i].At = start.Add(time.Duration(f.second) * time.Second)
	}
	f.second++
	return out, err
}

func (f *fake) Close() error { f.closed = true; return nil }

// after watches a process for a number of seconds.
func after(seconds int, cores float64, at ...func(int) ([]Reading, error)) *Watch {
	w := watch(cores, at...)
	for range seconds + 1 {
		_ = w.applyBatch(w.collectReadings(context.Background()))
	}
	return w
}

func watch(cores float64, at ...func(int) ([]Reading, error)) *Watch {
	var sources []Source
	for _, f := range at {
		sources = append(sources, &fake{at: f})
	}
	return New(Subject{Text: "Shop  pid 4711 · dotnet 3.1.2", Cores: cores, Rules: slices.Concat(dotnetRules, goRules, jvmRules, redisRules)}, time.Second, func() time.Time { return start }, sources...)
}

func gauge(id, group, title, unit string, v float64) Reading {
	return Reading{ID: id, Group: group, Title: title, Unit: unit, Value: v}
}

// pool is a .NET process with a number of pool threads and a CPU use in percent of one processor.
func pool(threads func(int) float64, cpu float64) []func(int) ([]Reading, error) {
	const runtime = "System.Runtime"
	return []func(int) ([]Reading, error){
		func(s int) ([]Reading, error) {
			return []Reading{
				gauge("System.Runtime/working-set", runtime, "Working Set", "bytes", 152e6),
				gauge(evidence.SeriesPoolQueue, runtime, "ThreadPool Queue Length", "count", 29),
				gauge(evidence.SeriesPoolThreads, runtime, "ThreadPool Thread Count", "count", threads(s)),
				{ID: evidence.SeriesPoolCompleted, Group: runtime, Title: "ThreadPool Completed Work Item Count", Unit: "1/s", Kind: Rate, Value: 2},
			}, nil
		},
		func(s int) ([]Reading, error) {
			return []Reading{{ID: cpuID, Group: procGroup, Title: "CPU (100 %: one processor)", Unit: "%", Kind: Total, Scale: 1, Value: cpu * float64(s)}}, nil
		},
	}
}

func climb(s int) float64 { return 4 + math.Floor(1.3*float64(s)) }

// alerts returns the alerts of rules, by counter.
func alerts(w *Watch) map[string]string {
	out := make(map[string]string)
	for _, g := range w.Groups() {
		for _, l := range g.Lines {
			if l.Alert != "" {
				out[l.Title] = l.Alert
			}
		}
	}
	return out
}
