package golang

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/analyze/model/goheap"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/format"
	formats "github.com/unstall/unstall/internal/format/all"
)

// heapOfCase calibrates on a case.
func heapOfCase(c *check.Case) (*goheap.Heap, error) {
	g := collectorOf(c)
	if g == nil {
		return nil, goheap.ErrNoCycles
	}
	h := g.Heap()
	return h, h.Check()
}

// heapOf calibrates on files; nil if they are not there.
func heapOf(t *testing.T, dir string, names ...string) *goheap.Heap {
	t.Helper()
	b := incident.NewBundle()
	for _, name := range names {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err != nil {
			t.Skipf("%s is not here: it is looked for beside the repository", path)
		}
		if err := format.Read(context.Background(), formats.Formats, format.File(path), b); err != nil {
			t.Fatal(err)
		}
	}
	b.Unify()
	b.Align()
	for i, s := range b.Subjects {
		if s.Runtime != "go" {
			continue
		}
		h, err := heapOfCase(&check.Case{Bundle: b, Subject: evidence.SubjectID(i)})
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	t.Fatal("no Go process")
	return nil
}

// TestPredictsTheOtherRun calibrates on one recording of a service and holds the
// prediction against another of it, under another setting and the same load.
func TestPredictsTheOtherRun(t *testing.T) {
	const lab, fixtures, corpus = "../../../../lab/go-ballast/recorded", "../testdata", "../../../../../shared/corpus/go"
	for _, c := range []struct {
		name, from, to string
		files, of      []string
		setting        goheap.Setting // of the other; zero: as its goals show
		cycles, cores  float64        // how far off, relative
	}{
		{"GOGC=100 to a limit of 2 GiB", lab + "/sick", lab + "/fixed", []string{"gctrace.log"}, []string{"gctrace.log"}, goheap.Setting{GOGC: -1, Limit: 2 << 30}, .1, .2},
		{"its trace", lab + "/sick", lab + "/fixed", []string{"trace.out.gz"}, []string{"gctrace.log"}, goheap.Setting{GOGC: -1, Limit: 2 << 30}, .1, .2},
		{"GOGC=100 to a tight limit", corpus, corpus, []string{"s-default.gctrace", "s-default.cpu.pb.gz"}, []string{"s-tight.gctrace"}, goheap.Setting{GOGC: -1, Limit: 75 << 20}, .1, .2},
		{"a tight limit to GOGC=100", corpus, corpus, []string{"s-tight.gctrace", "s-tight.cpu.pb.gz"}, []string{"s-default.gctrace"}, goheap.Setting{GOGC: 100}, .1, .2},
		{"GOGC=100 to what its healthy twin has", fixtures + "/go.gc-rate/sick", fixtures + "/go.gc-rate/healthy", []string{"gctrace.log"}, []string{"gctrace.log"}, goheap.Setting{}, .1, .2},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := heapOf(t, c.from, c.files...)
			m := heapOf(t, c.to, c.of...)
			want := m.Measured()
			if c.setting == (goheap.Setting{}) {
				c.setting = m.Setting
			}
			got, err := h.Predict(goheap.Scenario{Setting: c.setting})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("cycles %.3g (%.3g–%.3g), measured %.3g; collector %.3g (%.3g–%.3g), measured %.3g cores; goal %.0f, measured %.0f MiB", got.Cycles.Value, got.Cycles.Low, got.Cycles.High, want.Cycles.Value,
				got.Collector.Value, got.Collector.Low, got.Collector.High, want.Collector.Value, got.Goal.Value/mib, want.Goal.Value/mib)
			if off := math.Abs(got.Cycles.Value/want.Cycles.Value - 1); off > c.cycles {
				t.Errorf("%.3g cycles/s, measured %.3g: %.0f %% off", got.Cycles.Value, want.Cycles.Value, 100*off)
			}
			if off := math.Abs(got.Collector.Value/want.Collector.Value - 1); off > c.cores {
				t.Errorf("the collector takes %.3g cores, measured %.3g: %.0f %% off", got.Collector.Value, want.Collector.Value, 100*off)
			}
		})
	}
}
