// Package goheap models the heap of a Go process: what settings of its collector cost and save, and how much memory is worth
// its price. The pacer's rule decides when cycles start and end (pacer.go, with its design documents). Their length is
// simulated from recorded cycles (simulate.go). The latency of requests is a replay of recorded arrivals beside the predicted
// cycles (latency.go, marking.go, latencies.go, typical.go). The rule in frontier.go finds the knee of what memory buys.
//
// Not modelled: limits of the kernel (quotas, reclaim), memory outside of Go's heap that changes, programs whose requests
// change with the setting. Measured errors: dev/grid/predictions.md.
package goheap

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/unstall/unstall/internal/analyze/model"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/base/units"
)

// Heap is a Go process's heap in one recording, on which the pacer's model is calibrated. Sizes are bytes; NaN or 0 is
// unknown where noted.
type Heap struct {
	Setting Setting // in force
	Told    bool    // Setting was read; else it is inferred from the goals
	Minor   int     // Go 1.x, 0 unknown
	Exact   bool    // Minor is the release, not the least that the evidence allows
	Procs   float64 // GOMAXPROCS
	Span    float64 // s that were watched
	Paced   float64 // cycles the pacer started, per second
	Marking float64 // share of the time
	Alloc   float64 // bytes/s
	Roots   float64 // stacks and globals
	Cycles  []Cycle
	RSS     float64 // NaN: not known
	Process float64 // CPU of the process, cores; NaN: not known
	P99     float64 // ms, NaN: not known
	Most    float64 // memory that it may be set to use, 0: unknown
	Who     string  // what limits Most: "container", "host"
	Go      string  // version, for people; "": not known
	Source  string  // the artifact
}

// Cycle is one collection.
type Cycle struct {
	Mark                        float64 // s from the first stop to the second
	Assist, Background, Idle    float64 // s of processors
	Before, After, Marked, Goal float64 // heap at the beginning and the end; the part that was marked; the goal (0 unknown)
	Forced                      bool
	Alloc                       float64 // bytes/s from the end of the previous cycle to its end, 0 unknown
}

func (c Cycle) totalWork() float64 { return c.Assist + c.Background + c.Idle }

// ErrCycles means that there are too few cycles to calibrate the model.
var ErrCycles = errors.New("no GC cycle was recorded from start to end")

// Memory outside the heap, where the recording does not show it: the runtime's own, and a part of the heap for its
// bookkeeping and for gaps between objects. Resident memory also includes the program itself.
const (
	runtimeOwn  = 6 * mib
	programText = 8 * mib
	gaps        = .06
)

// Check reports whether there is enough for a prediction.
func (h *Heap) Check() error {
	usable := 0
	for _, c := range h.Cycles {
		if c.Marked > 0 && c.After > 0 && c.Mark > 0 {
			usable++
		}
	}
	switch {
	case usable == 0:
		return ErrCycles
	case !(h.Alloc > 0):
		return errors.New("the allocation rate is unknown: it needs two GC cycles in a row")
	case !(h.Procs > 0):
		return errors.New("GOMAXPROCS is unknown")
	}
	return nil
}

// Live returns the live heap in the runtime's sense: the median of what cycles marked, without the ballast. It includes what
// was allocated while they marked.
func (h *Heap) Live() float64 {
	var live []float64
	for _, c := range h.Cycles {
		if c.Marked > h.Setting.Ballast {
			live = append(live, c.Marked-h.Setting.Ballast)
		}
	}
	return stats.Median(live)
}

// reachableBytes returns the part of the live heap that was allocated before the cycle began, which does not depend on how
// long a cycle marks.
func (h *Heap) reachableBytes(c Cycle) float64 {
	if c.Marked <= 0 {
		return 0
	}
	l := c.Marked - h.Setting.Ballast
	if c.Before > 0 && c.After > c.Before {
		l -= c.After - c.Before
	}
	return max(l, .1*max(c.Marked-h.Setting.Ballast, mib))
}

// Measured returns the recorded figures in the form of a prediction.
func (h *Heap) Measured() Outcome {
	o := Outcome{Setting: h.Setting, Live: h.Live(), Alloc: h.Alloc, Cycles: model.Exactly(h.Paced), Marking: model.Exactly(h.Marking),
		Share: model.Unknown, Process: model.Exactly(h.Process), RSS: model.Exactly(h.RSS), P99: model.Exactly(h.P99), Fill: Fill{model.Unknown, model.Unknown}}
	var work, assist float64
	var goals, ends []float64
	for _, c := range h.Cycles {
		work += c.totalWork()
		assist += c.Assist
		if c.Goal > 0 {
			goals = append(goals, c.Goal)
		}
		if c.After > 0 {
			ends = append(ends, c.After)
		}
	}
	n := float64(max(len(h.Cycles), 1))
	o.Collector, o.Assist = model.Exactly(h.Paced*work/n), model.Exactly(h.Paced*assist/n)
	o.Goal, o.Peak = model.Exactly(stats.Median(goals)), model.Exactly(stats.Median(ends))
	if h.Process > 0 {
		o.Share = model.Exactly(min(1, o.Collector.Value/h.Process))
	}
	return o
}

// overhead splits what is not heap into a constant and a part of the heap.
type overhead struct{ own, part, text float64 }

func (o overhead) nonHeap(heap float64) float64 { return o.own + o.part*heap }

// fitOverhead derives the overhead from the goal under a limit, else from resident memory.
func (h *Heap) fitOverhead() overhead {
	o := overhead{own: runtimeOwn + h.Roots, part: gaps, text: programText}
	m := h.Measured()
	switch goal := m.Goal.Value; {
	case h.Told && h.Setting.Limit > 0 && h.goalBound() == ByLimit && goal < h.Setting.Limit:
		non := h.Setting.Limit - max(goal/(1-limitHeadroom), goal+limitHeadroomLeast)
		if non < o.own {
			o.own, o.part = max(non, 0), 0
		} else {
			o.part = min((non-o.own)/goal, .5)
		}
	case h.RSS > 0:
		if top := h.topSize() - h.Setting.Ballast; top > 0 {
			o.part = min(max((h.RSS-top-o.own-o.text)/top, .02), .5)
		}
	}
	return o
}

// topSize returns the size that all but a few cycles stay below, bytes.
func (h *Heap) topSize() float64 {
	var ends []float64
	for _, c := range h.Cycles {
		if c.After > 0 {
			ends = append(ends, c.After)
		}
	}
	return stats.Quantile(sortFloats(ends), .95)
}

func sortFloats(v []float64) []float64 {
	slices.Sort(v)
	return v
}

// goalBound returns what sets the goals of the recording.
func (h *Heap) goalBound() string {
	m := h.Measured()
	if h.Setting.GOGC < 0 {
		return ByLimit
	}
	marked := m.Live + h.Setting.Ballast
	goal, by := pacer{h.Minor}.nextGoal(Setting{GOGC: h.Setting.GOGC}, marked, h.Roots, 0)
	if h.Setting.Limit > 0 && m.Goal.Value < .97*goal {
		return ByLimit
	}
	return by
}

// Scenario is the input of a prediction.
type Scenario struct {
	Setting
	Live  float64 // bytes, 0: as recorded
	Alloc float64 // bytes/s, 0: as recorded
}

// Impossible tells why a process cannot run under a setting.
type Impossible struct {
	Setting Setting
	Why     string  // with the figures
	Least   float64 // the least limit that it could run under, bytes; 0: no limit helps
}

func (e *Impossible) Error() string {
	text := fmt.Sprintf("%s: %s", e.Setting, e.Why)
	if e.Least > 0 {
		text += "; the lowest limit that leaves enough room is GOMEMLIMIT=" + FormatSize(e.Least)
	}
	return text
}

// Predict returns what the collector would do, or an *Impossible for a setting that the process cannot run under.
func (h *Heap) Predict(s Scenario) (Outcome, error) {
	if err := h.Check(); err != nil {
		return Outcome{}, err
	}
	m := h.calibrateCycles()
	if err := m.checkPossible(s); err != nil {
		return Outcome{}, err
	}
	return m.predictOutcome(s), nil
}

// checkPossible returns an *Impossible where a process cannot run under a setting.
func (m *calibrated) checkPossible(s Scenario) error {
	live := s.Live
	if live == 0 {
		live = m.live
	}
	alloc := s.Alloc
	if alloc == 0 {
		alloc = m.h.Alloc
	}
	switch {
	case s.Limit > 0 && !(pacer{m.h.Minor}).atLeast(19):
		return &Impossible{Setting: s.Setting, Why: fmt.Sprintf("Go 1.%d has no memory limit (new in 1.19): use a ballast or GOGC", m.h.Minor)}
	case s.GOGC < 0 && s.Limit == 0:
		why := fmt.Sprintf("without a limit GC never runs, and the heap grows by %s every second", units.MiB(alloc))
		if m.h.Most > 0 {
			why += fmt.Sprintf(": after %.0f s it fills all that the %s allows", m.h.Most/alloc, m.h.Who)
		}
		return &Impossible{Setting: s.Setting, Why: why}
	case s.GOGC == 0:
		return &Impossible{Setting: s.Setting, Why: "GC would run without end: give at least 1"}
	}
	if s.Limit > 0 {
		non := m.over.nonHeap(live)
		if s.Limit < limitFor(live+s.Ballast, non) {
			why := "the live heap is " + units.MiB(live)
			if s.Ballast > 0 {
				why += ", the ballast is " + units.MiB(s.Ballast)
			}
			why += fmt.Sprintf(" and memory outside the heap is %s: ", units.MiB(non))
			if s.Limit < live {
				why += "the limit is below the live heap, and "
			}
			return &Impossible{Setting: s.Setting, Least: m.leastLimit(s, live+s.Ballast, non), Why: why + "GC would run without end"}
		}
	}
	return nil
}

// leastLimit returns the least limit (bytes) at which the collector does not meet its cap, 0 if none exists.
func (m *calibrated) leastLimit(s Scenario, marked, non float64) float64 {
	tight := func(limit float64) bool {
		s.Limit = limit
		return m.simulateHeld(s, m.cycles, steps, nil).limiter
	}
	low := math.Ceil(limitFor(marked, non)/mib) * mib
	if !tight(low) {
		return low
	}
	high := 2 * low
	for tight(high) {
		if low, high = high, 2*high; high > 1<<50 {
			return 0 // no limit is enough
		}
	}
	for high-low > mib {
		if middle := math.Round((low+high)/2/mib) * mib; tight(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// LimitFor returns the memory limit that gives a heap about this goal.
func LimitFor(goal float64) float64 {
	return math.Round(limitFor(goal, overhead{own: runtimeOwn, part: gaps}.nonHeap(goal))/mib) * mib
}
