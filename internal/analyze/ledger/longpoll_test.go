package ledger

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
)

// waiters makes requests of a route that wait, each answered by ends, and others that come by themselves.
func waiters(t *testing.T, seen func(s source), ends func(r *rand.Rand, joins []int64, from int64) int64) *Ledger {
	b := newBundle(evidence.Subject{Runtime: "jvm"})
	s := newSource(b, "events.nettrace", exact, 0)
	r := rand.New(rand.NewPCG(1, 2))
	var joins []int64
	for at := int64(0); at < 20000*ms; at += int64(r.ExpFloat64() * float64(50*ms)) {
		joins = append(joins, at)
		s.Request(evidence.Request{Subject: 0, Lane: 1, Route: s.Name("POST /join"), Start: epoch + at, End: epoch + at + ms/20})
	}
	for n := range int64(120) {
		from := n * 150 * ms
		s.Request(evidence.Request{Subject: 0, Lane: 2, Route: s.Name("GET /wait"), Start: epoch + from, End: epoch + ends(r, joins, from)})
	}
	seen(s)
	return one(t, b, Options{Stacks: threads.Readers{"jvm": threads.JVMStacks}})
}

// seenToAwait shows a request that awaits something of the program.
func seenToAwait(s source) {
	s.Sample(evidence.Sample{Subject: 0, Time: epoch, Type: s.Name(evidence.SampleAwaitOther), Class: s.Name("await"), Value: 1, Origin: s.Origin(1)})
}

// seenIn shows a thread whose innermost functions are these.
func seenIn(functions ...string) func(s source) {
	return func(s source) {
		var frames []evidence.Frame
		for _, f := range functions {
			frames = append(frames, evidence.Frame{Func: s.Name(f)})
		}
		s.Sample(evidence.Sample{Subject: 0, Time: epoch, Lane: 7, Stack: s.Stack(frames), Type: s.Name("thread"), Value: 1, Origin: s.Origin(1)})
	}
}

func joined(joins []int64, from int64) int64 {
	for _, at := range joins {
		if at > from+120*ms {
			return at + ms/5
		}
	}
	return from + 4000*ms
}

// A request that waits until others send an event, or until a timeout, is not slow.
func TestLongPollsAreNotSlow(t *testing.T) {
	ends := func(r *rand.Rand, joins []int64, from int64) int64 {
		if r.IntN(5) == 0 {
			return from + 4000*ms + r.Int64N(10)*ms
		}
		return joined(joins, from)
	}
	for name, of := range map[string]struct {
		seen  func(s source)
		count int
	}{
		"threads wait for another": {seenIn("java.lang.Object.wait", "Main$Bell.listen", "Main.handle"), 0},
		"threads wait for a lock":  {seenIn("jdk.internal.misc.Unsafe.park", "java.util.concurrent.locks.ReentrantLock.lock", "Main.handle"), 120},
		"threads sleep":            {seenIn("java.lang.Thread.sleep", "Main.handle"), 120},
	} {
		l, n := waiters(t, of.seen, ends), 0
		for _, i := range l.Rows {
			if l.b.Names.Text(l.b.Requests.Route.At(i)) == "GET /wait" {
				n++
			}
		}
		if n != of.count {
			t.Errorf("%s: %d long polls count, want %d", name, n, of.count)
		}
	}
	l := waiters(t, seenToAwait, ends)
	for _, i := range l.Rows {
		if l.b.Names.Text(l.b.Requests.Route.At(i)) == "GET /wait" {
			t.Fatal("a long poll counts")
		}
	}
	told := false
	for _, w := range l.b.Warnings {
		told = told || strings.Contains(w.Text, "120 long-poll requests (they wait for an event; with --slo they count) to GET /wait (answered after requests to POST /join, or after 4.0")
	}
	if !told {
		t.Errorf("it is not said: %v", l.b.Warnings)
	}
}

// A request that is answered whenever something else becomes free is slow, whatever else arrives then.
func TestWaitsAreNoLongPolls(t *testing.T) {
	for name, ends := range map[string]func(r *rand.Rand, joins []int64, from int64) int64{
		"by themselves":     func(r *rand.Rand, _ []int64, from int64) int64 { return from + 150*ms + r.Int64N(900*ms) },
		"before the others": func(_ *rand.Rand, joins []int64, from int64) int64 { return joined(joins, from) - ms/4 },
	} {
		l := waiters(t, seenToAwait, ends)
		n := 0
		for _, i := range l.Rows {
			if l.b.Names.Text(l.b.Requests.Route.At(i)) == "GET /wait" {
				n++
			}
		}
		if n != 120 {
			t.Errorf("%s: %d of 120 requests count", name, n)
		}
	}
}

// broadcasting makes forty requests that wait all the time, for seven to eight seconds at most, and others of which some answer
// those that wait when it ends: all of them, or one. The kernel saw them, and clients, who call the route otherwise.
func broadcasting(t *testing.T, all bool) (left int) {
	b := newBundle(evidence.Subject{})
	s := newSource(b, "exchanges.txt", exact, 0)
	b.Artifacts[0].Vantage = evidence.FromKernel
	clients := newSource(b, "requests.txt", exact, 0)
	r := rand.New(rand.NewPCG(5, 6))
	var since, atMost [40]int64
	begin := func(k int, at int64) { since[k], atMost[k] = at, at+7000*ms+r.Int64N(1000)*ms }
	for k := range since {
		begin(k, 0)
	}
	answer := func(k int, end int64) {
		s.Request(evidence.Request{Subject: 0, Route: s.Name("GET /events/{id}"), Start: epoch + since[k], End: epoch + end})
		clients.Request(evidence.Request{Subject: 0, Route: clients.Name("GET /events/{n}"), Start: epoch + since[k] - ms/10, End: epoch + end + ms/10})
		begin(k, end+ms)
	}
	next := 0
	for n, at := 0, int64(0); at < 60_000*ms; n, at = n+1, at+int64(r.ExpFloat64()*float64(40*ms)) {
		for k := range since {
			for atMost[k] <= at {
				answer(k, atMost[k])
			}
		}
		took := 2*ms + r.Int64N(2)*ms
		s.Request(evidence.Request{Subject: 0, Route: s.Name("POST /labels"), Start: epoch + at, End: epoch + at + took})
		if all && n%300 != 0 && n%300 != 40 {
			continue
		}
		for k := range since {
			if all || k == next%len(since) {
				answer(k, at+took-ms+int64(k)*ms/10)
			}
		}
		next++
	}
	l := one(t, b, Options{})
	for _, i := range l.Rows {
		if strings.HasPrefix(b.Names.Text(b.Requests.Route.At(i)), "GET /events") {
			left++
		}
	}
	return left
}

// An event that is told to all who wait when another request ends makes them long polls; a place that goes to one of them does not.
func TestEventsToldToAll(t *testing.T) {
	if left := broadcasting(t, true); left > 0 {
		t.Errorf("%d long polls count", left)
	}
	if left := broadcasting(t, false); left == 0 {
		t.Error("waits for a place are taken for long polls")
	}
}
