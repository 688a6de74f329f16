package golang

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/unstall/unstall/cause"
	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/model"
	"github.com/unstall/unstall/model/goheap"
	"github.com/unstall/unstall/reading"
	"github.com/unstall/unstall/stats"
)

// ErrNoCycles says that no collection was watched; what to record is in the text.
var ErrNoCycles = errors.New("no gc cycles were watched: record the process under load (unstall record PID --for 30s), " +
	"or give the log of a run with GODEBUG=gctrace=1, or an execution trace of 5 s or more")

// HeapOf calibrates the model of a Go process's heap on what was recorded of it.
func HeapOf(c *cause.Case) (*goheap.Heap, error) {
	g := collectorOf(c)
	if g == nil {
		return nil, ErrNoCycles
	}
	h := g.heap(c)
	if err := h.Check(); err != nil {
		return nil, fmt.Errorf("%d gc cycles in %.3g s: %w; record for longer under load, so that several cycles run", len(h.Cycles), h.Span, err)
	}
	return h, nil
}

// fewPaced is from how many cycles on those at the recording's ends no longer matter for how
// often they come: of twelve, one more or less is 8 %.
const fewPaced = 12

// heap is what the model of the pacer needs of a collector: its cycles and, where it
// is a piece of a recording, those of the others.
func (g *collector) heap(c *cause.Case) *goheap.Heap {
	h := &goheap.Heap{Minor: goMinor(c), Exact: c.Bundle.Subjects[c.Subject].Version != "",
		RSS: math.NaN(), Process: math.NaN(), P99: math.NaN()}
	h.Most, h.Who = room(c)
	whole, pieces := g.Recording()
	h.Span, h.Paced, h.Marking, h.Alloc, h.Procs = whole.Span, whole.Rate.Number, whole.Marking.Number, known(whole.Alloc), known(whole.Processors)
	var roots []float64
	for _, p := range pieces {
		h.Cycles = append(h.Cycles, cyclesOf(p)...)
		for _, x := range p.Cycles {
			roots = append(roots, x.Roots)
		}
	}
	// Of few cycles the distances say more than how many fell into the recording.
	if paced := paced(g.Collector); len(pieces) == 1 && len(paced) >= 2 && len(paced) < fewPaced && paced[len(paced)-1] > paced[0] {
		h.Paced = float64(len(paced)-1) / (float64(paced[len(paced)-1]-paced[0]) / 1e9)
	}
	h.Roots = stats.Median(roots)
	h.RSS, h.Process = g.resources(c)
	h.Setting, h.Told = g.setting(c)
	if l := c.Ledger; l != nil && len(l.Rows) > 0 {
		h.P99 = p99(c)
	}
	return h
}

// known is a figure as the models take it: 0 is not known.
func known(v reading.Value) float64 {
	if !v.Known() {
		return 0
	}
	return v.Number
}

// paced are the ends of the cycles that the pacer started.
func paced(g *reading.Collector) (ends []int64) {
	for _, x := range g.Cycles {
		if !x.Forced {
			ends = append(ends, x.To)
		}
	}
	return ends
}

// cyclesOf are the whole cycles of a piece of a recording, as the model takes them.
func cyclesOf(g *reading.Collector) (all []goheap.Cycle) {
	forced := len(paced(g)) >= 2
	whole := slices.ContainsFunc(g.Cycles, func(x reading.Cycle) bool { return x.Before > 0 })
	for i, x := range g.Cycles {
		if x.Forced && forced {
			continue // of another load: a start, a request for a profile
		}
		if !(x.After > 0 && x.Live > 0 && x.Mark > 0) || whole && !(x.Before > 0) {
			continue // begun before the recording, or cut by its end
		}
		y := goheap.Cycle{Mark: x.Mark / 1e9, Assist: x.Assist / 1e9, Background: x.Background / 1e9, Idle: x.Idle / 1e9,
			Before: x.Before, After: x.After, Marked: x.Live, Goal: x.Goal, Forced: x.Forced}
		for _, v := range []*float64{&y.Assist, &y.Background, &y.Idle, &y.Before, &y.Goal} {
			if math.IsNaN(*v) {
				*v = 0 // as the model takes what is not known
			}
		}
		if i > 0 {
			if last := g.Cycles[i-1]; last.Live > 0 && x.To > last.To && x.After >= last.Live {
				y.Alloc = (x.After - last.Live) / (float64(x.To-last.To) / 1e9)
			}
		}
		all = append(all, y)
	}
	return all
}

// resources are what /proc says was resident and used while the collector was
// watched; where it was not read, the CPU time of a profile. NaN is not known.
func (g *collector) resources(c *cause.Case) (rss, cores float64) {
	used := reading.ProcessOf(c.Bundle, c.Subject, g.Window)
	rss, cores = used.RSS.Number, used.CPU.Number
	if p, ok := reading.ProfileOf(c.Bundle, c.Subject); !used.CPU.Known() && ok && p.Span > 0 {
		cores = float64(p.All) / 1e9 / p.Span
	}
	return rss, cores
}

// setting is what the process was told about its heap. Where its environment could
// not be read it follows from where the goals lie.
func (g *collector) setting(c *cause.Case) (s goheap.Setting, told bool) {
	s = goheap.Default
	gogc, percent := c.Fact(evidence.FactGOGC)
	if percent {
		s.GOGC = gogc.Number
	}
	limit, limits := c.Fact(evidence.FactGOMEMLIMIT)
	if limits && limit.Number > 0 && limit.Number < 1<<62 {
		s.Limit = limit.Number
	}
	limited, known := g.limited()
	if percent && (limits || !limited) {
		return s, true
	}
	switch {
	case known && limited && s.Limit == 0:
		s.GOGC = goheap.Off
		s.Limit = goheap.LimitFor(g.Goal.Number)
	case !percent:
		s.GOGC = g.ratio()
	}
	return s, false
}

// A GOGC that follows from goals is one that people set, if it is off by no more than the
// larger of these: goals are rounded, and what is no heap counts for some of them.
const (
	nearRatio   = .04 // of it
	nearPercent = 2   // per cent
)

// ratio is the GOGC that the goals follow: the nearest of those people set, if it is
// near.
func (g *collector) ratio() float64 {
	var percents []float64
	for i := 1; i < len(g.Cycles); i++ {
		prev, x := g.Cycles[i-1], g.Cycles[i]
		if prev.Live >= 2*leastLive && x.Goal > prev.Live && x.Goal < mostGoal {
			// goal = live + (live + roots)·GOGC/100
			percents = append(percents, 100*(x.Goal-prev.Live)/(prev.Live+x.Roots))
		}
	}
	p := stats.Median(percents)
	if p <= 0 {
		return goheap.Default.GOGC
	}
	apart := step
	if p > wide {
		apart = wideStep
	}
	if near := math.Round(p/apart) * apart; near > 0 && math.Abs(p-near) <= max(nearRatio*p, nearPercent) {
		return near
	}
	return math.Round(p)
}

// p99 of the requests the ledger charges, ms.
func p99(c *cause.Case) float64 {
	p := c.PredictP99(func(int) int64 { return 0 })
	if p.Now == nil {
		return math.NaN()
	}
	return *p.Now
}

// LatencyOf is the model of a process's latencies: a replay of its requests beside the
// collector; where that does not hold for the recording and requests were traced, what
// the collector cost each of them, scaled. The error says what is missing, or why it is
// not the replay.
func LatencyOf(c *cause.Case) (goheap.Latency, error) {
	g := collectorOf(c)
	if g == nil {
		return nil, ErrNoCycles
	}
	var b *bill
	if c.Traced() {
		b = billOf(c, g)
	}
	return latencyWith(c, g, b)
}

// latencyWith is that with a bill that is known already; nil: there is none.
func latencyWith(c *cause.Case, g *collector, b *bill) (goheap.Latency, error) {
	l, err := LatenciesOf(c)
	switch {
	case err == nil:
		return func(now, then goheap.Outcome) model.Estimate { return l.At(now, then).P99 }, nil
	case b != nil:
		return billedLatency(c, b), err
	}
	return nil, err
}

// SourceOf names what a process's collector is read from: an artifact, or the pieces
// of a recording.
func SourceOf(c *cause.Case) string {
	g := collectorOf(c)
	if g == nil {
		return ""
	}
	a, _ := g.Origin.Artifact()
	if _, pieces := g.Recording(); len(pieces) > 1 {
		return fmt.Sprintf("%s ×%d", c.Bundle.Artifacts[a].Series, len(pieces))
	}
	return c.Bundle.Artifacts[a].Name
}

// QuotaOf is the CPU quota a process runs under, in processors, where that is below
// GOMAXPROCS: then the kernel stops it while it has processors left.
func QuotaOf(c *cause.Case) (quota float64, ok bool) {
	g := collectorOf(c)
	f, known := c.Bundle.Fact(c.Subject, evidence.FactContainerCPU)
	if g == nil || !known || f.Number <= 0 || !(f.Number < g.Processors.Number) {
		return 0, false
	}
	return f.Number, true
}
