package metrics

import (
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Evidence of at least this many minutes is long. A part of it is a stretch if it holds most of something bad, and this many
// times as much as an average part of the same length.
const (
	minuteNs     = 60e9
	longMinutes  = 10
	mostMinutes  = 100 * 24 * 60 // beyond, evidence is not split into minutes
	concentrated = .5
	denser       = 4.
	edge         = .5 // of a stretch's mean: a minute at or beside its end belongs to it if it has this much
)

// stretchMinutes are the lengths to try; the shortest stretch that holds most of something is taken.
var stretchMinutes = []int{1, 2, 5, 10, 15, 30, 60, 120, 240}

// mostStretches is the largest number of stretches that are returned.
const mostStretches = 3

// strained are series that grow where something is scarce.
var strained = []string{
	evidence.SeriesGCTime, evidence.SeriesGCPaused, evidence.SeriesPoolQueue, evidence.SeriesRequestQueue, evidence.SeriesContentions, evidence.SeriesClientPoolWaits,
	evidence.SeriesCgroupCPUThrottled, evidence.SeriesProcessRunDelay, evidence.SeriesProcessBlocked, evidence.SeriesProcessMajorFaults, evidence.SeriesHostPressureCPUSome, evidence.SeriesHostPressureMemorySome,
	evidence.SeriesHostPressureIOSome, evidence.SeriesHostSwapIn, evidence.SeriesHostCPUSteal, evidence.SeriesHostCPUIowait, evidence.SeriesHostCompactStalls,
}

// Stretches returns the parts of long evidence with most of something bad: of the time that requests took beyond their route's
// usual, of the collector's pauses and cycles, of waits for what is scarce. Those by requests come first. They matter because a
// day's share says little of one bad hour. It returns none if the evidence is short, or alike all the time.
func Stretches(b *evidence.Bundle) (out []Window) {
	from, until := b.Window()
	dated := b.Dated()
	if !dated {
		from, until = b.Undated()
	}
	n := int((until - from + minuteNs - 1) / minuteNs)
	if n < longMinutes || n > mostMinutes {
		return nil
	}
	placed := func(c evidence.ClockID) bool { return b.Clocks[c].Anchored() || !dated }
	add := func(m *minutes) {
		if len(out) == mostStretches {
			return
		}
		w, ok := m.worstStretch()
		if ok && !slices.ContainsFunc(out, func(o Window) bool { return min(o.Until, w.Until) > max(o.From, w.From) }) {
			out = append(out, w)
		}
	}
	add(sumExcess(b, &minutes{from: from, of: make([]float64, n)}, placed))
	for _, kind := range []evidence.Kind{evidence.StopTheWorld, evidence.GCMark, evidence.GCConcurrent, evidence.AllocStall, evidence.ServerStall, evidence.Command} {
		m := &minutes{from: from, of: make([]float64, n)}
		v := &b.Intervals
		for i, k := range v.Kind {
			if k == kind && placed(v.Clock.At(i)) {
				m.addBetween(v.Start[i], v.End[i], 1)
			}
		}
		add(m)
	}
	for _, name := range strained {
		for i := range b.Series {
			s := &b.Series[i]
			if s.Name != name || !placed(s.Clock) {
				continue
			}
			m := &minutes{from: from, of: make([]float64, n)}
			for k := 0; k+1 < len(s.T); k++ {
				m.addBetween(s.T[k], s.T[k+1], max(0, s.V[k]))
			}
			add(m)
		}
	}
	return out
}

// sumExcess adds to each minute the time that requests took beyond three times the median of their
// route.
func sumExcess(b *evidence.Bundle, m *minutes, placed func(evidence.ClockID) bool) *minutes {
	r := &b.Requests
	took, count := make(map[evidence.NameID][]int64), make(map[evidence.NameID]int)
	for _, route := range r.Route.All() {
		count[route]++
	}
	for route, n := range count { // a log has millions of requests: growing would leave as much memory behind
		took[route] = make([]int64, 0, n)
	}
	for i := range r.Len() {
		took[r.Route.At(i)] = append(took[r.Route.At(i)], r.Latency(i))
	}
	usual := make(map[evidence.NameID]int64)
	for route, all := range took {
		slices.Sort(all)
		usual[route] = all[len(all)/2]
	}
	for i := range r.Len() {
		if over := r.Latency(i) - 3*usual[r.Route.At(i)]; over > 0 && placed(r.Clock.At(i)) {
			m.addAt(r.End.At(i), float64(over))
		}
	}
	return m
}

// minutes is an amount per minute.
type minutes struct {
	from int64
	of   []float64
}

func (m *minutes) addAt(t int64, v float64) {
	if i := (t - m.from) / minuteNs; i >= 0 && int(i) < len(m.of) {
		m.of[i] += v
	}
}

// addBetween adds a value that held from one time to another.
func (m *minutes) addBetween(from, to int64, v float64) {
	for t := max(from, m.from); t < to; {
		i := (t - m.from) / minuteNs
		if int(i) >= len(m.of) {
			return
		}
		end := min(to, m.from+(i+1)*minuteNs)
		m.of[i] += v * float64(end-t)
		t = end
	}
}

// worstStretch returns the shortest stretch that holds most of the amount, and far more than the same time elsewhere.
func (m *minutes) worstStretch() (w Window, ok bool) {
	var total float64
	for _, v := range m.of {
		total += v
	}
	if total <= 0 {
		return w, false
	}
	for _, length := range stretchMinutes {
		if length*int(denser) > len(m.of) {
			break
		}
		var sum, most float64
		at := 0
		for i, v := range m.of {
			sum += v
			if i >= length {
				sum -= m.of[i-length]
			}
			if i >= length-1 && sum > most {
				most, at = sum, i-length+1
			}
		}
		if most < concentrated*total || most/float64(length) < denser*total/float64(len(m.of)) {
			continue
		}
		first, last, mean := at, at+length-1, most/float64(length)
		for first < last && m.of[first] < edge*mean {
			first++
		}
		for last > first && m.of[last] < edge*mean {
			last--
		}
		mean = most / float64(last-first+1)
		for first > 0 && m.of[first-1] >= edge*mean {
			first--
		}
		for last+1 < len(m.of) && m.of[last+1] >= edge*mean {
			last++
		}
		return Window{m.from + int64(first)*minuteNs, m.from + int64(last+1)*minuteNs}, true
	}
	return w, false
}
