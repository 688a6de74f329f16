package dotnet

import (
	"math"
	"strings"

	"github.com/unstall/unstall/cause"
	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/threads"
)

// stacks is what the threads of the pool were seen doing.
type stacks struct {
	of    *threads.Threads
	worst *threads.Summary // when most of them had work; nil: nobody looked
	still bool             // those in native code stand still, too
}

// native says whether a thread is in native code of which its stack does not say that it
// waits: up to .NET 5 not even Thread.Sleep leaves a frame.
func native(v threads.View) bool {
	return v.State == evidence.KindUnknown || v.Pattern == threads.HiddenSleep
}

// asMany is the part of the threads that seem to run which must have run, or been ready to:
// of fewer, most stand still.
const asMany = .5

// standing judges the threads that are in native code, of which nothing says that they
// wait: if fewer ran, or were ready to, than [asMany] of those that seem to, they stand still. How many were ready is the kernel's count, NaN where nobody asked; then
// the process must use far less of the processors than they would, and less by more
// where others use up the host.
func (s *stacks) standing(used, ready, cores float64, full bool) {
	called := count(s.groups(native))
	seem := float64(called + count(s.groups(func(v threads.View) bool { return v.State == evidence.Running })))
	most := asMany * min(seem, cores)
	switch {
	case !math.IsNaN(ready):
		used += ready
		most = asMany * seem
	case full:
		most /= 2 // others may have taken the processors that they were to have
	}
	s.still = float64(called) > cores && used < most // as many may be in a short call each
}

// stands says whether a thread stands still with work on its hands.
func (s *stacks) stands(v threads.View) bool {
	if native(v) {
		return s.still
	}
	return v.Waiting()
}

// blocked is how many threads of the pool stood still with work on their hands when
// most did.
func (s *stacks) blocked() int { return count(s.waiting(all)) }

// waiting are the groups of threads of the pool that stand still, the largest first.
func (s *stacks) waiting(is func(threads.View) bool) []threads.Group {
	return s.groups(func(v threads.View) bool { return s.stands(v) && is(v) })
}

func (s *stacks) groups(is func(threads.View) bool) (out []threads.Group) {
	if s.worst == nil {
		return nil
	}
	for _, g := range s.worst.Groups {
		if g.Pool > 0 && is(g.View) {
			out = append(out, g)
		}
	}
	return out
}

func all(threads.View) bool { return true }

func atLock(v threads.View) bool { return v.State == evidence.LockWait }

// count is how many threads of the pool groups hold together.
func count(groups []threads.Group) (n int) {
	for _, g := range groups {
		n += g.Pool
	}
	return n
}

// method names a group's code for a title: "DiagScenarioController.TaskWait"; where the
// stack does not hold it, what it does is all that is known.
func method(v threads.View) string {
	if v.Owner == "" {
		return cause.Nameless
	}
	return threads.Bare(v.Owner)
}

// on says what a group waits on: "on .Result", "for a lock".
func on(v threads.View) string {
	switch {
	case v.State == evidence.LockWait && v.Pattern == "lock":
		return "on a lock"
	case v.State == evidence.KindUnknown:
		return "in native code"
	case v.Pattern == "":
		return "without a known reason"
	}
	return "on " + strings.TrimPrefix(v.Pattern, "sync I/O: ")
}
