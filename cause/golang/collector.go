package golang

import (
	"go/version"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/unstall/unstall/cause"
	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/stats"
)

// collector is what one artifact shows of a process's garbage collector.
type collector struct {
	origin   evidence.Origin
	cycles   []cycle // in order, those that begin and end within the artifact
	from, to int64   // ns
	span     float64 // s
	rate     float64 // cycles started by the pacer, per second
	procs    float64 // GOMAXPROCS, 0 unknown
	live     float64 // bytes, median of what a cycle marked; 0 unknown
	goal     float64 // bytes, median; 0 unknown
	alloc    float64 // bytes/s, 0 unknown
	marked   float64 // share of the time a cycle was marking
	// P-time per second of span: 1 is one processor. Time on a processor is not
	// CPU time on a starved host.
	assist, background, idle float64
	stopped                  float64 // s of stop-the-world pauses for the collector
	maxStop                  float64 // s
	off                      bool    // GOGC=off: a memory limit starts the cycles
}

type cycle struct {
	from, to                  int64
	live, goal, before, after float64 // bytes, 0 unknown
	roots                     float64 // stacks and globals, bytes
	mark                      float64 // ns of wall time
	assist, background, idle  float64 // ns of processors
	forced                    bool
}

// collectorOf reads the cycles of the artifact that saw most of the subject's;
// nil if none did. The start of a process, where the heap grows to its size, is
// left out where there is enough after it.
func collectorOf(c *cause.Case) *collector {
	v := &c.Bundle.Intervals
	byArtifact := make(map[evidence.ArtifactID][]int)
	for _, i := range v.Select(evidence.GCCycle, c.Subject) {
		a, _ := v.Origin[i].Artifact()
		byArtifact[a] = append(byArtifact[a], i)
	}
	best := evidence.ArtifactID(-1)
	var cover evidence.Coverage
	for _, w := range c.Bundle.Covered(c.Subject, evidence.CoverGC) {
		a, _ := w.Origin.Artifact()
		traced := len(c.Bundle.Covered(c.Subject, evidence.CoverStates)) > 0
		// What the trace saw is what the requests met; else the longest.
		better := best < 0 || w.Until-w.From > cover.Until-cover.From
		if traced {
			better = best < 0 || isTrace(c, a) && (!isTrace(c, best) || c.Ledger != nil && a == c.Ledger.Source)
		}
		if better {
			best, cover = a, w
		}
	}
	if best < 0 {
		return nil
	}
	g := &collector{origin: cause.From(best)}
	rows := byArtifact[best]
	from, to := cover.From, cover.Until
	if cut := from + (to-from)/3; !isTrace(c, best) && len(rows) >= 12 {
		from = cut // a log shows the process's start, too
	}
	g.read(c, rows, from, to)
	return g
}

func isTrace(c *cause.Case, a evidence.ArtifactID) bool {
	return slices.ContainsFunc(c.Bundle.Covered(c.Subject, evidence.CoverStates), func(w evidence.Coverage) bool {
		o, ok := w.Origin.Artifact()
		return ok && o == a
	})
}

func (g *collector) read(c *cause.Case, rows []int, from, to int64) {
	v := &c.Bundle.Intervals
	g.from, g.to, g.span = from, to, float64(to-from)/1e9
	var lives, goals []float64
	var mark, started, allocated float64
	var last *cycle
	get := func(i int, k evidence.Key) float64 { x, _ := v.Get(i, k); return x }
	if f, ok := c.Fact(evidence.FactGOGC); ok && f.Number < 0 {
		g.off = true
	}
	for _, i := range rows {
		if v.End[i] <= from || v.Start[i] >= to {
			continue
		}
		x := cycle{from: v.Start[i], to: v.End[i], live: get(i, evidence.HeapLive), goal: get(i, evidence.HeapGoal),
			before: get(i, evidence.HeapBefore), after: get(i, evidence.HeapAfter), forced: get(i, evidence.Forced) == 1,
			roots: get(i, evidence.StackScan) + get(i, evidence.GlobalScan), mark: get(i, evidence.MarkTime),
			assist: get(i, evidence.AssistTime), background: get(i, evidence.BackgroundTime), idle: get(i, evidence.IdleTime)}
		if !x.forced && v.Start[i] >= from {
			started++
		}
		if x.goal == 0 && g.off {
			x.goal = x.after // a trace gives GOGC's goal only: take where cycles really ended
		}
		if x.live > 0 {
			lives = append(lives, x.live)
		}
		if x.goal > 0 {
			goals = append(goals, x.goal)
		}
		mark += x.mark
		g.assist += x.assist
		g.background += x.background
		g.idle += x.idle
		g.procs = max(g.procs, get(i, evidence.Processors))
		if last != nil && last.live > 0 && x.after >= last.live {
			allocated += x.after - last.live
		}
		g.cycles = append(g.cycles, x)
		last = &g.cycles[len(g.cycles)-1]
	}
	if n := c.Bundle.Subjects[c.Subject].CPUs; g.procs == 0 && n > 0 {
		g.procs = float64(n)
	}
	if g.span <= 0 {
		return
	}
	g.rate = started / g.span
	g.marked = mark / 1e9 / g.span
	g.assist /= 1e9 * g.span
	g.background /= 1e9 * g.span
	g.idle /= 1e9 * g.span
	g.live, g.goal = stats.Median(lives), stats.Median(goals)
	if n := len(g.cycles); n >= 2 {
		if d := float64(g.cycles[n-1].to-g.cycles[0].to) / 1e9; d > 0 {
			g.alloc = allocated / d
		}
	}
	want, _ := g.origin.Artifact()
	for _, i := range v.Select(evidence.StopTheWorld, c.Subject) {
		a, _ := v.Origin[i].Artifact()
		if a == want && strings.HasPrefix(c.Bundle.Names.Text(v.Cause[i]), "GC ") && v.Start[i] >= from {
			d := float64(v.End[i]-v.Start[i]) / 1e9
			g.stopped += d
			g.maxStop = max(g.maxStop, d)
		}
	}
}

// profileShare is the collector's part of the process's CPU time by a CPU
// profile: background and idle marking, assists, sweeping; ok is false without
// one.
func profileShare(c *cause.Case) (share float64, origin evidence.Origin, ok bool) {
	t, ok := CPUOf(c.Bundle, c.Subject)
	return float64(t.GC) / float64(max(t.All, 1)), t.Origin, ok
}

// limited says whether the goal follows a memory limit rather than GOGC.
//
// Under GOGC the goal is live·(1 + GOGC/100) plus a share of stacks and
// globals; under a limit it is the limit less everything that is not heap, and
// a larger live heap lowers nothing. Both models are fitted to consecutive
// cycles; the one that leaves less unexplained wins. Where the live heap hardly
// changes both fit, and the ratio decides: GOGC is set to round numbers.
func (g *collector) limited() (limited, known bool) {
	var ratio, goals, lives, ended []float64
	above := 0
	for i := 1; i < len(g.cycles); i++ {
		prev, x := g.cycles[i-1], g.cycles[i]
		if prev.live <= 0 || x.goal <= 0 || x.goal > 1<<42 || prev.live < 2<<20 {
			continue
		}
		ratio = append(ratio, x.goal/prev.live)
		goals = append(goals, x.goal)
		lives = append(lives, prev.live)
		if x.after > 0 {
			ended = append(ended, x.after/x.goal)
		}
		if prev.live >= .95*x.goal {
			above++ // the limit asks for less than what is live
		}
	}
	if g.off {
		return true, true
	}
	if len(ratio) < 3 {
		return false, false
	}
	if short := stats.Median(ended); short > 0 && short < .85 {
		return true, true // cycles end well below the goal that GOGC sets
	}
	if above*5 >= len(ratio) {
		return true, true
	}
	m := stats.Median(ratio)
	var byGOGC, byLimit []float64
	goal := stats.Median(goals)
	for i := range ratio {
		byGOGC = append(byGOGC, math.Abs(goals[i]-m*lives[i]))
		byLimit = append(byLimit, math.Abs(goals[i]-goal))
	}
	a, b := stats.Median(byGOGC), stats.Median(byLimit)
	rounding := .005 * goal
	switch {
	case a > 2*b+rounding:
		return true, true
	case b > 2*a+rounding:
		return false, true
	}
	gogc := (m - 1) * 100
	nearest := math.Round(gogc/25) * 25
	if nearest > 0 && math.Abs(gogc-nearest) <= 3 {
		return false, true
	}
	return m < 1.9, true
}

// goMinor is the least minor version the evidence allows, 0 unknown.
func goMinor(c *cause.Case) int {
	release := c.Bundle.Subjects[c.Subject].Version
	if least, ok := c.Bundle.VersionAtLeast(c.Subject); ok && version.Compare(least, release) > 0 {
		release = least
	}
	release, _, _ = strings.Cut(release, " ") // without its experiments
	minor, _ := strconv.Atoi(strings.TrimPrefix(version.Lang(release), "go1."))
	return minor
}
