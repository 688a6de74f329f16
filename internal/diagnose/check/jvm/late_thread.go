package jvm

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// A thread is taken for the late one where it alone ran for long enough in most stretches between thread dumps that hold late stops.
var (
	ranOfWay = check.Threshold{Name: "part of the way to a safepoint for which a thread ran, from which it may be the late one", Value: .8, Unit: "1",
		Why: "the late thread runs until it stops; less is left for threads that the host did not run all the time", Source: "judgement: two threads cannot both miss it unless they ran side by side; the CPU time of a dump has steps of 10 µs"}
	lateInMost = check.Threshold{Name: "part of the stretches between thread dumps with late stops in which a thread ran for long enough", Value: .75, Unit: "1",
		Why: "several threads may be late in turn", Source: "judgement: one that was late by chance in one of three is not named"}
	leastStretches = check.Threshold{Name: "stretches between thread dumps with late stops from which a thread is named", Value: 3, Unit: "count",
		Why: "a thread may have run at the time of one or two by chance", Source: "binomial: a thread that runs half of the time meets three of three in 12 %"}
)

// lateThread is the thread that probably kept the others waiting on their way to safepoints.
type lateThread struct {
	name     string
	in       string // its own code that dumps show most often, "" unknown
	hits, of int    // stretches between dumps in which it ran long enough, and all that hold late stops
	origin   evidence.Origin
}

// guessLateThread compares the CPU time that thread dumps give for each thread (JDK 11 and later) with the ways to safepoints between them: only a
// thread that runs keeps the others waiting. It returns nil where none or several ran for long enough.
func (g *collector) guessLateThread(late metrics.Pauses) *lateThread {
	x, typ := &g.c.Bundle.Samples, g.c.Bundle.Names.Lookup(evidence.SampleThreadCPU)
	if typ == 0 {
		return nil
	}
	read := make(map[evidence.LaneID][]int) // rows, in order of time
	for i := range x.Len() {
		if x.Type[i] == typ && x.Subject[i] == g.c.Subject && x.Time[i] != 0 {
			read[x.Lane[i]] = append(read[x.Lane[i]], i)
		}
	}
	var out *lateThread
	for lane, rows := range read {
		slices.SortFunc(rows, func(a, b int) int { return cmp.Compare(x.Time[a], x.Time[b]) })
		hits, of := 0, 0
		for n := 1; n < len(rows); n++ {
			from, until := x.Time[rows[n-1]], x.Time[rows[n]]
			way := int64(0)
			for _, p := range late {
				if p.From >= from && p.To <= until && float64(p.To-p.From)/1e9 >= perceptible.Value {
					way += p.To - p.From
				}
			}
			if way == 0 {
				continue
			}
			if of++; float64(x.Value[rows[n]]-x.Value[rows[n-1]]) >= ranOfWay.Value*float64(way) {
				hits++
			}
		}
		if of < leastStretches.Int() || float64(hits) < lateInMost.Value*float64(of) {
			continue
		}
		if out != nil {
			return nil
		}
		out = &lateThread{hits: hits, of: of, origin: x.Origin[rows[len(rows)-1]]}
		out.name, out.in = g.describeLane(lane)
	}
	return out
}

// describeLane returns a thread's name, and its own code that looks show most often: running, or else waiting.
func (g *collector) describeLane(lane evidence.LaneID) (name, code string) {
	ran, waited := make(map[string]int), make(map[string]int)
	for _, s := range g.c.Threads().Samples(g.c.Subject) {
		switch {
		case s.Lane != lane:
			continue
		case s.View.Owner == "":
		case s.View.State == evidence.Running:
			ran[s.View.Owner]++
		default:
			waited[s.View.Owner]++
		}
		name = cmp.Or(name, s.View.Pool)
	}
	seen := ran
	if len(ran) == 0 {
		seen = waited
	}
	for owner, n := range seen {
		if n > seen[code] || n == seen[code] && owner < code {
			code = owner
		}
	}
	return cmp.Or(name, "without a name"), code
}

// sayLateThread adds the thread that is probably late as evidence, and returns it; nil if there is none.
func (g *collector) sayLateThread(v *check.Verdict, late metrics.Pauses) *lateThread {
	l := g.guessLateThread(late)
	if l == nil {
		return nil
	}
	in := ""
	if l.in != "" {
		in = " in " + l.in
	}
	v.Evidence = append(v.Evidence, g.c.Seen(fmt.Sprintf("probably the late thread: %s%s. It alone used as much CPU time as the others waited for, in %d of %d stretches between thread dumps", l.name, in, l.hits, l.of), l.origin))
	return l
}
