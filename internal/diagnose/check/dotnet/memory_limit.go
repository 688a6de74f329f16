package dotnet

import (
	"cmp"
	"fmt"
	"math"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// memoryLimit is the amount with which code that watches the process's memory seems to compare it: it asks for collections only
// while the process has more. It is inferred from the times of collections, because no event reports it.
type memoryLimit struct {
	at     float64 // bytes of resident memory, the least at which a collection was asked for
	below  float64 // bytes, the most at which none was asked for in enough time; NaN: the process always had more than at
	of     float64 // bytes of the memory that the limit is a share of; NaN unknown
	whose  string  // "the host's memory"
	free   float64 // bytes of the host that were free at that time; NaN unknown
	origin evidence.Origin
}

// usualLimit is the part of the total memory with which ASP.NET's cache compares the private
// bytes of the process, where its limit is not set
// (https://learn.microsoft.com/dotnet/api/system.web.configuration.cachesection.privatebyteslimit).
const usualLimit = .6

var leastInduced = check.Threshold{Name: "induced collections from which a memory limit is inferred", Value: 3, Unit: "count",
	Why: "by chance all of fewer come while much is in use", Source: "judgement: weighs code that collects on purpose, now and then, against a limit that makes each collection induced"}

// inferMemoryLimit returns the limit that induced collections seem to compare the process's memory
// with; nil where they come at any size, or the size was not recorded.
func (g *collector) inferMemoryLimit(all []*metrics.Collection) *memoryLimit {
	rss := metrics.Resident(g.c.Bundle, g.c.Subject, g.Window)
	if !rss.Known() || len(all) < leastInduced.Int() {
		return nil
	}
	m := &memoryLimit{at: math.Inf(1), below: math.NaN(), free: math.NaN(), origin: rss.Origin}
	first, last := all[0].From, all[len(all)-1].From
	for _, c := range all {
		m.at = min(m.at, rss.At(c.From))
	}
	every := float64(last-first) / float64(len(all)-1)
	// The memory in times without collections of more than twice their usual distance.
	for i, t := range rss.T {
		near := false
		for _, c := range all {
			near = near || math.Abs(float64(c.From-t)) < 2*every
		}
		if !near && !(rss.V[i] <= m.below) {
			m.below = rss.V[i]
		}
	}
	if m.below >= m.at { // it had as much before without a collection
		return nil
	}
	room, who := metrics.RoomOf(g.c.Bundle, g.c.Subject)
	m.of, m.whose = room.Number, map[string]string{metrics.OfHost: "the host's memory", metrics.Container: "its container's memory"}[who]
	if heap := metrics.HeapHardLimit(g.c.Bundle, g.c.Subject); heap.Known() && !(heap.Number > m.of) {
		m.of, m.whose = heap.Number, "the limit of its heap (GCHeapHardLimit)"
	}
	m.free = metrics.HostFree(g.c.Bundle, g.Window).Number
	return m
}

// formatShare writes the limit as a share of the memory it is a part of.
func (m *memoryLimit) formatShare() string {
	if !(m.of > 0) {
		return ""
	}
	return fmt.Sprintf(" (%s of %s, %s)", units.Percent(m.at/m.of), m.whose, units.Size(m.of))
}

func (m *memoryLimit) listFigures(c *check.Case) (out []check.Evidence) {
	if m == nil {
		return nil
	}
	add := func(id, text string, v float64) {
		if !math.IsNaN(v) {
			out = append(out, c.Figure(id, text, v, "bytes", m.origin))
		}
	}
	add("process.memory_asked_bytes", "least memory of the process when a collection was requested", m.at)
	add("process.memory_unasked_bytes", "most memory of the process while none was requested", m.below)
	add("process.memory_limit_bytes", cmp.Or(m.whose, "total memory"), m.of)
	if m.at >= usualLimit*m.of {
		add("process.memory_watch_bytes", fmt.Sprintf("%s of that, the usual limit of libraries that watch private bytes (such as ASP.NET's cache)", units.Percent(usualLimit)), usualLimit*m.of)
	}
	add("host.memory_free_bytes", "memory of the host that was free at that time; the caller does not check it", m.free)
	return out
}
