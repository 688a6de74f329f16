package goheap

import (
	"fmt"
	"math"

	"github.com/unstall/unstall/internal/analyze/model"
	"github.com/unstall/unstall/internal/base/units"
)

// Frontier is what memory buys a service: for each size the CPU of its collector and the p99 of its requests, with the point
// beyond which more is hardly worth it.
type Frontier struct {
	Subject  string    `json:"subject"`
	Measured Outcome   `json:"measured"` // as recorded
	Now      Outcome   `json:"now"`      // the setting in force by the model
	Points   []Outcome `json:"points"`   // in order of memory; the first is Now
	Knee     int       `json:"knee"`     // index in Points; −1: the setting in force is as good as any
	Most     float64   `json:"most_bytes"`
	Who      string    `json:"most_by"` // what sets Most: "container", "host", "": unknown
	Margin   *Margin   `json:"margin"`  // of the knee; null without one
	Capped   bool      `json:"capped"`  // more memory than Most would help
	Rule     string    `json:"rule"`    // the rule for the knee
	Why      string    `json:"why"`     // the reason for this point, in a sentence
}

// Margin is how far the live heap may grow under a setting. Under a limit the remaining room shrinks, and the collector runs
// ever more often: the death spiral. The runtime intends to give a quarter of the processors to background marking; beyond
// it marking hardly ends, and assists do the rest.
type Margin struct {
	Live    float64 `json:"live_bytes"`         // today, what cycles mark
	Quarter float64 `json:"quarter_live_bytes"` // from which the collector takes a quarter of the processors; 0: never
	Half    float64 `json:"half_live_bytes"`    // from which the collector meets the runtime's cap of half of them; 0: never
}

// Latency predicts the p99 (ms) of requests for a future outcome of the collector, given the present one. It returns
// [model.Unknown] if it cannot tell.
type Latency func(now, then Outcome) model.Estimate

// p99Of asks only where an answer exists: requests that pile up are as late as the run is long.
func (l Latency) p99Of(now, then Outcome) model.Estimate {
	if l == nil || then.Limiter || then.PilesUp {
		return model.Unknown
	}
	return l(now, then)
}

// Recommended returns the point to recommend; false if the setting in force is as good.
func (f *Frontier) Recommended() (Outcome, bool) {
	if f == nil || f.Knee < 0 || f.Knee >= len(f.Points) {
		return Outcome{}, false
	}
	return f.Points[f.Knee], true
}

// Points are this far apart in headroom, two of them a doubling. The grid ends where cycles are rare.
const (
	spacing = math.Sqrt2
	points  = 16
	beyond  = 4 // points after the knee
)

// A doubling of the headroom is not worth its memory if it saves less than these parts: of the collector's present cost and
// of the process's CPU, and of the p99 that can be gained and of the p99 itself.
const (
	worthCost, worthCPU   = .05, .01
	worthGain, worthWhole = .05, .02
	// A collector that marks for a fiftieth of the time meets so few requests that its cost for them is no reason for
	// more memory.
	rarely = .02
)

// p99Gain returns how far a p99 is below another: 0 if it lies within the other's range, which is too wide to promise a gain.
func p99Gain(a, b model.Estimate) float64 {
	if a.Ranged() && b.Value >= a.Low {
		return 0
	}
	return a.Value - b.Value
}

const rule = "the least memory from which doubling the heap's headroom again would save less than 5 % of what GC costs now " +
	"(or 1 % of the process's CPU) and less than 5 % of the possible p99 gain (p99 counts only if GC marks for more than 2 % of the time, and only gains beyond its range)"

// kind is how a headroom is configured.
type kind uint8

const (
	byLimit kind = iota
	byRatio
	byBallast
)

// Frontier computes the frontier. Without a latency model p99 is unknown.
func (h *Heap) Frontier(subject string, latency Latency) (*Frontier, error) {
	if err := h.Check(); err != nil {
		return nil, err
	}
	m := h.calibrateCycles()
	now := m.predictOutcome(Scenario{Setting: h.Setting})
	if latency == nil {
		latency = func(_, _ Outcome) model.Estimate { return model.Unknown }
	}
	now.P99 = latency(now, now)
	f := &Frontier{Subject: subject, Measured: h.Measured(), Now: now, Knee: -1, Most: h.Most, Who: h.Who, Rule: rule}
	way := byLimit
	if h.Minor > 0 && h.Minor < 19 {
		way = byBallast
	}
	m.fillIn(f, way, latency)
	if way == byLimit && f.Knee >= 0 && !f.Margin.isSafe() {
		other := *f
		m.fillIn(&other, byRatio, latency)
		if other.Knee >= 0 {
			other.Why += "; a limit would be unsafe: " + f.Margin.explainUnsafe()
			return &other, nil
		}
	}
	return f, nil
}

// isSafe reports whether the live heap may grow by half before the collector takes over.
func (m *Margin) isSafe() bool { return m.Quarter == 0 || m.Quarter >= 1.5*m.Live }

func (m *Margin) explainUnsafe() string {
	if m.Quarter <= m.Live {
		return "GC would take a quarter of the CPUs"
	}
	return fmt.Sprintf("at %.2g times the live heap GC would take a quarter of the CPUs", m.Quarter/m.Live)
}

// fillIn computes the points of one kind of setting, their knee and its margin.
func (m *calibrated) fillIn(f *Frontier, way kind, latency Latency) {
	h, now := m.h, f.Now
	f.Points, f.Knee, f.Margin, f.Why, f.Capped = []Outcome{now}, -1, nil, "", false
	headroom := now.Alloc / max(now.Cycles.Value, 1e-9)
	grid := []Outcome{now}
	for k := 1; k <= points+2; k++ {
		s := m.settingFor(way, headroom*math.Pow(spacing, float64(k)))
		grid = append(grid, m.predictOutcome(Scenario{Setting: s}))
	}
	// A p99 takes a replay of all requests, so points far beyond the knee get none.
	asked := [points + 3]bool{0: true}
	p99 := func(k int) model.Estimate {
		if !asked[k] {
			asked[k], grid[k].P99 = true, latency.p99Of(now, grid[k])
		}
		return grid[k].P99
	}
	least := max(worthCost*now.Collector.Value, worthCPU*now.Process.Value)
	if !now.Process.Known() {
		least = max(worthCost*now.Collector.Value, worthCPU*h.Procs/2)
	}
	best := p99(len(grid) - 1)
	gain := max(worthGain*(now.P99.Value-best.Value), worthWhole*now.P99.Value)
	enough := func(k int) bool {
		a, b := grid[k], grid[k+2]
		if a.Collector.Value-b.Collector.Value >= least {
			return false
		}
		return a.Marking.Value < rarely || !(gain > 0) || !p99(k).Known() || !p99(k+2).Known() || p99Gain(p99(k), p99(k+2)) < gain
	}
	knee := -1
	for k := range points + 1 {
		if knee < 0 && enough(k) {
			knee = k
		}
		if k > 0 && !m.fitsMemory(grid[k]) || knee >= 0 && k > knee+beyond {
			break
		}
		if k > 0 && grid[k].Setting != f.Points[len(f.Points)-1].Setting && grid[k].RSS.Value > f.Points[len(f.Points)-1].RSS.Value {
			p99(k)
			f.Points = append(f.Points, grid[k])
			if knee == k {
				f.Knee = len(f.Points) - 1
			}
		}
	}
	switch {
	case knee == 0:
		f.Why = "twice the headroom would save almost nothing"
		return
	case f.Knee < 0 && len(f.Points) > 1: // the grid ends too early
		f.Knee = len(f.Points) - 1
	}
	if f.Knee < 0 || now.Cycles.Value < 1.5*f.Points[f.Knee].Cycles.Value {
		f.Knee = -1
		f.Why = "there is no room for a larger heap"
		if f.Who != "" {
			f.Why = fmt.Sprintf("the %s leaves no room for a larger heap", f.Who)
		}
		return
	}
	at := f.Points[f.Knee]
	f.Margin = m.findMargin(Scenario{Setting: at.Setting})
	if knee < 0 || grid[min(knee, len(grid)-1)].Setting != at.Setting {
		f.Capped = true
		f.Why = fmt.Sprintf("this is as much as the %s allows; more memory would help further", f.Who)
		return
	}
	f.Why = m.explainKnee(now, at, grid[knee+2])
}

// explainKnee says what the knee brings, and what the next doubling would bring.
func (m *calibrated) explainKnee(now, at, next Outcome) string {
	saved := func(o Outcome) float64 { return 100 * (1 - o.Collector.Value/now.Collector.Value) }
	text := fmt.Sprintf("saves %.0f %% of what GC costs now, with %s resident; doubling again would save %.0f %%, with %s", saved(at), units.MiB(at.RSS.Value), saved(next), units.MiB(next.RSS.Value))
	return text
}

// fitsMemory reports whether there is enough memory for an outcome. A limit must itself fit, because the heap may use all of
// it.
func (m *calibrated) fitsMemory(o Outcome) bool {
	return m.h.Most == 0 || max(o.RSS.Value, o.Setting.Limit) <= m.h.Most
}

// settingFor returns the setting for a headroom (bytes), in round figures.
func (m *calibrated) settingFor(way kind, headroom float64) Setting {
	_, inMark := m.markUnheld(m.work, m.h.Alloc)
	marked := m.reachable + inMark
	switch way {
	case byBallast:
		gogc := m.h.Setting.GOGC
		if gogc <= 0 {
			gogc = Default.GOGC
		}
		return Setting{GOGC: gogc, Ballast: roundUp(max(headroom*100/gogc-marked, 0))}
	case byRatio:
		return Setting{GOGC: math.Ceil(100*headroom/(marked+m.h.Roots)/25) * 25}
	default:
		goal := marked + headroom
		return Setting{GOGC: Off, Limit: roundUp(limitFor(goal, m.over.nonHeap(goal)))}
	}
}

// roundUp rounds to readable figures: steps of at most a twelfth.
func roundUp(bytes float64) float64 {
	step := 10. * mib
	for _, s := range []float64{50 * mib, 256 * mib, 1024 * mib} {
		if bytes >= 12*s {
			step = s
		}
	}
	return math.Ceil(bytes/step) * step
}

// findMargin finds how far the live heap may grow.
func (m *calibrated) findMargin(s Scenario) *Margin {
	const most = 100.
	live := s.Live
	if live == 0 {
		live = m.live
	}
	out := &Margin{Live: live}
	at := func(times float64) ran {
		s.Live = live * times
		return m.simulateHeld(s, m.cycles, steps/2, nil)
	}
	first := func(bad func(ran) bool) float64 {
		low, high := 1., most
		if bad(at(low)) {
			return live
		}
		if !bad(at(high)) {
			return 0
		}
		for high/low > 1.01 {
			middle := math.Sqrt(low * high)
			if bad(at(middle)) {
				high = middle
			} else {
				low = middle
			}
		}
		return low * live
	}
	out.Quarter = first(func(r ran) bool { return r.cores >= utilization*m.h.Procs })
	out.Half = first(func(r ran) bool { return r.limiter })
	return out
}

// BallastFor returns the ballast that gives an outcome's headroom.
func (h *Heap) BallastFor(o Outcome) Setting {
	return h.calibrateCycles().settingFor(byBallast, o.Alloc/max(o.Cycles.Value, 1e-9))
}

// Margin returns how far the live heap may grow under a setting and a load.
func (h *Heap) Margin(s Scenario) *Margin { return h.calibrateCycles().findMargin(s) }
