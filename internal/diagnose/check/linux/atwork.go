package linux

import (
	"slices"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// addTimeAtWork adds the mechanism's part of the time that thread samples show as running: a
// thread that runs, one that is ready and one that waits for some µs again and again look the
// same. Kernel stacks show which part of the time of threads at work each mechanism has; what
// requests were not already seen to wait there is taken from what they seemed to run.
func (m *mechanism) addTimeAtWork(c *check.Case, k *kernel, x *charged) {
	l := c.Ledger
	part, held := m.partOfWork(k), m.partOfHolder(k)
	if !(part > 0 || held > 0) || l.Traced && !l.Sampled {
		return
	}
	seen := x.per1
	known := make(map[int]int64)
	x.per1 = func(row int) (ns int64) {
		ns, ok := known[row]
		if ok {
			return ns
		}
		if seen != nil {
			ns = seen(row)
		}
		ch := l.Of(row)
		taken := ch[ledger.Own] + ch[ledger.HostCPU] + ch[ledger.RequestsCPU] + ch[ledger.BackgroundCPU]
		ns += min(taken, max(0, int64(part*float64(taken+ch[ledger.Kernel]))-ns)) + int64(held*float64(behindUnseen(c, row)))
		known[row] = ns
		return ns
	}
	var own, behind int64
	added := -x.ns
	x.ns, x.waiters = 0, 0
	for n, row := range l.Slow {
		x.per[n] = x.per1(row)
		x.ns += x.per[n]
		if x.per[n] > 0 {
			x.waiters++
		}
		own += l.Of(row)[ledger.Own]
		behind += int64(held * float64(behindUnseen(c, row)))
	}
	added += x.ns
	x.linked += behind
	x.locked = 2*behind >= x.ns
	x.work = min(1, float64(added-behind)/float64(max(1, own)))
	x.share = float64(x.ns) / float64(max(1, l.Total))
	_, x.usual, x.over = c.Excess(l.UsualRows(), l.Slow, x.per1)
}

var oneAtWork = check.Threshold{Name: "threads at work on average that are about one", Value: 1.5, Unit: "threads",
	Why: "a second one answers, or reads a request, at the same time", Source: "arithmetic: midway between one and two"}

// holderWork returns how many threads are at work on average while others wait for a lock or to be
// woken; alone says whether that is about one, which is then the holder, and what threads at work
// do is what the others wait for. Requests need not wait for that thread itself.
func holderWork(k *kernel) (work float64, alone bool) {
	if k == nil || k.work == nil {
		return 0, false
	}
	waits := k.work.Threads(evidence.KernelFutex)
	work = k.work.Busy + k.work.Alone - waits - k.work.Beside(evidence.KernelFutex)
	return work, waits >= work && work > leastWork.Value && work <= oneAtWork.Value
}

// partOfHolder returns the part of the holder's time that the mechanism has, 0 where the holder is
// not known.
func (m *mechanism) partOfHolder(k *kernel) float64 {
	work, alone := holderWork(k)
	if !alone || m.locks {
		return 0
	}
	return min(1, (k.work.Threads(m.classes...)+k.work.Beside(m.classes...))/work)
}

// behindUnseen returns how long (ns) a request waited for a lock, or to be woken by another
// thread, whose holder was not seen waiting.
func behindUnseen(c *check.Case, row int) (ns int64) {
	c.Ledger.Walk(row, func(_ int64, s evidence.Segment, ch *ledger.Charges) {
		switch s.HolderKind {
		case evidence.KindUnknown, evidence.Running, evidence.Unobserved, evidence.LockWait:
			if s.Kind == evidence.LockWait || s.Kind == evidence.SyncWait && onFutex(c.Bundle.Names.Wait(s.Cause).Kind) {
				ns += ch[ledger.Lock] + ch[ledger.Goroutine]
			}
		}
	})
	return ns
}

// onFutex says whether a thread waits at a futex, either for an unknown reason or for a single
// thread that ends the wait.
func onFutex(kind evidence.WaitKind) bool {
	return kind == evidence.FutexWait || kind == evidence.OneThread
}

// waiting are mechanisms in which the holder of a lock keeps it without running.
var waiting = []string{evidence.KernelFsync, evidence.KernelDisk, evidence.KernelDiskFault, evidence.KernelSwapIn, evidence.KernelReclaim, evidence.KernelThrottled, evidence.KernelSend, evidence.KernelFileLock}

// subtractHolderWaits takes from waits for locks the part in which the holder itself waited, where
// stacks show that.
func (m *mechanism) subtractHolderWaits(c *check.Case, k *kernel, x *charged) {
	work, alone := holderWork(k)
	if !m.locks || !alone || x.ns == 0 {
		return
	}
	left := max(0, 1-(k.work.Threads(waiting...)+k.work.Beside(waiting...))/work)
	all := x.per1
	x.per1 = func(row int) int64 { return int64(left * float64(all(row))) }
	x.ns = 0
	for n, row := range c.Ledger.Slow {
		x.per[n] = x.per1(row)
		x.ns += x.per[n]
	}
	x.share *= left
	x.over *= left
	x.usual = int64(left * float64(x.usual))
}

// partOfWork returns the mechanism's part of the time of threads at work, without waits for locks;
// where waits were not watched, of their CPU time. 0 if unknown.
func (m *mechanism) partOfWork(k *kernel) float64 {
	switch {
	case k == nil || m.locks:
		return 0
	case k.work == nil:
		if part := k.CPUShare(m.classes...); part.Known() {
			return part.Number
		}
		return 0
	}
	busy := k.work.Busy - k.work.Threads(evidence.KernelFutex)
	if busy < leastWork.Value {
		return 0
	}
	return k.work.Threads(m.classes...) / busy
}

// busyShare returns the part of the time of busy threads that they spent on the mechanism, with
// waits for locks whose holders were seen in it.
func (m *mechanism) busyShare(c *check.Case, k *kernel) float64 {
	n := k.work.Threads(m.classes...)
	if !slices.Contains(m.classes, evidence.KernelFutex) {
		held := holdersIn(c, func(held threads.Holding) bool { return m.matchesWait(held.Waits, held.Cause) })
		held = max(held, m.partOfHolder(k))
		n += held * k.work.Threads(evidence.KernelFutex)
	} else {
		held := holdersIn(c, func(held threads.Holding) bool {
			return held.State == evidence.Syscall || held.State == evidence.NetWait
		})
		if work, alone := holderWork(k); alone {
			held = max(held, min(1, (k.work.Threads(waiting...)+k.work.Beside(waiting...))/work))
		}
		n *= 1 - held
	}
	if k.work.Busy <= 0 {
		return 0
	}
	return n / k.work.Busy
}

// holdersIn returns the part of the samples of threads waiting for a lock in which the holder at
// the end of the chain did what did asks for.
func holdersIn(c *check.Case, did func(threads.Holding) bool) float64 {
	waits, in := 0, 0
	for _, look := range c.Threads().Samples(c.Subject) {
		if look.View.State != evidence.LockWait {
			continue
		}
		waits += look.Count
		if look.Held.Lane != 0 && did(look.Held) {
			in += look.Count
		}
	}
	return float64(in) / float64(max(1, waits))
}
