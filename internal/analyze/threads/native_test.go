package threads_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
	"github.com/unstall/unstall/internal/base/threadstack/stacktest"
)

// kernelLooks is a process of no runtime that is known, looked at every 25 ms; each look names the
// threads and, as internal/format/syscalls has it, what each does: "4711 fsync of /var/x @10" waits there with
// its stack 10 bytes deeper than another, " by submit serve" before that in these functions.
func kernelLooks(looks ...string) (*evidence.Bundle, *threads.Threads) {
	b := evidence.NewBundle()
	b.Subjects = []evidence.Subject{{Name: "svc", PID: 4711}}
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "syscalls.txt"}), "syscalls")
	typ := p.Name(evidence.SampleSyscall)
	at := int64(1763689985e9)
	for _, look := range looks {
		for line := range strings.SplitSeq(look, "\n") {
			var tid, depth int64
			tidText, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
			fmt.Sscan(tidText, &tid)
			call, deep, _ := strings.Cut(rest, " @")
			fmt.Sscan(deep, &depth)
			call, by, _ := strings.Cut(call, " by ")
			call, on, is := strings.Cut(call, " of ")
			stack := threadstack.Stack{Frames: strings.Fields(by), ThreadInfo: evidence.ThreadInfo{Name: "svc", Call: call}}
			if is {
				stack.On = evidence.ObjectOf(on)
			}
			if call != evidence.CallRunning {
				stack.SP = uint64(0x7f0000000000 - depth)
			}
			p.Sample(evidence.Sample{Time: at, Lane: evidence.LaneID(tid), Stack: stacktest.Intern(p, stack), Type: typ, Value: 1, Origin: p.Origin(1)})
		}
		at += 25e6
	}
	p.Cover(evidence.Coverage{Kind: evidence.CoverSyscalls, From: 1763689985e9, Until: at, Origin: p.Origin(1)})
	p.Close()
	of := threads.Readers{"": threads.NativeStacks}
	threads.Adopt(b, of)
	return b, threads.Of(b, of)
}

func seen(t *threads.Threads) string {
	var w strings.Builder
	for _, l := range t.Samples(0) {
		fmt.Fprintf(&w, "%d %s", l.Lane, l.View.Doing())
		if l.View.Request {
			w.WriteString(" request")
		}
		if l.Held.Lane != 0 {
			fmt.Fprintf(&w, " held by %d %s", l.Held.Lane, l.Held.Cause)
		}
		w.WriteString("\n")
	}
	return w.String()
}

func repeat(n int, look string) (out []string) {
	for range n {
		out = append(out, look)
	}
	return out
}

func TestNative(t *testing.T) {
	for name, x := range map[string]struct {
		looks []string
		want  []string
	}{
		"one thread polls, and sleeps within a request, inlined": {
			[]string{"1 poll @40", "1 clock_nanosleep @20", "1 read of client @9000"},
			[]string{"1 idle", "1 sleeping (clock_nanosleep) request", "1 idle"}},
		"workers wait for a mutex whose holder syncs": {
			append(repeat(3, "1 epoll_wait @100\n2 futex of 0x10 @100\n3 futex mutex of 0x20 @300\n4 fsync of /j @2000"), "1 epoll_wait @100\n2 futex of 0x10 @100\n3 futex of 0x10 @100\n4 futex of 0x14 @100", "2 running\n1 running\n3 running"),
			[]string{"1 idle", "2 idle", "3 waiting for a lock (futex mutex at 0x20) request held by 4 fsync of /j", "4 in the kernel (fsync of /j) request"}},
		"a place in a limit is waited for further in than work": {
			append(repeat(3, "1 accept of listener @100\n2 futex of 0x10 @100\n3 futex of 0x90 @2000\n4 running"), "3 futex of 0x10 @100\n4 futex of 0x10 @100"),
			[]string{"1 idle", "2 idle", "3 waiting for another thread (futex at 0x90) request"}},
		"three places, for which others wait at either word of a condition variable": {
			append(repeat(4, "1 accept of listener @100\n2 futex of 0x90 @2000\n3 futex of 0x94 @2000\n4 clock_nanosleep @2100\n5 clock_nanosleep @2100"), "2 read of client @200\n3 read of client @200\n4 read of client @200\n5 read of client @200"),
			[]string{"2 waiting for a pool (futex at 0x90) request held by 4 clock_nanosleep", "3 waiting for a pool (futex at 0x90) request held by 5"}},
		"one thread does what others wait for, each at a word of its own": {
			append(repeat(4, "1 accept of listener @100\n2 futex of 0x10 @2000\n3 futex of 0x20 @2000\n4 fsync of /j @300"), repeat(4, "1 accept of listener @100\n2 read of client @200\n3 read of client @200\n4 futex of 0x90 @100")...),
			[]string{"2 waiting for another thread (futex at 0x10) request held by 4 fsync of /j", "3 waiting for another thread (futex at 0x20) request held by 4 fsync of /j"}},
		"one that is only seen with a request waits where others do with theirs": {
			append(repeat(3, "1 accept of listener @100\n2 futex of 0x20 by submit serve @300\n3 futex of 0x10 by submit serve @300\n4 futex of 0x30 by work @300"), "2 read of client by serve @200"),
			[]string{"2 waiting for another thread (futex at 0x20) request", "3 waiting for another thread (futex at 0x10) request", "4 idle"}},
		"a log is written beside requests": {
			append(repeat(3, "1 epoll_wait @100\n2 futex of 0x10 @100"), "1 running\n2 fdatasync of /log @800"),
			[]string{"1 running request", "2 in the kernel (fdatasync of /log)\n"}},
		"a thread for each connection asks a database": {
			append(repeat(3, "1 accept of listener @100\n2 read of client @200\n3 recvfrom of peer 10.0.0.5:5432 @900"), "3 read of client @200"),
			[]string{"1 idle", "2 idle", "3 waiting for the network (recvfrom from 10.0.0.5:5432) request", "3 idle"}},
	} {
		_, th := kernelLooks(x.looks...)
		got := seen(th)
		for _, w := range x.want {
			if !strings.Contains(got, w) {
				t.Errorf("%s: %q is not in\n%s", name, w, got)
			}
		}
	}
}

// Where a runtime's own stacks tell, what the kernel says replaces nothing.
func TestAdoptLeavesOthers(t *testing.T) {
	b, _ := kernelLooks("1 running")
	b.Samples.Type[0] = b.Names.Lookup(evidence.SampleSyscall)
	b.Subjects[0].Runtime = "jvm"
	threads.Adopt(b, threads.Readers{"": threads.NativeStacks, "jvm": threads.JVMStacks})
	if b.Names.Text(b.Samples.Type[0]) != evidence.SampleSyscall {
		t.Error("a JVM's threads are looked at as if it had no stacks")
	}
}

// A look whose innermost functions are missing does not make the outer function one in which a thread waits by itself, beside which its wait for work
// would be a wait within a task. One that is further out does.
func TestLooksWithoutInnermostFunctions(t *testing.T) {
	for name, x := range map[string]struct {
		most, cut string
		idle      bool
	}{
		"a task queue's condition variable": {"1 futex of 0x830 by cond_wait worker_main @100", "1 futex of 0x830 by worker_main @100", true},
		"a semaphore, in the middle":        {"1 futex of 0x9c0 by sem_wait pop serve_tasks @60", "1 futex of 0x440 by serve_tasks @2500", true},
		"a limit within the task":           {"1 futex of 0x830 by acquire worker_main @100", "1 futex of 0x440 by worker_main @40", false},
	} {
		looks := append(repeat(30, x.most), x.cut, x.cut)
		_, th := kernelLooks(append(looks, repeat(5, "1 running")...)...)
		idle := 0
		for _, l := range th.Samples(0) {
			if l.View.State == evidence.Idle {
				idle++
			}
		}
		if (idle >= 30) != x.idle {
			t.Errorf("%s: idle in %d of 30 looks:\n%s", name, idle, seen(th))
		}
	}
}

// Threads on which an engine compiles and collects garbage serve no requests, and are no pool to which the event loop hands them.
func TestThreadsOfEngine(t *testing.T) {
	for name, x := range map[string]struct {
		worker string
		serves int // threads
	}{
		"V8 in Node.js":   {"node::PlatformWorkerThread", 1},
		"V8 elsewhere":    {"v8::platform::DefaultWorkerThreadsTaskRunner::WorkerThread::Run", 1},
		"a program's own": {"shop::serve", 2},
	} {
		var looks []string
		for i := range 40 {
			busy := "2 running by compile " + x.worker + "\n3 futex of 0x830 by cond_wait " + x.worker + " @10"
			if i%2 == 0 {
				busy = "2 futex of 0x830 by cond_wait " + x.worker + " @10\n3 running by mark " + x.worker
			}
			loop := "1 epoll_wait @40"
			if i%4 == 0 {
				loop = "1 running by handle"
			}
			looks = append(looks, loop+"\n"+busy)
		}
		_, th := kernelLooks(looks...)
		serving := make(map[evidence.LaneID]bool)
		for _, l := range th.Samples(0) {
			if l.View.Request {
				serving[l.Lane] = true
			}
		}
		if len(serving) != x.serves || serving[1] != (x.serves == 1) {
			t.Errorf("%s: threads %v serve requests:\n%s", name, serving, seen(th))
		}
	}
}
