package goheap

import (
	"math"
	"math/rand/v2"

	"github.com/unstall/unstall/internal/analyze/model"
	"github.com/unstall/unstall/internal/base/stats"
)

// calibrated is a heap's recording in the form that the simulation needs.
//
// While a cycle marks, all processors are busy: P·T = w + k·A, with w the time on processors that marking takes, A the bytes allocated
// during it and k the program's processor time per byte. k is measured; w depends on the live heap, not on the headroom. For any setting
// they give the length of a cycle's marking and the bytes allocated at its end, whether idle processors, workers or assists mark.
type calibrated struct {
	h         *Heap
	over      overhead
	cycles    []drawn // in the order they were recorded
	live      float64 // bytes that cycles mark without the ballast, median
	reachable float64 // bytes of it that were allocated before the cycle began, median
	work      float64 // s, mean
	perByte   float64 // k: s of processors for a byte allocated while a cycle marks
	unused    float64 // processors that neither marked nor ran the program during marking
	slack     float64 // allocated while marking ÷ what the program would have at its mean rate, where nothing held it up
	assists   float64 // sets how the assists' part of the work grows: see assistShare
	own       float64 // CPU of the program without the collector, cores; NaN: not known
	top       float64 // size that cycles seldom exceed today, bytes
	miss      float64 // relative error of the model on its own calibration
}

// drawn is what differs from cycle to cycle.
type drawn struct{ work, reachable, alloc float64 }

func (h *Heap) calibrateCycles() *calibrated {
	m := &calibrated{h: h, over: h.fitOverhead(), own: math.NaN(), slack: 1}
	var work, assist, mark, allocated, paced float64
	var reachable []float64
	for _, c := range h.Cycles {
		l := h.reachableBytes(c)
		if l <= 0 || c.Mark <= 0 || c.totalWork() <= 0 {
			continue
		}
		d := drawn{work: c.totalWork(), reachable: l, alloc: c.Alloc}
		if d.alloc <= 0 {
			d.alloc = h.Alloc
		}
		m.cycles = append(m.cycles, d)
		paced++
		reachable = append(reachable, l)
		work += c.totalWork()
		assist += c.Assist
		mark += c.Mark
		allocated += max(c.After-c.Before, 0)
	}
	m.live, m.reachable, m.work = h.Live(), stats.Median(reachable), work/max(paced, 1)
	if h.Process > 0 {
		m.own = max(h.Process-h.Paced*m.work, .05*h.Process)
	}
	m.splitUnused(work, mark, allocated)
	m.calibrateAssists(assist/max(work, 1e-12), mark/max(paced, 1), allocated/max(paced, 1))
	now := m.simulateHeld(Scenario{Setting: h.Setting}, m.cycles, steps, nil)
	m.top = now.top
	if h.Paced > 0 && len(h.Cycles) > 2 {
		m.miss = math.Abs(now.cycles/h.Paced - 1)
	}
	return m
}

// splitUnused splits the processor time that marking left into what the program used, which gives perByte, and what stayed unused.
func (m *calibrated) splitUnused(work, mark, allocated float64) {
	left := max(m.h.Procs*mark-work, 0) // s of processors
	if left == 0 || mark == 0 {
		return
	}
	used := left
	if !math.IsNaN(m.own) {
		// Write barriers and cold caches slow a program beside marking, by half at most: the rest of the time processors were idle.
		used = min(left, 1.5*m.own*mark)
	}
	m.unused = (left - used) / mark
	if allocated > 0 {
		m.perByte = used / allocated
	}
	if rate := m.h.Alloc; m.perByte*rate > m.h.Procs-m.unused-utilization*m.h.Procs {
		m.perByte = (1 - utilization) * m.h.Procs / rate / 2
	}
}

// markUnheld returns how long a cycle marks (s) if nothing slows the program, and the bytes allocated in that time.
func (m *calibrated) markUnheld(work, alloc float64) (mark, allocated float64) {
	procs := max(m.h.Procs-m.unused, utilization*m.h.Procs)
	mark = work / max(procs-m.perByte*alloc, utilization*m.h.Procs)
	return mark, alloc * mark * m.slack
}

// calibrateAssists finds, from the part of the marking that assists did, how steeply that part grows with the pressure: the expected
// allocation during marking ÷ the room for it.
func (m *calibrated) calibrateAssists(share, mark, allocated float64) {
	m.assists = 3
	var room []float64
	for _, c := range m.h.Cycles {
		if c.Goal > 0 && c.Before > 0 {
			room = append(room, max(c.Goal-c.Before, overshoot*c.Goal))
		}
	}
	if len(room) == 0 || m.h.Alloc <= 0 {
		return
	}
	_, free := m.markUnheld(m.work, m.h.Alloc)
	x := free / stats.Median(room)
	if free > 0 && x < 1 {
		m.slack = min(max(allocated/free, .5), 1)
	}
	if share > 0 && share < 1 && x > 0 {
		m.assists = min(max(x*x*(1-share)/share, .5), 20)
	}
}

func (m *calibrated) assistShare(pressure float64) float64 {
	return pressure * pressure / (pressure*pressure + m.assists)
}

const (
	steps   = 240 // cycles of a simulation; the first of them only settle it
	settle  = 20
	repeats = 40 // simulations for a range
)

// ran is the result of a simulation.
type ran struct {
	cycles, cores, assist, marking float64
	goal, peak, top                float64
	bound                          string
	limiter                        bool
	alloc                          float64
}

const figures = 7

// listFigures returns the figures that an outcome shows.
func (r ran) listFigures() [figures]float64 {
	return [figures]float64{r.cycles, r.cores, r.assist, r.marking, r.goal, r.peak, r.top}
}

// simulateHeld simulates cycles. Without a source of chance they are taken in the order they were
// recorded.
func (m *calibrated) simulateHeld(s Scenario, cycles []drawn, steps int, chance *rand.Rand) ran {
	return m.simulateCycles(s, cycles, steps, chance, true)
}

// simulateCycles runs cycles. If held, assists hold the heap to its goal; if not, nothing does, which shows how far the heap may grow
// once the limiter stops assists.
func (m *calibrated) simulateCycles(s Scenario, cycles []drawn, steps int, chance *rand.Rand, held bool) (r ran) {
	p := pacer{m.h.Minor}
	scale := 1.
	if s.Live > 0 && m.live > 0 {
		scale = s.Live / m.live
	}
	rate := 1.
	if s.Alloc > 0 {
		rate = s.Alloc / m.h.Alloc
	}
	if len(cycles) == 0 {
		return r
	}
	mean := 0.
	for _, d := range cycles {
		mean += d.alloc / float64(len(cycles))
	}
	var learned [remembered]float64
	var time, work, assist, marking, goals, ends, allocated float64
	var tops []float64
	bounds := make(map[string]int)
	marked := m.reachable*scale + s.Ballast
	heap := marked
	for k := range steps {
		i := k % len(cycles)
		if chance != nil {
			i = chance.IntN(len(cycles))
		}
		d := cycles[i]
		alloc := m.h.Alloc * rate * d.alloc / mean
		w := d.work * scale
		goal, by := p.nextGoal(s.Setting, marked, m.h.Roots, m.over.nonHeap(max(heap-s.Ballast, 0)))
		runway := 0.
		for _, v := range learned {
			runway = max(runway, v)
		}
		start := p.triggerSize(marked, goal, runway)
		mark, a := m.markUnheld(w, alloc)
		room := max(goal-start, overshoot*max(goal-s.Ballast, 0))
		part := m.assistShare(a / max(room, 1))
		if !held {
			part = 0
		}
		if held && a > room {
			a = room
			mark = max((w+m.perByte*a)/max(m.h.Procs-m.unused, utilization*m.h.Procs), w/m.h.Procs)
		}
		part = min(part, max(1-utilization*m.h.Procs*mark/w, 0)) // the rest is the workers'
		end := start + a
		step := max((end-marked)/(m.h.Alloc*rate), mark)
		if s.GOGC >= 0 && step > forcedEvery {
			end = marked + (end-marked)*forcedEvery/step
			step, by = forcedEvery, ByClock
		}
		idle := max(w/mark-part*w/mark-utilization*m.h.Procs, 0) / m.h.Procs
		copy(learned[:], learned[1:])
		learned[remembered-1] = p.learnRunway(a, part*w/mark/m.h.Procs, idle)
		if k >= settle {
			time += step
			work += w
			assist += part * w
			marking += mark
			goals += goal
			ends += end
			allocated += end - marked
			tops = append(tops, end)
			bounds[by]++
		}
		marked = d.reachable*scale + s.Ballast + a
		heap = end
	}
	n := float64(steps - settle)
	r = ran{cycles: n / time, cores: work / time, assist: assist / time, marking: marking / time, goal: goals / n, peak: ends / n,
		top: stats.Quantile(sortFloats(tops), .95), alloc: allocated / time}
	for by, count := range bounds {
		if 2*count > steps-settle || r.bound == "" {
			r.bound = by
		}
	}
	// Above its cap the limiter stops assists, and the heap grows past its goal.
	r.limiter = m.limiterCores(r) > limiterCap*m.h.Procs
	r.cores = min(r.cores, m.h.Procs)
	return r
}

// limiterCores returns what the limiter counts, in processors: assists, and the workers' quarter while a cycle marks; idle workers do not count.
func (m *calibrated) limiterCores(r ran) float64 { return r.assist + utilization*m.h.Procs*r.marking }

// Relative errors of predictions: the model was calibrated on one run of a service and compared with other runs of it; nine of ten
// predictions stayed within (dev/grid/predictions.md).
const (
	offCycles = .11
	offCores  = .28
	offSize   = .09
)

// predictOutcome runs the model, and again with resampled cycles for the ranges. A range covers the variation between the recorded
// cycles, the model's error on the recording, and its error on other runs. It does not cover a change of the load.
func (m *calibrated) predictOutcome(s Scenario) Outcome {
	run := m.simulateHeld(s, m.cycles, steps, nil)
	var all [figures][]float64
	add := func(r ran) {
		for i, v := range r.listFigures() {
			all[i] = append(all[i], v)
		}
	}
	if len(m.cycles) >= 3 {
		chance := rand.New(rand.NewPCG(1, uint64(len(m.cycles))))
		for range repeats {
			add(m.simulateHeld(m.resampleAlloc(s, chance), m.resampleCycles(chance), steps, chance))
		}
	}
	at, held, free := run.listFigures(), run.listFigures(), run.listFigures()
	if run.limiter {
		// The limiter stops assists now and then, so that what it counts equals its cap. The outcome lies between that of all assists
		// and that of none, in proportion.
		loose := m.simulateCycles(s, m.cycles, steps, nil, false)
		free = loose.listFigures()
		part := min(max((limiterCap*m.h.Procs-m.limiterCores(loose))/(m.limiterCores(run)-m.limiterCores(loose)), 0), 1)
		for i := range at {
			at[i] = free[i] + part*(held[i]-free[i])
		}
	}
	estimate := func(i int, off float64) model.Estimate {
		e := model.Exactly(at[i])
		if len(all[i]) == 0 {
			return e
		}
		v := sortFloats(all[i])
		low, high := v[len(v)/40], v[len(v)-1-len(v)/40]
		off = math.Hypot(off, m.miss) * at[i]
		e.Low = min(at[i]-math.Hypot(max(at[i]-low, 0), off), held[i], free[i])
		e.High = max(at[i]+math.Hypot(max(high-at[i], 0), off), held[i], free[i])
		e.Low = max(e.Low, 0)
		return e
	}
	o := Outcome{Setting: s.Setting, Live: m.live, Alloc: m.h.Alloc, Cycles: estimate(0, offCycles), Collector: estimate(1, offCores), Assist: estimate(2, offCores), Marking: estimate(3, offCores),
		Goal: estimate(4, offSize), Peak: estimate(5, offSize), Share: model.Unknown, Process: model.Unknown, RSS: model.Unknown, P99: model.Unknown, Fill: Fill{model.Unknown, model.Unknown}, Bound: run.bound, Limiter: run.limiter}
	if s.Live > 0 {
		o.Live = s.Live
	}
	if s.Alloc > 0 {
		o.Alloc = s.Alloc
	}
	if run.limiter {
		// A heap that is not held is as large as what is live in it.
		o.Goal, o.Peak = boundBelow(o.Goal, o.Live+s.Ballast), boundBelow(o.Peak, o.Live+s.Ballast)
	}
	o.Marking = boundAbove(o.Marking, 1)
	o.Collector = boundAbove(o.Collector, m.h.Procs)
	if !math.IsNaN(m.own) {
		own := m.own * o.Alloc / m.h.Alloc
		o.PilesUp = o.Collector.Value+own >= m.h.Procs
		o.Process = boundAbove(o.Collector.Plus(own), m.h.Procs)
		share := func(gc float64) float64 { return gc / (gc + own) }
		o.Share = model.Between(share(o.Collector.Value), share(o.Collector.Low), share(o.Collector.High))
	}
	top := estimate(6, offSize)
	if run.limiter {
		top = boundBelow(top, o.Live+s.Ballast)
	}
	o.RSS = m.residentMemory(s, top, run.limiter)
	o.Fill = m.estimateFill(s, o)
	return o
}

// boundAbove bounds an estimate from above. Where the whole range is beyond there is none.
func boundAbove(e model.Estimate, most float64) model.Estimate {
	if e.Low >= most {
		return model.Exactly(most)
	}
	return model.Between(min(e.Value, most), min(e.Low, most), min(e.High, most))
}

// boundBelow bounds an estimate from below.
func boundBelow(e model.Estimate, least float64) model.Estimate {
	if e.High <= least {
		return model.Exactly(least)
	}
	return model.Between(max(e.Value, least), max(e.Low, least), max(e.High, least))
}

// resampleCycles draws as many cycles with replacement, in runs of three: neighbours are alike.
func (m *calibrated) resampleCycles(chance *rand.Rand) []drawn {
	n := len(m.cycles)
	out := make([]drawn, 0, n+2)
	for len(out) < n {
		i := chance.IntN(n)
		for k := range min(3, n) {
			out = append(out, m.cycles[(i+k)%n])
		}
	}
	return out[:n]
}

// resampleAlloc returns the scenario at a mean allocation rate that the recording could as well
// have shown.
func (m *calibrated) resampleAlloc(s Scenario, chance *rand.Rand) Scenario {
	if s.Alloc > 0 {
		return s // the rate is given
	}
	var sum, again float64
	for _, d := range m.cycles {
		sum += d.alloc
	}
	for range m.cycles {
		again += m.cycles[chance.IntN(len(m.cycles))].alloc
	}
	s.Alloc = m.h.Alloc * again / sum
	return s
}

// residentMemory returns the memory that cycles fill. The runtime returns memory above 95 % of a limit, unless the live heap does not allow it; a
// ballast is never touched.
func (m *calibrated) residentMemory(s Scenario, top model.Estimate, limiter bool) model.Estimate {
	of := func(heap float64) float64 {
		heap = max(heap-s.Ballast, 0)
		return heap + m.over.nonHeap(heap)
	}
	e := model.Between(of(top.Value), of(top.Low), of(top.High))
	if s.Limit > 0 && !limiter {
		kept := .95 * s.Limit
		e = model.Between(min(e.Value, kept), min(e.Low, kept*(1-offSize)), min(e.High, s.Limit))
	}
	return e.Plus(m.over.text)
}

// estimateFill returns the page faults and the time (s) that it takes to fill memory that was not used before.
func (m *calibrated) estimateFill(s Scenario, o Outcome) Fill {
	base := m.h.RSS
	if !(base > 0) {
		base = m.residentMemory(Scenario{Setting: m.h.Setting}, model.Exactly(m.top), false).Value
	}
	faults := func(rss float64) float64 { return max(rss-base, 0) / 4096 }
	grow := max(o.Peak.Value-s.Ballast-o.Live, 0) / o.Alloc
	return Fill{Faults: model.Between(faults(o.RSS.Value), faults(o.RSS.Low), faults(o.RSS.High)), Seconds: model.Exactly(grow)}
}
