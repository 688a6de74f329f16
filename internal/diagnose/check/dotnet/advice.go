package dotnet

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/unstall/unstall/internal/analyze/model/threadpool"
	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// predictCommand is the command that predicts with the values that the user must give.
const predictCommand = `unstall predict CAPTURE --set "await service-time=500ms" (the duration of the operation it waits for)`

// listFixes returns the change to the code, by the way it blocks, and the setting that helps until
// that is done.
func (s *starving) listFixes(groups []threads.Group, predicted bool) (out []check.Fix) {
	kinds := make(map[evidence.Kind]bool)
	for _, g := range groups {
		if !kinds[g.View.State] && (len(out) == 0 || 4*g.Pool >= s.pool.Standing()) {
			out = append(out, unblockFix(&g))
			kinds[g.View.State] = true
		}
	}
	if len(out) == 0 {
		out = append(out, check.Fix{Text: "use await instead of blocking: look for .Result, .Wait(), GetAwaiter().GetResult(), Thread.Sleep and synchronous I/O in the code that requests run"})
	}
	if !predicted {
		out[0].Text += "; to predict the effect: " + predictCommand
	}
	return append(out, s.stopgapFixes()...)
}

// unblockFix says how to turn a blocking call into one that is awaited.
func unblockFix(g *threads.Group) check.Fix {
	v := g.View
	where := threadpool.Method(v)
	f := check.Fix{Code: cmp.Or(v.Path(g.Frames), threadpool.Method(v))}
	call := strings.TrimPrefix(v.Pattern, "sync I/O: ")
	if threadpool.Native(v) {
		f.Text = fmt.Sprintf("make %s async: it blocks in native code, often Thread.Sleep up to .NET 5 (a loop that polls a task) or a native call; await the task, use Task.Delay, or move the call to a dedicated thread", where)
		return f
	}
	switch v.State {
	case evidence.TaskWait:
		f.Text = fmt.Sprintf("make %s async and await the task instead of blocking on it with %s; do the same in all callers up to the handler", where, call) + formatCaller(g)
	case evidence.SleepWait:
		f.Text = fmt.Sprintf("make %s async: await the task instead of sleeping until it is done, and use Task.Delay where it only waits", where)
	case evidence.PoolWait:
		f.Text = fmt.Sprintf("make %s async and await WaitAsync() of the semaphore; do the same in all callers up to the handler", where) + formatCaller(g) +
			"; the semaphore admits as many as before: if that becomes the limit, raise its count or do less while holding it"
	case evidence.LockWait:
		f.Text = fmt.Sprintf("hold the lock that %s waits for only briefly, and never block under it", where)
	case evidence.NetWait, evidence.Syscall:
		f.Text = fmt.Sprintf("make %s async and await the asynchronous form of %s; do the same in all callers up to the handler", where, call) + formatCaller(g)
	default:
		f.Text = fmt.Sprintf("make %s async and await what it waits for instead of %s; run work that must block on a dedicated thread (TaskCreationOptions.LongRunning)", where, call)
	}
	return f
}

// formatCaller names the user's function that the framework called, where other user methods lie
// between it and the one that blocks. Threads that block at the same place may have come by other
// ways, too.
func formatCaller(g *threads.Group) string {
	if v := g.View; v.Outer <= v.User || v.Outer >= len(g.Frames) {
		return ""
	}
	outer := threadstack.Bare(threadstack.Short(g.Frames[g.View.Outer]))
	if outer == threadpool.Method(g.View) { // the async method whose body blocks
		return ""
	}
	return " (it comes from " + outer + ")"
}

// frameToChange returns the frame to change, as stacks print it.
func frameToChange(v threadstack.View) string { return cmp.Or(v.Owner, threadpool.Method(v)) }

// stopgapFixes returns the setting that gives the pool enough threads from the start. The runtime
// reads the number in the environment as hexadecimal; the prefix is DOTNET_ from .NET 6 on and was
// COMPlus_ before (https://learn.microsoft.com/dotnet/core/runtime-config/threading).
func (s *starving) stopgapFixes() []check.Fix {
	n := s.enoughThreads()
	if n == 0 {
		return nil
	}
	prefix, before := "DOTNET_", ""
	switch release, known := s.pool.Release(); {
	case !known:
		before = "; before .NET 6 the variable starts with COMPlus_"
	case release < 6:
		prefix = "COMPlus_"
	}
	return []check.Fix{{
		Text:    fmt.Sprintf("hex for %d threads; until then, start with more pool threads: they cost memory; System.Threading.ThreadPool.MinThreads in runtimeconfig.json is decimal%s", n, before),
		Setting: fmt.Sprintf("%s%s=%x", prefix, evidence.FactForcedPoolMinimum, n),
	}}
}

// enoughThreads returns how many threads let every request in flight block one, with some to spare
// for what releases them; 0 if unknown.
func (s *starving) enoughThreads() int {
	n, _ := s.pool.InFlight()
	if n == 0 && s.pool.Grows() {
		n = 2 * s.pool.Climb.To // the pool needs more than it has
	}
	n = max(n, float64(s.pool.Standing()))
	if n == 0 {
		return 0
	}
	return int(math.Ceil((n+2*s.pool.Cores)/10) * 10)
}
