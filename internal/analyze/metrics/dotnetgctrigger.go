package metrics

import (
	"cmp"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/base/threadstack"
)

// GCTrigger is one place in the program that caused collections: by calling GC.Collect (induced), or because its allocation
// used up a budget. The runtime reports it with the thread's stack (GC/Triggered).
type GCTrigger struct {
	Reason  string // "induced", "large allocations"
	Induced bool
	Stack   evidence.StackID // one of the stacks summed up here

	// The code responsible: short frames without namespaces; "": none.
	Caller string // the caller of what collects or allocates, whether the user's code or not: "MemoryTrimmer.Trim"
	Owner  string // the nearest of the user's own code, else of a library
	// Pressure says that the code did not ask for a collection, but told the collector of memory outside the heap (GC.AddMemoryPressure).
	Pressure bool
	Inlined  bool     // no frame tells what the code called: GC.AddMemoryPressure of .NET 9 leaves none
	Began    string   // what runs it: "timer", "thread pool", "finalizer", "own thread"; "" unknown
	Chain    []string // from what collects or allocates outwards, as [threadstack.Short] prints it, without mere dispatchers
	GCRollup
	Collections []int           // indices of [DotnetGC.Collections]
	Origin      evidence.Origin // of the collection with the longest pause
}

// Collects lists the functions that a program calls to force a collection.
var collects = []string{"System.GC.Collect(", "System.GC._Collect(", "System.GC.AddMemoryPressure(", "System.GC._AddMemoryPressure(", "System.GC.TryStartNoGCRegion(", "System.GC.WaitForFullGC"}

// sumTriggers sums up collections by reason and by the code that caused them.
func sumTriggers(b *evidence.Bundle, subject evidence.SubjectID, all []Collection) (out []GCTrigger) {
	type key struct{ reason, owner, caller, began string }
	at := make(map[key]int)
	known := make(map[evidence.StackID]GCTrigger)
	for i := range all {
		c := &all[i]
		if c.Stack == 0 {
			continue
		}
		who, ok := known[c.Stack]
		if !ok {
			who = whoTriggers(b, subject, c.Stack)
			known[c.Stack] = who
		}
		k := key{c.Reason, who.Owner, who.Caller, who.Began}
		n, ok := at[k]
		if !ok {
			n = len(out)
			at[k] = n
			who.Reason, who.Induced = c.Reason, c.Induced
			out = append(out, who)
		}
		t := &out[n]
		longest := t.Max
		t.addCollection(c)
		if t.Max > longest || t.Origin == 0 {
			t.Origin = c.Origin
		}
		t.Collections = append(t.Collections, i)
	}
	for i := range out {
		out[i].setMeans()
	}
	sorting.Short(out, func(x, y GCTrigger) int { return -cmp.Compare(x.Paused, y.Paused) })
	return out
}

// whoTriggers reads a stack into a trigger.
func whoTriggers(b *evidence.Bundle, subject evidence.SubjectID, stack evidence.StackID) GCTrigger {
	t := GCTrigger{Stack: stack}
	of := threadstack.Of(b, stack)
	frames := of.Frames
	view := threadstack.Dotnet(of, b.Subjects[subject].Name)
	if view.User >= 0 {
		t.Owner = view.Owner
	}
	t.Began = beganBy(frames, view)
	t.Inlined = !slices.ContainsFunc(frames, isCollect)
	for _, f := range frames {
		t.Pressure = t.Pressure || strings.Contains(f, "System.GC.AddMemoryPressure(") || strings.Contains(f, "System.GC._AddMemoryPressure(")
		if isCollect(f) || strings.HasPrefix(f, "?!?") {
			continue
		}
		short := threadstack.Short(f)
		if t.Caller == "" {
			t.Caller = short
		}
		if len(t.Chain) < maxChain && !threads.DotnetStacks.Framework(f) {
			t.Chain = append(t.Chain, short)
		}
	}
	return t
}

// maxChain is the largest number of frames in Chain.
const maxChain = 8

func isCollect(frame string) bool {
	_, name, _ := strings.Cut(frame, "!")
	return slices.ContainsFunc(collects, func(c string) bool { return strings.HasPrefix(name, c) })
}

// runners are the runtime's outermost functions that run a program's code.
var runners = []struct{ frame, word string }{
	{"System.Threading.TimerQueue", "timer"},
	{"System.Threading.ThreadPoolWorkQueue.Dispatch", "thread pool"},
	{"System.Threading.PortableThreadPool", "thread pool"},
	{"System.Threading._ThreadPoolWaitCallback", "thread pool"},
}

// beganBy returns what runs a stack: a timer comes before the pool whose thread it uses.
func beganBy(frames []string, view threadstack.View) string {
	for _, r := range runners {
		if slices.ContainsFunc(frames, func(f string) bool {
			_, name, _ := strings.Cut(f, "!")
			return strings.HasPrefix(name, r.frame)
		}) {
			return r.word
		}
	}
	switch view.Role {
	case threadstack.Finalizer:
		return "finalizer"
	case threadstack.Worker:
		return "thread pool"
	case threadstack.Main:
		return "main thread"
	case threadstack.Other:
		return "own thread"
	}
	return ""
}

// Induced returns the triggers by which the program asked for collections.
func (g *DotnetGC) Induced() (out []GCTrigger) {
	for _, t := range g.Triggers {
		if t.Induced {
			out = append(out, t)
		}
	}
	return out
}
