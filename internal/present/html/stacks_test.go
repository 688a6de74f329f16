package html

import (
	"fmt"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
)

const (
	blocked = "Shop!Shop.Carts.CartController.Get(int32)"
	handler = "Shop!Shop.Carts.CartController+<Post>d__3.MoveNext()"
)

// blockedStack is a stack of a pool's thread that waits for a task, innermost first.
var blockedStack = []string{
	"[Native Frames]",
	"System.Private.CoreLib!System.Threading.ManualResetEventSlim.Wait(int32,value class System.Threading.CancellationToken)",
	"System.Private.CoreLib!System.Threading.Tasks.Task.SpinThenBlockingWait(int32,value class System.Threading.CancellationToken)",
	"System.Private.CoreLib!System.Threading.Tasks.Task.InternalWaitCore(int32,value class System.Threading.CancellationToken)",
	"System.Private.CoreLib!System.Threading.Tasks.Task`1[System.__Canon].GetResultCore(bool)",
	blocked,
	"Microsoft.AspNetCore.Mvc.Core!A.B()", "Microsoft.AspNetCore.Mvc.Core!C.D()", "Microsoft.AspNetCore.Mvc.Core!E.F()",
	"System.Private.CoreLib!G.H()", "System.Private.CoreLib!I.J()", "System.Private.CoreLib!K.L()",
	"System.Private.CoreLib!System.Threading.ThreadPoolWorkQueue.Dispatch()",
}

// starved returns a process of 41 threads: 38 are in the pool, and all but one of these are blocked.
func starved() *threads.Summary {
	view := func(role threadstack.Role, state evidence.Kind, pattern, owner string, user int) threadstack.View {
		return threadstack.View{Role: role, State: state, Pattern: pattern, Owner: owner, Wait: 4, User: user}
	}
	stuck := view(threadstack.Worker, evidence.TaskWait, ".Result", "Shop!CartController.Get(int)", 5)
	runs := view(threadstack.Worker, evidence.Running, "", "Shop!CartController.Post()", 0)
	var lanes []evidence.LaneID
	for i := range 37 {
		lanes = append(lanes, evidence.LaneID(17000+i))
	}
	s := &threads.Summary{At: begin, Threads: 41, Pool: 38, Busy: 38, Blocked: 37, Samples: 800, Groups: []threads.Group{
		{View: stuck, Frames: blockedStack, Lanes: lanes, Count: 37, Pool: 37, Seen: 700},
		{View: runs, Frames: []string{handler, "System.Private.CoreLib!System.Threading.ThreadPoolWorkQueue.Dispatch()"}, Lanes: []evidence.LaneID{18000}, Count: 1, Pool: 1, Seen: 20},
		{View: view(threadstack.Gate, evidence.Idle, "", "", -1), Frames: []string{"System.Private.CoreLib!System.Threading.WaitHandle.WaitOneNoCheck(int32)"}, Lanes: []evidence.LaneID{18001, 18002, 18003}, Count: 3, Seen: 60},
	}}
	var inner []string
	for i := len(blockedStack) - 2; i >= 1; i-- {
		inner = append(inner, threadstack.Readable(blockedStack[i]))
	}
	s.Root = &threads.Node{Count: 41, Children: []*threads.Node{
		{Frames: []string{threadstack.Readable(blockedStack[len(blockedStack)-1])}, Count: 38, Children: []*threads.Node{
			{Frames: inner, Count: 37, Lanes: lanes, View: stuck},
			{Frames: []string{threadstack.Readable(handler)}, Count: 1, Lanes: []evidence.LaneID{18000}, View: runs},
		}},
		{Frames: []string{"System.Private.CoreLib!System.Threading.WaitHandle.WaitOneNoCheck(int)"}, Count: 3, Lanes: []evidence.LaneID{18001, 18002, 18003}, View: s.Groups[2].View},
	}}
	return s
}

func TestStacks(t *testing.T) {
	v := stacksOf(starved(), []string{"Shop!CartController.Get(int)"})
	if want := "41 threads at 11:06:40.000 UTC, 38 of the runtime's pool (38 busy, 37 of them waiting)."; !strings.HasPrefix(v.Says, want) {
		t.Errorf("says %q, want %q", v.Says, want)
	}
	if len(v.Groups) != 3 {
		t.Fatalf("%d groups", len(v.Groups))
	}
	for i, want := range []struct {
		tone, count, owner string
		open               bool
		frames, below      int
	}{{"culprit", "37", "Shop!CartController.Get(int)", true, 9, 4}, {"runs", "1", "Shop!CartController.Post()", false, 2, 0}, {"idle", "3", "", false, 1, 0}} {
		g := v.Groups[i]
		if g.Tone != want.tone || g.Count != want.count || g.Owner != want.owner || g.Open != want.open || len(g.Frames) != want.frames || len(g.Below) != want.below {
			t.Errorf("group %d: %+v, want %+v", i, g, want)
		}
	}
	first := v.Groups[0]
	if f := first.Frames[5]; f.Tone != "culprit" || f.Text != "Shop!Shop.Carts.CartController.Get(int)" {
		t.Errorf("the frame that keeps the threads: %+v", f)
	}
	if first.Frames[0].Text != "[Native Frames]" || first.Frames[4].Tone != "" {
		t.Errorf("frames %+v", first.Frames)
	}
	if want := "threads 17000, 17001, 17002, 17003, 17004, 17005, 17006, 17007, 17008, 17009, 17010, 17011 and 25 more; seen 700 times in all samples"; first.Note != want {
		t.Errorf("note %q, want %q", first.Note, want)
	}
	if v.Groups[1].Frames[0].Tone != "own" {
		t.Errorf("the user's frame that runs: %+v", v.Groups[1].Frames[0])
	}
	root := v.Root[0]
	if !root.Open || root.Tone != "" || root.Count != "38" || len(root.Children) != 2 || v.Root[1].Open {
		t.Errorf("tree: %+v", root)
	}
	if n := root.Children[0]; n.Tone != "culprit" || n.Label != "Shop!Shop.Carts.CartController.Get(int)" || n.All != "all 11 frames" || n.Ends != "waiting for a task (.Result)" {
		t.Errorf("the branch that blocks: %+v", n)
	}
}

// Without a verdict nothing is accused, and nothing is unfolded.
func TestStacksUnnamed(t *testing.T) {
	v := stacksOf(starved(), nil)
	if g := v.Groups[0]; g.Tone != "waits" || g.Open || g.Frames[5].Tone != "own" {
		t.Errorf("%+v", g)
	}
	if v.Root[0].Open {
		t.Error("the tree is unfolded")
	}
}

// What is drawn is bounded, and says what is left out.
func TestStacksBounded(t *testing.T) {
	s := &threads.Summary{Threads: 1000, Root: &threads.Node{Count: 1000}}
	for i := range 500 {
		s.Groups = append(s.Groups, threads.Group{View: threadstack.View{User: -1}, Count: 2, Frames: []string{fmt.Sprintf("Shop!A.F%d()", i)}})
		s.Root.Children = append(s.Root.Children, &threads.Node{Frames: []string{"Shop!A.F()"}, Count: 2})
	}
	v := stacksOf(s, nil)
	if len(v.Groups) != mostGroups || v.Rest != "Groups not shown: 460." {
		t.Errorf("%d groups, %q", len(v.Groups), v.Rest)
	}
	if len(v.Root) != mostNodes || v.Omitted != 2*(500-mostNodes) {
		t.Errorf("%d parts, of %d threads not", len(v.Root), v.Omitted)
	}
}

func TestFunctionBreaks(t *testing.T) {
	if got, want := string(renderFunction("A!B.<C>(int,D)")), "A!<wbr>B.<wbr>&lt;C&gt;<wbr>(int,<wbr>D)"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
