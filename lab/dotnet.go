package lab

import (
	"context"
	"slices"
	"time"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/lab/build"
)

// Dotnet is the runtime of services in C# that are built with the newest .NET SDK
// on PATH, else with one that is fetched.
type Dotnet struct {
	build.Project
	On9 bool // they run on .NET 9, whatever they are built for
}

func (d Dotnet) buildPrograms(ctx context.Context, l *Lab, say func(string)) (*programs, error) {
	dotnet, err := build.FindDotnet(ctx, true, say)
	if err != nil {
		return nil, err
	}
	assembly, err := build.Dotnet(ctx, dotnet, l.Name, d.Project, say)
	if err != nil {
		return nil, err
	}
	version, err := build.SDK(ctx, dotnet)
	if err != nil {
		return nil, err
	}
	toolchain, runs := ".NET SDK "+version, dotnet
	if d.On9 {
		if runs, err = build.FindDotnet9(ctx, true, say); err != nil {
			return nil, err
		}
		toolchain = ".NET 9, built with " + toolchain
	}
	return &programs{toolchain: toolchain, start: func(Variant, string) (string, []string) {
		return runs, []string{assembly, "--control=true"}
	}}, nil
}

// readState reads /proc: the service reports nothing about itself.
func (Dotnet) readState(one *Service) (st state, err error) {
	p, err := statOf(one.PID)
	st.Time = time.Now().UnixNano()
	st.UserSeconds, st.SysSeconds, st.MinorFaults, st.RSS, st.threads = p.user, p.system, p.minorFaults, p.resident, p.threads
	return st, err
}

func (Dotnet) figuresBetween(a, b state) map[string]float64 {
	m := a.processFigures(b)
	m["threads"] = float64(b.threads)
	return m
}

// Names of the figures of a .NET service: the number of threads of its ThreadPool, median
// and maximum, and how often the runtime added threads because the others were
// blocked. Without blocking it adds threads to try whether they answer more, and removes
// them again.
const (
	PoolThreads     = "pool threads"
	MostPoolThreads = "pool threads, at most"
	PoolRaised      = "additions to the pool for blocked threads"
)

// Names of the figures of its GC.
const (
	FullEach     = "gen 2 collections"                    // a minute
	Stopped      = "paused by GC"                         // ms a second
	FullOfOlder  = "gen 2 of gen 1 and gen 2 collections" // there may be no collections of gen 1
	FullPerYoung = "gen 2 per gen 0 or gen 1 collection"
	BlockingFull = "gen 2 collections that are not in the background"
	LargeWaits   = "waits for large objects" // a minute
)

func (Dotnet) captureFigures(b *evidence.Bundle, about evidence.SubjectID, _ [3]state) map[string]float64 {
	m := make(map[string]float64)
	if pool := b.SeriesOf(about, evidence.SeriesPoolThreads); pool != nil && len(pool.V) > 0 {
		m[PoolThreads], m[MostPoolThreads] = stats.Median(pool.V), slices.Max(pool.V)
	}
	if len(b.Intervals.Select(evidence.PoolAdjusted, about)) > 0 {
		m[PoolRaised] = float64(metrics.ThreadPoolOf(b, threads.Of(b, threads.Readers{b.Subjects[about].Runtime: threads.DotnetStacks}), about, metrics.Whole).Blocked())
	}
	if g := metrics.ReadDotnetGC(b, about, metrics.Whole); g != nil {
		gen := &g.Generations
		full := &gen[evidence.Gen2]
		m[FullEach], m[Stopped] = 60*float64(full.Count)/g.Span, 1e3*g.Share.Number
		m[BlockingFull] = float64(full.Count - full.Background)
		if n := gen[evidence.Gen1].Count + full.Count; n > 0 {
			m[FullOfOlder] = float64(full.Count) / float64(n)
		}
		if n := gen[evidence.Gen0].Count + gen[evidence.Gen1].Count; n > 0 {
			m[FullPerYoung] = float64(full.Count) / float64(n)
		}
		if g.LargeWaited || full.Count == 0 { // they are waits for gen 2 collections: without any, it is unknown whether waits are watched
			m[LargeWaits] = 60 * float64(len(g.LargeWaits)) / g.Span
		}
	}
	return m
}
