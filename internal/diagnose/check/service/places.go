package service

import (
	"fmt"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// Thresholds for lines of a server's own log, if no request shows what they cost.
var (
	fewUnanswered = check.Threshold{Name: "calls without an answer in time, within a minute, or requests that waited in its queue for a second and most of their time, by a proxy's log", Value: 3, Unit: "count",
		Why: "one or two may be long polls, or a single request", Source: "Poisson: where 1 is usual, 3 or more come by chance in 8 % of recordings"}
	fewBlocked = check.Threshold{Name: "different workers that do not answer at the same time", Value: 3, Unit: "count",
		Why: "one or two may have a long request each", Source: "Poisson: where 1 is usual, 3 or more come by chance in 8 % of recordings"}
)

// judgePlaces judges a server by log lines that say that all places of a kind were in use, or that
// several workers were blocked at the same time.
func judgePlaces(c *check.Case) (v check.Verdict, ok bool) {
	s := c.Bundle.Subjects[c.Subject]
	if used, found := c.Fact(evidence.FactPlacesUsedUp); found && used.Number > 0 && !isOfAcceptQueue(used) {
		what, setting, _ := strings.Cut(used.Value, evidence.Link)
		all := "All"
		places, known := c.Fact(evidence.FactPlaces)
		if known && places.Number > 0 {
			all = fmt.Sprintf("All %.0f", places.Number)
		}
		v = check.Verdict{Rule: check.StandsAlone, Weight: 1,
			Title:   fmt.Sprintf("%s %s of %s are in use at times: further requests wait or fail.", all, what, s.Name),
			Summary: fmt.Sprintf("%s had no %s left, by %s of its log", s.Name, what, units.Plural(int(used.Number), "line"))}
		v.Evidence = append(v.Evidence, c.Figure("pool.used_up_lines", "lines of its log that say so", used.Number, "count", used.Origin))
		if known && places.Number > 0 {
			v.Evidence = append(v.Evidence, c.Figure("pool.places", "places there are", places.Number, "count", places.Origin))
		}
		fix := check.Fix{Text: "find out what holds them, and hold each for less time; raise the limit if what they wait for can take more"}
		if setting != "" {
			fix.Text += ": " + setting
		}
		v.Fix = []check.Fix{fix}
		v.Needs = []check.Need{{What: "an access log with durations from the same time, to show what it costs requests"}}
		return v, true
	}
	together, found := c.Fact(evidence.FactWorkersBlockedTogether)
	if !found || together.Number < fewBlocked.Value {
		return v, false
	}
	ended, _ := c.Fact(evidence.FactWorkersBlocked)
	v = check.Verdict{Rule: check.StandsAlone, Weight: 1,
		Title:   fmt.Sprintf("%.0f workers of %s were blocked at the same time until they were ended: until then few or none took requests.", together.Number, s.Name),
		Summary: fmt.Sprintf("%.0f workers of %s did not answer at the same time", together.Number, s.Name)}
	v.Evidence = append(v.Evidence, c.Figure("workers.blocked_together", "workers that were ended within two seconds, as they did nothing else for longer than they may", together.Number, "count", together.Origin),
		c.Figure("workers.blocked_times", "times that a worker was ended so", ended.Number, "count", ended.Origin))
	v.Fix = []check.Fix{{Text: "look at what the workers wait for while they are blocked, most likely the same call of each: give that call a timeout, shorter than that of the worker"}}
	v.Needs = []check.Need{{What: "stacks of the workers while they are blocked", Command: "unstall record PID"}}
	return v, true
}

// judgeUnanswered judges a dependency by a proxy's calls to it that got no answer in time.
func judgeUnanswered(c *check.Case) (v check.Verdict, ok bool) {
	dense, found := c.Fact(evidence.FactCallsUnansweredDense)
	if !found || dense.Number < fewUnanswered.Value {
		return v, false
	}
	s := c.Bundle.Subjects[c.Subject]
	all, _ := c.Fact(evidence.FactCallsUnanswered)
	v = check.Verdict{Rule: check.StandsAlone, Weight: 1,
		Title:   fmt.Sprintf("%s gives no answer in time: %.0f calls within a minute ended by their timeout.", s.Name, dense.Number),
		Summary: fmt.Sprintf("%s ended by their timeout", units.Plural(int(all.Number), "call"))}
	v.Evidence = append(v.Evidence, c.Figure("calls.unanswered", "calls that ended by their timeout, by the caller's log", all.Number, "count", all.Origin),
		c.Figure("calls.unanswered_in_minute", "of these within a minute, at most", dense.Number, "count", dense.Origin))
	if most, found := c.Fact(evidence.FactCallsUnansweredMost); found {
		v.Evidence = append(v.Evidence, c.Figure("calls.unanswered_longest_ms", "longest of these", most.Number/1e6, "ms", most.Origin))
	}
	v.Fix = []check.Fix{{Text: "look at what it did at that time: its threads, its pool of workers and its own log"}}
	v.Needs = []check.Need{{What: "what the threads of it did at the same time", Command: "unstall record PID"}}
	return v, true
}

// judgeQueued judges a proxy by the few requests of a short log that waited in its queue for a place at an upstream for most of their time.
func judgeQueued(c *check.Case) (v check.Verdict, ok bool) {
	n, found := c.Fact(evidence.FactQueuedLong)
	if !found || n.Number < fewUnanswered.Value {
		return v, false
	}
	most, _ := c.Fact(evidence.FactQueuedLongMost)
	v = check.Verdict{Rule: check.StandsAlone, Weight: 1,
		Title:   fmt.Sprintf("%.0f requests waited in the proxy's own queue for a place at %s, up to %s.", n.Number, n.Value, units.Time(most.Number)),
		Summary: fmt.Sprintf("%.0f requests waited up to %s for a place", n.Number, units.Time(most.Number))}
	v.Evidence = append(v.Evidence, c.Figure("pool.queued_long", "requests that waited a second or more in the queue, for most of their time", n.Number, "count", n.Origin),
		c.Figure("pool.queued_longest_ms", "longest wait in the queue", most.Number/1e6, "ms", most.Origin))
	v.Fix = []check.Fix{{Text: "raise the limit of connections of these servers (maxconn) if they can take more, or add servers; if the log shows fewer connections than the limit while requests wait, the proxy itself holds them back: update it"}}
	v.Needs = []check.Need{{What: "the log of some minutes, and the counts of the queue from the same time: show stat of HAProxy"}}
	return v, true
}

// longConnect is the time from which a slow connection is the dependency's fault, not that of lost packets.
var longConnect = check.Threshold{Name: "time for which a pool with free places has been making a connection", Value: 5e9, Unit: "ns",
	Why: "lost packets are sent again after 1 s and 3 s", Source: "RFC 6298"}

// judgeConnect judges a dependency by a pool that has free places and waits until a new connection is established.
func judgeConnect(c *check.Case) (v check.Verdict, ok bool) {
	f, found := c.Fact(evidence.FactConnectingMost)
	if !found || c.Ledger != nil || f.Number < longConnect.Value {
		return v, false
	}
	v = check.Verdict{Rule: check.StandsAlone, Weight: 1,
		Title:   fmt.Sprintf("The database of the %s pool accepts no connection: one has been in the making for %s while the pool has places left.", f.Value, units.Time(f.Number)),
		Summary: fmt.Sprintf("connecting took %s and more", units.Time(f.Number))}
	v.Evidence = append(v.Evidence, c.Figure("connecting.longest_ms", "longest time for which a connection was being made, by its pool", f.Number/1e6, "ms", f.Origin))
	v.Fix = []check.Fix{{Text: "look at what the database, its host and the network between did at that time: its limit of connections, its log, a firewall; a larger pool does not help"},
		{Text: "give connecting a timeout of its own (connectTimeout), so that it is tried again"}}
	v.Needs = []check.Need{{What: "a thread dump from that time, to show what connecting waits for", Command: "jcmd PID Thread.print"}}
	return v, true
}

// judgeDeadlocks judges a database by the transactions that it ended because they waited for each
// other.
func judgeDeadlocks(c *check.Case) (v check.Verdict, ok bool) {
	s := c.Bundle.Subjects[c.Subject]
	dead, found := c.Fact(evidence.FactDeadlocks)
	if s.Kind != evidence.Dependency || !found || !(dead.Number > 0) {
		return v, false
	}
	v = check.Verdict{Rule: check.StandsAlone, Weight: 1,
		Title:   fmt.Sprintf("Transactions of %s wait for each other's rows: %s, each ended with an error of one of them.", s.Name, units.Plural(int(dead.Number), "deadlock")),
		Summary: units.Plural(int(dead.Number), "deadlock")}
	v.Evidence = append(v.Evidence, c.Figure(evidence.FactDeadlocks, "deadlocks, by the database's own words", dead.Number, "count", dead.Origin))
	v.Fix = []check.Fix{{Text: "change rows in the same order in all transactions, keep each short, and repeat one that was ended so"}}
	v.Needs = []check.Need{{What: "requests of its callers from the same time, to show what it costs them: an access log or spans"}}
	return v, true
}
