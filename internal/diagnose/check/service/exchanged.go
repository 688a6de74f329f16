package service

import (
	"cmp"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// exchanged are the calls of a subject as the kernel saw them on its connections, in order of time.
type exchanged struct {
	origin      evidence.Origin
	from, until int64 // ns: when they were watched
	calls       []exchangedCall
}

// exchangedCall is one of them; times in ns.
type exchangedCall struct {
	to        evidence.NameID // product and address
	operation evidence.NameID // what it asked for, 0 unknown
	sent      int64           // bytes
	port      int64           // of the connection's own end
	begun     int64
	arrived   int64 // the first of its answer was there
	end       int64
	request   int // row, −1 unknown
	ends      transactionEnd
	failed    bool
	refused   bool // its answer is an error
	parts     int  // writes that sent it
	again     int  // times that a query to a name server was sent again
	unknown   bool // a name server answered that there is no such name
}

// transactionEnd is what is known of a transaction after a call.
type transactionEnd uint8

const (
	transactionUnknown transactionEnd = iota
	transactionNone
	transactionOpen
)

var givenUp = check.Threshold{Name: "time after which a connection that is closed without a response is a failed call", Value: 10e6, Unit: "ns",
	Why: "what is closed sooner was refused", Source: "judgement: weighs a refusal, which comes after one way there and back, against a timeout"}

// answerTime returns how long (ns) a call waited for its answer.
func (x *exchangedCall) answerTime() int64 { return x.arrived - x.begun }

// exchangedOf returns the calls, read once for all checks; nil if the kernel's view of connections
// was not recorded.
func exchangedOf(c *check.Case) *exchanged {
	return check.Once(c, readExchanged)
}

func readExchanged(c *check.Case) *exchanged {
	windows := c.Bundle.Covered(c.Subject, evidence.CoverExchanges)
	if len(windows) == 0 {
		return nil
	}
	x := &exchanged{from: windows[0].From, until: windows[0].Until}
	from := make(map[evidence.ArtifactID]bool)
	for _, w := range windows {
		x.from, x.until = min(x.from, w.From), max(x.until, w.Until)
		if a, ok := w.Origin.Artifact(); ok {
			from[a] = true
			x.origin = check.From(a)
		}
	}
	v := &c.Bundle.Intervals
	for i, k := range v.Kind {
		if k != evidence.Call || v.Subject.At(i) != c.Subject {
			continue
		}
		if a, ok := v.Origin.At(i).Artifact(); !ok || !from[a] {
			continue
		}
		port, _ := v.Get(i, evidence.Connection)
		sent, _ := v.Get(i, evidence.SentBytes)
		unread, _ := v.Get(i, evidence.UnreadTime)
		how, failed := v.Get(i, evidence.CallFailed)
		if _, answered := v.Get(i, evidence.CallStatus); failed && !answered && v.End[i]-v.Start[i] < givenUp.Int64() {
			failed = false // a farewell, after which the connection is closed
		}
		call := exchangedCall{to: v.Cause.At(i), operation: v.NameOf(i, evidence.Operation), sent: int64(sent), port: int64(port), begun: v.Start[i],
			arrived: max(v.Start[i], v.End[i]-int64(unread)), end: v.End[i], request: int(v.Request.At(i)) - 1, failed: failed, refused: how == evidence.FailedByAnswer}
		call.parts = 1
		if parts, known := v.Get(i, evidence.SentParts); known {
			call.parts = int(parts)
		}
		again, _ := v.Get(i, evidence.SentAgain)
		call.again = int(again)
		_, call.unknown = v.Get(i, evidence.UnknownName)
		if open, known := v.Get(i, evidence.Transaction); known {
			call.ends = transactionNone
			if open > 0 {
				call.ends = transactionOpen
			}
		}
		x.calls = append(x.calls, call)
	}
	slices.SortFunc(x.calls, func(a, b exchangedCall) int {
		return cmp.Or(cmp.Compare(a.begun, b.begun), cmp.Compare(a.port, b.port))
	})
	return x
}

// partOf returns a function that says how long (ns) a request waits for some of the calls to a
// dependency: by its own calls, where they are known; else by the share these calls have among
// requests of its route, applied to its wait for the dependency.
func (x *exchanged) partOf(c *check.Case, to evidence.NameID, some []*exchangedCall) func(row int) int64 {
	r := &c.Bundle.Requests
	type sums struct{ of, at, called int64 }
	byRow := make(map[int]int64)
	byRoute := make(map[evidence.NameID]*sums)
	told := make(map[evidence.ArtifactID]bool)
	var all sums
	route := func(call *exchangedCall) *sums {
		of := byRoute[r.Route.At(call.request)]
		if of == nil {
			of = &sums{}
			byRoute[r.Route.At(call.request)] = of
		}
		return of
	}
	for i := range x.calls {
		call := &x.calls[i]
		in := []*sums{&all}
		if call.request >= 0 {
			a, _ := r.Origin.At(call.request).Artifact()
			told[a] = true
			in = append(in, route(call))
		}
		for _, s := range in {
			s.called += call.answerTime()
			if call.to == to {
				s.at += call.answerTime()
			}
		}
	}
	for _, call := range some {
		all.of += call.answerTime()
		if call.request >= 0 {
			route(call).of += call.answerTime()
			byRow[call.request] += call.answerTime()
		}
	}
	return func(row int) int64 {
		if a, ok := r.Origin.At(row).Artifact(); ok && told[a] {
			return byRow[row]
		}
		for in := range c.Ledger.Inside(row) { // a client's row
			if a, ok := r.Origin.At(in).Artifact(); ok && told[a] {
				return byRow[in]
			}
		}
		of := &all
		if s := byRoute[r.Route.At(row)]; s != nil {
			of = s
		}
		var waited int64
		for s := range r.Path(row).All {
			if s.Kind == evidence.NetWait && s.Cause == to {
				waited += s.Dur
			}
		}
		if waited > 0 {
			return int64(float64(waited) * float64(of.of) / float64(max(1, of.at)))
		}
		charges := c.Ledger.Of(row)
		return int64(float64(charges[ledger.Dependency]) * float64(of.of) / float64(max(1, of.called)))
	}
}

// isAddress says whether a name is only an address: of a service that is called over HTTP, or with
// an unknown protocol.
func isAddress(name string) bool { return !strings.Contains(name, " ") }
