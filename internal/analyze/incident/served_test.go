package incident

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Looks at workers do not say at which request: a page that sleeps is told from pages that run and call, though
// all of them are under way at once, and their ends are known in whole milliseconds.
func TestShare(t *testing.T) {
	const (
		sleeps, runs, calls = evidence.NameID(1), evidence.NameID(2), evidence.NameID(3) // routes
		second              = int64(1e9)
	)
	sleeping, running, calling := evidence.Segment{Kind: evidence.SleepWait}, evidence.Segment{Kind: evidence.Running}, evidence.Segment{Kind: evidence.NetWait, Cause: 7}
	work := map[evidence.NameID]struct {
		long int64
		does []evidence.Segment // one after the other, as long each
	}{
		sleeps: {40e6, []evidence.Segment{sleeping}},
		runs:   {4e6, []evidence.Segment{running}},
		calls:  {8e6, []evidence.Segment{running, calling, calling, calling}},
	}
	source := rand.New(rand.NewPCG(1, 2))
	var all []service
	var exact []service
	for route, per := range map[evidence.NameID]int{sleeps: 60, runs: 100, calls: 100} {
		for range 20 * per {
			from := source.Int64N(20 * second)
			until := from + work[route].long
			exact = append(exact, service{route: route, from: from, until: until})
			ms := func(ns int64) int64 { return ns / 1e6 * 1e6 }
			all = append(all, service{route: route, from: ms(until) - ms(until-from), until: ms(until), grain: 1e6})
		}
	}
	s := &spending{whole: &tally{by: make(map[evidence.Segment]int)}}
	for at := int64(0); at < 20*second; at += 20e6 {
		for _, x := range exact {
			if at >= x.from && at < x.until {
				w := work[x.route]
				seg := w.does[(at-x.from)*int64(len(w.does))/w.long]
				s.looks = append(s.looks, look{at, seg, 1})
				s.whole.looks++
				s.whole.by[seg]++
			}
		}
	}
	got := make(map[evidence.NameID]map[evidence.Segment]float64)
	count := make(map[evidence.NameID]float64)
	for k, parts := range s.shareLooks(all) {
		route := all[k].route
		if got[route] == nil {
			got[route] = make(map[evidence.Segment]float64)
		}
		count[route]++
		sum := 0.
		for _, p := range parts {
			got[route][p.Segment] += p.part
			sum += p.part
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Fatalf("parts of request %d add up to %v", k, sum)
		}
	}
	for _, c := range []struct {
		route evidence.NameID
		seg   evidence.Segment
		want  float64
	}{{sleeps, sleeping, 1}, {runs, running, 1}, {calls, running, .25}, {calls, calling, .75}} {
		if part := got[c.route][c.seg] / count[c.route]; math.Abs(part-c.want) > .1 {
			t.Errorf("route %d: %.2f of it %v, want %.2f", c.route, part, c.seg.Kind, c.want)
		}
	}
	if got := (&spending{whole: &tally{}}).shareLooks(all); got[0] != nil {
		t.Error("nobody looked, and yet it is told what workers did")
	}
}
