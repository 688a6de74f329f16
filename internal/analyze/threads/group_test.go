package threads

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unstall/unstall/internal/base/evidence"
)

// sentences are what the groups of a process say.
func sentences(s *Summary) (out []string) {
	for i := range s.Groups {
		out = append(out, s.Groups[i].Sentence(s))
	}
	return out
}

// Threads that do the same are one group, of the moment when most of them had work.
func TestSummary(t *testing.T) {
	r := record()
	for lane := range evidence.LaneID(4) {
		r.look(lane+1, 1e9, blocked)
	}
	r.look(5, 1e9, locked)
	r.look(6, 1e9, elsewise)
	r.look(7, 1e9, []string{"[Native Frames]", "System.Private.CoreLib!System.Threading.TimerQueue.TimerThread()"})
	r.look(8, 1e9, []string{"[Native Frames]", "System.Private.CoreLib!System.Threading.Tasks.Task.InternalWait()",
		"Microsoft.AspNetCore.Routing!Microsoft.AspNetCore.Routing.EndpointMiddleware.Invoke()", "System.Private.CoreLib!System.Threading.ThreadPoolWorkQueue.Dispatch()"})
	for lane := range evidence.LaneID(8) { // later there is nothing to do
		r.look(lane+1, 9e9, elsewise)
	}
	r.look(5, 1e9+1e6, blocked) // of the same burst: a round that broke off
	s := Of(r.Bundle, stacks).Summary(r.subject)
	want := []string{
		"4 of 7 pool threads · waiting for a task (.Result) · Shop!Cart.Get()",
		"1 of 7 pool threads · waiting for a task (.Result or .Wait()) · the waiting method is not on the stack",
		"1 of 7 pool threads · waiting for a lock · Shop!Cart.Get()",
		"1 of 7 pool threads · idle",
		"1 timer thread · idle",
	}
	if d := cmp.Diff(want, sentences(s)); d != "" {
		t.Error(d)
	}
	if s.Threads != 8 || s.Pool != 7 || s.Busy != 6 || s.Blocked != 6 || s.Samples != 17 || s.At != 1e9 || s.Groups[0].Seen != 5 {
		t.Errorf("%d threads, %d of the pool, %d with work, %d waiting; %d samples at %d, %d of the first group", s.Threads, s.Pool, s.Busy, s.Blocked, s.Samples, s.At, s.Groups[0].Seen)
	}
}

// The tree holds every thread once, and boxes are as long as threads stay together.
func TestTree(t *testing.T) {
	r := record()
	r.look(1, 1, blocked)
	r.look(2, 1, blocked)
	r.look(3, 1, locked)
	r.look(4, 1, elsewise)
	root := Of(r.Bundle, stacks).Summary(r.subject).Root
	type box struct {
		Frames int
		Count  int
		Ends   int
	}
	var got []box
	var walk func(n *Node)
	walk = func(n *Node) {
		got = append(got, box{len(n.Frames), n.Count, len(n.Lanes)})
		for _, c := range n.Children {
			walk(c)
		}
	}
	walk(root)
	want := []box{{0, 4, 0}, {3, 3, 0}, {1, 2, 2}, {1, 1, 1}, {1, 1, 1}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// A process whose runtime is not known has threads, of which nothing is known.
func TestUnknownRuntime(t *testing.T) {
	r := record()
	r.Subjects[r.subject].Runtime = "other"
	r.look(1, 1, blocked)
	s := Of(r.Bundle, stacks).Summary(r.subject)
	if s.Pool != 0 || s.Groups[0].View.State != evidence.KindUnknown || len(s.Groups[0].Frames) != len(blocked) {
		t.Errorf("%+v", s)
	}
}

// stacks are the readers of all stacks that tests have.
var stacks = Readers{"dotnet": DotnetStacks, "jvm": JVMStacks}

// Up to .NET 5 native code has a thread of the pool fire the timers that are due: what their
// callbacks wait for keeps it from requests.
func TestTimersFireOnThreadsOfThePool(t *testing.T) {
	r := record()
	for lane := range evidence.LaneID(3) {
		r.look(lane+1, 1e9, []string{"[Native Frames]", "System.Private.CoreLib!System.Threading.Monitor.Enter()", "Shop!Shop.Prices.Refresh()",
			"System.Private.CoreLib!System.Threading.TimerQueueTimer.CallCallback(bool)", "System.Private.CoreLib!System.Threading.TimerQueue.FireNextTimers()"})
	}
	s := Of(r.Bundle, stacks).Summary(r.subject)
	if d := cmp.Diff([]string{"3 of 3 pool threads · waiting for a lock · Shop!Prices.Refresh()"}, sentences(s)); d != "" {
		t.Error(d)
	}
	if s.Pool != 3 || s.Busy != 3 || s.Blocked != 3 {
		t.Errorf("%d threads of the pool, %d with work, %d waiting", s.Pool, s.Busy, s.Blocked)
	}
}
