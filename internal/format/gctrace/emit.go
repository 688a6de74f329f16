package gctrace

import (
	"math"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// since is the release in which a form of line appeared, newest first.
var since = []struct {
	release string
	below   bool // it is older than limitsSince
	is      func(*cycle) bool
}{
	{"go1.26", false, func(c *cycle) bool { return c.leakCheck }},
	{limitsSince, false, func(c *cycle) bool { return c.stacks >= 0 }},
	{"go1.6", true, func(c *cycle) bool { return !c.fivePhases }},
	{"go1.5", true, func(*cycle) bool { return true }},
}

func (p *parser) finish() {
	if p.cycles.n == 0 {
		p.emitOld()
	} else {
		p.anchorRuns()
		p.placeRuns()
		p.emitCycles()
	}
	p.emitTables()
	p.emitWarnings()
}

// placeRuns sets the clock, which counts from the start of the first process
// with a known place, and each process's shift relative to it.
func (p *parser) placeRuns() {
	clock := p.b.Clock()
	*clock = evidence.Clock{Name: "since process start", Error: evidence.Unanchored, Resolution: 1e6}
	base := 0
	for i, r := range p.runs {
		if r.anchor.ok {
			base = i
			clock.Offset, clock.Error = r.anchor.at, 0
			break
		}
	}
	origin := p.runs[base]
	for _, r := range p.runs {
		if r.anchor.ok {
			clock.Error = max(clock.Error, r.anchor.err)
			r.shift = r.anchor.at - origin.anchor.at
		}
	}
	for i := base - 1; i >= 0; i-- {
		r, after := p.runs[i], p.runs[i+1]
		r.shift = after.shift + after.watchedFrom() - r.lastEnd
	}
	for _, r := range p.runs[base+1:] {
		if !r.anchor.ok {
			r.shift = p.placeByOrder(r)
		}
	}
}

// placeByOrder places a process by the order of lines alone: after the cycle printed before its
// first one. If the earlier process goes on, the two cycles may have ended together at the earliest; else the
// new process began then.
func (p *parser) placeByOrder(r *run) int64 {
	before := p.cycles.at(r.firstIndex - 1)
	q := p.runs[before.run]
	at := q.shift + before.end()
	if q.latest.line > r.first.line {
		return max(at-r.first.end(), -r.watchedFrom())
	}
	return min(at-r.watchedFrom(), math.MaxInt64/4)
}

// watchedFrom returns the start of the coverage of a process: its own start, if its first cycle is in the log.
func (r *run) watchedFrom() int64 {
	if r.first.number == 1 {
		return 0
	}
	return r.first.start
}

func (p *parser) emitCycles() {
	subjects := make([]evidence.SubjectID, len(p.runs))
	for i, r := range p.runs {
		subjects[i] = p.b.Subject(evidence.Subject{Kind: evidence.Process, Runtime: "go", CPUs: int(r.latest.procs)})
	}
	p.subject = subjects[0]
	e := emitter{b: p.b, sweepTerm: p.b.Name("GC sweep termination"), markTerm: p.b.Name("GC mark termination")}
	atLeast := make([]int, len(p.runs))
	for i := range atLeast {
		atLeast[i] = len(since) - 1
	}
	p.b.RoomForIntervals(p.countIntervals())
	for i := range p.cycles.n {
		c := p.cycles.at(i)
		e.emitCycle(c, subjects[c.run], p.runs[c.run].shift)
		for k := 0; k < atLeast[c.run]; k++ {
			if since[k].is(c) {
				atLeast[c.run] = k
			}
		}
	}
	for i, r := range p.runs {
		o := p.b.Origin(r.first.line)
		until := r.shift + r.lastEnd
		if clock := p.b.Clock(); len(p.runs) == 1 && clock.Anchored() && p.latest != 0 {
			// No cycle is printed because there was none.
			until = max(until, p.latest-clock.Offset)
		}
		p.b.Cover(evidence.Coverage{Subject: subjects[i], Kind: evidence.CoverGC, From: avoidZero(r.shift + r.watchedFrom()), Until: avoidZero(until), Lost: r.missing, Origin: o})
		p.b.Fact(evidence.Fact{Subject: subjects[i], Key: evidence.FactVersionAtLeast, Value: since[atLeast[i]].release, Number: math.NaN(), Origin: o})
		if since[atLeast[i]].below {
			p.b.Fact(evidence.Fact{Subject: subjects[i], Key: evidence.FactVersionBelow, Value: limitsSince, Number: math.NaN(), Origin: o})
		}
		if r.cycles < fewCycles && r.latest.util > 0 && r.latest.number >= settledCycles && r.lastEnd >= settledAfter { // too few for a rate: what the runtime says of all the time since its start tells more
			p.b.Fact(evidence.Fact{Subject: subjects[i], Key: evidence.FactGCCPUFraction, Number: float64(r.latest.util) / 100, Origin: p.b.Origin(r.latest.line)})
		}
	}
}

// limitsSince is the release with memory limits, which prints stacks and globals beside the goal.
const limitsSince = "go1.19"

// fewCycles are too few for a rate. The figure since the start describes the program once the start is a
// small part of that time.
const (
	fewCycles     = 5
	settledCycles = 100
	settledAfter  = 30e9 // ns
)

// countIntervals returns how many intervals the cycles give.
func (p *parser) countIntervals() int {
	n := 3 * p.cycles.n
	for i := range p.cycles.n {
		if p.cycles.at(i).mark > 0 {
			n++
		}
	}
	return n
}

// avoidZero replaces a time of zero, which would mean unknown.
func avoidZero(t int64) int64 {
	if t == 0 {
		return 1
	}
	return t
}

type emitter struct {
	b                   *evidence.Builder
	sweepTerm, markTerm evidence.NameID
	extra               [evidence.NumKeys]evidence.Extra
}

func (e *emitter) emitCycle(c *cycle, s evidence.SubjectID, shift int64) {
	o := e.b.Origin(c.line)
	start := avoidZero(c.start + shift)
	mark := start + c.sweepTerm
	term := mark + c.mark
	end := term + c.markTerm

	x := e.extra[:0]
	add := func(k evidence.Key, v float64) { x = append(x, evidence.Extra{Key: k, Value: v}) }
	size := func(k evidence.Key, mib int64) {
		if mib >= 0 {
			add(k, float64(mib)*(1<<20))
		}
	}
	time := func(k evidence.Key, ns int64) {
		if ns >= 0 {
			add(k, float64(ns))
		}
	}
	add(evidence.CycleNumber, float64(c.number))
	size(evidence.HeapBefore, c.before)
	size(evidence.HeapAfter, c.after)
	size(evidence.HeapLive, c.live)
	size(evidence.HeapGoal, c.goal)
	size(evidence.StackScan, c.stacks)
	size(evidence.GlobalScan, c.globals)
	time(evidence.AssistTime, c.assist)
	time(evidence.BackgroundTime, c.background)
	time(evidence.IdleTime, c.idle)
	time(evidence.STWTime, c.sweepTerm+c.markTerm)
	time(evidence.MarkTime, c.mark)
	if c.util >= 0 {
		add(evidence.CPUFraction, float64(c.util)/100)
	}
	forced := 0.0
	if c.forced || c.timer {
		forced = 1
	}
	add(evidence.Forced, forced)
	add(evidence.Processors, float64(c.procs))

	e.b.Interval(evidence.Interval{Subject: s, Kind: evidence.GCCycle, Start: start, End: end, Origin: o, Extra: x})
	e.b.Interval(evidence.Interval{Subject: s, Lane: evidence.AllLanes, Kind: evidence.StopTheWorld, Start: start, End: mark, Cause: e.sweepTerm, Origin: o})
	if c.mark > 0 {
		e.b.Interval(evidence.Interval{Subject: s, Kind: evidence.GCMark, Start: mark, End: term, Origin: o})
	}
	e.b.Interval(evidence.Interval{Subject: s, Lane: evidence.AllLanes, Kind: evidence.StopTheWorld, Start: term, End: end, Cause: e.markTerm, Origin: o})
}

func (p *parser) emitWarnings() {
	b := p.b
	if p.damaged > 0 {
		b.Warnf(p.firstDamage, "%s not understood: other output is mixed into them; write standard error to its own file", format.Count(p.damaged, "gc line was", "gc lines were"))
	}
	if p.twice > 0 {
		b.Warnf(p.firstTwice, "%s given twice and counted once", format.Count(p.twice, "gc line is", "gc lines are"))
	}
	if p.dropped > 0 {
		b.Warnf(p.firstDrop, "%s not kept: more than %d, or of more than %d processes; give a part of the log", format.Count(p.dropped, "cycle was", "cycles were"), maxCycles, maxRuns)
	}
	unplaced, missing, missingAt, leakChecks := 0, int64(0), int64(0), int64(0)
	zoneless, contradicted := false, false
	for _, r := range p.runs {
		if r.backwards > 0 {
			b.Warnf(r.firstBackwards, "%s before the previous one: the clock went backwards", format.Count(r.backwards, "cycle starts", "cycles start"))
		}
		if !r.anchor.ok {
			unplaced++
			contradicted = contradicted || len(r.los) > 0 && len(r.his) > 0
		}
		if r.missing > 0 && missing == 0 {
			missingAt = r.firstMissing
		}
		missing += r.missing
		leakChecks += r.leakChecks
		zoneless = zoneless || r.anchor.ok && r.anchor.zoneless
	}
	if n := len(p.runs); n > 1 {
		switch {
		case unplaced == 0:
			b.Warnf(p.runs[1].first.line, "%d processes write to this log, as their gc numbers show: each is read separately", n)
		default:
			b.Warnf(p.runs[1].first.line, "%d processes write to this log, as their gc numbers show: each is read separately; %d of them have no time stamps and are placed right after the lines before them", n, unplaced)
		}
	}
	if missing > 0 {
		b.Warnf(missingAt, "%s not in the log: their numbers are skipped", format.Count(missing, "gc cycle is", "gc cycles are"))
	}
	if leakChecks > 0 {
		b.Warnf(0, "%s for leaked goroutines: that pause is counted as mark time", format.Count(leakChecks, "GC cycle also looked", "GC cycles also looked"))
	}
	if zoneless {
		b.Warnf(0, "the log's time stamps have no time zone: UTC is assumed")
	}
	if contradicted {
		b.Warnf(0, "the time stamps between the gc lines contradict each other: they were not used to place the cycles")
	}
}
