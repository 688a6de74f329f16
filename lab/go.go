package lab

import (
	"context"
	"embed"
	"io/fs"
	"path"
	"slices"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/lab/build"
)

// shared are the sources that the labs' Go programs share. They are embedded in the tool,
// so that a released one can run labs anywhere.
//
//go:embed service/*.go resp/*.go dependency/*.go
var shared embed.FS

// module is the go.mod of a build: import paths are those of the repository, and the sources
// need only the standard library.
const module = "module github.com/unstall/unstall\n\ngo 1.21\n"

// Go is the runtime of services that are built with the Go toolchain on PATH and
// the standard library alone, on lab/service. A variant's Program is the folder of
// its main package, below the lab's.
type Go struct {
	Sources fs.FS // as they lie in the lab's folder
}

func (g Go) buildPrograms(ctx context.Context, l *Lab, say func(string)) (*programs, error) {
	files, err := sharedSources()
	if err != nil {
		return nil, err
	}
	if err := files.Add(g.Sources, path.Join("lab", l.Name), ".go", ".php"); err != nil {
		return nil, err
	}
	var mains []string
	for _, v := range l.Variants {
		mains = append(mains, path.Join("lab", l.Name, v.Program))
		if len(v.Beside) > 0 {
			mains = append(mains, path.Join("lab", l.Name, v.Beside[0]))
		}
	}
	slices.Sort(mains)
	bins, err := build.Go(ctx, l.Name, files, slices.Compact(mains), say)
	if err != nil {
		return nil, err
	}
	version, err := build.GoVersion(ctx)
	named := func(program string) string { return bins[path.Join("lab", l.Name, program)] }
	return &programs{toolchain: version, named: named, start: func(v Variant, accessLog string) (string, []string) {
		return bins[path.Join("lab", l.Name, v.Program)], []string{"-control", "-access-log=" + accessLog}
	}}, err
}

// dependency is the program that variants in all languages depend on.
const dependency = "lab/dependency"

// buildDependency builds the dependency if a variant needs it.
func (l *Lab) buildDependency(ctx context.Context, say func(string)) (bin string, err error) {
	if !slices.ContainsFunc(l.Variants, func(v Variant) bool { return v.Dependency != nil }) {
		return "", nil
	}
	files, err := sharedSources()
	if err != nil {
		return "", err
	}
	bins, err := build.Go(ctx, "dependency", files, []string{dependency}, say)
	return bins[dependency], err
}

func sharedSources() (build.Sources, error) {
	files := build.Sources{"go.mod": []byte(module)}
	return files, files.Add(shared, "lab", ".go")
}

func (Go) readState(one *Service) (state, error) {
	st, err := one.Command("state")
	return state{State: st}, err
}

func (Go) figuresBetween(a, b state) map[string]float64 {
	s := a.secondsUntil(b)
	m := a.processFigures(b)
	m["gc_cycles_per_s"] = float64(b.GCCycles-a.GCCycles) / s
	m["assist_ms_per_s"] = 1e3 * (b.Assist - a.Assist) / s
	m["alloc_mib_per_s"] = float64(b.AllocBytes-a.AllocBytes) / s / (1 << 20)
	m["heap_goal_mib"] = float64(b.GoalBytes) / (1 << 20)
	if b.GCCycles > a.GCCycles {
		m["live_heap_mib"] = float64(b.LiveBytes) / (1 << 20)
	}
	if n := totalFinished(b) - totalFinished(a); n > 0 {
		m["cpu_ms_per_request"] = 1e3 * a.cpuSeconds(b) / float64(n)
	}
	return m
}

func totalFinished(s state) (n int64) {
	for _, c := range s.Finished {
		n += c
	}
	return n
}

// Names of the figures of a Go service.
const (
	cyclesFigure    = "gc cycles"        // per second
	heapPeakFigure  = "heap at its peak" // bytes
	collectorFigure = "CPU of GC"
)

func (Go) captureFigures(b *evidence.Bundle, about evidence.SubjectID, looks [3]state) map[string]float64 {
	g := metrics.GoCollector(b, about, metrics.Scope{Whole: true})
	if g == nil {
		return nil
	}
	f := map[string]float64{cyclesFigure: cyclesPerSecond(looks)}
	if g.Goal.Known() {
		f[heapPeakFigure] = g.Goal.Number
	}
	if g.Share.Number > 0 {
		f[collectorFigure] = g.Share.Number
	}
	return f
}

// cyclesPerSecond returns how often the collector ran under the load of a diagnosis,
// between the second look and the third. A few cycles are too few to count: then it scales
// those since the first load by the bytes allocated.
func cyclesPerSecond(looks [3]state) float64 {
	first, before, after := looks[0], looks[1], looks[2]
	rate := float64(after.AllocBytes-before.AllocBytes) / before.secondsUntil(after)
	return float64(after.GCCycles-first.GCCycles) / float64(max(after.AllocBytes-first.AllocBytes, 1)) * rate
}
