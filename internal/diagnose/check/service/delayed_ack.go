package service

import (
	"fmt"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// DelayedAck is answers whose last part waits until the client acknowledges the one before.
var DelayedAck = check.Check{
	ID:    "service.delayed-ack",
	Title: "answers in small writes wait for the client's acknowledgement",
	Step:  check.StepEntrance,
	Doc: `A server that sends an answer in two small writes, head and body, gives the first to the network at once. The kernel
keeps the second back until the client has acknowledged the first (Nagle's algorithm, RFC 896), and the client's kernel delays
that acknowledgement for 40 ms, as it has nothing to send (RFC 1122, 4.2.3.2). The server itself is done, so its own log and
metrics show quick answers, and the CPUs are idle. The first answers on a connection are often quick, as Linux
acknowledges these at once.

How to tell it from similar problems: a network that loses packets delays by 200 ms and more. A client that
reads slowly delays large answers, by any time. Here small answers come 40 ms late, and hardly ever 20.

What helps: TCP_NODELAY on the server's connections, or one write for the whole answer (a buffer that is flushed once).
com.sun.net.httpserver of the JDK needs -Dsun.net.httpserver.nodelay=true. What does not help: a faster handler, more threads, more CPUs.`,
	Least: fmt.Sprintf("%v requests of routes with small answers in several writes of which the client has the answer %v and up to %v more after the service sent it, and %v of those that come late at all, with %v of slow time; or half of all requests of these routes",
		check.MinRequests, delayedAck, ackLate, mostOnTime, check.Material),
	Thresholds: []check.Threshold{ackLate, delayedAck, lateAtAll, mostOnTime, check.Material, check.MinRequests, check.Noticeable, check.SlowShare, check.SomeSlow, check.TwoKinds},

	Needs: "rows of requests as their clients saw them, and the answers on each connection (as root, unstall record PID --load)",
	Applies: func(c *check.Case) bool {
		return c.Ledger != nil && len(splitAnswers(c)) > 0
	},
	Judge: judgeDelayedAck,
}

var (
	lateAtAll = check.Threshold{Name: "time from the answer's last write until the client has it, from which on it is late", Value: 10e6, Unit: "ns",
		Why: "within a data centre it is less than one", Source: "judgement: a quarter of the delay"}
	mostOnTime = check.Threshold{Name: "part of the late answers that come after just that delay", Value: .7, Unit: "1",
		Why: "slow clients and networks delay by any time", Source: "judgement: weighs answers that others delay as well against delays of any length, of which a sixth would be that long"}
)

// splitAnswers returns the routes whose answers are small and sent in several writes, by the kernel's record.
func splitAnswers(c *check.Case) map[string]evidence.Fact {
	routes := make(map[string]evidence.Fact)
	for _, f := range c.Bundle.Facts {
		if f.Key == evidence.FactAnswerWrites && f.Subject == c.Subject {
			routes[f.Value] = f
		}
	}
	return routes
}

// deliveryOf returns how long (ns) after the service sent an answer the client had it; 0: that is not known.
func deliveryOf(r *evidence.Requests, row int) (ns int64) {
	for s := range r.Path(row).All {
		if s.Kind == evidence.AfterService {
			ns += s.Dur
		}
	}
	return ns
}

// innermostRow returns the row that saw the same request from furthest inside.
func innermostRow(c *check.Case, row int) int {
	for inner := range c.Ledger.Inside(row) {
		row = inner
	}
	return row
}

func judgeDelayedAck(c *check.Case) check.Verdict {
	v := check.Verdict{Rule: check.Absent, Summary: "no answer in several writes is as late as an acknowledgement"}
	l, r := c.Ledger, &c.Bundle.Requests
	routes := splitAnswers(c)
	least, most := int64(delayedAck.Value)-ackTick, int64((1+ackLate.Value)*delayedAck.Value)
	split := func(row int) (writes evidence.Fact, ok bool) {
		writes, ok = routes[c.Bundle.Names.Text(r.Route.At(innermostRow(c, row)))]
		return writes, ok
	}
	held := func(row int) int64 {
		ns := deliveryOf(r, row)
		if _, ok := split(row); !ok || ns < least || ns > most {
			return 0
		}
		return ns
	}
	var all, late, on int
	var took []int64
	var writes evidence.Fact
	count := make(map[evidence.NameID]int)
	for _, row := range l.Rows {
		of, ok := split(row)
		if !ok {
			continue
		}
		all++
		if deliveryOf(r, row) >= lateAtAll.Int64() {
			late++
		}
		if ns := held(row); ns > 0 {
			on++
			took, writes = append(took, ns), of
			count[r.Route.At(row)]++
		}
	}
	v.Weigh(float64(on), check.MinRequests)
	if on < ledger.MinRequests {
		return v
	}
	v.Rule = check.TooLittle
	if float64(on) < mostOnTime.Value*float64(late) {
		v.Summary = fmt.Sprintf("%s of the answers that come late come after 40 ms", units.Percent(float64(on)/float64(late)))
		return v
	}
	route := largestName(count)
	per, _, share := c.Excess(l.Rows, l.Slow, held)
	wait := stats.QuantileOf(took, .5)
	v.Summary = fmt.Sprintf("answers that wait for an acknowledgement are %s of slow time", units.Percent(share))
	v.Evidence = append(v.Evidence,
		c.Figure("answers.acknowledged_late", fmt.Sprintf("requests whose client has the answer some 40 ms after the service sent it, of %s with answers in several writes", units.Count(all)), float64(on), "count", check.From(l.Source)),
		c.Figure("answers.late_p50_ms", "median time from the last write of such an answer until the client has it", float64(wait)/1e6, "ms", check.From(l.Source)),
		c.Figure("answers.writes", "writes that an answer is sent in, median", writes.Number, "count", writes.Origin))
	v.Weigh(share, check.Material)
	what := fmt.Sprintf("%d of %s answers", on, units.Count(all))
	if len(count) > 1 {
		what += ", most of " + routeName(c, route) + ","
	}
	title := fmt.Sprintf("%s reach their clients some %s after the service sent them: the last part waits until the client acknowledges the one before, as answers are sent in %.0f small writes", what, units.Time(float64(wait)), writes.Number)
	switch {
	case c.Slow() && share >= check.Material.Value && c.UserVisible(check.Noticeable):
		v.Title = fmt.Sprintf("%s: %s of slow time.", title, units.Percent(share))
		v.Saves = c.Save(per, -1, -1)
	case 2*on >= all:
		var sum, whole int64
		for _, row := range l.Rows {
			sum, whole = sum+held(row), whole+r.Latency(row)
		}
		v.Weight = float64(sum) / float64(whole)
		v.Title = fmt.Sprintf("%s: %s of all requests' time.", title, units.Percent(v.Weight))
	default:
		v.Rule = c.Cleared(share)
		return v
	}
	v.Rule, v.Standing = check.Matters, true
	v.Fix = []check.Fix{noDelay(c)}
	v.Prediction = append(v.Prediction, c.PredictP99(l.Likely(held)))
	return v
}

// noDelay returns how a server sends small writes at once, also the one of the JDK where threads were seen in it.
func noDelay(c *check.Case) check.Fix {
	fix := check.Fix{Text: "set TCP_NODELAY on the server's connections, or send the whole answer in one write (a buffer that is flushed once)"}
	if c.Bundle.Names.Lookup("sun.net.httpserver.ServerImpl$Dispatcher.run") != 0 {
		fix.Text += "; com.sun.net.httpserver of the JDK does with -Dsun.net.httpserver.nodelay=true"
	}
	return fix
}
