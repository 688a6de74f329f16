package service

import (
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// servingWait is a wait that most of the threads that serve requests are in.
type servingWait struct {
	state, what, owner string
	locked             bool
	share              float64 // of the looks at threads that serve requests
	origin             evidence.Origin
}

// shortenFix returns what helps where the threads that would read connections wait.
func (w *servingWait) shortenFix() check.Fix {
	text := "most of the threads that read these connections serve requests and wait at that time (" + w.state + "): make that wait shorter"
	if w.locked {
		text += ": do less under the lock; more threads would wait, too"
	} else {
		text += ", or give the service more threads or workers if what they wait for can take more at a time (needed = requests per second × seconds each takes)"
	}
	return check.Fix{Text: text, Code: w.owner}
}

// waitOfServing returns it; nil if no one wait has most of the looks at threads that serve requests.
func waitOfServing(c *check.Case) *servingWait {
	if !c.OnThreads() {
		return nil
	}
	type place struct{ state, owner string }
	seen := make(map[place]int)
	all, most, found := 0, place{}, &servingWait{}
	looks := c.Threads().Samples(c.Subject)
	for i := range looks {
		v := &looks[i].View
		if !v.Request || v.State == evidence.Idle {
			continue
		}
		all += looks[i].Count
		if !v.Waiting() || v.Owner == "" {
			continue
		}
		at := place{threadstack.WithoutFutex(v.Doing()), v.Owner}
		if seen[at] += looks[i].Count; seen[at] > seen[most] {
			most, found.origin, found.locked = at, looks[i].Origin, v.State == evidence.LockWait
		}
	}
	if 2*seen[most] <= all {
		return nil
	}
	found.state, found.owner, found.what = most.state, most.owner, most.state+" in "+most.owner
	found.share = float64(seen[most]) / float64(all)
	return found
}
