package nettrace

import (
	"cmp"
	"maps"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format/nettrace/eventpipe"
)

// counters are figures that providers publish about every second: EventCounters
// (.NET Core 3.0+) and instruments of meters (.NET 8+).
//
// Both become series with the EventCounters' names ("System.Runtime/cpu-usage"),
// in base units, counts per second. A point has the time when its figure was
// published: it is about the interval before.
type counters struct {
	series     map[string]*counter
	left       int64 // points of series beyond maxSeries
	processors int   // Environment.ProcessorCount, 0 unknown
	meters     meters
}

type counter struct {
	points
	name, unit string
}

// maxSeries bounds the series: meters may have a series for every combination of tags.
const maxSeries = 2000

func (c *counters) init() {
	c.series = make(map[string]*counter)
	c.meters.init()
}

func (c *counters) hasSeries(name string) bool {
	return c.series[name] != nil || c.meters.sums[name] != nil
}

func (c *counters) add(name, unit string, t int64, v float64, n int64) {
	s := c.series[name]
	if s == nil {
		if len(c.series) == maxSeries {
			c.left++
			return
		}
		s = &counter{name: cleanText(name), unit: unit}
		c.series[name] = s
	}
	s.add(t, v, n)
}

// eventCounter reads an EventCounters event of any provider.
func (q *process) eventCounter(e *eventpipe.Event) {
	r, err := q.p.r.Decode(e.Meta, e.Payload())
	name, ok := findField(r, "Name")
	if err != nil || !ok || name.Text == "" {
		q.countMalformed(e)
		return
	}
	display, _ := findField(r, "DisplayUnits")
	unit, scale := baseUnit(display.Text)
	value, ok := findField(r, "Mean")
	v := value.Number()
	if increment, sum := findField(r, "Increment"); sum {
		interval, _ := findField(r, "IntervalSec")
		if !(interval.Number() > 0) {
			return // the first one, of no interval
		}
		v, ok, unit = increment.Number()/interval.Number(), true, unit+"/s"
	}
	if !ok {
		q.countMalformed(e)
		return
	}
	q.counters.add(e.Meta.Provider+"/"+name.Text, unit, e.Time, v*scale, e.N)
}

// findField finds a counter's field: the fields are in an object named Payload within one without a name,
// which a later version may omit.
func findField(r eventpipe.Record, name string) (eventpipe.Value, bool) {
	for _, v := range r {
		if v.Name == name && v.Type != eventpipe.Object {
			return v, true
		}
		if v.Type == eventpipe.Object {
			if found, ok := findField(v.List, name); ok {
				return found, true
			}
		}
	}
	return eventpipe.Value{}, false
}

// baseUnit returns the base unit of a counter's figures and the factor to it. The
// runtime's megabytes are 10⁶ bytes.
func baseUnit(display string) (unit string, scale float64) {
	switch display {
	case "B", "By":
		return "bytes", 1
	case "KB":
		return "bytes", 1e3
	case "MB":
		return "bytes", 1e6
	case "%":
		return "percent", 1
	case "":
		return "count", 1
	}
	return cleanText(display), 1
}

func (c *counters) emit(q *process) {
	c.meters.keepSums()
	c.meters.perProcessor(q.availableProcessors())
	for name, s := range c.meters.sums {
		if c.series[name] == nil { // a session may have asked for both
			c.series[name] = s
		}
	}
	heaps := q.gc.heapSeries()
	for _, s := range c.sortedByName() {
		s.emit(q, s.name, s.unit)
		delete(heaps, s.name)
	}
	for _, name := range slices.Sorted(maps.Keys(heaps)) {
		heaps[name].emit(q, name, "bytes")
	}
	if c.left > 0 {
		q.b.Warnf(0, "there are more than %d counters: values of the others left out: %d", maxSeries, c.left)
	}
	if c.meters.limited > 0 {
		q.b.Warnf(0, "the process did not publish all series of its meters: the session's MaxTimeSeries or MaxHistograms was reached")
	}
}

func (c *counters) sortedByName() []*counter {
	return slices.SortedFunc(maps.Values(c.series), func(a, b *counter) int { return cmp.Compare(a.name, b.name) })
}

// heapSeries returns the heap's sizes after each collection, by the names of the
// counters that show the newest of them every second.
func (g *collector) heapSeries() map[string]*points {
	names := [...]string{evidence.SeriesGen0Size, evidence.SeriesGen1Size, evidence.SeriesGen2Size, evidence.SeriesLOHSize, evidence.SeriesPOHSize}
	out := make(map[string]*points)
	for i := range g.heaps {
		h := &g.heaps[i]
		for k, name := range names {
			if k == 4 && !h.five {
				continue
			}
			if out[name] == nil {
				out[name] = new(points)
			}
			out[name].add(h.at, float64(h.sizes[k]), h.n)
		}
	}
	return out
}
