package threads

import "github.com/unstall/unstall/internal/base/evidence"

// leaderFollower finds locks that threads wait for while they have no work: of several workers that take
// work one after the other, the one whose turn it is waits for work with the lock held, and all
// others for the lock. To wait for it is to wait for work. It shows as a lock for which threads wait while
// nobody has work, but one that otherwise waits there, too, is idle: a lock that keeps somebody from
// his work has a holder who has some.
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

// leastTurns is the part of the moments with somebody waiting for a lock in which nobody may have work for
// it to be one by which workers take turns. The others are those in which there was work.
const leastTurns = .3
