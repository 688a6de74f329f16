package jvm

import (
	"fmt"
	"math"

	"github.com/unstall/unstall/cause"
	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/model/younggen"
	"github.com/unstall/unstall/reading"
	"github.com/unstall/unstall/stats"
)

// load is what requests and collections take of the processors, over the window.
type load struct {
	knee    younggen.Knee
	offered float64 // requests that came each second
	cpu     evidence.Origin
}

// kneeBlocks is how many parts of the window tell how sure the knee is.
const kneeBlocks = 8

// kneeRequests is how many requests tell what one takes of the processors, so that each
// block has a dozen.
const kneeRequests = 100

// leastLeft is the part of the processors that a process is taken to have, however much the
// others on the host used: what it uses itself, it has.
const leastLeft = 1. / 8

// deviation is how many median deviations from the median the standard deviation of a normal
// distribution is; two of these to either side hold 95 % of it.
const deviation = 1.4826

// loadOf reads it from the process's CPU time, its pauses and its requests; ok is false
// where one of them was not watched.
func (g *collector) loadOf(p reading.Pauses) (w load, ok bool) {
	c := g.c
	l := c.Ledger
	cores := g.processors()
	if l == nil || !g.meets() || cores == 0 || len(l.Rows) < kneeRequests {
		return w, false
	}
	cpu := reading.ProcessorTime(c.Bundle, c.Subject, g.Window)
	if !cpu.Known() {
		return w, false
	}
	left := g.left(cores)
	r := &c.Bundle.Requests
	var came []int64
	for _, i := range l.Rows {
		came = append(came, r.End[i]-r.Latency(i))
	}
	share := func(from, to int64) (k younggen.Knee, offered float64, ok bool) {
		seconds := float64(to-from) / 1e9
		used := cpu.Over(reading.Window{From: from, Until: to})
		n, done := 0, 0
		for j, i := range l.Rows {
			if came[j] >= from && came[j] < to {
				n++
			}
			if r.End[i] >= from && r.End[i] < to {
				done++
			}
		}
		if !used.MostlyKnown() || n == 0 || done == 0 {
			return k, 0, false
		}
		in := p.Where(func(x reading.Pause) bool { return x.From >= from && x.From < to })
		user, system, _ := g.CPUOf(in)
		if math.IsNaN(user) {
			user, system = left*in.Seconds(), 0 // its threads had all processors
		}
		rate := float64(done) / seconds
		k = younggen.Knee{Processors: left, Work: max(0, used.Number-(user+system)/seconds) / rate, Stopped: in.Seconds() / seconds / rate}
		return k, float64(n) / seconds, k.Work > 0
	}
	if w.knee, w.offered, ok = share(g.From, g.Until); !ok {
		return w, false
	}
	w.cpu = cpu.Origin
	var at, free []float64
	for b := range int64(kneeBlocks) {
		k, _, ok := share(g.From+(g.Until-g.From)*b/kneeBlocks, g.From+(g.Until-g.From)*(b+1)/kneeBlocks)
		if ok {
			at, free = append(at, k.Rate().Value), append(free, k.Free().Value)
		}
	}
	w.knee.Spread = spread(at)
	w.knee.SpreadFree = spread(free)
	return w, true
}

// left is how many processors others on the host left to the process, in the mean.
func (g *collector) left(cores float64) float64 {
	others := reading.HostOf(g.c.Bundle, g.c.Subject, g.Window).Others
	if !others.MostlyKnown() {
		return cores
	}
	return min(cores, max(leastLeft*cores, cores-others.Number))
}

// spread is the relative 95 % interval of a mean by its parts, NaN of too few.
func spread(v []float64) float64 {
	if len(v) < kneeBlocks/2 {
		return math.NaN()
	}
	m := stats.Median(v)
	dev := make([]float64, len(v))
	for i, x := range v {
		dev[i] = math.Abs(x - m)
	}
	return 2 * deviation * stats.Median(dev) / math.Sqrt(float64(len(v))) / m
}

// figures are the evidence of the knee.
func (w load) figures(c *cause.Case) []cause.Evidence {
	from := cause.From(c.Ledger.Source)
	return []cause.Evidence{
		c.Figure("requests that came", w.offered, "1/s", from),
		c.Figure(fmt.Sprintf("knee: the rate at which work and collections fill %s processors", cause.Digits(2, w.knee.Processors)), w.knee.Rate().Value, "1/s", w.cpu),
		c.Figure("the same without these collections", w.knee.Free().Value, "1/s", w.cpu),
		c.Figure("processor time per request, collections not counted", 1e3*w.knee.Work, "ms", w.cpu),
	}
}
