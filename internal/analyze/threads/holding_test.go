package threads

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Frames, innermost first, of a program on the JDK's own server.
var (
	serverBelow = []string{"mill.Mill.lambda$main$0", "com.sun.net.httpserver.Filter$Chain.doFilter", "sun.net.httpserver.ServerImpl$Exchange.run",
		"java.util.concurrent.ThreadPoolExecutor$Worker.run", "java.lang.Thread.run", "[pool-1-thread]"}
	objectWait = []string{"- waiting on (a mill.Sluice)", "java.lang.Object.wait"}
	socketRead = []string{"java.net.SocketInputStream.socketRead0", "java.net.SocketInputStream.read"}
	latch      = []string{"- parking to wait for (a java.util.concurrent.CountDownLatch$Sync)", "jdk.internal.misc.Unsafe.park", "java.util.concurrent.locks.LockSupport.park", "java.util.concurrent.CountDownLatch.await"}
)

func on(parts ...[]string) (frames []string) {
	for _, p := range parts {
		frames = append(frames, p...)
	}
	return frames
}

// jvm makes a bundle of one threadstack.JVM.
func jvm() *recording {
	b := evidence.NewBundle()
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "a"}), "test")
	return &recording{b, p, p.Subject(evidence.Subject{Runtime: "jvm", Name: "mill", PID: 1})}
}

func (r *recording) threads() *Threads { return Of(r.Bundle, Readers{"jvm": JVMStacks}) }

// at is what a thread does at a time.
func at(t *testing.T, x *Threads, s evidence.SubjectID, lane evidence.LaneID, time int64) *Sample {
	t.Helper()
	for i := range x.looks[s] {
		if l := &x.looks[s][i]; l.Lane == lane && l.Time == time {
			return l
		}
	}
	t.Fatalf("no look at %d of %d", lane, time)
	return nil
}

// Many wait in Sluice.enter, and as many as ever are beyond it: a pool of two, whatever it is
// made of, whose holders wait for the network.
func TestLimit(t *testing.T) {
	r := jvm()
	waits := on(objectWait, []string{"mill.Sluice.enter", "mill.Mill.grind"}, serverBelow)
	beyond := on(socketRead, []string{"mill.Wheel.turn", "mill.Mill.grind"}, serverBelow)
	for n := range int64(5) {
		for lane := range evidence.LaneID(8) {
			if (int64(lane)+n)%4 == 0 {
				r.look(lane+1, n*1e9+1, beyond)
			} else {
				r.look(lane+1, n*1e9+1, waits)
			}
		}
	}
	x := r.threads()
	l := at(t, x, r.subject, 2, 1)
	if l.View.State != evidence.PoolWait || l.View.Reason() != "limit of 2 at Sluice.enter (Object.wait)" {
		t.Errorf("waits for %v, %q", l.View.State, l.View.Reason())
	}
	if h := l.Held; h.Lane == 0 || h.State != evidence.NetWait || !strings.HasSuffix(h.Cause, "in Wheel.turn()") || h.Via != "" {
		t.Errorf("held by %+v", h)
	}
	all := x.Limits(r.subject)
	if len(all) != 1 || all[0].Most != 2 || all[0].Beyond != 2 || all[0].Waiting != 6 || all[0].Doing[0].State != evidence.NetWait {
		t.Errorf("limits %+v", all)
	}
}

// Who waits for something that comes now and then is behind no limit: beyond it are sometimes
// many, mostly none.
func TestNoLimit(t *testing.T) {
	r := jvm()
	waits := on(objectWait, []string{"mill.News.next", "mill.Mill.grind"}, serverBelow)
	runs := on([]string{"mill.Mill.grind"}, serverBelow)
	for n := range int64(6) {
		for lane := range evidence.LaneID(8) {
			if n == 3 && lane < 5 {
				r.look(lane+1, n*1e9+1, runs)
			} else {
				r.look(lane+1, n*1e9+1, waits)
			}
		}
	}
	x := r.threads()
	if l := at(t, x, r.subject, 8, 1); l.View.State != evidence.SyncWait || l.Held.Lane != 0 || len(x.Limits(r.subject)) != 0 {
		t.Errorf("%v, held by %+v, limits %+v", l.View.State, l.Held, x.Limits(r.subject))
	}
}

// A lock's holder waits at a limit whose holder waits for the network: that is the root, and the
// limit a link.
func TestChain(t *testing.T) {
	r := jvm()
	blocked := on([]string{"- waiting to lock (a mill.Ledger)", "mill.Ledger.append"}, serverBelow)
	holder := on(objectWait, []string{"mill.Sluice.enter", "mill.Ledger.write", "mill.Ledger.append"}, serverBelow)
	waits := on(objectWait, []string{"mill.Sluice.enter", "mill.Mill.grind"}, serverBelow)
	beyond := on(socketRead, []string{"mill.Wheel.turn", "mill.Mill.grind"}, serverBelow)
	for n := range int64(4) {
		at := n*1e9 + 1
		r.look(1, at, blocked)
		r.look(2, at, holder)
		r.look(3, at, waits)
		r.look(4, at, beyond)
	}
	l := at(t, r.threads(), r.subject, 1, 1)
	if h := l.Held; h.Lane != 2 || h.State != evidence.NetWait || h.Via != "limit of 1 at Sluice.enter (Object.wait)" {
		t.Errorf("held by %+v", h)
	}
}

// One thread does the work of all, one after the other: it is what they wait for, and what it
// does is the root.
func TestHandedOver(t *testing.T) {
	r := jvm()
	waits := on(latch, []string{"mill.Mill.order"}, serverBelow)
	owner := []string{"java.lang.Math.sin", "mill.Owner.compute", "mill.Owner.run", "[owner]"}
	for n := range int64(5) {
		for lane := range evidence.LaneID(6) {
			r.look(lane+1, n*1e9+1, waits)
		}
		r.look(9, n*1e9+1, owner)
	}
	l := at(t, r.threads(), r.subject, 3, 1)
	if l.View.State != evidence.SyncWait || l.View.Reason() != "the one thread of owner" || l.Held.Lane != 9 || l.Held.State != evidence.Running {
		t.Errorf("%v %q, held by %+v", l.View.State, l.View.Reason(), l.Held)
	}
}

// Workers of the program's own that are all busy are a pool; those whose work has been begun
// wait for what is done with it.
func TestWorkers(t *testing.T) {
	r := jvm()
	waits := on(latch, []string{"mill.Mill.order"}, serverBelow)
	worker := on(socketRead, []string{"mill.Hand.work", "java.util.concurrent.ThreadPoolExecutor$Worker.run", "java.lang.Thread.run", "[hands]"})
	for n := range int64(5) {
		for lane := range evidence.LaneID(6) {
			r.look(lane+1, n*1e9+1, waits)
		}
		r.look(11, n*1e9+1, worker)
		r.look(12, n*1e9+1, worker)
	}
	x := r.threads()
	first, last := at(t, x, r.subject, 1, 1), at(t, x, r.subject, 6, 1)
	if first.View.State != evidence.SyncWait || first.Held.State != evidence.NetWait {
		t.Errorf("begun: %v, held by %+v", first.View.State, first.Held)
	}
	if last.View.State != evidence.PoolWait || last.View.Reason() != "the 2 threads of hands" || last.Held.State != evidence.NetWait {
		t.Errorf("queued: %v %q, held by %+v", last.View.State, last.View.Reason(), last.Held)
	}
}

// Where each request hands two tasks to the workers, half as many requests as there are workers have been begun.
func TestTwoTasksOfRequest(t *testing.T) {
	r := jvm()
	waits := on(latch, []string{"mill.Mill.order"}, serverBelow)
	worker := on(socketRead, []string{"mill.Hand.work", "java.util.concurrent.ThreadPoolExecutor$Worker.run", "java.lang.Thread.run", "[hands]"})
	look := func(at int64, requests, tasks int) {
		for i := range requests {
			r.look(evidence.LaneID(1+i), at, waits)
		}
		for i := range tasks {
			r.look(evidence.LaneID(11+i), at, worker)
		}
	}
	for n := range int64(3) {
		look(n*2e9+1, 1, 2)
		look(n*2e9+1e9+1, 5, 4)
		look(n*2e9+15e8+1, 5, 4)
	}
	x := r.threads()
	for lane, want := range map[evidence.LaneID]evidence.Kind{2: evidence.SyncWait, 3: evidence.PoolWait} {
		if v := at(t, x, r.subject, lane, 1e9+1).View; v.State != want {
			t.Errorf("request %d: %v %q, want %v", lane, v.State, v.Reason(), want)
		}
	}
}

// How many tasks a request hands over decides who still waits for a worker: the looks tell at which some are free, from three of them on.
func TestTasksOfRequest(t *testing.T) {
	waits := on(latch, []string{"mill.Mill.order"}, serverBelow)
	worker := on(socketRead, []string{"mill.Hand.work", "java.util.concurrent.ThreadPoolExecutor$Worker.run", "java.lang.Thread.run", "[hands]"})
	for about, x := range map[string]struct {
		looks           int // at which workers are free
		requests, tasks int // then
		served          int // of five requests at four workers
	}{
		"one task each":                  {4, 2, 2, 4},
		"two tasks each":                 {4, 1, 2, 2},
		"two tasks each, at two looks":   {2, 1, 2, 4},
		"three tasks each":               {4, 1, 3, 2},
		"three tasks of two requests":    {4, 2, 3, 3},
		"fewer tasks than requests wait": {4, 3, 2, 4},
		"none free at any look":          {0, 0, 0, 4},
	} {
		r := jvm()
		look := func(at int64, requests, tasks int) {
			for i := range requests {
				r.look(evidence.LaneID(1+i), at, waits)
			}
			for i := range tasks {
				r.look(evidence.LaneID(11+i), at, worker)
			}
		}
		for n := range int64(4) {
			if int(n) < x.looks {
				look(n*2e9+1, x.requests, x.tasks)
			}
			look(n*2e9+1e9+1, 5, 4)
			look(n*2e9+15e8+1, 5, 4)
		}
		threads := r.threads()
		served := 0
		for lane := range evidence.LaneID(5) {
			if at(t, threads, r.subject, lane+1, 1e9+1).View.State != evidence.PoolWait {
				served++
			}
		}
		if served != x.served {
			t.Errorf("%s: %d of five are served, want %d", about, served, x.served)
		}
	}
}

// A server of the program's own: its threads serve requests but where they read the next.
func TestOwnServer(t *testing.T) {
	r := jvm()
	accepts := on([]string{"java.net.PlainSocketImpl.socketAccept", "java.net.ServerSocket.accept", "mill.Door.main"}, []string{"[main]"})
	below := []string{"mill.Door.serve", "mill.Door$$Lambda.run", "java.lang.Thread.run", "[Thread]"}
	idle := on(socketRead, []string{"java.io.BufferedReader.readLine"}, below)
	asks := on(socketRead, []string{"mill.Wheel.turn", "mill.Mill.grind"}, below)
	for n := range int64(3) {
		r.look(1, n*1e9+1, accepts)
		r.look(2, n*1e9+1, idle)
		r.look(3, n*1e9+1, asks)
		r.look(4, n*1e9+1, asks)
	}
	x := r.threads()
	if v := at(t, x, r.subject, 2, 1).View; v.Request || v.State != evidence.Idle {
		t.Errorf("reads the next: request %v, %v", v.Request, v.State)
	}
	if v := at(t, x, r.subject, 3, 1).View; !v.Request || v.State != evidence.NetWait {
		t.Errorf("asks: request %v, %v", v.Request, v.State)
	}
}

// Virtual threads are in a dump of their own, which has the system's threads once more.
func TestVirtualOnce(t *testing.T) {
	r := jvm()
	virtual := on([]string{"java.lang.VirtualThread.park", "mill.Mill.lambda$main$0", "com.sun.net.httpserver.Filter$Chain.doFilter", "java.lang.VirtualThread.run", "[virtual]"})
	main := []string{"java.lang.Thread.sleep", "mill.Mill.main", "[main]"}
	r.look(1, 1, main)
	r.look(evidence.LanesOfProgram+1, 2, main)
	r.look(evidence.LanesOfProgram+7, 2, virtual)
	r.look(1, 5e9, main) // no dump of virtual threads: it says nothing of requests
	looks := r.threads().Samples(r.subject)
	if len(looks) != 2 || looks[0].Lane != 1 || looks[1].Lane != evidence.LanesOfProgram+7 || !looks[1].View.Virtual || !looks[1].View.Request {
		t.Errorf("looks %+v", looks)
	}
}

// A pool has the most threads that were seen at one moment, whatever they did and however many looks were at each.
func TestPoolThreads(t *testing.T) {
	waits := on(latch, []string{"mill.Mill.order"}, serverBelow)
	worker := on(socketRead, []string{"mill.Hand.work", "java.util.concurrent.ThreadPoolExecutor$Worker.run", "java.lang.Thread.run", "[hands]"})
	rests := on([]string{"jdk.internal.misc.Unsafe.park", "java.util.concurrent.locks.LockSupport.park", "java.util.concurrent.LinkedBlockingQueue.take", "java.util.concurrent.ThreadPoolExecutor.getTask",
		"java.util.concurrent.ThreadPoolExecutor$Worker.run", "java.lang.Thread.run", "[hands]"})
	for name, rounds := range map[string][]int{"grows": {2, 3, 5}, "shrinks": {4, 3, 2}, "stays": {1, 1, 1}} {
		r := jvm()
		most := 0
		for n, threads := range rounds {
			most = max(most, threads)
			r.look(1, int64(n+1)*1e9, waits)
			for k := range threads {
				stack := worker
				if k%2 == 1 {
					stack = rests
				}
				r.look(evidence.LaneID(11+k), int64(n+1)*1e9, stack)
			}
		}
		x := r.threads()
		if got := x.PoolThreads(r.subject, "hands"); got != most {
			t.Errorf("%s: %d threads, want %d", name, got, most)
		}
		if got := x.PoolThreads(r.subject, "feet"); got != 0 {
			t.Errorf("%s: %d threads of a pool that is not there", name, got)
		}
	}
}
