package ledger

import (
	"testing"

	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
)

// Beside ten long polls that sleep, one request in ten waits for 300 ms: in a lock where its own thread was seen there. Where the kernel does not show which
// thread served it, looks at the threads of the polls speak for it, too.
func TestOwnThread(t *testing.T) {
	const polls, spacing = 10, 100 // requests; ms
	build := func(known bool, look int64) *Ledger {
		b := newBundle(evidence.Subject{Kind: evidence.Process, Runtime: "jvm"})
		s := newSource(b, "exchanges.txt", exact, 0)
		s.SeenFrom(evidence.FromKernel)
		request := func(route string, thread evidence.LaneID, at, took int64) {
			if !known {
				thread = 0
			}
			s.Request(evidence.Request{Route: s.Name(route), Thread: thread, Start: epoch + at*ms, End: epoch + (at+took)*ms, Path: path(state(evidence.Unobserved, took*ms))})
		}
		for k := range evidence.LaneID(polls) {
			for at := int64(0); at < 20_000; at += 2000 {
				request("GET /news", 1+k, at, 1990)
			}
		}
		for i := range int64(200) {
			took := int64(5)
			if i%10 == 5 {
				took = 300
			}
			request("POST /order", 100+evidence.LaneID(i%5), i*spacing, took)
		}
		s.Close()
		s = newSource(b, "threads", exact, 0)
		stack := func(names ...string) evidence.StackID {
			var frames []evidence.Frame
			for _, f := range names {
				frames = append(frames, evidence.Frame{Func: s.Name(f)})
			}
			return s.Stack(frames)
		}
		servlet := "org.apache.catalina.core.ApplicationFilterChain.doFilter"
		sleeps := stack("java.lang.Thread.sleep", "shop.News.next", servlet, "java.lang.Thread.run")
		locks := stack("jdk.internal.misc.Unsafe.park", "java.util.concurrent.locks.AbstractQueuedSynchronizer.acquire", "java.util.concurrent.locks.ReentrantLock.lock", "shop.Order.put", servlet, "java.lang.Thread.run")
		for at := look; at < 20_000; at += 250 {
			row := func(thread evidence.LaneID, stack evidence.StackID) {
				s.Sample(evidence.Sample{Subject: s.subject, Time: epoch + at*ms, Lane: thread, Stack: stack, Type: s.Name("thread"), Value: 1, Origin: s.Origin(1)})
			}
			for k := range evidence.LaneID(polls) {
				row(1+k, sleeps)
			}
			if i := at / spacing / 10 * 10; at >= (i+5)*spacing && at < (i+5)*spacing+300 {
				row(100+evidence.LaneID((i+5)%5), locks)
			}
		}
		s.watched(evidence.CoverThreads, 0, 20_000*ms)
		s.Close()
		return one(t, b, Options{Stacks: threads.Readers{"jvm": threads.JVMStacks}})
	}
	for _, of := range []struct {
		known     bool
		look      int64 // ms
		lock, not float64
	}{
		{known: true, look: 10, lock: .99, not: .01},
		{known: true, look: 130, lock: .99, not: .01}, // some requests are met, others not
		{known: false, look: 10, lock: .05, not: .8},
	} {
		l := build(of.known, of.look)
		var lock, sleep, all int64
		for _, row := range l.Slow {
			if l.b.Names.Text(l.b.Requests.Route.At(row)) == "POST /order" {
				c := l.Of(row)
				lock, sleep, all = lock+c[Lock], sleep+c[Timer], all+l.b.Requests.Latency(row)
			}
		}
		if all == 0 {
			t.Fatal("no order is slow")
		}
		if x, y := float64(lock)/float64(all), float64(sleep)/float64(all); of.known && (x < of.lock || y > of.not) || !of.known && (x < of.lock || y < of.not) {
			t.Errorf("%+v: %.2f of slow orders wait for a lock, %.2f sleep", of, x, y)
		}
	}
}
