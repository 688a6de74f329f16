package ledger

import "github.com/unstall/unstall/internal/base/evidence"

// Rooted charges a state to the root of its chain of holders: a wait for a lock or a pool goes to what the last holder in
// the chain did during the wait. The wait itself is the root if that holder ran, because running is what the lock or pool
// is for, or if nothing is known of the holder. The charges of any other state are its own.
//
// Mechanisms tell what requests met; roots tell what would have to change for them not to.
func Rooted(s *evidence.Segment, c *Charges) Charges {
	m, waits := heldBy(s.Kind)
	if !waits {
		return *c
	}
	left := c[m]
	if left == 0 {
		return *c
	}
	out := *c
	switch s.HolderKind {
	case evidence.KindUnknown, evidence.Running, evidence.Unobserved, evidence.LockWait, evidence.PoolWait, evidence.Idle:
		return out
	case evidence.Runnable:
		sum := s.Held.Sum()
		if sum <= 0 {
			return out
		}
		for h, v := range s.Held {
			part := min(left, int64(float64(c[m])*(float64(v)/float64(sum))))
			out[held[h]] += part
			out[m] -= part
			left -= part
		}
		return out
	}
	to := states[s.HolderKind]
	out[m] -= left
	out[to] += left
	return out
}

// heldBy returns the mechanism for a wait for what others hold or do, and whether a state is such a wait.
func heldBy(k evidence.Kind) (m Mechanism, ok bool) {
	switch k {
	case evidence.LockWait:
		return Lock, true
	case evidence.PoolWait:
		return Pool, true
	case evidence.ThreadWait:
		return PoolThread, true
	case evidence.SyncWait:
		return Goroutine, true
	case evidence.TaskWait:
		return TaskWait, true
	}
	return 0, false
}

// OfRoots is [Ledger.Of] by roots.
func (l *Ledger) OfRoots(row int) Charges {
	w := walkers.Get().(*walker)
	w.sum = Charges{}
	w.walkRequest(l, row, w.addRoots)
	sum := w.sum
	walkers.Put(w)
	return sum
}
