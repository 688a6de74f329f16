package golang

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/unstall/unstall/cause"
	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/predict"
	"github.com/unstall/unstall/reading"
	"github.com/unstall/unstall/stats"
)

// ErrNoCycles says that no collection was watched; what to record is in the text.
var ErrNoCycles = errors.New("no gc cycles were watched: record the process under load (unstall record PID --for 30s), " +
	"or give the log of a run with GODEBUG=gctrace=1, or an execution trace of 5 s or more")

// HeapOf calibrates the model of a Go process's heap on what was recorded of it.
func HeapOf(c *cause.Case) (*predict.Heap, error) {
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

// heap is what the model of the pacer needs of a collector: its cycles and, where it
// is a piece of a recording, those of the others.
func (g *collector) heap(c *cause.Case) *predict.Heap {
	h := &predict.Heap{Minor: goMinor(c), Exact: c.Bundle.Subjects[c.Subject].Version != "",
		RSS: math.NaN(), Process: math.NaN(), P99: math.NaN()}
	h.Most, h.Who = room(c)
	var roots []float64
	pieces := g.pieces(c)
	for _, p := range pieces {
		p.into(h)
		h.Procs = max(h.Procs, p.procs)
		for _, x := range p.cycles {
			roots = append(roots, x.roots)
		}
	}
	// Of few cycles the distances say more than how many fell into the recording.
	if paced := g.paced(); len(pieces) == 1 && len(paced) >= 2 && len(paced) < 12 && paced[len(paced)-1] > paced[0] {
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

// paced are the ends of the cycles that the pacer started.
func (g *collector) paced() (ends []int64) {
	for _, x := range g.cycles {
		if !x.forced {
			ends = append(ends, x.to)
		}
	}
	return ends
}

// into adds a piece of a recording to a heap, rates by its length.
func (g *collector) into(h *predict.Heap) {
	if g.span <= 0 {
		return
	}
	mean := func(to *float64, v, before float64) { *to += (v - *to) * g.span / (before + g.span) }
	mean(&h.Paced, g.rate, h.Span)
	mean(&h.Marking, g.marked, h.Span)
	if g.alloc > 0 {
		known := h.Span
		if h.Alloc == 0 {
			known = 0
		}
		mean(&h.Alloc, g.alloc, known)
	}
	h.Span += g.span
	forced := len(g.paced()) >= 2
	whole := slices.ContainsFunc(g.cycles, func(x cycle) bool { return x.before > 0 })
	for i, x := range g.cycles {
		if x.forced && forced {
			continue // of another load: a start, a request for a profile
		}
		if x.after <= 0 || x.live <= 0 || x.mark <= 0 || whole && x.before <= 0 {
			continue // begun before the recording, or cut by its end
		}
		y := predict.Cycle{Mark: x.mark / 1e9, Assist: x.assist / 1e9, Background: x.background / 1e9, Idle: x.idle / 1e9,
			Before: x.before, After: x.after, Marked: x.live, Goal: x.goal, Forced: x.forced}
		if i > 0 && g.cycles[i-1].live > 0 && x.to > g.cycles[i-1].to && x.after >= g.cycles[i-1].live {
			y.Alloc = (x.after - g.cycles[i-1].live) / (float64(x.to-g.cycles[i-1].to) / 1e9)
		}
		h.Cycles = append(h.Cycles, y)
	}
}

// pieces are the collectors of all artifacts that are one recording with this one's,
// in the order they were read; of one that stands alone it is the only one.
func (g *collector) pieces(c *cause.Case) (all []*collector) {
	own, _ := g.origin.Artifact()
	series := c.Bundle.Artifacts[own].Series
	if series == "" {
		return []*collector{g}
	}
	v := &c.Bundle.Intervals
	cycles := v.Select(evidence.GCCycle, c.Subject)
	for _, w := range c.Bundle.Covered(c.Subject, evidence.CoverGC) {
		a, known := w.Origin.Artifact()
		if !known || c.Bundle.Artifacts[a].Series != series || w.Until <= w.From {
			continue
		}
		if a == own {
			all = append(all, g)
			continue
		}
		var rows []int
		for _, i := range cycles {
			if of, _ := v.Origin[i].Artifact(); of == a {
				rows = append(rows, i)
			}
		}
		p := &collector{origin: cause.From(a)}
		p.read(c, rows, w.From, w.Until)
		all = append(all, p)
	}
	return all
}

// resources are what /proc says was resident and used while the collector was
// watched; where it was not read, the CPU time of a profile. NaN is not known.
func (g *collector) resources(c *cause.Case) (rss, cores float64) {
	p := reading.ProcessOf(c.Bundle, c.Subject, reading.Window{From: g.from, Until: g.to})
	rss, cores = p.RSS.Number, p.CPU.Number
	if math.IsNaN(cores) {
		var watched float64
		for _, w := range c.Bundle.Covered(c.Subject, evidence.CoverCPUProfile) {
			watched += float64(w.Until - w.From)
		}
		if t, ok := CPUOf(c.Bundle, c.Subject); ok && watched > 0 {
			cores = float64(t.All) / watched
		}
	}
	return rss, cores
}

// setting is what the process was told about its heap. Where its environment could
// not be read it follows from where the goals lie.
func (g *collector) setting(c *cause.Case) (s predict.Setting, told bool) {
	s = predict.Default
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
		s.GOGC = predict.Off
		s.Limit = predict.LimitFor(g.goal)
	case !percent:
		s.GOGC = g.ratio()
	}
	return s, false
}

// ratio is the GOGC that the goals follow: the nearest of those people set, if it is
// near.
func (g *collector) ratio() float64 {
	var percents []float64
	for i := 1; i < len(g.cycles); i++ {
		prev, x := g.cycles[i-1], g.cycles[i]
		if prev.live >= 4<<20 && x.goal > prev.live && x.goal < 1<<42 {
			// goal = live + (live + roots)·GOGC/100
			percents = append(percents, 100*(x.goal-prev.live)/(prev.live+x.roots))
		}
	}
	p := stats.Median(percents)
	if p <= 0 {
		return predict.Default.GOGC
	}
	step := 25.
	if p > 250 {
		step = 50
	}
	if near := math.Round(p/step) * step; near > 0 && math.Abs(p-near) <= max(.04*p, 2) {
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
func LatencyOf(c *cause.Case) (predict.Latency, error) {
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
func latencyWith(c *cause.Case, g *collector, b *bill) (predict.Latency, error) {
	l, err := LatenciesOf(c)
	switch {
	case err == nil:
		return func(now, then predict.Outcome) predict.Estimate { return l.At(now, then).P99 }, nil
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
	a, _ := g.origin.Artifact()
	if n := len(g.pieces(c)); n > 1 {
		return fmt.Sprintf("%s ×%d", c.Bundle.Artifacts[a].Series, n)
	}
	return c.Bundle.Artifacts[a].Name
}

// QuotaOf is the CPU quota a process runs under, in processors, where that is below
// GOMAXPROCS: then the kernel stops it while it has processors left.
func QuotaOf(c *cause.Case) (quota float64, ok bool) {
	g := collectorOf(c)
	f, known := c.Bundle.Fact(c.Subject, evidence.FactContainerCPU)
	if g == nil || !known || f.Number <= 0 || f.Number >= g.procs {
		return 0, false
	}
	return f.Number, true
}
