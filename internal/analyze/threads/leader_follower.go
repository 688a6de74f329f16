package threads

import "github.com/unstall/unstall/internal/base/evidence"

// leaderFollower finds locks that threads wait for while they have no work. Where several workers take work in turn, one waits for work
// with the lock held and all others wait for the lock, so that waiting for the lock is waiting for work. Such a lock has waiting threads
// while no thread has work, and its holder is idle; the holder of a lock that keeps a thread from its work has work itself.
func (t *Threads) leaderFollower(s evidence.SubjectID, order []*native) {
	waiters := make(map[string]map[evidence.LaneID]bool) // of each lock
	for _, n := range order {
		for _, l := range n.looks {
			if v := &l.View; v.State == evidence.LockWait {
				if waiters[v.Pattern] == nil {
					waiters[v.Pattern] = make(map[evidence.LaneID]bool)
				}
				waiters[v.Pattern][l.Lane] = true
			}
		}
	}
	if len(waiters) == 0 {
		return
	}
	rounds, idle := make(map[string]int), make(map[string]int)
	for _, bursts := range t.splitRounds(s) {
		for _, round := range bursts {
			for on, lanes := range waiters {
				if !someWait(on, round) {
					continue
				}
				rounds[on]++
				work, turn := false, false
				for _, l := range round {
					v := &l.View
					switch {
					case v.State == evidence.LockWait && v.Pattern == on:
					case v.State != evidence.Idle:
						work = true
					case lanes[l.Lane]:
						turn = true
					}
				}
				if turn && !work {
					idle[on]++
				}
			}
		}
	}
	for _, n := range order {
		for _, l := range n.looks {
			v := &l.View
			if on := v.Pattern; v.State == evidence.LockWait && rounds[on] >= leastShown && float64(idle[on]) >= leastTurns*float64(rounds[on]) {
				v.State, v.Pattern, v.Wait = evidence.Idle, "", -1
				n.busy--
			}
		}
	}
}

// leastTurns is the part of the moments with a thread waiting for a lock in which no thread may have work, for the lock to be one by which
// workers take turns. In the other moments there was work.
const leastTurns = .3
