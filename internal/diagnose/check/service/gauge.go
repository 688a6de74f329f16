package service

import (
	"fmt"
	"math"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// gauged is a pool of connections as its gauges tell of it.
type gauged struct{ metrics.ConnectionPool }

// listGauges returns the subject's pools of connections, those that were waited for first.
func listGauges(c *check.Case) (all []gauged) {
	w := metrics.Whole
	if l := c.Ledger; l != nil && l.To > l.From {
		w = ledgerWindow(c)
	}
	for _, p := range metrics.ConnectionPools(c.Bundle, c.Subject, w) {
		all = append(all, gauged{p})
	}
	return all
}

// formatUse writes how a pool was used: "at most 7 of 10 connections in use, none waited".
func (g *gauged) formatUse() string {
	if g.Readings == 0 {
		return units.Plural(int(g.TimedOut), "request") + " gave up waiting for a connection"
	}
	if math.IsNaN(g.Most) {
		return fmt.Sprintf("%s waiting on average (%s)", units.Num(g.Waiting), units.Plural(g.Readings, "reading"))
	}
	text := fmt.Sprintf("at most %.0f", g.Most)
	if g.Size > 0 {
		text += fmt.Sprintf(" of %.0f", g.Size)
	}
	text += " " + g.Unit + " in use"
	switch {
	case math.IsNaN(g.Waiting):
	case g.Queue == 0:
		text += ", none waited"
	default:
		text += fmt.Sprintf(", %s waiting on average", units.Num(g.Waiting))
	}
	if g.Readings == 1 {
		return text + " (1 reading)"
	}
	return text + fmt.Sprintf(" (%d readings)", g.Readings)
}

func (g *gauged) addFigures(c *check.Case, v *check.Verdict) {
	if g.TimedOut > 0 {
		v.Evidence = append(v.Evidence, c.Figure("pool.gave_up", "requests that gave up waiting for one, by log lines, pool "+g.Name, g.TimedOut, "count", g.Origin))
	}
	if g.Timeout > 0 {
		v.Evidence = append(v.Evidence, c.Figure("pool.timeout_ms", "longest that one of these waited", g.Timeout/1e6, "ms", g.Origin))
	}
	if g.Readings == 0 {
		return
	}
	if !math.IsNaN(g.Most) {
		v.Evidence = append(v.Evidence, c.Figure("pool.most_in_use", "most "+g.Unit+" in use, pool "+g.Name, g.Most, "count", g.Origin))
	}
	if g.Size > 0 {
		v.Evidence = append(v.Evidence, c.Figure("pool.size", "size of the pool", g.Size, "count", g.Origin),
			c.Figure("pool.full_share", "share of readings with all in use", float64(g.Full)/float64(g.Readings), "1", g.Origin))
	}
	if !math.IsNaN(g.Waiting) {
		v.Evidence = append(v.Evidence, c.Figure("pool.waiting", "requests waiting for one, on average", g.Waiting, "count", g.Origin))
	}
}

// readPool is what shows whether requests waited for a connection.
var readPool = check.Need{What: "the pool's gauges from the same time, as a CSV with time,active,max,waiting or as metrics of its library", Command: "unstall FILE... gauges.csv"}

var sizeOfPool = check.Need{What: "the size of the pool, or the number of requests waiting for a connection"}

// judgeGauges judges a pool by its gauges, where the service's threads were not sampled. A request
// that waits for a connection loses that time: with n waiting on average, n seconds are lost per
// second.
func judgeGauges(c *check.Case, all []gauged) check.Verdict {
	v := check.Verdict{Rule: check.TooLittle}
	for i := range all {
		all[i].addFigures(c, &v)
	}
	g := &all[0]
	v.Summary = g.formatUse()
	l := c.Ledger
	if (l == nil || len(l.Rows) == 0 || g.TimedOut > 0 && (l.Requests.Count < check.MinRequests.Int() || g.TimedOut >= check.Material.Value*float64(l.Requests.Count))) && g.judgeWithoutRequests(c, &v) { // of few requests none is known to be slow
		return v
	}
	if l == nil || !c.Slow() || l.To <= l.From {
		switch {
		case g.Waiting > 0 || g.TimedOut > 0:
			v.Rule, v.Needs = check.CostUnknown, []check.Need{{What: "an access log from the same time, to show what it costs requests"}}
		case math.IsNaN(g.Waiting) && g.Full > 0: // a pool that is full acquits nothing
			v.Rule = check.CostUnknown
			v.Summary += "; whether requests waited was not recorded"
			v.Needs = []check.Need{{What: "the number of requests waiting for a connection (hikaricp_connections_pending, waiting), with the number in use"}}
		case l != nil && !c.Slow():
			v.Rule = check.NotSlow
		case math.IsNaN(g.Waiting) && math.IsNaN(g.Size):
			v.Rule, v.Needs = check.NotRecorded, []check.Need{sizeOfPool}
		case math.IsNaN(g.Waiting) && g.Readings < fewReadings.Int() && !(g.Most < mostlyFree.Value*g.Size):
			v.Rule, v.Needs = check.OneLook, []check.Need{readPool}
			v.Counted(float64(g.Readings), fewReadings)
		default:
			v.Rule = check.Absent
		}
		return v
	}
	waited := min(g.Waiting*float64(l.To-l.From), float64(l.Total))
	v.Counted(float64(g.Readings), fewReadings)
	v.Weigh(waited/float64(max(1, l.Total)), check.Material)
	switch {
	case g.Size > 0 && g.Most < mostlyFree.Value*g.Size && g.Readings >= fewReadings.Int():
		if g.Queue > 0 {
			v.Summary += ": with free ones in the pool, requests do not wait for the pool"
		}
	case waited >= check.Material.Value*float64(l.Total):
		v.Rule = check.Matters
		v.Title = fmt.Sprintf("Requests wait for an exhausted pool: %s, all %.0f in use.", g.Name, g.Size)
		if math.IsNaN(g.Size) {
			v.Title = fmt.Sprintf("Requests wait for an exhausted pool: %s.", g.Name)
		}
		v.Saves = c.Bound(waited, 0, waited)
		v.Evidence = append(v.Evidence, c.Figure("slow.pool_most_share", "share of the slow time waiting for it, at most", waited/float64(l.Total), "1", g.Origin))
		v.Fix = append(v.Fix, enlargePool(g.Name))
	case math.IsNaN(g.Waiting) && g.Full > 0:
		v.Rule = check.CostUnknown
		v.Summary += fmt.Sprintf(", all in use in %d of them; whether requests waited was not recorded", g.Full)
		v.Needs = []check.Need{{What: "the number of requests waiting for a connection (hikaricp_connections_pending, waiting), with the number in use"}}
	case math.IsNaN(g.Waiting) && math.IsNaN(g.Size):
		v.Rule, v.Needs = check.NotRecorded, []check.Need{sizeOfPool}
	}
	return v
}

// judgeWithoutRequests judges a pool by requests that gave up waiting for it, or by a queue that
// is there at most readings and half as long as the pool is large, as for threads ([judgeLimits]).
func (g *gauged) judgeWithoutRequests(c *check.Case, v *check.Verdict) bool {
	rule := check.Matters
	switch {
	case g.TimedOut > 0 && g.Readings > 0 && g.Most == 0:
		v.Rule = check.Untold
		v.Summary = units.Plural(int(g.TimedOut), "request") + " gave up waiting for a connection, but the pool had none in use: opening them may fail"
		v.Needs = []check.Need{{What: "the errors that the pool logs when it opens a connection"}}
		return true
	case g.TimedOut > 0 && g.Most < mostlyFree.Value*g.Size && g.Queue > 0:
		v.Rule = check.Untold
		v.Summary = fmt.Sprintf("%s gave up waiting for a connection, but only %.0f of %.0f were in use: it was not used up, and hands out none", units.Plural(int(g.TimedOut), "request"), g.Most, g.Size)
		v.Needs = []check.Need{{What: "why it hands out none of the free ones: the pool's own log at the level DEBUG (connections that fail its test), and thread dumps and the GC log from that time"}}
		return true
	case g.TimedOut > 0 && g.Readings > 0 && math.IsNaN(g.Waiting) && g.Most < allInUse.Value*g.Size:
		v.Rule = check.Untold
		v.Weigh(g.Most/g.Size, allInUse)
		v.Summary = fmt.Sprintf("%s gave up waiting for a connection, but only %.0f of %.0f were in use then: the pool has room, and could not open another in time", units.Plural(int(g.TimedOut), "request"), g.Most, g.Size)
		v.Needs = []check.Need{{What: "how long the pool takes to open a connection, and the errors that it logs then"}}
		return true
	case g.TimedOut > 0 && !(g.Most < mostlyFree.Value*g.Size):
		rule = check.StandsAlone
		v.Title = fmt.Sprintf("Requests wait for an exhausted pool: %s, and give up.", g.Name)
		if g.Timeout > 0 {
			v.Title = fmt.Sprintf("Requests wait for an exhausted pool: %s, and give up after %s.", g.Name, units.Time(g.Timeout))
		}
	case g.UsedUp() && g.Readings >= fewReadings.Int() && g.Waiting >= check.Queueing.Value && 2*g.Waiting >= g.Size:
		v.Counted(float64(g.Readings), fewReadings)
		v.Weigh(g.Waiting, check.Queueing)
		v.Title = fmt.Sprintf("Requests wait for an exhausted pool: %s, %s on average.", g.Name, units.Num(g.Waiting))
	case g.UsedUp() && 2*g.Waiting >= g.Size && g.Waiting >= longQueue.Value, math.IsNaN(g.Size) && g.Waiting >= longQueue.Value:
		v.Weigh(g.Waiting, longQueue)
		v.Title = fmt.Sprintf("Requests probably wait for an exhausted pool: %s, %s at that moment.", g.Name, units.Num(g.Waiting))
		v.Needs = append(v.Needs, check.Need{What: "more readings of the pool, to show that it stays so"})
	default:
		return false
	}
	v.Rule, v.Weight = rule, 1
	if g.Waiting > 0 && g.Size > 0 {
		v.Weight = min(1, g.Waiting/g.Size)
	}
	v.Fix = append(v.Fix, enlargePool(g.Name))
	v.Needs = append(v.Needs, check.Need{What: "an access log from the same time, to show what it costs requests"})
	return true
}

var longQueue = check.Threshold{Name: "requests that wait for a pool in a single reading", Value: 10, Unit: "count",
	Why: "as many as the pool has by default", Source: "HikariCP: maximumPoolSize=10"}

var (
	mostlyFree = check.Threshold{Name: "part of a pool in use up to which it is not exhausted", Value: .5, Unit: "1",
		Why: "readings between may have seen more, not twice as much", Source: "judgement: weighs a peak between two readings against a pool that was never used up"}
	allInUse = check.Threshold{Name: "part of a pool in use as a request gives up waiting for it, from which it is exhausted", Value: .9, Unit: "1",
		Why: "a few may be given back in that moment", Source: "judgement: weighs places given back while the message is made against a pool that has room, and cannot open a connection; tried on messages of Druid, Tomcat JDBC and MongoDB's driver"}
	fewReadings = check.Threshold{Name: "readings of a pool's gauge", Value: 5, Unit: "count",
		Why: "fewer may have missed when it was exhausted", Source: "binomial: a pool that is used up half of the time is missed by 5 readings in 3 % of cases (2⁻⁵)"}
)

func enlargePool(name string) check.Fix {
	return check.Fix{Text: "enlarge the pool if the dependency can handle more (needed = requests per second × seconds each is held), or hold each connection for less time", Code: name}
}

// judgeTaken judges by spans that show the time taken to get a connection.
func judgeTaken(c *check.Case, s *spanned) check.Verdict {
	per, _, share := c.Excess(s.rows, s.slow, func(row int) int64 { return timeInState(c, row, evidence.PoolWait) })
	v := check.Verdict{Rule: check.TooLittle, Summary: fmt.Sprintf("a slow request waits %s of %s for a connection", units.Time(s.pooled), units.Time(s.took))}
	v.Weigh(share, check.MaterialBeyond)
	v.Evidence = append(v.Evidence, c.Figure("slow.pool_wait_mean_ms", fmt.Sprintf("wait of a slow request for a connection (mean of %d)", len(s.slow)), s.pooled/1e6, "ms", s.origin))
	if share < check.Material.Value || !c.Slow() {
		v.Rule = c.Cleared(share)
		// Where the kernel saw the calls, and not most of what requests do, more of them may wait for it.
		if unseen := c.Share(ledger.Unobserved); c.Slow() && share >= check.Arguable.Value && exchangedOf(c) != nil && unseen >= check.MaterialUnseen.Value {
			v.Missed(unseen, check.MaterialUnseen)
			v.Rule, v.Needs = check.Unseen, []check.Need{readPool}
			v.Summary += fmt.Sprintf(", and %s of slow time was not observed", units.Percent(unseen))
		}
		return v
	}
	v.Rule = check.Matters
	by := make(map[evidence.NameID]int64)
	for _, row := range s.slow {
		for x := range c.Bundle.Requests.Path(row).All {
			if x.Kind == evidence.PoolWait {
				by[x.Cause] += x.Dur
			}
		}
	}
	name := c.Bundle.Names.Text(largestName(by))
	v.Title = fmt.Sprintf("Requests wait for an exhausted pool: %s.", name)
	v.Fix = append(v.Fix, enlargePool(name))
	if !s.own {
		v.Saves = c.Bound(share*float64(c.Ledger.Total), 0, float64(c.Ledger.Total))
		return v
	}
	v.Saves = c.Save(per, -1, -1)
	v.Prediction = append(v.Prediction, c.PredictP99(func(row int) int64 { ch := c.Ledger.Of(row); return ch[ledger.Pool] }))
	return v
}
