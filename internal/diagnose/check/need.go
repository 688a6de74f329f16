package check

import (
	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/base/evidence"
)

// Need is missing evidence that would tell more: in words, and as a command, which are kept apart.
type Need struct {
	// What is unknown, or what would show it: "an execution trace of a few seconds".
	What string `json:"what"`
	// Command can be pasted as it is: into a shell, or among a program's options. PID and HOST:PORT in it stand for those of the process. ""
	// if no command would help.
	Command string `json:"command"`
}

// String returns the need as one sentence.
func (n Need) String() string {
	if n.Command == "" {
		return n.What
	}
	return n.What + ": " + n.Command
}

// Trace returns the need for a recording that shows the states of requests, for this kind of
// runtime: over which time, and what it would show (" shows whom they waited for", "" for
// everything).
func (c *Case) Trace(over, shows string) Need {
	n := Need(platform.ByID(c.Runtime()).States)
	switch {
	case n.What == "":
		return Need{What: "a process of " + platform.Titles(func(r *platform.Runtime) bool { return r.States.What != "" }, "or") + ": of others this is not supported"}
	case c.OnThreads() && platform.ByID(c.Runtime()).Stacks == nil:
		return Need{What: "what its threads wait for in the kernel, over " + over + shows, Command: "unstall record PID --for 5m"}
	case c.OnThreads():
		n.What += ", over " + over + shows
		if n.Command == "unstall record PID" && len(c.Bundle.Covered(c.Subject, evidence.CoverThreads)) > 0 { // the same again would show as little
			n.Command += " --for 5m"
		}
	default:
		n.What += " of " + over + shows
	}
	return n
}

// NoStates returns the verdict of causes that need the states of requests. Where states were
// recorded but hardly any request ended, recording the same again would not help.
func (c *Case) NoStates() Verdict {
	if c.WaitsUnseen() {
		return notSeen()
	}
	watched := len(c.Bundle.Covered(c.Subject, evidence.CoverRequests)) > 0 || c.Series(evidence.SeriesRequestsInFlight) != nil // its source has both
	if c.OnThreads() && c.Ledger != nil && len(c.Ledger.Rows) >= ledger.MinRequests && len(c.Bundle.Covered(c.Subject, evidence.CoverThreads)) > 0 {
		return Verdict{Rule: NotRecorded, Summary: "no sampled thread is known to serve requests",
			Needs: []Need{{"spans of its requests, or the frames of its server in a thread dump", ""}}}
	}
	if c.OnThreads() && watched && len(c.Bundle.Covered(c.Subject, evidence.CoverThreads)) > 0 {
		return Verdict{Rule: TooFew, Summary: "too few requests finished during the recording",
			Needs: []Need{{"a recording in which more requests finish: a longer one, or one started before the threads are blocked", "unstall record PID --for 5m"}}}
	}
	return Verdict{Rule: NotRecorded, Summary: "what requests waited for was not recorded", Needs: []Need{c.Trace("a few seconds under load", "")}}
}

// WaitsUnseen says whether requests may run on the runtime's own threads (virtual threads), of
// which only those on a CPU were seen.
func (c *Case) WaitsUnseen() bool { return c.OnThreads() && c.Threads().WaitsUnseen(c.Subject) }

// UnlessUnseen makes a verdict that rules out a wait of threads inconclusive where the waits of
// threads that serve requests were not seen, and a material part of the slow time with them.
func (c *Case) UnlessUnseen(v Verdict) Verdict {
	enough := c.Ledger != nil && len(c.Ledger.Rows) >= ledger.MinRequests
	if !v.RuledOut() || !c.WaitsUnseen() || enough && (!c.Slow() || c.Share(ledger.Unobserved) < Material.Value) {
		return v
	}
	not := notSeen()
	v.Rule, v.Summary, v.Needs = not.Rule, not.Summary, not.Needs
	return v
}

func notSeen() Verdict {
	return Verdict{Rule: Unseen, Summary: "requests may run on virtual threads, whose waits were recorded only in part: in events of a flight recording, or not at all",
		Needs: []Need{{"dumps of the virtual threads, which unstall takes on JDK 21 to 24 (dumping them can crash JDK 25): run the service on JDK 21", "unstall record PID"}}}
}
