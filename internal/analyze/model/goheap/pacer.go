package goheap

import "math"

// The pacer of Go's collector: when a cycle starts and where it is to end. Since
// Go 1.18 by design 44167
// (https://go.googlesource.com/proposal/+/master/design/44167-gc-pacer-redesign.md),
// since 1.19 with a memory limit by design 48409
// (https://go.googlesource.com/proposal/+/master/design/48409-soft-memory-limit.md);
// the figures are those of runtime/mgcpacer.go, Go 1.19 to 1.26, and of the pacer
// before it where that differs.
type pacer struct {
	minor int // of Go 1.x; 0 unknown: taken for a recent one
}

const (
	mib = 1 << 20

	heapMinimum = 4 * mib // at GOGC=100

	// A limit's goal leaves some of what it could use unused: so much of it, at least
	// so many bytes.
	limitHeadroom      = .03
	limitHeadroomLeast = mib

	// A cycle starts between so many 64ths of the way from the marked heap to the
	// goal. With a large headroom it may start later: 4 MiB before the goal.
	triggerLeast = 45. / 64
	triggerMost  = 61. / 64

	// The part of the processors that background workers get, and what the runway is
	// computed from: cons/mark · (1 − .25) ÷ .25 · work.
	utilization = .25
	remembered  = 5 // cycles whose cons/mark ratio is remembered; the largest counts

	// How far beyond its goal assists let a cycle end.
	overshoot = .1

	forcedEvery = 120.0 // s without a cycle until one is forced; not under GOGC=off
	limiterCap  = .5    // the part of all processors that assists and workers may take
)

// known says whether the release is at least 1.minor, or not known.
func (p pacer) atLeast(minor int) bool { return p.minor == 0 || p.minor >= minor }

// nextGoal returns the size at which the next cycle should end, with what sets it. Marked is the
// heap the last cycle marked, which holds the ballast and all that was allocated while it marked;
// roots are stacks and globals; nonHeap is all else that counts under the limit.
func (p pacer) nextGoal(s Setting, marked, roots, nonHeap float64) (goal float64, by string) {
	goal, by = math.Inf(1), ByLimit
	if s.GOGC >= 0 {
		if !p.atLeast(18) {
			roots = 0 // the old pacer left them out
		}
		goal, by = marked+(marked+roots)*s.GOGC/100, ByGOGC
		if least := heapMinimum * s.GOGC / 100; goal < least {
			goal, by = least, ByMinimum
		}
	}
	if s.Limit > 0 && p.atLeast(19) {
		if limit := limitGoal(s.Limit, marked, nonHeap); limit < goal {
			goal, by = limit, ByLimit
		}
	}
	return goal, by
}

// limitGoal is the goal under a memory limit: what is left of it for the heap, never
// below what is marked.
func limitGoal(limit, marked, nonHeap float64) float64 {
	if nonHeap >= limit {
		return marked
	}
	goal := limit - nonHeap
	goal -= max(limitHeadroom*goal, limitHeadroomLeast)
	return max(goal, marked)
}

// limitFor is the limit that gives a goal.
func limitFor(goal, nonHeap float64) float64 {
	return nonHeap + max(goal/(1-limitHeadroom), goal+limitHeadroomLeast)
}

// triggerSize returns the size at which a cycle starts. The runway is how much the program is
// expected to allocate until it has ended.
func (p pacer) triggerSize(marked, goal, runway float64) float64 {
	if marked >= goal {
		return marked // at once
	}
	least := marked + triggerLeast*(goal-marked)
	most := max(marked+triggerMost*(goal-marked), least)
	if !p.atLeast(18) {
		// The old one moved the trigger between .6 and .95 so that cycles end at the goal.
		least = marked + .6*(goal-marked)
		return min(max(goal-runway, least), marked+.95*(goal-marked))
	}
	if p.atLeast(19) && goal-heapMinimum > most {
		most = goal - heapMinimum
	}
	return min(max(goal-runway, least), most)
}

// learnRunway returns what a cycle teaches for the next: allocated bytes while it marked, at the
// parts of all processors that assists and idle workers took.
func (p pacer) learnRunway(allocated, assist, idle float64) float64 {
	if !p.atLeast(18) {
		return allocated
	}
	u := min(utilization+assist, .95)
	return allocated * (u + idle) / (1 - u) * (1 - utilization) / utilization
}
