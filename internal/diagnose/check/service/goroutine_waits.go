package service

import (
	"fmt"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// judgeGoroutineLook judges by what a single look at a Go program's goroutines tells without knowing requests.
func judgeGoroutineLook(c *check.Case) (check.Verdict, bool) {
	if v, ok := judgeGoDeadlock(c); ok {
		return v, true
	}
	return judgeFlowControl(c)
}

// judgeGoDeadlock judges by the runtime's own word that all goroutines wait and none can go on. A deadlock of mutexes is a cause of its own.
func judgeGoDeadlock(c *check.Case) (v check.Verdict, ok bool) {
	n, told := c.Fact(evidence.FactGoDeadlock)
	if !told || slices.ContainsFunc(c.Found, func(f check.Found) bool { return f.Step == check.StepLocks }) {
		return v, false
	}
	state, site, _ := strings.Cut(n.Value, evidence.Link)
	v = check.Verdict{Rule: check.StandsAlone, Weight: 1,
		Title:   fmt.Sprintf("The program ended because all its goroutines waited for one another: %s in %s.", state, site),
		Summary: "a deadlock of goroutines, by the words of Go's runtime"}
	v.Evidence = append(v.Evidence, c.Figure("goroutines.deadlocked", "goroutines that it ended with, all of which waited", n.Number, "count", n.Origin),
		c.Seen("most of them: "+state+" in "+site, n.Origin))
	v.Fix = []check.Fix{{Text: "find which goroutine is to end this wait, and why it waits itself or has ended: one that hands work on must not be one that takes it, a channel must be closed on every path, and WaitGroup.Done called", Code: site}}
	return v, true
}

// flowControl are the functions of Go's libraries in which goroutines wait until the other end of a connection has taken what they send, and that other end.
var flowControl = []struct{ function, sends, other string }{
	{"golang.org/x/net/http2.(*serverConn).writeDataFromHandler", "responses", "their clients"},
	{"net/http.(*http2serverConn).writeDataFromHandler", "responses", "their clients"},
	{"golang.org/x/net/http2.(*clientStream).awaitFlowControl", "requests", "the server"},
	{"net/http.(*http2clientStream).awaitFlowControl", "requests", "the server"},
	{"google.golang.org/grpc/internal/transport.(*writeQuota).get", "gRPC messages", "the other end"},
}

// mostFlow is the part of all goroutines that must wait so.
var mostFlow = check.Threshold{Name: "share of a Go program's goroutines that wait until the other end takes what they send, at one look", Value: .5, Unit: "1",
	Why: "more of them wait than do anything else; a server always has some clients that read slowly", Source: "arithmetic: half"}

// flowControlOf returns the index in [flowControl] of what a goroutine waits for, -1 if it is something else.
func flowControlOf(c *check.Case, stack evidence.StackID) int {
	for _, f := range c.Bundle.Stacks.Frames(stack) {
		name := c.Bundle.Names.Text(f.Func)
		if hasAnyPrefix(name, implementing) {
			continue
		}
		for i := range flowControl {
			if name == flowControl[i].function {
				return i
			}
		}
		return -1
	}
	return -1
}

// judgeFlowControl judges by a single look at a Go program's goroutines: most wait until the other end of their connections has read.
func judgeFlowControl(c *check.Case) (v check.Verdict, ok bool) {
	kind := c.Bundle.Names.Lookup("goroutine")
	if kind == 0 || c.Ledger != nil {
		return v, false
	}
	type look struct {
		all     float64
		waiting []float64 // by [flowControl]
		origin  evidence.Origin
	}
	looks := make(map[evidence.ArtifactID]*look)
	s := &c.Bundle.Samples
	for i := range s.Len() {
		if s.Type[i] != kind || s.Subject[i] != c.Subject && !c.Bundle.Agree(c.Bundle.Subjects[s.Subject[i]], c.Bundle.Subjects[c.Subject]) {
			continue
		}
		a, _ := s.Origin[i].Artifact()
		x := looks[a]
		if x == nil {
			x = &look{waiting: make([]float64, len(flowControl))}
			looks[a] = x
		}
		x.all += float64(s.Value[i])
		if of := flowControlOf(c, s.Stack[i]); of >= 0 {
			x.waiting[of] += float64(s.Value[i])
			x.origin = s.Origin[i]
		}
	}
	var best *look
	at := 0
	for _, x := range looks {
		for of, n := range x.waiting {
			if n >= longQueue.Value && n >= mostFlow.Value*x.all && (best == nil || n > best.waiting[at] || n == best.waiting[at] && x.origin < best.origin) {
				best, at = x, of
			}
		}
	}
	if best == nil {
		return v, false
	}
	of, n := flowControl[at], best.waiting[at]
	v = check.Verdict{Rule: check.StandsAlone, Weight: 1,
		Title:   fmt.Sprintf("Probably: %s wait until %s read: %.0f of %.0f goroutines shown wait for flow control, in %s.", of.sends, of.other, n, best.all, of.function),
		Summary: fmt.Sprintf("%s wait until %s read", units.Plural(int(n), "goroutine"), of.other)}
	v.Weigh(n/best.all, mostFlow)
	v.Evidence = append(v.Evidence, c.Figure("goroutines.wait_flow_control", "goroutines that wait until "+of.other+" read what they send, at one look", n, "count", best.origin),
		c.Figure("goroutines.seen", "goroutines that are shown", best.all, "count", best.origin))
	v.Fix = []check.Fix{{Text: "find why " + of.other + " do not read: an answer's body that is neither read to its end nor closed holds back what comes on the same connection; set a time limit for writing"}}
	v.Needs = []check.Need{{What: "a second look, to show that it stays so", Command: "curl -o goroutines.txt 'http://HOST:PORT/debug/pprof/goroutine?debug=2'"}}
	return v, true
}
