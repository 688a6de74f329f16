package service

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/diagnose/check/checktest"
)

// mixed is a slow request of which so many of a hundred parts of 400 µs are some wait, and the others calls as everybody makes them: its time beyond
// the usual is in what else waits.
func mixed(parts int64, wait, rest func(n *names, i int, d int64) evidence.Segment) func(*names, int) []evidence.Segment {
	const part = 400 * ms / 1000
	return func(n *names, i int) []evidence.Segment {
		return []evidence.Segment{running(ms), wait(n, i, parts*part), rest(n, i, (100-parts)*part)}
	}
}

// sleeping, computing, callsFor and pooled are waits of a time.
func sleeping(where string) func(n *names, i int, d int64) evidence.Segment {
	return func(n *names, _ int, d int64) evidence.Segment {
		return evidence.Segment{Kind: evidence.SleepWait, Dur: d, Stack: n.stack("time.Sleep", where, "main.handle")}
	}
}

func computing(_ *names, _ int, d int64) evidence.Segment { return running(d) }

func callsFor(n *names, _ int, d int64) evidence.Segment {
	return evidence.Segment{Kind: evidence.NetWait, Dur: d, Cause: n.id("10.0.0.7:5432")}
}

// pooled waits for a pool whose holder is in a call, or runs.
func pooled(holder evidence.Kind) func(n *names, i int, d int64) evidence.Segment {
	return func(n *names, i int, d int64) evidence.Segment {
		s := evidence.Segment{Kind: evidence.PoolWait, Dur: d, Cause: n.id("semaphore in main.enter"), Stack: n.stack("runtime.selectgo", "main.enter", "main.handle"), Holder: evidence.LaneID(1000 + (i+999)%1000)}
		if s.HolderKind = holder; holder == evidence.NetWait {
			s.HolderCause = n.id("10.0.0.7:5432")
		}
		return s
	}
}

// behindOthers waits for a CPU that others hold: requests, or background work.
func behindOthers(held evidence.Holder) func(n *names, i int, d int64) evidence.Segment {
	return func(_ *names, _ int, d int64) evidence.Segment {
		s := evidence.Segment{Kind: evidence.Runnable, Dur: d}
		s.Held[held] = d
		return s
	}
}

// Of slow time a quarter is what a cause must have, and what follows from less differs by how much less.
func TestQuarterOfSlowTime(t *testing.T) {
	for _, x := range []struct {
		cause check.Check
		about string
		wait  func(n *names, i int, d int64) evidence.Segment
		rest  func(n *names, i int, d int64) evidence.Segment
	}{
		{Waiting, "asleep at one place, the rest at four others", sleeping("main.backOff"), nil},
		{DependencySlow, "calls, the rest asleep", callsFor, sleeping("main.backOff")},
		{OwnWork, "own work, the rest asleep", computing, sleeping("main.backOff")},
		{PoolExhausted, "a pool, the rest asleep", pooled(evidence.Running), sleeping("main.backOff")},
		{OverCapacity, "background work holds the CPUs, the rest asleep", behindOthers(evidence.HeldByBackground), sleeping("main.backOff")},
	} {
		for parts, want := range map[int64]bool{20: false, 23: false, 30: true, 40: true} {
			rest := x.rest
			if rest == nil { // at places of which none has a quarter
				rest = func(n *names, i int, d int64) evidence.Segment {
					return sleeping(fmt.Sprint("main.other", i%40%5))(n, i, d)
				}
			}
			c := traced{call(ms), mixed(parts, x.wait, rest), 40}.subject(t)
			v := x.cause.Judge(c)
			if v.Supported() != want {
				t.Errorf("%s, %d %% of slow time: %s: %s %s", x.about, parts, v.State, v.Title, v.Summary)
			}
			checktest.Decides(t, "", c, &v)
		}
	}
}

// Slow requests are looked at from five of them on, with a hundredth of all requests' time; what is over in milliseconds is no finding.
func TestFewAndBrief(t *testing.T) {
	asleep := func(d int64) func(*names, int) []evidence.Segment {
		return func(n *names, i int) []evidence.Segment {
			return []evidence.Segment{running(ms), sleeping("main.backOff")(n, i, d)}
		}
	}
	rare := func(each int) func(*names, int) []evidence.Segment { // of a thousand requests, one in so many
		return func(n *names, i int) []evidence.Segment {
			if i%each == 0 {
				return asleep(300*ms)(n, i)
			}
			return work(ms)(n, i)
		}
	}
	for about, x := range map[string]struct {
		of   traced
		want string
	}{
		"one in five, long":                {traced{work(ms), asleep(80 * ms), 20}, check.Supported},
		"one in five, 14 ms":               {traced{work(ms), asleep(13 * ms), 20}, check.RuledOut},
		"one in five, 25 ms":               {traced{work(ms), asleep(24 * ms), 20}, check.Supported},
		"four of a thousand":               {traced{rare(250), nil, 0}, check.RuledOut},
		"five of a thousand":               {traced{rare(200), nil, 0}, check.RuledOut}, // the p99 is quick
		"twenty of a thousand":             {traced{rare(50), nil, 0}, check.Supported},
		"all alike, however long it takes": {traced{asleep(80 * ms), nil, 0}, check.RuledOut},
	} {
		c := x.of.subject(t)
		if v := Waiting.Judge(c); v.State != x.want {
			t.Errorf("%s: %s: %s %s (%d slow)", about, v.State, v.Title, v.Summary, len(c.Ledger.Slow))
		}
	}
}

// A pool is found by what its holders do: where they call as long as ever, run, sleep or wait for what nothing more is known of, it is held for too
// long; where the kernel, GC or background work keeps them, it is not the pool.
func TestPoolByItsHolders(t *testing.T) {
	held := func(by evidence.Holder) func(n *names, i int, s *evidence.Segment) {
		return func(_ *names, _ int, s *evidence.Segment) {
			s.HolderKind, s.Held[by] = evidence.Runnable, s.Dur
		}
	}
	pool := func(holder func(n *names, i int, s *evidence.Segment)) func(*names, int) []evidence.Segment {
		return waiter(evidence.PoolWait, "semaphore in main.enter", 90*ms, 5*ms, holder)
	}
	kind := func(k evidence.Kind, cause string) func(n *names, i int, s *evidence.Segment) {
		return func(n *names, _ int, s *evidence.Segment) { s.HolderKind, s.HolderCause = k, n.id(cause) }
	}
	for about, x := range map[string]struct {
		holder func(n *names, i int, s *evidence.Segment)
		want   string
		says   string
	}{
		"in calls of the usual length": {kind(evidence.NetWait, "10.0.0.7:5432"), check.Supported, "semaphore in main.enter"},
		"running":                      {kind(evidence.Running, ""), check.Supported, "semaphore in main.enter"},
		"asleep":                       {kind(evidence.SleepWait, ""), check.Supported, "semaphore in main.enter"},
		"at a lock":                    {kind(evidence.LockWait, "mutex in main.log"), check.Supported, "semaphore in main.enter"},
		"in a system call":             {kind(evidence.Syscall, "fsync in main.log"), check.RuledOut, "system call"},
		"behind GC":                    {held(evidence.HeldByCollector), check.RuledOut, "GC"},
		"behind background work":       {held(evidence.HeldByBackground), check.RuledOut, "background work"},
	} {
		v := PoolExhausted.Judge(traced{call(5 * ms), pool(x.holder), 40}.subject(t))
		if v.State != x.want || !strings.Contains(v.Title+v.Summary, x.says) {
			t.Errorf("holders %s: %s: %s %s", about, v.State, v.Title, v.Summary)
		}
		if v.RuledOut() && v.Rule != check.HoldersWait {
			t.Errorf("holders %s: decided by %q", about, v.Rule.Answer)
		}
	}
}

// A pool whose number of places is not what is short: its title says who keeps its connections, and its fix asks for no number of them.
func TestPoolsWhoseConnectionsAreKept(t *testing.T) {
	for kind, says := range map[evidence.WaitKind][2]string{
		evidence.OtherWait:  {"Requests queue for a pool: the pool of 4 connections to db.", "enlarge the pool"},
		evidence.PoolThread: {"Requests wait for a free thread of db.", "give the pool more threads"},
		evidence.HeldPool:   {"make no call on them", "hold a connection for no longer than the calls on it need"},
		evidence.LeakedPool: {"transactions that stay open", "end each transaction on every way out"},
		evidence.LostPool:   {"are not given back", "give each connection back on every way out"},
		evidence.OneAtATime: {"one at a time", "if a lock is held around the call"},
		evidence.RateLimit:  {"only so many through", "raise the limit of the limiter"},
	} {
		wait := func(n *names, i int) []evidence.Segment {
			what := evidence.Wait{Kind: kind, Of: "db"} // how many places it has is not known
			if kind == evidence.OtherWait {
				what.Places = 4
			}
			s := evidence.Segment{Kind: evidence.PoolWait, Dur: 90 * ms, Cause: n.p.TellWait("the pool of 4 connections to db", what)}
			return append([]evidence.Segment{s}, call(5*ms)(n, i)...)
		}
		v := PoolExhausted.Judge(traced{call(5 * ms), wait, 40}.subject(t))
		if !v.Supported() || !strings.Contains(v.Title, says[0]) {
			t.Errorf("kind %d: %s: %s %s, want %q", kind, v.State, v.Title, v.Summary, says[0])
			continue
		}
		if len(v.Fix) == 0 || !strings.Contains(v.Fix[0].Text, says[1]) {
			t.Errorf("kind %d: helps %q, want %q", kind, v.Fix, says[1])
		}
		needed := false
		for _, e := range v.Evidence {
			needed = needed || e.ID == "pool.needed"
		}
		counts := kind == evidence.OtherWait || kind == evidence.OneAtATime || kind == evidence.PoolThread
		if text := v.Fix[0].Text; !counts && strings.Contains(text, "waits stay short at this load") {
			t.Errorf("kind %d: asks for more places: %q", kind, text)
		}
		if counts && !needed {
			t.Errorf("kind %d: nothing tells how many are needed", kind)
		}
	}
}

// ranMeanwhile adds samples of a type (each: ns of the CPU clock, or looks) during the requests of a service: so many of threads that serve requests, and of others.
func ranMeanwhile(c *check.Case, by string, each int64, serving, beside int) {
	p := c.Bundle.Builder(c.Bundle.AddArtifact(evidence.Artifact{Name: "oncpu.txt"}), "kernelstacks")
	stack := func(funcs ...string) evidence.StackID {
		var frames []evidence.Frame
		for _, f := range funcs {
			frames = append(frames, evidence.Frame{Func: p.Name(f)})
		}
		return p.Stack(frames)
	}
	const dispatch = "System.Private.CoreLib!System.Threading.ThreadPoolWorkQueue.Dispatch()"
	serves := stack("Shop!Shop.Cart.Get()", "Microsoft.AspNetCore.Mvc.Core!Microsoft.AspNetCore.Mvc.Infrastructure.ControllerActionInvoker.InvokeActionMethodAsync()", dispatch)
	reindexes := stack("Shop!Shop.Index.Rebuild()", dispatch)
	for i := range serving + beside {
		s := evidence.Sample{Subject: c.Subject, Time: epoch + int64(i+1)*20*ms, Lane: evidence.LaneID(1 + i%2), Stack: serves, Type: p.Name(by), Value: each, Origin: p.Origin(int64(i + 1))}
		if i >= serving {
			s.Stack = reindexes
		}
		p.Sample(s)
	}
	p.Close()
}

// CPUs that are full while requests are slow are full of what ran then: from half of the CPU time on of the service's own background work.
func TestBackgroundByLooks(t *testing.T) {
	for _, x := range []struct {
		serving, beside int
		named           bool
	}{
		{100, 0, false}, {100, 96, false}, {100, 104, true}, {0, 100, true},
		{0, 9, false}, {0, 10, true}, // fewer samples than ten tell nothing
	} {
		c := seen{usual: 10, slow: 200, at: 20, kind: evidence.Running, cpu: 97}.subject(t)
		ranMeanwhile(c, evidence.SampleOnCPU, 10*ms, x.serving, x.beside)
		v := OverCapacity.Judge(c)
		if named := strings.Contains(v.Title, "background work"); !v.Supported() || named != x.named {
			t.Errorf("%d of requests, %d beside: %s: %s %s", x.serving, x.beside, v.State, v.Title, v.Summary)
			continue
		}
		if x.named && (v.Fix[0].Code == "" || !strings.Contains(v.Fix[0].Code, "Rebuild")) {
			t.Errorf("%d of requests, %d beside: helps %+v", x.serving, x.beside, v.Fix[0])
		}
		checktest.Decides(t, "", c, &v)
	}
}

// Requests use no CPU while none is under way, and at most all of them while one is: what is used beyond that is other work.
func TestOtherWorkThanTheseRequests(t *testing.T) {
	for usual, named := range map[int64]bool{1: true, 3: false} { // ms, each 4 ms, beside 1.94 CPUs used of 2
		c := seen{usual: usual, slow: 200, at: 20, kind: evidence.Running, cpu: 97}.subject(t)
		c.Ledger.Rows = slices.DeleteFunc(slices.Clone(c.Ledger.Rows), func(row int) bool { return c.Bundle.Requests.Latency(row) > usual*ms })
		v := check.Verdict{Title: "Requests wait for CPUs."}
		if got := nameOtherWork(c, &v, .5, nil); got != named || got != strings.Contains(v.Title, "other work than these requests") || got != (len(v.Fix) > 0) {
			t.Errorf("%d ms each: %v, %s, %+v", usual, got, v.Title, v.Evidence)
		}
	}
}

// Stacks that never show what serves a request cannot show what serves none: in a native program that fills its CPUs with its requests' work,
// threads that read no connection do it.
func TestNoBackgroundWithoutServers(t *testing.T) {
	for runtime, named := range map[string]bool{"dotnet": true, "": false, "go": false} {
		c := seen{usual: 10, slow: 200, at: 20, kind: evidence.Running, cpu: 97}.subject(t)
		ranMeanwhile(c, evidence.SampleOnCPU, 10*ms, 0, 100)
		c.Bundle.Subjects[c.Subject].Runtime = runtime
		where, beside := c.RanWhileSlow()
		if len(where) == 0 || beside == 1 != named {
			t.Errorf("%q: %v %g", runtime, where, beside)
		}
	}
}

// A service is saturated from 80 % of its CPUs on, if slow requests wait for them.
func TestSaturatedByLooks(t *testing.T) {
	for _, x := range []struct {
		cpu  float64
		kind evidence.Kind
		want string
	}{
		{78, evidence.Running, check.RuledOut}, {82, evidence.Running, check.Supported}, {97, evidence.Running, check.Supported},
		{97, evidence.NetWait, check.RuledOut}, {82, evidence.NetWait, check.RuledOut},
	} {
		c := seen{usual: 10, slow: 200, at: 20, kind: x.kind, cpu: x.cpu}.subject(t)
		v := OverCapacity.Judge(c)
		if v.State != x.want {
			t.Errorf("%.0f %% busy, %v: %s: %s %s", x.cpu, x.kind, v.State, v.Title, v.Summary)
		}
		if saved := v.Saves; v.Supported() && (saved == nil || saved.Value <= 0 || saved.Value > float64(c.Ledger.Total)/1e6) {
			t.Errorf("%.0f %% busy: saves %+v of %d ms", x.cpu, saved, c.Ledger.Total/1e6)
		}
	}
}

// Own work that is nearly all beyond the usual, and just too little, is not called usual.
func TestOwnWorkJustTooLittle(t *testing.T) {
	c := traced{call(ms), mixed(25, computing, sleeping("main.backOff")), 40}.subject(t)
	if v := OwnWork.Judge(c); !v.RuledOut() || v.Rule != check.TooLittle || !strings.Contains(v.Summary, "24 % above the usual: less than the 25 %") {
		t.Errorf("%s, %q: %s", v.State, v.Rule.Answer, v.Summary)
	}
}

// What was not observed can hold any wait: from a quarter of slow time on nothing is ruled out by what was.
func TestUnobserved(t *testing.T) {
	unseen := func(_ *names, _ int, d int64) evidence.Segment {
		return evidence.Segment{Kind: evidence.Unobserved, Dur: d}
	}
	spread := func(n *names, i int, d int64) evidence.Segment {
		return sleeping(fmt.Sprint("main.other", i%40%5))(n, i, d)
	}
	for parts, want := range map[int64]string{15: check.RuledOut, 23: check.RuledOut, 28: check.Inconclusive, 60: check.Inconclusive} {
		for _, k := range []check.Check{Waiting, OwnWork} {
			c := traced{call(ms), mixed(parts, unseen, spread), 40}.subject(t)
			v := k.Judge(c)
			if v.State != want {
				t.Errorf("%s, %d %% not observed: %s: %s", k.ID, parts, v.State, v.Summary)
			}
			if v.LeftOpen() && (v.Rule != check.Unseen || len(v.Needs) == 0) {
				t.Errorf("%s, %d %% not observed: %q, needs %v", k.ID, parts, v.Rule.Answer, v.Needs)
			}
		}
	}
}

// CPUs that are full in bursts need no more of them: what begins at once is to be found. Slow requests are under way for so many of ten seconds.
func TestFullInBursts(t *testing.T) {
	for until, bursts := range map[int64]bool{10_000: false, 5200: false, 4800: true, 400: true} {
		c := seen{usual: 10, slow: 200, at: 20, kind: evidence.Running, cpu: 97}.subject(t)
		c.Ledger.Slow = slices.DeleteFunc(slices.Clone(c.Ledger.Slow), func(row int) bool { return c.Bundle.Requests.End.At(row) > epoch+until*ms })
		var v check.Verdict
		addLoadFixes(c, &v, 1.9)
		said := slices.ContainsFunc(v.Fix, func(f check.Fix) bool { return strings.Contains(f.Text, "work at the same time") })
		more := slices.ContainsFunc(v.Fix, func(f check.Fix) bool { return strings.Contains(f.Text, "add CPUs") })
		if said != bursts || more == bursts {
			t.Errorf("slow for %d ms of 9600: %+v", until, v.Fix)
		}
	}
}

// Without the CPU's clock, looks at threads tell what runs beside requests, if they show who serves them: ten looks are enough.
func TestRunsBesideByLooks(t *testing.T) {
	for _, x := range []struct {
		serving, beside int
		named           bool
	}{
		{100, 0, false}, {100, 90, false}, {100, 110, true}, {1, 8, false}, {1, 9, true}, {0, 100, false},
	} {
		c := seen{usual: 10, slow: 200, at: 20, kind: evidence.NetWait, cpu: 97}.subject(t)
		ranMeanwhile(c, evidence.SampleThread, 1, x.serving, x.beside)
		where, beside := c.RanWhileSlow()
		if named := len(where) > 0 && beside >= mostBeside.Value; named != x.named {
			t.Errorf("%d looks at requests, %d beside: %v %g", x.serving, x.beside, where, beside)
		}
	}
}

// Where the kernel counted the CPU time of threads by their names, a pool that looks met seldom has its full weight.
func TestRunsBesideByPools(t *testing.T) {
	for _, x := range []struct {
		fitter, http, collector float64 // CPUs
		named                   bool
	}{
		{1.7, .2, 0, true}, {1, .9, 0, true}, {.9, 1, 0, false}, {.2, 1.7, 0, false},
		{.5, .3, 1.1, false}, // most of the CPU time is of threads that no look shows: looks alone tell
	} {
		c := seen{usual: 10, slow: 200, at: 20, kind: evidence.NetWait, cpu: 97}.subject(t)
		c.Bundle.Subjects[c.Subject].Runtime = "jvm"
		p := c.Bundle.Builder(c.Bundle.AddArtifact(evidence.Artifact{Name: "threads.txt"}), "threaddump")
		stack := func(pool string, funcs ...string) evidence.StackID {
			var frames []evidence.Frame
			for _, f := range append(funcs, "java.lang.Thread.run()") {
				frames = append(frames, evidence.Frame{Func: p.Name(f)})
			}
			return p.ThreadStack(frames, evidence.ThreadInfo{Name: pool})
		}
		serves := stack("http-nio-8080-exec", "shop.Cart.get()", "org.springframework.web.servlet.DispatcherServlet.doDispatch()", "javax.servlet.http.HttpServlet.service()", "org.apache.catalina.core.ApplicationFilterChain.doFilter()", "org.apache.tomcat.util.net.SocketProcessorBase.run()")
		fits := stack("fitter", "shop.Grades.fit()", "java.util.concurrent.FutureTask.run()", "java.util.concurrent.ThreadPoolExecutor.runWorker()")
		for i := range int64(43) {
			s := evidence.Sample{Subject: c.Subject, Time: epoch + (i+1)*20*ms, Lane: evidence.LaneID(1 + i%2), Stack: serves, Type: p.Name(evidence.SampleThread), Value: 1, Origin: p.Origin(i + 1)}
			if i >= 40 {
				s.Stack = fits
			}
			p.Sample(s)
		}
		for name, cpus := range map[string]float64{"": x.fitter + x.http + x.collector, ":fitter": x.fitter, ":http-nio-8080-e": x.http, ":GC Thread": x.collector} {
			series := evidence.SeriesProcessThreadsRunOf + name
			if name == "" {
				series = evidence.SeriesProcessThreadsRun
			}
			p.Series(evidence.Series{Subject: c.Subject, Name: series, T: []int64{epoch, epoch + 10_000*ms}, V: []float64{cpus, cpus}, Origin: p.Origin(1)})
		}
		p.Close()
		where, beside := c.RanWhileSlow()
		if len(where) == 0 || beside >= mostBeside.Value != x.named || strings.Contains(where[0].Function, "fit") != x.named {
			t.Errorf("%+v: %v %g", x, where, beside)
		}
	}
}
