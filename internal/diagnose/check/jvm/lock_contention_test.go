package jvm

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack/stacktest"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// dumped is a JVM whose threads were looked at each second.
type dumped struct {
	b  *evidence.Bundle
	p  *evidence.Builder
	id evidence.SubjectID
}

func dump() *dumped {
	b := evidence.NewBundle()
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "threads.txt"}), "threaddump")
	return &dumped{b, p, p.Subject(evidence.Subject{Runtime: "jvm", Name: "shop", PID: 4711, CPUs: 2})}
}

// looks takes so many dumps of threads, each of which is its lane's stack, innermost first;
// who waits for a monitor waits for the first thread.
func (d *dumped) looks(times int, stacks ...string) *dumped {
	for n := range times {
		at := epoch + int64(n)*1000*ms
		for i, s := range stacks {
			lines := strings.Fields(s)
			for i := range lines {
				lines[i] = strings.ReplaceAll(lines[i], "·", " ")
			}
			lane, stack, origin := evidence.LaneID(i+1), stacktest.Intern(d.p, stacktest.Of(lines...)), d.p.Origin(int64(n*len(stacks)+i+1))
			d.p.Sample(evidence.Sample{Subject: d.id, Time: at, Lane: lane, Stack: stack, Type: d.p.Name(evidence.SampleThread), Value: 1, Origin: origin})
			if strings.HasPrefix(s, "-·waiting") {
				d.p.Interval(evidence.Interval{Subject: d.id, Kind: evidence.LockWait, Lane: lane, Start: at, End: at, Stack: stack, Cause: d.p.Name("java.util.HashMap"), Holder: 1, Origin: origin})
			}
		}
	}
	d.p.Cover(evidence.Coverage{Subject: d.id, Kind: evidence.CoverThreads, From: epoch, Until: epoch + int64(times)*1000*ms})
	return d
}

const (
	server  = " javax.servlet.http.HttpServlet.service java.util.concurrent.ThreadPoolExecutor$Worker.run java.lang.Thread.run [http-nio-8080-exec]"
	blocked = "-·waiting·to·lock·(a·java.util.HashMap) shop.Prices.get shop.Cart.total" + server
	parked  = "jdk.internal.misc.Unsafe.park java.util.concurrent.locks.ReentrantLock.lock shop.Prices.get shop.Cart.total" + server
	sleeps  = "java.lang.Thread.sleep shop.Prices.load" + server
	counts  = "java.util.HashMap.put shop.Prices.get shop.Cart.total" + server
	copies  = "-·waiting·to·lock·(a·java.util.HashMap) shop.Line.store shop.Copies.run java.lang.Thread.run [copy]"
	stores  = "java.lang.Thread.sleep shop.Line.store shop.Copies.run java.lang.Thread.run [copy]"
	awaits  = "jdk.internal.misc.Unsafe.park java.util.concurrent.FutureTask.get shop.Cart.total" + server
	idle    = "jdk.internal.misc.Unsafe.park java.util.concurrent.ThreadPoolExecutor.getTask java.util.concurrent.ThreadPoolExecutor$Worker.run java.lang.Thread.run [http-nio-8080-exec]"
)

func (d *dumped) judge() check.Verdict {
	d.p.Close()
	d.b.Align()
	return judgeLock(&check.Case{Bundle: d.b, Subject: d.id})
}

func TestLock(t *testing.T) {
	for _, c := range []struct {
		what         string
		of           *dumped
		state, title string
		says         []string // in evidence and fixes
	}{
		{"a monitor whose holder sleeps", dump().looks(10, sleeps, blocked, blocked, blocked, idle), check.Supported,
			"3 of 5 http-nio-8080-exec threads wait for a lock (java.util.HashMap) in Prices.get.",
			[]string{"its holder was in Prices.load(), sleeping (Thread.sleep), in 10 of 10 thread dumps", "the lock is held by code that waits (sleeping (Thread.sleep))"}},
		{"threads that take turns at a queue: who holds the lock waits for work", dump().looks(10, idle, blocked, blocked, blocked), check.RuledOut, "", nil},
		{"a lock whose holder the dump does not name", dump().looks(10, counts, parked, parked), check.Supported,
			"2 of 3 http-nio-8080-exec threads wait for a lock in Prices.get.",
			[]string{"a thread in the same code, Prices.get(), running", "do less under this lock"}},
		{"no lock", dump().looks(10, sleeps, counts, idle), check.RuledOut, "", nil},
		{"one that waits now and then", dump().looks(1, counts, blocked).looks(9, counts, counts), check.RuledOut, "", nil},
		{"two looks", dump().looks(2, counts, blocked, blocked), check.Inconclusive, "", []string{"2 of 3 http-nio-8080-exec threads waiting"}},
		{"threads beside those that serve, which wait for nobody", dump().looks(10, stores, copies, copies, counts, idle), check.Inconclusive, "",
			[]string{"its holder was in Line.store(), sleeping (Thread.sleep)"}},
		{"threads beside those that serve, which wait for others", dump().looks(10, stores, copies, copies, awaits, idle), check.Supported,
			"Threads wait for a lock (java.util.HashMap) in Line.store.", nil},
		{"threads where nobody was seen to serve", dump().looks(10, stores, copies, copies, idle), check.Supported,
			"Threads wait for a lock (java.util.HashMap) in Line.store.", nil},
		{"nobody looked", dump(), check.Inconclusive, "", nil},
	} {
		v := c.of.judge()
		var all []string
		for _, e := range v.Evidence {
			all = append(all, e.Text)
		}
		for _, f := range v.Fix {
			all = append(all, f.Text)
		}
		if v.State != c.state || v.Title != c.title {
			t.Errorf("%s: %s, %q (%s)", c.what, v.State, v.Title, v.Summary)
		}
		for _, s := range c.says {
			if !slices.ContainsFunc(all, func(text string) bool { return strings.Contains(text, s) }) {
				t.Errorf("%s: not %q in %q", c.what, s, all)
			}
		}
	}
}

// A deadlock needs no second look, nor requests.
func TestDeadlock(t *testing.T) {
	d := dump().looks(1, strings.ReplaceAll(blocked, "Prices", "Stock"), blocked)
	d.p.Interval(evidence.Interval{Subject: d.id, Kind: evidence.LockWait, Lane: 1, Start: epoch, End: epoch, Holder: 2}) // the first waits for the second, too
	d.p.Fact(evidence.Fact{Subject: d.id, Key: evidence.FactDeadlock, Value: `"a", "b"`, Number: 2, Origin: d.p.Origin(9)})
	if v := d.judge(); v.State != check.Supported || !strings.HasPrefix(v.Title, "Deadlock") || !strings.Contains(fmt.Sprint(v.Fix), "the same order") || v.Fix[0].Code != "Prices.get(), Stock.get()" {
		t.Errorf("%s %q %v", v.State, v.Title, v.Fix)
	}
}

// Clients' requests are charged with what the threads of the pool that serves them did, and
// with nothing of other pools.
func TestLockCharged(t *testing.T) {
	other := strings.ReplaceAll(idle, "http-nio-8080-exec", "scheduled")
	d := dump().looks(10, sleeps, blocked, blocked, blocked, other, other)
	d.p.Close()
	p := d.b.Builder(d.b.AddArtifact(evidence.Artifact{Name: "requests.txt"}), "loadresult")
	route := p.Name("GET /cart")
	for i := range 400 { // four at a time, most of 100 ms; some of 10 ms are the floor
		at, took := epoch+int64(i/4)*100*ms-50*ms, 100*ms
		if i%4 == 0 {
			took = 10 * ms
		}
		p.Request(evidence.Request{Subject: d.id, Start: at, Intended: at, End: at + took, Route: route, Outcome: evidence.OK})
	}
	p.Cover(evidence.Coverage{Subject: d.id, Kind: evidence.CoverRequests, From: epoch, Until: epoch + 10_000*ms})
	p.Close()
	d.b.Align()
	ledgers := ledger.Build(d.b, ledger.Options{Stacks: platform.Stacks()})
	if len(ledgers) != 1 {
		t.Fatalf("%d ledgers", len(ledgers))
	}
	v := judgeLock(&check.Case{Bundle: d.b, Subject: d.id, Ledger: ledgers[0]})
	if v.State != check.Supported || v.Saves == nil || v.Saves.Value < 15_000 || len(v.Prediction) != 1 {
		t.Errorf("%s %q %+v, %v", v.State, v.Summary, v.Saves, ledgers[0].Charges)
	}
	if of := ledgers[0].Charges; of[ledger.PoolThread] > 0 || of[ledger.Lock] < of[ledger.Timer] {
		t.Errorf("charged %v", of)
	}
}

// Requests of which nothing shows which thread serves them wait for locks where as many threads do as requests are in flight, and the more the more; not where the
// threads wait on their own, and not for what was seen of them.
func TestLockedInStep(t *testing.T) {
	const (
		free  = "java.util.concurrent.ThreadPoolExecutor.getTask java.util.concurrent.ThreadPoolExecutor$Worker.run java.lang.Thread.run [blocking-1]"
		waits = "-·waiting·to·lock·(a·java.util.HashMap) shop.Plans.plan shop.Plans$$Lambda.get java.util.concurrent.ThreadPoolExecutor$Worker.run java.lang.Thread.run [blocking-1]"
	)
	for name, of := range map[string]struct {
		waiting func(inFlight int) int
		dumps   int
		state   string
	}{
		"as many":             {func(n int) int { return n }, 40, check.Supported},
		"one fewer":           {func(n int) int { return max(0, n-1) }, 40, check.Supported},
		"always the same":     {func(int) int { return 4 }, 40, check.Inconclusive},
		"the other way round": {func(n int) int { return 8 - n }, 40, check.Inconclusive},
		"hardly any":          {func(n int) int { return n / 5 }, 40, check.Inconclusive},
		"few dumps":           {func(n int) int { return n }, 19, check.Inconclusive},
	} {
		d := dump()
		inFlight := func(n int) int { return 1 + n%7 }
		for n := range of.dumps {
			at := epoch + int64(n)*250*ms
			for i := range 9 {
				s := free
				if i > 0 && i <= of.waiting(inFlight(n)) {
					s = waits
				}
				lines := strings.Fields(s)
				for i := range lines {
					lines[i] = strings.ReplaceAll(lines[i], "·", " ")
				}
				lane, origin := evidence.LaneID(i+1), d.p.Origin(int64(n*10+i+1))
				d.p.Sample(evidence.Sample{Subject: d.id, Time: at, Lane: lane, Stack: stacktest.Intern(d.p, stacktest.Of(lines...)), Type: d.p.Name(evidence.SampleThread), Value: 1, Origin: origin})
			}
		}
		d.p.Cover(evidence.Coverage{Subject: d.id, Kind: evidence.CoverThreads, From: epoch, Until: epoch + int64(of.dumps)*250*ms})
		d.p.Close()
		p := d.b.Builder(d.b.AddArtifact(evidence.Artifact{Name: "exchanges.txt"}), "exchanges")
		p.SeenFrom(evidence.FromKernel)
		add := func(at, took int64) {
			p.Request(evidence.Request{Subject: d.id, Start: at, End: at + took, Route: p.Name("GET /plan"), Outcome: evidence.OK, Path: evidence.Path(nil).Append(evidence.Segment{Kind: evidence.Unobserved, Dur: took})})
		}
		for n := range 40 {
			at := epoch + int64(n)*250*ms
			add(at+230*ms, 5*ms) // the floor
			for range inFlight(n) {
				add(at-100*ms, 200*ms)
			}
		}
		p.Cover(evidence.Coverage{Subject: d.id, Kind: evidence.CoverExchanges, From: epoch - 100*ms, Until: epoch + 10_000*ms})
		p.Close()
		d.b.Align()
		ledgers := ledger.Build(d.b, ledger.Options{Stacks: platform.Stacks()})
		if len(ledgers) != 1 {
			t.Fatalf("%s: %d ledgers", name, len(ledgers))
		}
		v := judgeLock(&check.Case{Bundle: d.b, Subject: d.id, Ledger: ledgers[0]})
		if v.State != of.state || v.Supported() && !strings.Contains(v.Title, "Plans.plan") {
			t.Errorf("%s: %s %q %q, charged %v", name, v.State, v.Title, v.Summary, ledgers[0].Charges)
		}
	}
}

// Threads that wait to log wait for the appender's lock, whose holder writes to standard output: what helps is to write beside them.
func TestLoggersLock(t *testing.T) {
	const (
		logs = " ch.qos.logback.core.OutputStreamAppender.writeBytes ch.qos.logback.core.OutputStreamAppender.append ch.qos.logback.classic.Logger.info shop.Audit.write" + server
		held = "java.io.FileOutputStream.writeBytes java.io.FileOutputStream.write java.io.PrintStream.write ch.qos.logback.core.joran.spi.ConsoleTarget$1.write" + logs
		wait = "jdk.internal.misc.Unsafe.park java.util.concurrent.locks.ReentrantLock.lock" + logs
	)
	c := &check.Case{Bundle: dump().looks(8, held, wait, wait, wait).b}
	v := judgeLock(c)
	if v.State != check.Supported || !strings.Contains(v.Title, "the lock of Logback's appender (OutputStreamAppender.writeBytes), which writes one line after the other to standard output") {
		t.Errorf("%s %q", v.State, v.Title)
	}
	if len(v.Fix) == 0 || !strings.Contains(v.Fix[0].Text, "AsyncAppender") || strings.Contains(v.Fix[0].Text, "before taking the lock") {
		t.Errorf("%+v", v.Fix)
	}
	const cart = "jdk.internal.misc.Unsafe.park java.util.concurrent.locks.ReentrantLock.lock com.acme.Cache.get ch.qos.logback.classic.Logger.info shop.Audit.write" + server
	if v := judgeLock(&check.Case{Bundle: dump().looks(8, held, cart, cart, cart).b}); strings.Contains(v.Title, "appender") {
		t.Errorf("another's lock is said to be the logger's: %q", v.Title)
	}
}
