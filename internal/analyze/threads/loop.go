package threads

import (
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
)

// markLoops makes the threads of event loops that work on requests a pool: a request on a connection of such a loop waits for the loop's
// thread as for a thread of a pool. Where no server's frames show requests, the user's own code that such a loop called counts as one,
// because the loop called it for something that arrived on a connection; where others work on requests, it may be a client's callback.
func (t *Threads) markLoops(s evidence.SubjectID) {
	looks := t.looks[s]
	told := slices.ContainsFunc(looks, func(l Sample) bool { return l.View.Request })
	at := make(map[string]map[evidence.LaneID]bool) // the threads of each pool of loops that work on requests
	serving := make(map[string]bool)
	for i := range looks {
		v := &looks[i].View
		if !v.Loop {
			continue
		}
		if at[v.Pool] == nil {
			at[v.Pool] = make(map[evidence.LaneID]bool)
		}
		at[v.Pool][looks[i].Lane] = true
		if v.Request || !told && v.State != evidence.Idle && v.User >= 0 && !v.Library {
			serving[v.Pool] = true
		}
	}
	for i := range looks {
		v := &looks[i].View
		if !v.Loop || !serving[v.Pool] {
			continue
		}
		v.Role, v.Request = threadstack.Worker, v.State != evidence.Idle
	}
	for pool := range serving {
		if len(at[pool]) == 1 {
			t.addLoneLoop(s, pool)
		}
	}
}

// addLoneLoop records a pool of one thread that serves all requests one after the other.
func (t *Threads) addLoneLoop(s evidence.SubjectID, pool string) {
	x := Limit{Place: pool, Workers: true, Most: 1}
	did := make(tally)
	for i := range t.looks[s] {
		l := &t.looks[s][i]
		if v := &l.View; !v.Loop || v.Pool != pool || v.State == evidence.Idle {
			continue
		}
		if x.Looks == 0 {
			x.Stack, x.Origin = l.Stack, l.Origin
		}
		x.Looks++
		did.countDoing(&l.View)
	}
	x.Beyond, x.Doing = 1, did.listDoings()
	if t.limits == nil {
		t.limits = make(map[evidence.SubjectID][]Limit)
	}
	t.limits[s] = append(t.limits[s], x)
}
