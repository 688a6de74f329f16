package service

import (
	"fmt"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// What a single profile or look shows by itself, where no request is known.
var (
	fewHot = check.Threshold{Name: "threads that use a CPU each and are in one function in every sample", Value: 2, Unit: "threads",
		Why: "one may be a long request alone", Source: "arithmetic: the least number that repeats itself"}
	mostLocked = check.Threshold{Name: "share of a program's threads that wait for a mutex, at one look", Value: .5, Unit: "1",
		Why: "more of them wait than do anything else", Source: "arithmetic: half"}
)

// judgeProfiled judges by a profile of a wall clock: one function has most of its time, and does what the cause is about.
func judgeProfiled(c *check.Case, does, title string, fix check.Fix) (v check.Verdict, ok bool) {
	f, told := c.Fact(evidence.FactWallProfile)
	all, _ := c.Fact(evidence.FactWallProfileTime)
	what, function, _ := strings.Cut(f.Value, evidence.Link)
	if !told || c.Ledger != nil || what != does || f.Number < mostly.Value || all.Number < aSecond.Value {
		return v, false
	}
	v = check.Verdict{Rule: check.StandsAlone, Weight: f.Number,
		Title:   fmt.Sprintf(title, units.Percent(f.Number), units.Time(all.Number), function),
		Summary: fmt.Sprintf("%s of a profile in %s", units.Percent(f.Number), function)}
	v.Evidence = append(v.Evidence, c.Figure("profile.function_share", "share of the profile's time in "+function, f.Number, "1", f.Origin),
		c.Figure("profile.time_ms", "time of the whole profile", all.Number/1e6, "ms", all.Origin))
	if fix.Code == "" {
		fix.Code = function
	}
	v.Fix = []check.Fix{fix}
	v.Needs = []check.Need{{What: "requests of the service, to show whether slow ones do the same: a recording under load", Command: "unstall record PID"}}
	return v, true
}

func judgeProfiledNetwork(c *check.Case) (check.Verdict, bool) {
	return judgeProfiled(c, evidence.WallNetwork, "Whatever was profiled waits for an answer: %s of %s in %s.",
		check.Fix{Text: "look at what this call asks for, give it a timeout, and run independent calls side by side"})
}

func judgeProfiledSleep(c *check.Case) (check.Verdict, bool) {
	return judgeProfiled(c, evidence.WallSleep, "The code sleeps: %s of %s in %s.",
		check.Fix{Text: "wait for what is expected instead of a time, or sleep for less"})
}

func judgeProfiledWork(c *check.Case) (v check.Verdict, ok bool) {
	if v, ok := judgeOwnLong(c); ok {
		return v, true
	}
	if f, told := c.Fact(evidence.FactThreadsHot); told && c.Ledger == nil && f.Number >= fewHot.Value {
		v = check.Verdict{Rule: check.StandsAlone, Weight: f.Number,
			Title:   fmt.Sprintf("%.0f threads of a node use a whole CPU each, all in %s.", f.Number, f.Value),
			Summary: fmt.Sprintf("%.0f threads always run in %s", f.Number, f.Value)}
		v.Evidence = append(v.Evidence, c.Figure(evidence.FactThreadsHot, "threads that use a CPU each and are in "+f.Value+" in every sample", f.Number, "count", f.Origin))
		v.Fix = []check.Fix{{Text: "find the requests that do this, and make them cheaper: the slow log and the tasks API name them", Code: f.Value}}
		v.Needs = []check.Need{{What: "a second look, to show that it stays so: GET _nodes/hot_threads"}}
		return v, true
	}
	return judgeProfiled(c, evidence.WallRun, "Whatever was profiled computes: %s of %s in %s itself.",
		check.Fix{Text: "do less work there, or cache its result"})
}

// judgeOwnLong judges an application by its own log of requests: several took a second and more, and most of it was its own work.
func judgeOwnLong(c *check.Case) (v check.Verdict, ok bool) {
	n, told := c.Fact(evidence.FactOwnLong)
	most, _ := c.Fact(evidence.FactOwnLongMost)
	part, _ := c.Fact(evidence.FactOwnLongPart)
	if !told || c.Ledger != nil || most.Number < aSecond.Value || n.Number < fewStatement.Value && most.Number < tenSeconds.Value || part.Number < mostly.Value {
		return v, false
	}
	v = check.Verdict{Rule: check.StandsAlone, Weight: part.Number,
		Title:   fmt.Sprintf("The application itself works for %s of its slow requests, which take up to %s: %s.", units.Percent(part.Number), units.Time(most.Number), n.Value),
		Summary: fmt.Sprintf("%s of slow requests is own work", units.Percent(part.Number))}
	v.Evidence = append(v.Evidence, c.Figure("requests.own_part", "part of slow requests that was its own work, by its log", part.Number, "1", part.Origin),
		c.Figure("requests.own_longest_ms", "longest of them", most.Number/1e6, "ms", most.Origin),
		c.Figure("requests.own_count", "requests of a second and more", n.Number, "count", n.Origin))
	v.Fix = []check.Fix{{Text: "find the code that takes the time (a profile of one such request), and do less there: fewer rows in a page, partial pages from a cache"}}
	v.Needs = []check.Need{{What: "how many requests were not slow: the whole log"}}
	return v, true
}

// judgeLockedThreads judges a native program by a single look at its threads, most of which wait for a mutex.
func judgeLockedThreads(c *check.Case) (v check.Verdict, ok bool) {
	f, told := c.Fact(evidence.FactThreadsLocked)
	all, _ := c.Fact(evidence.FactThreadsSeen)
	if !told || c.Ledger != nil || f.Number < fewAwaiting.Value || f.Number < mostLocked.Value*all.Number {
		return v, false
	}
	in := ""
	if f.Value != "" {
		in = ", some in " + f.Value
	}
	v = check.Verdict{Rule: check.StandsAlone, Weight: f.Number / max(1, all.Number),
		Title:   fmt.Sprintf("Probably: %.0f of %s wait for a mutex%s.", f.Number, units.Plural(int(all.Number), "thread"), in),
		Summary: fmt.Sprintf("%.0f threads wait for a mutex", f.Number)}
	v.Evidence = append(v.Evidence, c.Figure("threads.wait_mutex", "threads that wait for a mutex, at one look", f.Number, "count", f.Origin))
	v.Fix = []check.Fix{{Text: "find the thread that holds it (in gdb print *(pthread_mutex_t*)ADDRESS shows __owner; of Python it is one whose stack does not wait there), and what it waits for; hold it for less time", Code: f.Value}}
	v.Needs = []check.Need{{What: "the stacks of all threads, to show who holds it", Command: "gdb -p PID -batch -ex 'thread apply all bt'"}}
	return v, true
}

// judgeSlowLocked judges by a server's log of requests that took too long: most of them waited for a lock or their session, at one place.
func judgeSlowLocked(c *check.Case) (v check.Verdict, ok bool) {
	all, _ := c.Fact(evidence.FactSlowSeen)
	f, told := c.Fact(evidence.FactSlowLocked)
	if !told || c.Ledger != nil || f.Number < fewAwaiting.Value || f.Number < mostLocked.Value*all.Number {
		return v, false
	}
	v = check.Verdict{Rule: check.StandsAlone, Weight: f.Number / max(1, all.Number),
		Title:   fmt.Sprintf("Requests wait for one another: %.0f of %s that took too long were waiting in %s.", f.Number, units.Plural(int(all.Number), "request"), f.Value),
		Summary: fmt.Sprintf("%.0f slow requests waited in %s", f.Number, f.Value)}
	v.Evidence = append(v.Evidence, c.Figure("requests.await_lock", "requests in the slow log that waited for a lock or their session there", f.Number, "count", f.Origin))
	v.Fix = []check.Fix{{Text: "hold this lock for less time, or have one for each thing it protects: other requests wait until it is free", Code: f.Value}}
	if strings.HasPrefix(f.Value, "session_start") {
		v.Fix = []check.Fix{{Text: "let go of the session as soon as it is read: requests of one session run one after the other while each holds it", Setting: "session_start(['read_and_close' => true]), or session_write_close()", Code: f.Value}}
	}
	v.Needs = []check.Need{{What: "what the request that holds it does during that time, and how many requests were not slow: the access log from the same period"}}
	return v, true
}
