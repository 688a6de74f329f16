package check

import (
	"fmt"
	"slices"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/base/units"
)

// CollectorTerms are a runtime's parameters of the common policy for collectors. The constants below are common to all runtimes.
type CollectorTerms struct {
	// Notice is the p99 of slow requests from which GC's cost to them is reported without an objective, and NoticeMost the one where GC is
	// nearly all of their time; 0: any p99.
	Notice, NoticeMost Threshold
	// Watched is the time (s) that must be watched for a share of it to represent the service.
	Watched Threshold
	// Own and Spared are the shares of the time from which pauses are reported where no requests show their cost: Own for pauses that a
	// program needs, Spared for avoidable ones.
	Own, Spared Threshold

	// Figures are the number of pauses, and their share of the time.
	Figures func(c *Case, of Paused, share float64) []Evidence

	Longer   []Need             // asks for a longer recording
	Requests func(*Case) []Need // asks for requests on the timeline of the pauses
	Predicts bool               // it predicts the figures without these pauses, where no model of the collector predicts a fix
	Parts    func(*Case) []Part // all pauses, each in exactly one part
	Explains []string           // causes that explain pauses of any part
}

// Part is some of a collector's pauses, with the cause that judges them.
type Part struct {
	Cause  string // "" none
	What   string // "young collections"
	Pauses metrics.Pauses
	Least  Threshold // share of the time from which they are reported alone, above 0
}

// Thresholds common to pauses of all collectors.
var (
	ASecond = Threshold{Name: "length of a single pause that is named however rare it is", Value: 1., Unit: "s",
		Why: "health checks, callers' timeouts and leases begin there", Source: "J. Nielsen, Usability Engineering, 1993, chapter 5: after 1 s people lose their thought; default timeouts of 1 s"}
	MinuteOf = Threshold{Name: "how many times the share of all time the worst minute must have", Value: 4., Unit: "times",
		Why: "so short a time is worse by chance, as while a service starts", Source: "arithmetic: a minute with four times the share has, alone, that share of four minutes"}
	PausedEnough = Threshold{Name: "time paused in all, where less was watched than a share needs", Value: .2, Unit: "s",
		Why: "what a person at a browser notices", Source: "J. Nielsen, Usability Engineering, 1993, chapter 5: 0.1 s feels immediate"}
	LeastStopped = Threshold{Name: "share of the time paused from which the queue behind pauses may be long", Value: .01, Unit: "1",
		Why: "though what they stop themselves is little", Source: "PASTA (R. Wolff, Operations Research 30, 1982): 1 % of what arrives at random meets one: the p99"}
	MuchStopped = Threshold{Name: "share of the time paused that is a finding though requests are quick for the service alone", Value: .1, Unit: "1",
		Why: "a tenth of all that arrive wait before the service knows of them", Source: "PASTA (R. Wolff, Operations Research 30, 1982): a tenth of what arrives at random meets one: the p90"}
	FullHost = Threshold{Name: "share of the host's CPUs from which they are full", Value: .9, Unit: "1",
		Why: "requests wait for a thread before the service counts them", Source: "M/M/1: ρ/(1−ρ) is 9 at 90 %"}
	MostOfSlow = Threshold{Name: "share of slow time from which it is nearly all of it", Value: .75, Unit: "1",
		Why: "what is all of it need not take as long as one thing of several", Source: "arithmetic: what is left is less than the share that is named (1 − 25 %)"}
)

const (
	// AMinute is the length (s) of the worst stretch that is judged: the resolution of most monitoring.
	AMinute = 60.
)

// Paused is the pauses that a cause judges.
type Paused struct {
	Cause     string
	Collector *metrics.Collector
	Pauses    metrics.Pauses
	What      string    // "young collections"
	Least     Threshold // share of the time from which they are reported where no requests show their cost
	Stalled   []int64   // ns that each slow request also waited for memory that they freed late; nil: nothing
	Recurs    bool      // what brought them on goes on, so that even one is no chance
	Terms     *CollectorTerms
}

// JudgePauses is the policy for pauses of every collector. In this order it asks:
//
//	enough?      were there any, and was enough watched for a share of the time?
//	slow?        are requests slow, where they are known, and slow enough to be noticed?
//	material?    are these pauses a quarter of slow time (or, without requests, their share of the time)? an edge is left open
//	hidden?      do requests wait in pauses before the service knows of them?
//	long?        is one of them so long that it is worth naming by itself?
//	together?    do all pauses matter, and no cause by its own part? then the largest part is named
//
// It fills in state, summary, figures and what would be saved. The bill is nil without requests on the same time line.
func (c *Case) JudgePauses(v *Verdict, of Paused) *Bill {
	g, p, t := of.Collector, of.Pauses, of.Terms
	share := g.ShareOf(p)
	v.Rule, v.Weight = TooLittle, share
	v.Summary = fmt.Sprintf("%s pause the program %s of the time", of.What, units.Percent(share))
	v.Evidence = append(v.Evidence, t.Figures(c, of, share)...)
	if len(p) == 0 {
		v.Rule = Absent
		v.Summary = "no " + of.What
		return c.BillOf(g, p)
	}
	most := p.Longest()
	v.Evidence = append(v.Evidence, c.Figure("gc.longest_pause_ms", "longest of these pauses", 1e3*most.Seconds(), "ms", g.OriginOf(most)))
	b := c.BillOf(g, p)
	switch {
	case share >= MuchStopped.Value && c.outOfSight(g):
		b = nil
		v.Noticed(share, MuchStopped)
		v.Rule = OutOfSight
		v.Summary += ", the host's CPUs are full, and its own rows do not include the wait before the service started a request"
		v.Needs = append(v.Needs, Need{What: "requests as the clients saw them: a load generator's results, or the log of a proxy"})
	case b != nil:
		v.Evidence = append(v.Evidence, b.Figures(c, of.What)...)
		c.JudgeBill(v, b, of)
		if !v.Supported() && share >= of.Least.Value && g.Span >= t.Watched.Value && !c.HasRequestStates() && c.UserVisible(Noticeable) {
			// Most of the slow requests' time was not seen: they do not contradict the log.
			v.Counted(g.Span, t.Watched)
			v.WeighOne(share, of.Least)
			v.Rule, v.Needs = Matters, nil
			v.Summary = fmt.Sprintf("%s pause the program %s of the time, and are %s", of.What, units.Percent(share), OfSlow(b.Share()))
			v.Saves = c.Bound(float64(b.Sum()), float64(b.Low), float64(max(b.High, b.Sum())))
		}
	case c.Ledger != nil && !c.Slow() && len(c.Ledger.Rows) > 0 && g.Meets(c.Ledger.RequestsOf()):
		v.Rule = NotSlow
		v.Summary += ", but requests are not slow"
	default:
		c.judgeShare(v, of, share)
	}
	c.judgeUnmet(v, of)
	c.JudgeLength(v, of, b)
	c.judgeTogether(v, of)
	return b
}

// judgeShare judges pauses by their share of the time, where requests do not show what they cost.
func (c *Case) judgeShare(v *Verdict, of Paused, share float64) {
	g, p, t := of.Collector, of.Pauses, of.Terms
	worst := WorstMinute(g, p)
	v.Counted(g.Span, t.Watched)
	if of.Least.Value > 0 { // else any share is enough
		v.WeighOne(share, of.Least)
	}
	switch {
	case share >= of.Least.Value && g.Span < t.Watched.Value && p.Seconds() < PausedEnough.Value:
		v.Rule, v.Needs = TooFew, t.Longer
		v.Summary = fmt.Sprintf("%s paused the program for %s; the recording covers only %s, too short for a share", of.What, units.Time(1e9*p.Seconds()), units.Time(1e9*g.Span))
	case share >= of.Least.Value, share > 0 && worst.Share() >= MinuteOf.Value*of.Least.Value:
		v.Rule = Matters
		v.Needs = append(v.Needs, t.Requests(c)...)
		if share < of.Least.Value {
			v.Summary = fmt.Sprintf("%s pause the program %s of the recording, but %s of its worst minute", of.What, units.Percent(share), units.Percent(worst.Share()))
		}
	case max(share, worst.Share()/MinuteOf.Value) >= Edge.Value*of.Least.Value:
		v.Rule, v.Needs = OnTheEdge, t.Requests(c)
		v.Summary += ", just below the threshold"
	}
}

// Edge is the part of a threshold from which another recording may exceed it.
var Edge = Threshold{Name: "part of a threshold from which another recording may find it exceeded", Value: Arguable.Value / Material.Value, Unit: "1",
	Why: "as the share that is left open is of the share that is named", Source: "arithmetic: 15 % of 25 %"}

// JudgeBill judges pauses by what they cost slow requests, including what these also waited for
// memory.
func (c *Case) JudgeBill(v *Verdict, b *Bill, of Paused) {
	per := b.Each()
	var waited int64
	for n, ns := range of.Stalled {
		add := min(ns, max(0, c.Bundle.Requests.Latency(c.Ledger.Slow[n])-per[n]))
		per[n] += add
		waited += add
	}
	share := (float64(b.Sum()) + float64(waited)) / float64(max(c.Ledger.Total, 1))
	v.Summary = of.What + " are " + OfSlow(share)
	v.WeighOne(share, Material)
	m := c.Matters(share, of.Terms)
	count, few := 0, false
	if m == Matters && !of.Recurs {
		count, few = c.ByFewPauses(of.Pauses)
	}
	switch {
	case m == NotSlow:
		v.Rule = NotSlow
		v.Summary = fmt.Sprintf("%s pause the program %s of the time, but almost no requests are slow", of.What, units.Percent(v.Weight))
	case few:
		v.Rule, v.Needs = OneLook, append(v.Needs, of.Terms.Longer...)
		v.Summary += fmt.Sprintf(", mostly by %s, which another recording may not have", units.Plural(count, "pause"))
	case m == Matters:
		v.Rule = Matters
		v.Saves = c.Save(per, b.Low, b.High+waited)
		if of.Terms.Predicts {
			less := byRow(c.Ledger, per)
			v.Prediction = append(v.Prediction, c.PredictP99(less), c.PredictSlow(less))
		}
	case m == Unnoticed:
		v.Rule = Unnoticed
		v.Summary += c.ButBrief()
		v.Needs = append(v.Needs, NeedLimit)
	case v.Weight >= LeastStopped.Value && b.Most() >= Material.Value && !b.Placed():
		v.Rule = CostUnknown
		v.Summary = fmt.Sprintf("%s pause slow requests for %s of their time; the queueing time behind them is unknown", of.What, units.Percent(share))
		v.Needs = append(v.Needs, Need{What: "the queueing time behind pauses: the arrival times of all requests (a load generator's results, or an access log with times in ms), and the CPU time of the process", Command: "unstall record PID"})
	case m == OnTheEdge:
		v.Rule, v.Needs = OnTheEdge, append(v.Needs, of.Terms.Longer...)
		v.Summary += ", just below the threshold"
	}
}

// NeedLimit asks for the service's objective.
var NeedLimit = Need{What: "a limit for request latency", Command: "unstall PID --slo 5ms"}

// Matters returns the rule that applies to a part of slow time that a collector costs.
func (c *Case) Matters(share float64, t *CollectorTerms) Rule {
	switch {
	case !c.Slow():
		return NotSlow
	case share >= Material.Value && c.isNoticed(share, t):
		return Matters
	case share >= Material.Value:
		return Unnoticed
	case share >= Arguable.Value:
		return OnTheEdge
	}
	return TooLittle
}

// isNoticed says whether slow requests are slow enough to report what GC costs them. The limit is
// lower where GC is nearly all of their time.
func (c *Case) isNoticed(share float64, t *CollectorTerms) bool {
	return c.UserVisible(t.noticeThreshold(share))
}

func (t *CollectorTerms) noticeThreshold(share float64) Threshold {
	if share >= MostOfSlow.Value {
		return t.NoticeMost
	}
	return t.Notice
}

// byRow returns a function that gives the time each slow request is spared, by its row.
func byRow(l *ledger.Ledger, per []int64) func(row int) int64 {
	at := make(map[int]int64, len(per))
	for n, row := range l.Slow {
		at[row] = per[n]
	}
	return func(row int) int64 { return at[row] }
}

// outOfSight says whether requests may be slow though the service's own figures show none: it
// counts from when a thread starts a request, and on full CPUs requests wait for that.
func (c *Case) outOfSight(g *metrics.Collector) bool {
	l := c.Ledger
	if l == nil || len(l.Rows) == 0 || l.FromOutside() || c.Slow() || !g.Meets(l.RequestsOf()) {
		return false
	}
	host := metrics.HostOf(c.Bundle, c.Subject, g.Window)
	return host.Busy.MostlyKnown() && host.CPUs > 0 && host.Taken() >= FullHost.Value*host.CPUs
}

// judgeUnmet supports a cause that the service's own figures cannot show: a request that arrives
// during a pause waits before the service counts it.
func (c *Case) judgeUnmet(v *Verdict, of Paused) {
	g, p, l := of.Collector, of.Pauses, c.Ledger
	if v.Supported() || l == nil || len(l.Rows) == 0 || c.Bundle.Requests.Lane.At(l.Rows[0]) == 0 || !SlowPausesMet(g, p) {
		return
	}
	v.Rule, v.Needs = OutOfSight, nil
	v.Noticed(1e9*p.Seconds()/float64(len(p)), LongPause)
	v.Noticed(v.Weight, OftenPaused)
	v.Summary = fmt.Sprintf("%s pause the program %s of the time, %s each on average", of.What, units.Percent(v.Weight), units.Time(1e9*p.Seconds()/float64(len(p))))
	v.Evidence = append(v.Evidence, c.Seen("requests that arrive during a pause wait before the service starts them, so its own figures do not show the wait", g.OriginOf(p[0])))
	if b := c.BillOf(g, p); b != nil && b.Sum() > 0 && c.Share(ledger.StopTheWorld) > 0 {
		v.Saves = b.Saves(c)
	}
}

// JudgeLength supports pauses that their share of the time does not, if one of them took a second
// or more; b is what they cost requests, nil if unknown. Where no requests are known, one of nearly a second is not ruled out.
func (c *Case) JudgeLength(v *Verdict, of Paused, b *Bill) {
	most := of.Pauses.Longest()
	if len(of.Pauses) > 0 {
		v.WeighOne(most.Seconds(), ASecond)
	}
	if v.RuledOut() && c.Ledger == nil && most.Seconds() < ASecond.Value && most.Seconds() >= Edge.Value*ASecond.Value {
		v.Rule, v.Needs = OnTheEdge, of.Terms.Requests(c)
		v.Summary += fmt.Sprintf(", the longest for %s: just below a second", units.Time(1e9*most.Seconds()))
	}
	if v.Supported() || most.Seconds() < ASecond.Value {
		return
	}
	v.Rule, v.Needs = StandsAlone, nil
	v.Summary = fmt.Sprintf("the longest of %s %s paused the program for %s", units.Num(float64(len(of.Pauses))), of.What, units.Time(1e9*most.Seconds()))
	if len(of.Pauses) == 1 {
		v.Summary = fmt.Sprintf("one pause of %s (%s)", units.Time(1e9*most.Seconds()), of.What)
	}
	switch {
	case b != nil && b.Sum() > 0:
		v.Saves = b.Saves(c)
	case c.Ledger == nil || !of.Collector.Meets(c.Ledger.RequestsOf()):
		v.Needs = of.Terms.Requests(c)
	}
}

// Minute is the worst minute of some pauses.
type Minute struct {
	From    int64
	Stopped float64 // s
}

// Share returns the part of the minute in which the world was stopped.
func (m Minute) Share() float64 { return m.Stopped / AMinute }

// WorstMinute returns the minute in which the pauses stopped the program longest; zero where no
// more than a minute was watched.
func WorstMinute(g *metrics.Collector, p metrics.Pauses) Minute {
	if g.Span <= AMinute {
		return Minute{}
	}
	from, stopped := p.Worst(AMinute * 1e9)
	return Minute{from, float64(stopped) / 1e9}
}

// together is the sum of all pauses of a collector where no part of them is reported alone.
type together struct {
	matters bool
	home    string // the cause of the largest part; "": none
	words   string // "full collections 20 %, young collections 18 %"
	share   float64
	ofSlow  bool // share is a share of slow time, else of all time
}

// judgeTogether supports the cause with the largest part of pauses that matter only together, and
// leaves the others open.
func (c *Case) judgeTogether(v *Verdict, of Paused) {
	if v.Supported() || of.Terms.Parts == nil || len(of.Pauses) == 0 {
		return
	}
	all := c.Together(of.Collector, of.Terms)
	if !all.matters {
		return
	}
	of100 := "the time"
	if all.ofSlow {
		of100 = "slow time"
	}
	v.Rule, v.Needs = PartOfAll, nil
	v.Summary = fmt.Sprintf("GC pauses are %s of %s: %s", units.Percent(all.share), of100, all.words)
	if all.home == of.Cause {
		v.Rule = Largest
		if b := c.BillOf(of.Collector, of.Pauses); all.ofSlow && b != nil {
			v.Saves = b.Saves(c)
		}
	}
	if v.LeftOpen() || !all.ofSlow {
		v.Needs = of.Terms.Requests(c)
	}
}

// Together says whether all pauses of a collector matter though no part of them does alone: they
// are a quarter of slow time or, without requests, their shares of the time, each divided by its
// own threshold, sum to 1.
func (c *Case) Together(g *metrics.Collector, t *CollectorTerms) (x together) {
	x = Once(c, func(c *Case) together { return c.sumParts(g, t) })
	if slices.ContainsFunc(c.Found, func(f Found) bool {
		return f.Step == StepCollector && f.ID != x.home || slices.Contains(t.Explains, f.ID)
	}) {
		return together{}
	}
	return x
}

func (c *Case) sumParts(g *metrics.Collector, t *CollectorTerms) (x together) {
	parts := slices.DeleteFunc(t.Parts(c), func(p Part) bool { return len(p.Pauses) == 0 })
	part := make(map[int]float64)
	all := c.BillOf(g, g.Pauses)
	met := c.Ledger != nil && len(c.Ledger.Rows) > 0 && g.Meets(c.Ledger.RequestsOf())
	sum, alone := 0., false
	for i, p := range parts {
		alone = alone || p.Pauses.Longest().Seconds() >= ASecond.Value
		if all != nil {
			part[i] = c.BillOf(g, p.Pauses).Share()
			alone = alone || part[i] >= Material.Value
			continue
		}
		part[i] = g.ShareOf(p.Pauses)
		sum += part[i] / p.Least.Value
		alone = alone || max(part[i], WorstMinute(g, p.Pauses).Share()/MinuteOf.Value) >= p.Least.Value
	}
	switch {
	case alone: // judged alone
	case all != nil:
		x.ofSlow, x.share = true, all.Share()
		x.matters = x.share >= Material.Value && c.isNoticed(x.share, t)
	case !met && g.Span >= t.Watched.Value:
		x.share, x.matters = g.ShareOf(g.Pauses), sum >= 1
	}
	if !x.matters {
		return x
	}
	order := make([]int, len(parts))
	for i := range order {
		order[i] = i
	}
	weight := func(i int) float64 {
		if x.ofSlow {
			return part[i]
		}
		return part[i] / parts[i].Least.Value
	}
	sorting.Short(order, func(i, k int) int {
		switch {
		case weight(i) > weight(k):
			return -1
		case weight(i) < weight(k):
			return 1
		}
		return 0
	})
	for n, i := range order[:min(3, len(order))] {
		if n > 0 {
			x.words += ", "
		}
		x.words += parts[i].What + " " + units.Percent(part[i])
	}
	x.home = parts[order[0]].Cause
	return x
}

// IsHome says whether all pauses of a collector together are reported under this cause.
func (c *Case) IsHome(cause string, g *metrics.Collector, t *CollectorTerms) bool {
	if t.Parts == nil {
		return false
	}
	all := c.Together(g, t)
	return all.matters && all.home == cause
}
