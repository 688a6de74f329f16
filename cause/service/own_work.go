package service

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/unstall/unstall/cause"
	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/ledger"
)

// OwnWork is slow requests that compute.
var OwnWork = cause.Cause{
	ID:    "service.own-work",
	Title: "slow requests are busy with their own work",
	Step:  cause.StepRest,
	Doc: `Slow requests run: they wait for nothing that could be taken away, they compute more than
the others do. A regular expression that backtracks, a large answer to encode, a list that
is searched from end to end. The function that they run in says what to change.

Which function is known from samples of a CPU profile taken at the same time: in Go those
that fall into slow requests, of a JVM or .NET the stacks of threads that ran.

How to tell it from similar problems: where the CPUs are full, requests wait for each other
(service.over-capacity), and cheaper requests help there, too. On a host that gives no CPU
time on a processor is not CPU time (linux.cpu-saturation).

Least evidence: 5 slow requests whose states are known, with a quarter of the slow time
more work than is usual; without an objective, a p99 of 20 ms.

What helps: less work per request: a better algorithm, a cache, a smaller answer, or the
work in parallel where CPUs are free.`,
	Least:   "5 slow requests that took 1 % of all request time together, and a quarter of slow time of own work, more than is usual",
	Needs:   "what requests did (Go: an execution trace, and a CPU profile at the same time; others: a recording of their threads)",
	Applies: func(*cause.Case) bool { return true },
	Judge:   judgeOwnWork,
}

func judgeOwnWork(c *cause.Case) cause.Verdict {
	if !watched(c) {
		return c.NoStates()
	}
	l := c.Ledger
	at := cause.From(l.Source)
	work := func(row int) int64 { ch := l.Of(row); return ch[ledger.Own] }
	share := c.Share(ledger.Own)
	v := cause.Verdict{State: cause.RuledOut, Summary: cause.OfSlow(share) + " is own work"}
	v.Evidence = append(v.Evidence, c.Figure("slow time of own work", float64(l.Charges[ledger.Own])/1e6, "ms", at))
	if share < cause.Material && c.Slow() {
		return unlessUnseen(c, v)
	}
	if !c.Slow() {
		return v
	}
	per, usual, over := excess(c, l.Rows, l.Slow, work)
	v.Evidence = append(v.Evidence, c.Figure("usual own work per request (median)", float64(usual)/1e6, "ms", at))
	switch {
	case over < cause.Material:
		v.Summary += ", not more than is usual"
		return v
	case l.Host.Starved():
		v.State, v.Summary = cause.Inconclusive, "the host did not run the process all the time, so how much it worked is not known"
		v.Needs = []cause.Need{{What: "the same recording while the host has free CPUs"}}
		return v
	case !c.Noticed(cause.Noticeable):
		v.Summary += ", but slow requests are over within milliseconds"
		return v
	}
	v.State = cause.Supported
	v.Title = fmt.Sprintf("Slow requests are busy themselves: %.0f %% of slow time is own work.", 100*share)
	v.Saves = c.Save(per, -1, -1)
	fix := cause.Fix{Text: "do less per request there, cache the result, or do it outside the request"}
	if where := worked(c); len(where) > 0 {
		top := where[0]
		v.Title = fmt.Sprintf("Slow requests are busy in %s: %.0f %% of slow time is own work.", top.name(), 100*share)
		fix.Code = top.Function
		for _, w := range where[:min(3, len(where))] {
			v.Evidence = append(v.Evidence, c.Figure("share of that work in "+w.name(), w.share, "1", w.origin))
		}
	}
	if route, part := routeOf(c, per); route != "" {
		v.Evidence = append(v.Evidence, c.Figure("share of it in requests to "+route, part, "1", at))
	}
	v.Fix = append(v.Fix, fix)
	v.Prediction = append(v.Prediction, c.PredictP99(func(row int) int64 { return max(0, work(row)-usual) }))
	return v
}

// effort is the work of slow requests in one function of the program.
type effort struct {
	cause.Site
	share  float64
	origin evidence.Origin
}

func (e effort) name() string {
	switch {
	case e.Function == "":
		return e.Callee
	case e.Callee == "":
		return e.Function
	}
	return fmt.Sprintf("%s (calling %s)", e.Function, e.Callee)
}

// worked says in which functions slow requests ran, most first: by the samples that fall
// into them, else by what their threads were seen in.
func worked(c *cause.Case) []effort {
	sums := make(map[called]float64)
	origin := cause.From(c.Ledger.Source)
	if samples := samplesOf(c); len(samples.lanes) > 0 {
		for _, row := range c.Ledger.Slow {
			lane := c.Bundle.Requests.Lane[row]
			c.Ledger.Walk(row, func(at int64, s evidence.Segment, ch *ledger.Charges) {
				if ch[ledger.Own] == 0 {
					return
				}
				samples.within(cmp.Or(s.Lane, lane), at, at+s.Dur, func(i int) {
					site := c.SiteOf(c.Bundle.Samples.Stack[i])
					sums[called{site.Function, site.Callee}] += float64(c.Bundle.Samples.Value[i])
					origin = c.Bundle.Samples.Origin[i]
				})
			})
		}
	} else {
		for _, p := range c.Ledger.Places(c.Sites()) {
			if p.Mechanism == ledger.Own {
				sums[called{cmp.Or(p.Where, p.What), c.SiteOf(p.Stack).Callee}] += float64(p.Ns)
			}
		}
	}
	return ranked(sums, origin)
}

// background says in which functions goroutines ran that serve no request, most first.
func background(c *cause.Case) []effort {
	serving := make(map[evidence.LaneID]bool)
	for _, row := range c.Ledger.Rows {
		serving[c.Bundle.Requests.Lane[row]] = true
	}
	sums := make(map[called]float64)
	origin := cause.From(c.Ledger.Source)
	for lane, rows := range samplesOf(c).lanes {
		if serving[lane] {
			continue
		}
		for _, i := range rows {
			site := c.SiteOf(c.Bundle.Samples.Stack[i])
			sums[called{site.Function, site.Callee}] += float64(c.Bundle.Samples.Value[i])
		}
	}
	return ranked(sums, origin)
}

// called is a function of the program, and what it called.
type called struct{ function, callee string }

// ranked are the functions with their parts of the work, each with what it called most.
func ranked(sums map[called]float64, origin evidence.Origin) (out []effort) {
	delete(sums, called{})
	var total float64
	byFunction := make(map[string]float64)
	best := make(map[string]called)
	for k, n := range sums {
		total += n
		name := cmp.Or(k.function, k.callee)
		byFunction[name] += n
		if b, ok := best[name]; !ok || n > sums[b] || n == sums[b] && k.callee < b.callee {
			best[name] = k
		}
	}
	for name, n := range byFunction {
		k := best[name]
		out = append(out, effort{cause.Site{Function: k.function, Callee: k.callee}, n / total, origin})
	}
	slices.SortFunc(out, func(a, b effort) int { return cmp.Or(cmp.Compare(b.share, a.share), cmp.Compare(a.name(), b.name())) })
	return out
}

// samples are samples of what ran, by lane and time.
type samples struct {
	lanes map[evidence.LaneID][]int // rows of the bundle's samples, by time
	at    []int64
}

func samplesOf(c *cause.Case) samples {
	x := &c.Bundle.Samples
	s := samples{lanes: make(map[evidence.LaneID][]int), at: x.Time}
	typ := c.Bundle.Names.Lookup(evidence.SampleWork)
	if typ == 0 {
		return s
	}
	for i := range x.Len() {
		if a, ok := x.Origin[i].Artifact(); x.Type[i] == typ && x.Subject[i] == c.Subject && ok && a == c.Ledger.Source {
			s.lanes[x.Lane[i]] = append(s.lanes[x.Lane[i]], i)
		}
	}
	for _, rows := range s.lanes {
		slices.SortFunc(rows, func(a, b int) int { return cmp.Compare(x.Time[a], x.Time[b]) })
	}
	return s
}

// within yields the samples of a lane in [from, until).
func (s *samples) within(lane evidence.LaneID, from, until int64, yield func(i int)) {
	rows := s.lanes[lane]
	n, _ := slices.BinarySearchFunc(rows, from, func(i int, t int64) int { return cmp.Compare(s.at[i], t) })
	for ; n < len(rows) && s.at[rows[n]] < until; n++ {
		yield(rows[n])
	}
}

// routeOf is the route that has most of what slow requests lost, and its part; "" where
// requests have no routes, or no route stands out.
func routeOf(c *cause.Case, per []int64) (route string, part float64) {
	sums := make(map[evidence.NameID]int64)
	var total int64
	for n, row := range c.Ledger.Slow {
		sums[c.Bundle.Requests.Route[row]] += per[n]
		total += per[n]
	}
	top := most(sums)
	if total == 0 {
		return "", 0
	}
	if part = float64(sums[top]) / float64(total); part < mostly {
		return "", 0
	}
	return c.Bundle.Names.Text(top), part
}
