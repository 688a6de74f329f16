package threads

import (
	"cmp"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
)

// Reader reads the stacks of a runtime's threads. Another runtime is a file beside dotnet.go.
type Reader struct {
	// Read reads a stack. Entry is the program's name, "" unknown.
	Read func(of threadstack.Stack, entry string) threadstack.View
	// Framework reports whether a function belongs to what comes with the runtime, and calls the program's code or is called by it.
	Framework func(function string) bool
	// Program returns what counts as the program's own code besides Entry, from its main thread's stack; "" for another stack.
	Program func(of threadstack.Stack) string
	// Holds means that looks at all threads at once show the holders of what others wait for.
	Holds bool
	// Rounds means that a burst of looks visits all threads many times ([Threads.Moments]).
	Rounds bool
	// Settle finds the purpose of a process's threads, where a single stack does not show it; nil: it does, and servers that no table knows are
	// searched ([Threads.findServed]).
	Settle func(t *Threads, s evidence.SubjectID)
	// Apart means that its rounds are spread over the whole time, and each stands for its own part.
	Apart bool
	// Scheduled means that the runtime runs lanes of its own on these threads.
	Scheduled bool
	// Addressed means that its functions are resolved on stacks from other tools, too.
	Addressed bool
	// OnePool means that all threads of its pool do any work, requests and what these hand over: no part of the pool works for another.
	OnePool bool
}

// Readers are the readers of runtimes whose stacks show what threads do, by the runtime's ID. For others, such as Go, the states of
// requests come from elsewhere.
type Readers map[string]Reader

// readStack reads a stack; for an unknown runtime it shows nothing.
func (r Readers) readStack(runtime string, stack threadstack.Stack, entry string) threadstack.View {
	if of, ok := r[runtime]; ok {
		return of.Read(stack, entry)
	}
	return threadstack.View{State: evidence.KindUnknown, Wait: -1, User: -1, Outer: -1, Began: -1}
}

// The readers.
var (
	DotnetStacks = Reader{Read: threadstack.Dotnet, Framework: threadstack.IsDotnetFramework, Holds: true, Rounds: true, Addressed: true, OnePool: true}
	JVMStacks    = Reader{Read: threadstack.JVM, Framework: threadstack.IsJVMFramework, Program: threadstack.JVMProgram, Holds: true}
)

// Threads holds looks at the threads of a bundle's processes.
type Threads struct {
	b      *evidence.Bundle
	of     Readers
	views  map[key]threadstack.View
	looks  map[evidence.SubjectID][]Sample
	unseen map[evidence.SubjectID]bool // [Threads.WaitsUnseen]
	locks  map[place]bool              // where threads wait for locks
	works  map[place]bool              // functions in which threads compute although they seem to be in native code
	paths  map[evidence.StackID]*callPath

	programs map[evidence.SubjectID]string
	clocks   map[evidence.SubjectID]*clock

	moments   map[evidence.SubjectID][][][]Sample // that were asked for; nil while looks may change
	summaries map[evidence.SubjectID]*Summary     // likewise

	limits   map[evidence.SubjectID][]Limit
	disagree map[awaitPlace]bool // where pieces of a recording found different limits; nil: not looked for yet
}

type key struct {
	subject evidence.SubjectID
	stack   evidence.StackID
}

// PoolSize returns the setting of the size of the pool with a name, from the library that owns it; "" if unknown.
func (t *Threads) PoolSize(s evidence.SubjectID, pool string) string {
	for i := range t.looks[s] {
		if v := &t.looks[s][i].View; v.Pool == pool && v.Size != "" {
			return v.Size
		}
	}
	return ""
}

// PoolThreads returns the most threads of the pool with a name that were seen at one moment; 0 if none were.
func (t *Threads) PoolThreads(s evidence.SubjectID, pool string) (most int) {
	for _, round := range slices.Concat(t.splitRounds(s)...) {
		n := 0
		for _, look := range round {
			if look.View.Pool == pool {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

// Sample is what one thread was seen doing at one moment.
type Sample struct {
	Lane   evidence.LaneID
	Time   int64 // ns, 0: unknown
	Stack  evidence.StackID
	View   threadstack.View
	Held   Holding // what keeps the thread waiting
	Count  int     // number of looks it stands for: a long recording joins equal ones
	Origin evidence.Origin
}

// Of looks at a unified bundle: a process's name identifies its code.
func Of(b *evidence.Bundle, of Readers) *Threads {
	t := &Threads{b: b, of: of, views: make(map[key]threadstack.View), looks: make(map[evidence.SubjectID][]Sample), unseen: make(map[evidence.SubjectID]bool), programs: make(map[evidence.SubjectID]string), clocks: make(map[evidence.SubjectID]*clock)}
	typ := b.Names.Lookup(evidence.SampleThread)
	if typ == 0 {
		return t
	}
	t.findContended()
	t.findComputing(typ)
	x := &b.Samples
	count := make(map[evidence.SubjectID]int)
	for i, of := range x.Type {
		if of == typ {
			count[x.Subject[i]]++
		}
	}
	for s, n := range count {
		t.looks[s] = make([]Sample, 0, n)
	}
	for i := range x.Len() {
		if x.Type[i] == typ {
			s := x.Subject[i]
			t.looks[s] = append(t.looks[s], t.sampleAt(i))
		}
	}
	flights := t.listFlightRows()
	for _, s := range t.Subjects() {
		sortByTime(t.looks[s])
		complete := slices.ContainsFunc(t.looks[s], func(l Sample) bool { return byProgram(&l) })
		t.looks[s] = dropRepeated(t.looks[s])
		t.fillGaps(s, flights[s], complete)
		t.applyCPUClock(s)
		t.applyKernelWaits(s)
		t.byEvents(s)
		t.inferNativeWaits(s)
		if settle := of[b.Subjects[s].Runtime].Settle; settle != nil {
			settle(t, s)
		} else {
			t.findServed(s)
		}
		t.unseen[s] = onlyRunning(t.looks[s], complete)
		t.findHolders(s)
	}
	t.moments, t.summaries = make(map[evidence.SubjectID][][][]Sample), make(map[evidence.SubjectID]*Summary)
	return t
}

// sortByTime sorts looks, which are large and mostly in order as they were recorded.
func sortByTime(looks []Sample) {
	for i := range looks {
		if i > 0 && looks[i].Time < looks[i-1].Time {
			slices.SortStableFunc(looks, func(a, b Sample) int { return cmp.Compare(a.Time, b.Time) })
			return
		}
	}
}

// sampleAt returns a row of the bundle's samples.
func (t *Threads) sampleAt(i int) Sample {
	x := &t.b.Samples
	return Sample{Lane: x.Lane[i], Time: x.Time[i], Stack: x.Stack[i], View: t.View(x.Subject[i], x.Stack[i]), Count: int(max(1, x.Value[i])), Origin: x.Origin[i]}
}

// View returns what a stack tells of a thread of a process.
func (t *Threads) View(s evidence.SubjectID, stack evidence.StackID) threadstack.View {
	k := key{s, stack}
	v, ok := t.views[k]
	if !ok {
		of := &t.b.Subjects[s]
		entry := of.Name
		if own := t.programOf(s); own != "" {
			entry = own
		}
		x := threadstack.Of(t.b, stack)
		v = t.inferRunning(s, x.Frames, t.inferLockWait(s, t.of.readStack(of.Runtime, x, entry)))
		t.views[k] = v
	}
	return v
}

// programOf returns what the main thread of a process says is the program's own, "" nothing.
func (t *Threads) programOf(s evidence.SubjectID) string {
	find := t.of[t.b.Subjects[s].Runtime].Program
	if find == nil {
		return ""
	}
	own, ok := t.programs[s]
	if ok {
		return own
	}
	x, typ := &t.b.Samples, t.b.Names.Lookup(evidence.SampleThread)
	seen := make(map[evidence.StackID]bool)
	for i := 0; i < x.Len() && own == ""; i++ {
		if x.Type[i] == typ && x.Subject[i] == s && !seen[x.Stack[i]] {
			seen[x.Stack[i]] = true
			own = find(threadstack.Of(t.b, x.Stack[i]))
		}
	}
	t.programs[s] = own
	return own
}

// framesOf returns the functions of a stack, innermost first.
func (t *Threads) framesOf(stack evidence.StackID) []string {
	return threadstack.Of(t.b, stack).Frames
}

// Subjects returns the processes with looks at their threads, in order.
func (t *Threads) Subjects() []evidence.SubjectID {
	var out []evidence.SubjectID
	for s := range t.looks {
		out = append(out, s)
	}
	slices.Sort(out)
	return out
}

// Samples returns all looks at the threads of a process, by time.
func (t *Threads) Samples(s evidence.SubjectID) []Sample { return t.looks[s] }
