// Package sample reads, second by second, the watched figures of processes and of their machine. It makes points of the
// series that rules name, and figures for stores.
//
// Its opinion: a watcher that runs for months must not be noticeable. Files stay open, and a runtime's counters are read
// where they are. Nothing is parsed twice, and expensive figures are read rarely.
package sample

import (
	"math"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/operate/top"
	"github.com/unstall/unstall/internal/operate/watch/series"
)

// Point is a value of a series.
type Point struct {
	ID string
	At int64 // ns
	V  float64
}

// renamed maps readings of unstall top to series with another name.
var renamed = map[string]string{
	"jvm/gc-0":      "jvm/young-gc",
	"jvm/gc-0-time": "jvm/young-gc-time",
}

// Tally makes points of readings, and keeps the figures for stores. A counter is kept as a growing sum, also if the process
// reports only its increments.
type Tally struct {
	Born  int64   // when the process began, ns; 0 unknown
	Cores float64 // CPUs the process may use; 0 unknown

	Value map[string]float64 // newest value by series, in the metric's own unit; a counter's is its sum
	At    time.Time          // time of the newest reading

	last  map[string]top.Reading
	now   map[string]float64 // newest points
	share struct {
		at int64
		v  float64
	}
}

// NewTally returns an empty tally.
func NewTally(born int64, cores float64) *Tally {
	return &Tally{Born: born, Cores: cores, Value: make(map[string]float64), last: make(map[string]top.Reading), now: make(map[string]float64)}
}

// Take makes points of readings.
func (t *Tally) Take(readings []top.Reading) (out []Point) {
	for _, r := range readings {
		id := r.ID
		if to := renamed[id]; to != "" {
			id = to
		}
		if math.IsNaN(r.Value) || math.IsInf(r.Value, 0) {
			continue
		}
		if r.At.After(t.At) {
			t.At = r.At
		}
		v, ok := t.readingValue(id, r)
		if !ok {
			continue
		}
		out = append(out, t.addPoint(id, r.At.UnixNano(), v)...)
	}
	return out
}

// Newest returns the newest point of a series, NaN unknown.
func (t *Tally) Newest(id string) float64 {
	if v, ok := t.now[id]; ok {
		return v
	}
	return math.NaN()
}

// Point adds a point of a series that is a rate or a gauge. seconds is the time that a rate covers.
func (t *Tally) Point(p Point, seconds float64) []Point {
	if s, ok := series.Of(p.ID); ok {
		if s.Metric.Counter {
			t.Value[p.ID] += p.V * seconds / s.Metric.Factor()
		} else {
			t.Value[p.ID] = p.V / s.Metric.Factor()
		}
	}
	return t.addPoint(p.ID, p.At, p.V)
}

// readingValue returns the value of a reading for a series; of a total, its growth per second.
func (t *Tally) readingValue(id string, r top.Reading) (float64, bool) {
	scale := r.Scale
	if scale == 0 {
		scale = 1
	}
	s, known := series.Of(id)
	was, before := t.last[id]
	t.last[id] = r
	seconds := r.At.Sub(was.At).Seconds()
	switch r.Kind {
	case top.Total:
		if known {
			t.Value[id] = r.Value * scale / s.Metric.Factor()
		}
		if !before || seconds <= 0 || r.Value < was.Value {
			return 0, false
		}
		return (r.Value - was.Value) / seconds * scale, true
	case top.Rate:
		if known && s.Metric.Counter && before && seconds > 0 && seconds < 60 {
			t.Value[id] += r.Value * scale * seconds / s.Metric.Factor()
		}
		return r.Value * scale, true
	}
	if known {
		t.Value[id] = r.Value * scale / s.Metric.Factor()
	}
	return r.Value * scale, true
}

// addPoint adds a point, and returns it with the points derived from it.
func (t *Tally) addPoint(id string, at int64, v float64) []Point {
	t.now[id] = v
	out := []Point{{id, at, v}}
	also := func(id string, v float64) {
		if s, ok := series.Of(id); ok && !math.IsNaN(v) {
			t.now[id], t.Value[id] = v, v/s.Metric.Factor()
			out = append(out, Point{id, at, v})
		}
	}
	switch id {
	case "proc/cpu":
		if t.Cores > 0 {
			also("proc/busy", v/t.Cores)
		}
	case evidence.SeriesCPU: // of all CPUs, if /proc is missing
		if _, told := t.now["proc/cpu"]; !told {
			also("proc/busy", v)
		}
	case "jvm/safepoint-time":
		if gc, ok := t.now["jvm/gc-time"]; ok {
			also("jvm/safepoint-other", max(0, v-gc))
		}
	case "redis/limit":
		if used, ok := t.now["redis/used"]; ok && v > 0 {
			also("redis/used-share", 100*used/v)
		}
	case "go/gc-cpu":
		if t.Born > 0 {
			also("go/gc-share", t.gcShare(at, v/100))
		}
	}
	return out
}

// gcShare returns GC's share of the CPU time since the last value, in %, computed from its shares since the start; NaN
// unknown.
func (t *Tally) gcShare(at int64, share float64) float64 {
	was, before := t.share.v, t.share.at
	if before != 0 && at-before < int64(4*time.Second) {
		return math.NaN() // the result would be mostly rounding
	}
	t.share.at, t.share.v = at, share
	if before == 0 {
		return math.NaN()
	}
	return min(100, max(0, 100*(share*float64(at-t.Born)-was*float64(before-t.Born))/float64(at-before)))
}
