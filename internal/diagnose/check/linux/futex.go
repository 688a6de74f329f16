package linux

import (
	"fmt"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// Futex is a lock of a program whose runtime tells nothing of its locks.
var Futex = check.Check{
	ID:    "linux.futex",
	Title: "threads wait for a lock (futex)",
	Step:  check.StepLocks,
	Doc: `A mutex of C, C++, Rust or a runtime is a word in memory; a thread that finds it taken asks the
kernel to sleep until it is free (futex). If threads queue for one lock, each hand-over is a wake-up
and a context switch: the critical section may take 1 µs, the hand-over 5–50 µs, so the queue stays
although the lock is free most of the time (a convoy). CPUs are idle during that time, or busy
waking threads.

A wait for work looks the same on a stack. unstall recognises a lock by the value of the futex word
("taken, with waiters", by the conventions of glibc, musl, Rust and Go). The address identifies the
lock and, if the program's stack is known, the function that takes it. If the holder itself waits
(for a disk, a response), that wait is the cause, not the lock. In Python the lock may be the
interpreter's own (GIL), with which one thread at a time runs Python: then what computes most is named. If one
function has half of the CPU time, the wait is its work (service.own-work).

How to tell it from similar problems: go.lock-contention, jvm.lock-contention and
dotnet.lock-contention are the same for runtimes that report their locks. A limit on concurrency is
service.pool-exhausted. Threads that wait for work are idle.

What helps: do less while it is held, above all no blocking call and no allocation; one lock per key
or shard instead of one for all; a read-write lock, RCU or a copy if most threads only read;
counters per thread. For sections of a few µs on more than one CPU, a lock that spins before it
sleeps (PTHREAD_MUTEX_ADAPTIVE_NP, parking_lot); fewer threads that queue for it. Spinning does not
help if CPUs are short: then the holder does not run.`,
	Least: fmt.Sprintf("%v slow requests with %v of all request time, and %v of slow time, above the usual, in waits for locks whose holders ran, with a p99 of %v unless --slo is given; without requests, on average %v busy threads in it, and %v of the time of busy threads, or of their CPU time in lock operations; by a listing of perf report alone, %v of the samples",
		check.SomeSlow, check.SlowShare, check.Material, check.Noticeable, leastWork, check.Material, ofProfile),
	Thresholds: []check.Threshold{beyondQueue, fewAtWork, leastWork, mostOfInterpreter, ofBusyThreads, ofProfile, oneAtWork, check.Arguable, check.Material, check.MaterialBeyond, check.TwoKinds,
		check.FewClocked, check.MaterialUnseen, check.MinRequests, check.MostlyUnseen, check.Noticeable, check.SlowShare, check.SomeSlow, check.WorthTelling},

	Needs:     "what its threads wait for in the kernel, as root: unstall record PID, with --kernel for stacks",
	Applies:   func(c *check.Case) bool { return ownLocks(c) && locking.hasEvidence(c) },
	Judge:     judgeFutex,
	JudgeHost: judgeHostFutex,
}

var locking = mechanism{what: "waiting for locks", classes: []string{evidence.KernelFutex}, locks: true}

// ownLocks says whether only the kernel shows the program's locks.
func ownLocks(c *check.Case) bool {
	r := platform.ByID(c.Runtime())
	return r.Stacks == nil && !c.Traced()
}

func judgeFutex(c *check.Case) check.Verdict {
	v, f := locking.judgeLoss(c)
	if v.Supported() && f.computesUnderLock(c) {
		v.Rule, v.Saves, v.Work, v.Prediction, v.Explains = check.Explained, nil, 0, nil, nil
		v.Summary = f.formatShare() + " is waiting for Python's interpreter lock (GIL), which one function holds most of the time: its own work (service.own-work)"
		return v
	}
	if v.Supported() {
		return f.describeLock(c, v)
	}
	if c.Ledger != nil && len(c.Ledger.Rows) >= ledger.MinRequests && (c.HasRequestStates() || !c.Slow()) {
		return v
	}
	k := kernelOf(c)
	part, used := lockCPU(k)
	if !part.Known() {
		return v
	}
	v.Evidence = append(v.Evidence, c.Figure("lock.futex_cpu_share", "share of its CPU time in lock operations (futex)", part.Number, "1", part.Origin))
	if part.Number < check.Material.Value || used < leastWork.Value || c.Ledger != nil && len(c.Ledger.Rows) >= ledger.MinRequests {
		return v
	}
	v.Rule, v.Weight, v.Needs = check.Matters, used, nil
	f.share, f.of = part.Number, "its CPU time"
	v.Evidence = append(v.Evidence, locking.stackEvidence(c, k)...)
	return f.describeLock(c, v)
}

func (f *finding) describeLock(c *check.Case, v check.Verdict) check.Verdict {
	if f.isInterpreterLock(c) {
		return f.describeInterpreterLock(c, v)
	}
	v.Title = fmt.Sprintf("%s wait for a lock%s: %s.", f.who(), f.placeSuffix(), f.formatShare())
	v.Summary = f.formatShare() + " is waiting for locks"
	v.Fix = append(v.Fix,
		check.Fix{Text: "do less while this lock is held, or use one lock per key or shard; if most threads only read, use a read-write lock or a copy", Code: siteOf(c, f)},
		check.Fix{Text: "if it is held for a few µs and CPUs are free, spin before sleeping (PTHREAD_MUTEX_ADAPTIVE_NP, parking_lot), and reduce the number of threads that queue for it"})
	return v
}

// lockFunctions are functions of programs that take and pass on locks.
var lockFunctions = []string{"pthread_mutex_lock", "pthread_mutex_unlock", "__lll_lock_wait", "__lll_lock_wake", "lock_contended", "RawMutex::lock_slow", "RawMutex::unlock_slow",
	"sync.(*Mutex).lockSlow", "sync.(*Mutex).unlockSlow", "internal/sync.(*Mutex).lockSlow", "internal/sync.(*Mutex).unlockSlow", "runtime.lock2", "runtime.unlock2", "runtime.semacquire1", "runtime.semrelease1"}

// lockCPU returns the part of the process's CPU time in the kernel's futexes and in functions that
// take and pass on locks, and how many CPUs that is.
func lockCPU(k *kernel) (part metrics.Value, cores float64) {
	if k == nil || k.Running == 0 {
		return metrics.Unknown, 0
	}
	all := k.CPU()
	if !(all.Number > 0) {
		return metrics.Unknown, 0
	}
	for _, s := range k.Stacks() {
		if s.Waits {
			continue
		}
		_, program := k.Frames(s.Stack)
		if slices.ContainsFunc(program, func(f string) bool {
			return slices.ContainsFunc(lockFunctions, func(l string) bool { return strings.Contains(f, l) })
		}) {
			cores += s.Seconds / k.Running
		}
	}
	all.Number = cores / all.Number
	return all, cores
}
