package metrics

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
	"github.com/unstall/unstall/internal/base/threadstack/stacktest"
)

const (
	epoch = int64(1_700_000_000_000_000_000)
	sec   = int64(1e9)
)

// process is a bundle with one process on a host of four processors.
type process struct {
	b    *evidence.Bundle
	p    *evidence.Builder
	id   evidence.SubjectID
	host evidence.SubjectID
}

func newProcess(runtime string) *process {
	b := evidence.NewBundle()
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "recording"}), "test")
	return &process{b, p, p.Subject(evidence.Subject{Runtime: runtime, Name: "shop", PID: 4711, Version: "8.0.1", CPUs: 2}),
		p.Subject(evidence.Subject{Kind: evidence.Host, Name: "host", CPUs: 4})}
}

// done closes the bundle.
func (x *process) done() *evidence.Bundle {
	x.p.Close()
	x.b.Align()
	return x.b
}

// look sees a lane's thread, its stack innermost frame first, parted by blanks.
func (x *process) look(lane evidence.LaneID, at int64, stack string) evidence.StackID {
	lines := strings.Fields(stack)
	for i := range lines {
		lines[i] = strings.ReplaceAll(lines[i], "·", " ")
	}
	id := stacktest.Intern(x.p, stacktest.Of(lines...))
	x.p.Sample(evidence.Sample{Subject: x.id, Time: at, Lane: lane, Stack: id, Type: x.p.Name(evidence.SampleThread), Value: 1, Origin: x.p.Origin(int64(lane))})
	return id
}

const (
	tomcat  = " javax.servlet.http.HttpServlet.service java.util.concurrent.ThreadPoolExecutor$Worker.run java.lang.Thread.run [http-nio-8080-exec]"
	blocked = "-·waiting·to·lock·(a·java.util.HashMap) shop.Prices.get shop.Cart.total" + tomcat
	sleeps  = "java.lang.Thread.sleep shop.Prices.load" + tomcat
	idle    = "jdk.internal.misc.Unsafe.park java.util.concurrent.ThreadPoolExecutor.getTask java.util.concurrent.ThreadPoolExecutor$Worker.run java.lang.Thread.run [http-nio-8080-exec]"
)

// Requests that wait for a thread do so because of the lock as far as threads wait for it:
// of five, one holds it, and three of the other four wait.
func TestLockDumps(t *testing.T) {
	x := newProcess("jvm")
	for n := range int64(4) {
		at := epoch + n*sec
		for i, s := range []string{sleeps, blocked, blocked, blocked, idle, strings.ReplaceAll(idle, "http-nio-8080-exec", "scheduled")} {
			stack := x.look(evidence.LaneID(i+1), at, s)
			if s == blocked {
				x.p.Interval(evidence.Interval{Subject: x.id, Kind: evidence.LockWait, Lane: evidence.LaneID(i + 1), Start: at, End: at, Stack: stack, Cause: x.p.Name("java.util.HashMap"), Holder: 1})
			}
		}
	}
	b := x.done()
	l := LockDumps(b, threads.Of(b, stacks), x.id)
	if l.Behind != .75 || l.Waiting.Number != 3 || l.Looks != 4 {
		t.Errorf("behind %v, %v in the mean of %d looks", l.Behind, l.Waiting.Number, l.Looks)
	}
	if h := l.Holder; h.Owner != "Prices.load()" || h.Doing != "sleeping (Thread.sleep)" || !h.Stands || !h.Told || h.Seen != 4 || l.Class != "java.util.HashMap" || l.Owner != "Prices.get()" {
		t.Errorf("%+v of a %q that %q waits for", h, l.Class, l.Owner)
	}
}

// What threads do counts at the moments at which none is idle, as only then do requests wait for one.
func TestLockedWhileExhausted(t *testing.T) {
	worker := func(state evidence.Kind) threads.Sample {
		return threads.Sample{View: threadstack.View{Role: threadstack.Worker, State: state}}
	}
	runs, waits, rests := worker(evidence.Running), worker(evidence.LockWait), worker(evidence.Idle)
	for name, x := range map[string]struct {
		moments [][]threads.Sample
		part    float64
		looked  int
	}{
		"a lock whenever none is idle": {[][]threads.Sample{{runs, waits}, {runs, rests}, {rests, rests}, {runs, waits}}, 1, 2},
		"work, and a lock at times":    {[][]threads.Sample{{runs, runs, runs, runs}, {runs, waits, runs, runs}}, .25, 2},
		"a thread is always idle":      {[][]threads.Sample{{runs, waits, rests}}, 0, 0},
		"a pool of one":                {[][]threads.Sample{{waits}}, 0, 0},
	} {
		if part, looked := lockedWhileExhausted([][][]threads.Sample{x.moments}); part != x.part || looked != x.looked {
			t.Errorf("%s: %v of %d looks", name, part, looked)
		}
	}
}

// A flight recording tells waits that last, and who held the lock last, who may stand in the queue again: what
// counts is what that thread did when it did not.
func TestLockRecording(t *testing.T) {
	x := newProcess("jvm")
	for n := range int64(4) {
		at := epoch + n*sec
		waits, holds := evidence.LaneID(1+n%2), evidence.LaneID(2-n%2)
		stack := x.look(waits, at, blocked)
		x.look(holds, at, sleeps)
		x.p.Interval(evidence.Interval{Subject: x.id, Kind: evidence.LockWait, Lane: waits, Start: at - sec/4, End: at + sec/4, Stack: stack, Cause: x.p.Name("java.util.HashMap"), Holder: holds})
	}
	x.look(3, epoch+4*sec, blocked)
	x.look(4, epoch+4*sec, blocked)
	x.p.Interval(evidence.Interval{Subject: x.id, Kind: evidence.LockWait, Lane: 3, Start: epoch + 4*sec - 1, End: epoch + 5*sec, Stack: x.look(3, epoch+5*sec-1, blocked), Holder: 4})
	b := x.done()
	l := LockDumps(b, threads.Of(b, stacks), x.id)
	if h := l.Holder; h.Owner != "Prices.load()" || h.Doing != "sleeping (Thread.sleep)" || !h.Told || h.Seen != 4 || l.Class != "java.util.HashMap" {
		t.Errorf("%+v of a %q", h, l.Class)
	}
	if l.Waits != 5 || l.Waited != 3*sec+1 {
		t.Errorf("%d waits of %d ns together", l.Waits, l.Waited)
	}
}

// Carriers are full while as many threads are pinned as there are CPUs.
func TestPinned(t *testing.T) {
	x := newProcess("jvm")
	x.p.Cover(evidence.Coverage{Subject: x.id, Kind: evidence.CoverPinned, From: epoch, Until: epoch + 10*sec})
	for _, at := range [][2]int64{{0, 4}, {2, 6}, {8, 9}} {
		x.p.Interval(evidence.Interval{Subject: x.id, Kind: evidence.Pinned, Lane: 7, Start: epoch + at[0]*sec, End: epoch + at[1]*sec, Stack: x.look(7, epoch+at[0]*sec, sleeps)})
	}
	p := PinnedOf(x.done(), x.id)
	if p.Waits != 3 || p.Most != 2 || p.All != .2 || p.Mean != .9 || len(p.Full) != 1 || p.Full.Within(epoch, epoch+3*sec) != sec || len(p.Sites) != 1 {
		t.Errorf("%+v", p)
	}
	y := newProcess("jvm")
	if p := PinnedOf(y.done(), y.id); p != nil {
		t.Errorf("%+v of what nobody watched", p)
	}
}

func TestNoDumps(t *testing.T) {
	x := newProcess("jvm")
	b := x.done()
	if l := LockDumps(b, threads.Of(b, stacks), x.id); l.Waiting.Known() || l.Looks != 0 || l.Worst != nil {
		t.Errorf("%+v of nothing", l)
	}
}

// Three threads of seven wait for 2 s of 4 each, for a fourth; nobody looked at them.
func TestLockEvents(t *testing.T) {
	x := newProcess("dotnet")
	stack := x.p.Stack([]evidence.Frame{{Func: x.p.Name("Shop!Shop.Ledger.Append(int32)")}})
	for lane := range evidence.LaneID(3) {
		x.p.Interval(evidence.Interval{Subject: x.id, Kind: evidence.LockWait, Lane: lane + 2, Start: epoch, End: epoch + 2*sec, Stack: stack, Holder: 9})
	}
	x.p.Cover(evidence.Coverage{Subject: x.id, Kind: evidence.CoverWaits, From: epoch, Until: epoch + 4*sec})
	x.series(x.id, evidence.SeriesPoolThreads, 7, 7, 7)
	b := x.done()
	of := threads.Of(b, stacks)
	l := LockEvents(b, of, x.id, ThreadPoolOf(b, of, x.id, Window{}))
	if l.Waiting.Number != 1.5 || l.Waits != 3 || l.Waited != 6*sec || l.Behind != 2./7 || l.Owner != "Shop!Ledger.Append(int)" || l.Holder.Owner != "" {
		t.Errorf("%+v", l)
	}
}

// Where a compiler left no code of the program's on the stacks of those who wait, what runs under the lock is told.
func TestLockWithin(t *testing.T) {
	const (
		lazy     = " System.Private.CoreLib!System.Lazy`1[System.__Canon].CreateValue() System.Private.CoreLib!System.Threading.ThreadPoolWorkQueue.Dispatch()"
		computes = "Shop!Shop.Office.Ask() Shop!Shop.Catalogue.Read()" + lazy
	)
	x := newProcess("dotnet")
	for lane := range evidence.LaneID(3) {
		x.p.Interval(evidence.Interval{Subject: x.id, Kind: evidence.LockWait, Lane: lane + 2, Start: epoch, End: epoch + 2*sec, Stack: x.look(lane+2, epoch+sec, lazy), Holder: 9})
	}
	x.look(9, epoch+sec, computes)
	x.p.Cover(evidence.Coverage{Subject: x.id, Kind: evidence.CoverWaits, From: epoch, Until: epoch + 4*sec})
	b := x.done()
	of := threads.Of(b, stacks)
	l := LockEvents(b, of, x.id, ThreadPoolOf(b, of, x.id, Window{}))
	if l.Owner != "" || l.Within != "Shop!Catalogue.Read()" || l.Holder.Owner != "Shop!Office.Ask()" {
		t.Errorf("waits in %q for what runs in %q, held in %q", l.Owner, l.Within, l.Holder.Owner)
	}
}

// Of a ReaderWriterLockSlim the runtime tells nothing: any look that met who waits names it, not only that at which most had work.
func TestLockSeenNow(t *testing.T) {
	const (
		dispatch = " System.Private.CoreLib!System.Threading.ThreadPoolWorkQueue.Dispatch()"
		waits    = "[Native·Frames] System.Private.CoreLib!System.Threading.ReaderWriterLockSlim.TryEnterReadLock(int32) Shop!Shop.Tides.HeightAt(int32)" + dispatch
		works    = "Shop!Shop.Tides.Show()" + dispatch
	)
	x := newProcess("dotnet")
	x.look(2, epoch+sec, waits)
	for lane := range evidence.LaneID(3) {
		x.look(lane+2, epoch+2*sec, works)
	}
	b := x.done()
	of := threads.Of(b, stacks)
	l := LockEvents(b, of, x.id, ThreadPoolOf(b, of, x.id, Window{}))
	if l.Owner != "Shop!Tides.HeightAt(int)" || len(l.Groups) != 0 {
		t.Errorf("waits in %q, %d groups at the worst look", l.Owner, len(l.Groups))
	}
}

// Without the runtime's word the holder is what ran in most looks at which others waited, and hardly otherwise; or what ran in the same code in
// most of them. What was there in a few of them is none.
func TestGuessHolder(t *testing.T) {
	const (
		dispatch = " System.Private.CoreLib!System.Threading.ThreadPoolWorkQueue.Dispatch()"
		monitor  = "[Native·Frames] System.Private.CoreLib!System.Threading.Monitor.Enter(object,bool&)"
		waits    = monitor + " Shop!Shop.Tides.Enter(int32)" + dispatch
		enters   = "Shop!Shop.Tides.Enter(int32)" + dispatch
		copies   = "Shop!Shop.Tides.CopyAll()" + dispatch
		renders  = "Shop!Shop.Page.Render()" + dispatch
	)
	for _, c := range []struct {
		name   string
		waited [][]string // what two threads do beside three that wait, at each look
		free   [][]string
		holder string
		beside bool
	}{
		{"other code, only while others wait", [][]string{{copies, renders}, {copies, renders}, {copies, renders}, {enters, renders}}, [][]string{{enters, renders}, {enters, renders}, {renders}}, "Shop!Tides.CopyAll()", true},
		{"the code that takes it", [][]string{{enters, renders}, {enters, renders}, {renders}}, [][]string{{renders}, {renders}, {enters, renders}}, "Shop!Tides.Enter(int)", false},
		{"the code that takes it, and others always wait", [][]string{{enters, renders}, {enters, renders}}, nil, "Shop!Tides.Enter(int)", false},
		{"too seldom in either", [][]string{{enters}, {renders}, {renders}, {renders}}, [][]string{{renders}, {renders}}, "", false},
		{"met once", [][]string{{copies}}, [][]string{{renders}, {renders}}, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := newProcess("dotnet")
			at := epoch
			for i, acts := range append(c.waited, c.free...) {
				at += sec
				for lane := range evidence.LaneID(3) {
					if i < len(c.waited) {
						x.look(lane+2, at, waits)
					}
				}
				for n, stack := range acts {
					x.look(evidence.LaneID(n+6), at, stack)
				}
			}
			b := x.done()
			of := threads.Of(b, stacks)
			l := LockEvents(b, of, x.id, ThreadPoolOf(b, of, x.id, Window{}))
			if l.Owner != "Shop!Tides.Enter(int)" || l.Holder.Owner != c.holder || l.Holder.Beside != c.beside || l.Holder.Told {
				t.Errorf("others wait in %q for %+v, want %q", l.Owner, l.Holder, c.holder)
			}
		})
	}
}

func TestNoLockEvents(t *testing.T) {
	x := newProcess("dotnet")
	b := x.done()
	of := threads.Of(b, stacks)
	if l := LockEvents(b, of, x.id, ThreadPoolOf(b, of, x.id, Window{})); l.Waiting.Known() || l.Behind != 0 {
		t.Errorf("%+v of nothing", l)
	}
}

// series gives a subject a figure at each second.
func (x *process) series(of evidence.SubjectID, name string, v ...float64) {
	s := evidence.Series{Subject: of, Name: name, Origin: x.p.Origin(1)}
	for i, n := range v {
		s.T, s.V = append(s.T, epoch+int64(i)*sec), append(s.V, n)
	}
	x.p.Series(s)
}

// stacks reads those of the tests.
var stacks = threads.Readers{"dotnet": threads.DotnetStacks, "jvm": threads.JVMStacks}
