package cause

import "github.com/unstall/unstall/evidence"

// Need is what would have to be there for more to be known: in words, and what is to be
// typed for it. Nothing else takes one for the other.
type Need struct {
	// What is unknown, or what would show it: "an execution trace of a few seconds".
	What string `json:"what"`
	// Command can be pasted as it stands: into a shell, or among a program's options. PID
	// and HOST:PORT in it stand for those of the process. "" if nothing that can be typed
	// would help.
	Command string `json:"command"`
}

// String is the need as one sentence.
func (n Need) String() string {
	if n.Command == "" {
		return n.What
	}
	return n.What + ": " + n.Command
}

// GoTrace records an execution trace of a Go process.
const GoTrace = "curl -o trace.out 'http://HOST:PORT/debug/pprof/trace?seconds=5'"

// recorded is what shows the states of requests, by the runtime that serves them. A
// process of which nothing is known may be one of Go.
var recorded = map[string]Need{
	"":       {"an execution trace", GoTrace},
	"go":     {"an execution trace", GoTrace},
	"dotnet": {"requests and what their threads do", "unstall record PID"},
	"jvm":    {"requests and what their threads do", "unstall record PID"},
}

// Trace asks for what shows the states of requests, in a runtime of this kind: over which
// time, and what for (" shows whom they waited for", "" for all of it).
func (c *Case) Trace(over, shows string) Need {
	n, ok := recorded[c.Runtime()]
	switch {
	case !ok:
		return Need{What: "only processes of Go, .NET and the JVM tell that of themselves so far"}
	case c.OnThreads():
		n.What += ", over " + over + shows
	default:
		n.What += " of " + over + shows
	}
	return n
}

// NoStates is the answer of causes that need to see requests' states. Where they were
// watched for, as by unstall record, but hardly any ended, the same once more is no help.
func (c *Case) NoStates() Verdict {
	watched := len(c.Bundle.Covered(c.Subject, evidence.CoverRequests)) > 0 || c.Series(evidence.SeriesRequestsInFlight) != nil // its source has both
	if c.OnThreads() && watched && len(c.Bundle.Covered(c.Subject, evidence.CoverThreads)) > 0 {
		return Verdict{State: Inconclusive, Summary: "too few requests ended while they were watched",
			Needs: []Need{{"a recording in which more requests end: longer, or begun before its threads are blocked", "unstall record PID --for 5m"}}}
	}
	return Verdict{State: Inconclusive, Summary: "no request's states are known", Needs: []Need{c.Trace("a few seconds under load", "")}}
}
