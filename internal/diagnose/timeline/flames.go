package timeline

import (
	"cmp"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/base/threadstack"
)

// The largest depth of a stack that is shown, and the least part of the total that gets a node.
const (
	maxDepth  = 128
	leastNode = 1000 // 1/leastNode
)

// addFlames lays out where time and memory went, by stack.
func (l *layout) addFlames() {
	l.addProfileFlame("threads", "thread samples", evidence.SampleThread, false) // a request that waits for a thread mostly has no stack
	l.threadStates()
	l.slowTime()
	l.addCPUHoldersFlame()
	l.addProfileFlame("cpu", "CPU time", "cpu", false)
	if !l.hasFlame("cpu") {
		l.addProfileFlame("on-cpu", "CPU time, by the kernel", evidence.SampleOnCPU, false)
	}
	l.addProfileFlame("stacks", "samples by stack", evidence.SampleStacks, false)
	l.addProfileFlame("off-cpu", "waiting, by the kernel", evidence.SampleOffCPU, false)
	l.addProfileFlame("heap", "heap in use", evidence.SampleLive, true)
	if len(l.b.Covered(l.subject, evidence.CoverAllocation)) > 0 {
		l.addProfileFlame("large-objects", "large objects allocated", evidence.SampleLargeAllocated, false)
		l.addProfileFlame("allocations", "allocated", evidence.SampleAllocated, false)
		l.addProfileFlame("gen2-deaths", "died in generation 2", evidence.SampleGen2Deaths, false)
	}
}

// hasFlame says whether the timeline has a flame of this id.
func (l *layout) hasFlame(id string) bool {
	return slices.ContainsFunc(l.t.Flames, func(f Flame) bool { return f.ID == id })
}

// threadStates adds samples of threads that ran, and of those that waited with work to do, as two
// flames, where there are both.
func (l *layout) threadStates() {
	want := l.b.Names.Lookup(evidence.SampleThread)
	if want == 0 || l.frames.stacks == nil {
		return
	}
	s := &l.b.Samples
	sums := make(map[evidence.StackID]int64)
	for i := range s.Len() {
		if s.Type[i] == want && s.Subject[i] == l.subject {
			sums[s.Stack[i]] += s.Value[i]
		}
	}
	runs, waits := newTree("all"), newTree("all")
	for id, v := range sums {
		if v <= 0 {
			continue
		}
		t := waits
		switch view := l.viewOf(id); {
		case view.State == evidence.Running:
			t = runs
		case !view.Waiting():
			continue
		}
		t.addTotal(v)
		l.addStack(t, 0, 1, id, "", "", v)
	}
	if runs.nodes[0].Value > 0 && waits.nodes[0].Value > 0 {
		l.addFlame(runs, "threads-running", "threads that ran", "1")
		l.addFlame(waits, "threads-waiting", "threads that waited", "1")
	}
}

// viewOf returns what a thread did, by its stack.
func (l *layout) viewOf(id evidence.StackID) threadstack.View {
	return l.frames.stacks.Read(threadstack.Of(l.b, id), "")
}

// objects are types of samples whose class is the type of the allocated object.
var objects = []string{evidence.SampleLargeAllocated, evidence.SampleAllocated, evidence.SampleGen2Deaths}

// tree gathers stacks.
type tree struct {
	nodes []Node
	child map[branch]int32
	deep  bool // a stack was cut
}

type branch struct {
	parent int32
	name   string
	kind   string
}

func newTree(title string) *tree {
	return &tree{nodes: []Node{{Parent: -1, Name: title, Kind: "own"}}, child: make(map[branch]int32)}
}

func (t *tree) addTotal(v int64) { t.nodes[0].Value += v }

func (t *tree) addChild(parent int32, name, kind string, v int64) int32 {
	k := branch{parent, name, kind}
	n, ok := t.child[k]
	if !ok {
		n = int32(len(t.nodes))
		t.nodes = append(t.nodes, Node{Parent: parent, Name: name, Kind: kind})
		t.child[k] = n
	}
	t.nodes[n].Value += v
	return n
}

// buildFlame returns the tree without nodes that are too small to be seen, the largest child first. Idle threads are looked at apart: what the
// others do is not too small because most are idle.
func (t *tree) buildFlame(id, title, unit string) Flame {
	f := Flame{ID: id, Title: title, Unit: unit, Total: t.nodes[0].Value}
	children := make([][]int32, len(t.nodes))
	idle := int64(0)
	for i, n := range t.nodes[1:] {
		children[n.Parent] = append(children[n.Parent], int32(i+1))
		if n.Parent == 0 && n.Kind == "idle" {
			idle += n.Value
		}
	}
	least := map[bool]int64{true: max(f.Total/leastNode, 1), false: max((f.Total-idle)/leastNode, 1)}
	var walk func(i, parent int32)
	walk = func(i, parent int32) {
		n := t.nodes[i]
		n.Parent = parent
		at := int32(len(f.Nodes))
		f.Nodes = append(f.Nodes, n)
		sorting.Short(children[i], func(a, b int32) int {
			return cmp.Or(cmp.Compare(t.nodes[b].Value, t.nodes[a].Value), cmp.Compare(t.nodes[a].Name, t.nodes[b].Name), cmp.Compare(t.nodes[a].Kind, t.nodes[b].Kind))
		})
		for _, c := range children[i] {
			if t.nodes[c].Value < least[t.nodes[c].Kind == "idle"] {
				f.Cut += max(t.nodes[c].Value, 0)
				continue
			}
			walk(c, at)
		}
	}
	walk(0, -1)
	return f
}

// addProfileFlame adds samples of a type: those of all artifacts of the subject or, where each
// artifact is a snapshot of a whole heap, those of the last.
func (l *layout) addProfileFlame(id, title, typ string, snapshot bool) {
	want := l.b.Names.Lookup(typ)
	if want == 0 {
		return
	}
	s := &l.b.Samples
	last := evidence.ArtifactID(-1)
	if snapshot {
		var latest int64
		for i := range s.Len() {
			a, ok := s.Origin[i].Artifact()
			if s.Type[i] != want || s.Subject[i] != l.subject || !ok || a == last {
				continue
			}
			if at := l.takenAt(a); last < 0 || at > latest || at == latest && a > last {
				last, latest = a, at
			}
		}
	}
	type key struct {
		stack evidence.StackID
		class evidence.NameID
		idle  bool
	}
	var idle func(evidence.LaneID, evidence.StackID) bool
	if typ == evidence.SampleThread {
		idle = l.findIdle()
	}
	sums := make(map[key]int64)
	unit := ""
	others := make(map[evidence.ArtifactID]bool)
	for i := range s.Len() {
		if s.Type[i] != want || s.Subject[i] != l.subject {
			continue
		}
		a, _ := s.Origin[i].Artifact()
		if snapshot && a != last {
			others[a] = true
			continue
		}
		sums[key{s.Stack[i], s.Class[i], idle != nil && idle(s.Lane[i], s.Stack[i])}] += s.Value[i]
		unit = l.b.Names.Text(s.Unit[i])
	}
	if len(sums) == 0 {
		return
	}
	if n := len(others); n > 0 {
		l.noteOmitted("%d of %d heap profiles: the last is shown", n, n+1)
	}
	switch unit {
	case "nanoseconds":
		unit = "ns"
	case "count":
		unit = "1"
	}
	t := newTree("all")
	for k, v := range sums {
		if v > 0 {
			t.addTotal(v)
			class := l.b.Names.Text(k.class)
			if slices.Contains(objects, typ) {
				t.addChild(l.addStack(t, 0, 1, k.stack, "", "", v), class, "runtime", v)
				continue
			}
			as := ""
			if k.idle {
				as = "idle"
			}
			l.addStack(t, 0, 1, k.stack, class, as, v)
		}
	}
	l.addFlame(t, id, title, unit)
}

// leastParked is the number of looks at a thread from which one that was in the same wait each time is at its post: the main thread
// that waits for the end of its server.
const leastParked = 5

// findIdle returns a function that says whether a thread with a stack has no work. What a single stack of native code means, all looks
// at its thread show.
func (l *layout) findIdle() func(evidence.LaneID, evidence.StackID) bool {
	type look struct {
		lane  evidence.LaneID
		stack evidence.StackID
	}
	type post struct {
		stack evidence.StackID
		looks int
		moves bool
	}
	idle, posts := make(map[look]int), make(map[evidence.LaneID]*post)
	for _, s := range threads.Of(l.b, platform.Stacks()).Samples(l.subject) {
		k := look{s.Lane, s.Stack}
		if s.View.State == evidence.Idle {
			idle[k] += s.Count
		} else {
			idle[k] -= s.Count
		}
		p := posts[s.Lane]
		if p == nil {
			p = &post{stack: s.Stack}
			posts[s.Lane] = p
		}
		waits := s.View.State == evidence.TaskWait || s.View.State == evidence.SyncWait
		p.looks += s.Count
		p.moves = p.moves || p.stack != s.Stack || !waits || s.View.Role == threadstack.Worker || s.View.Request
	}
	return func(lane evidence.LaneID, stack evidence.StackID) bool {
		p := posts[lane]
		return idle[look{lane, stack}] > 0 || p != nil && !p.moves && p.looks >= leastParked && lane != 0
	}
}

// takenAt returns when an artifact was taken, as far as that is known.
func (l *layout) takenAt(a evidence.ArtifactID) (at int64) {
	for _, c := range l.b.Coverage {
		if o, ok := c.Origin.Artifact(); ok && o == a {
			at = max(at, c.Until)
		}
	}
	return max(at, l.b.Artifacts[a].Modified)
}

func (l *layout) addFlame(t *tree, id, title, unit string) {
	if t.nodes[0].Value <= 0 {
		return
	}
	if t.deep {
		l.noteOmitted("frames deeper than %d of %s", maxDepth, title)
	}
	l.t.Flames = append(l.t.Flames, t.buildFlame(id, title, unit))
}

// addStack adds a stack below a node, outermost frame first, and returns its last node. The
// thread's name comes first, and the system call it is in last. Class is what a profile's sample
// was for, "" the program's own; as is the kind of all frames, "" if each has its own.
func (l *layout) addStack(t *tree, at int32, depth int, id evidence.StackID, class, as string, v int64) int32 {
	frames, info := l.b.Stacks.Frames(id), l.b.Stacks.Info(id)
	inner := innerKind(class)
	under := "" // below a frame of the runtime, all frames are its own
	below := func(name, kind string) bool {
		if depth++; depth > maxDepth {
			t.deep = true
			return false
		}
		at = t.addChild(at, name, cmp.Or(as, under, kind), v)
		return true
	}
	if info.Name != "" && !below("["+info.Name+"]", "runtime") {
		return at
	}
	for i := len(frames) - 1; i >= 0; i-- {
		f := cmp.Or(l.b.Names.Text(frames[i].Func), "?")
		kind := "own"
		switch owner := ownerOf(f); {
		case owner != "":
			kind = owner
			if name, file, native := threadstack.SplitFile(f); native && strings.HasPrefix(name, file) {
				f = name
			}
		case l.frames.stacks != nil:
			if l.frames.stacks.Framework(f) && !l.frames.stacks.Framework(unknownFunction) {
				kind = inner
				if inner == "runtime" && !comesWithRuntime(f) {
					kind = "library"
				}
			}
			f = threadstack.Short(f)
		case isRuntime(f):
			under = inner
		case standard[packageRoot(f)] && strings.IndexByte(f, '.') > 0:
			kind = "library"
		}
		if !below(f, kind) {
			return at
		}
	}
	if call := info.SystemCall(); call != "" {
		below(call, "kernel")
	}
	return at
}

// isRuntime says whether a function is the runtime's or makes system calls.
// Goroutines begin there: the main one in runtime.main.
func isRuntime(f string) bool {
	switch f {
	case "runtime.main", "runtime.goexit":
		return false
	}
	return strings.HasPrefix(f, "runtime.") || strings.HasPrefix(f, "syscall.") || strings.HasPrefix(f, "internal/runtime/") || strings.HasPrefix(f, "runtime/internal/") || strings.HasPrefix(f, "gcWriteBarrier")
}

// unknownFunction is a function of no framework: a reader that assigns it to one does not know functions.
const unknownFunction = "unstall.unknownFunction"

// libc are prefixes of the names of functions of the C library and of its loader (glibc and musl); a whole name ends with "$".
var libc = []string{"__libc_", "__GI_", "_IO_", "__pthread_", "pthread_", "__futex_", "__lll_", "__nptl_", "__clone", "clone3$", "clone$", "start_thread$", "_int_malloc$", "_int_free$",
	"malloc$", "free$", "calloc$", "realloc$", "__mem", "memcpy$", "memmove$", "memset$", "memcmp$", "__str", "strlen$", "epoll_wait$", "epoll_pwait$", "poll$", "__poll$", "ppoll$", "select$", "__select$",
	"read$", "__read$", "write$", "__write$", "recv$", "__recv$", "recvfrom$", "recvmsg$", "send$", "__send$", "sendto$", "sendmsg$", "accept$", "accept4$", "nanosleep$", "__nanosleep$", "clock_nanosleep$",
	"__clock_nanosleep$", "syscall$", "__syscall", "fsync$", "fdatasync$", "_start$", "_dl_", "__internal_syscall_cancel$", "sem_wait$", "__new_sem_"}

// ownerOf returns "kernel" (as perf and bcc mark its functions) or "libc" by a function's name
// alone; "" if that does not tell.
func ownerOf(f string) string {
	f, file, _ := threadstack.SplitFile(f)
	if from, _, anonymous := strings.Cut(f, "+0x"); anonymous && file == "" {
		file = from
	}
	if owner := ownerByFile(file); owner != "" {
		return owner
	}
	if strings.HasSuffix(f, "_[k]") || strings.HasPrefix(f, "[kernel") || strings.HasPrefix(f, "entry_SYSCALL_64") || strings.HasPrefix(f, "do_syscall_64") || strings.HasPrefix(f, "__x64_sys_") || strings.HasPrefix(f, "__arm64_sys_") {
		return "kernel"
	}
	for _, name := range libc {
		if whole, is := strings.CutSuffix(name, "$"); is && f == whole || !is && strings.HasPrefix(f, name) {
			return "libc"
		}
	}
	return ""
}

// interpreters are beginnings of the names of libraries that are a runtime.
var interpreters = []string{"libpython", "libruby", "libperl", "libphp", "libnode", "libv8", "libjvm", "libcoreclr", "libclrjit", "libSystem.Native", "libmono", "libluajit"}

// ownerByFile returns "libc", "runtime" or "library" by the name of a shared library; "" for a program and for what names none.
func ownerByFile(file string) string {
	starts := func(with string) bool { return strings.HasPrefix(file, with) }
	switch {
	case !strings.HasPrefix(file, "lib") && !strings.Contains(file, ".so"):
		return ""
	case slices.ContainsFunc([]string{"libc.", "libc-", "libpthread", "libm.", "libm-", "librt.", "libdl.", "libresolv", "libnss_", "ld-linux", "ld-musl"}, starts):
		return "libc"
	case slices.ContainsFunc(interpreters, starts), strings.Contains(file, ".cpython-"):
		return "runtime"
	}
	return "library"
}

// comesWithRuntime says whether a function of a framework is the runtime's own: Java's, .NET's.
func comesWithRuntime(f string) bool {
	for _, p := range []string{"java.", "jdk.", "sun.", "com.sun.", "java/", "System.", "System!", "Microsoft.Win32.", "Interop", "[", "System.Private.CoreLib!"} {
		if strings.HasPrefix(f, p) {
			return true
		}
	}
	return strings.Contains(f, "!System.") || strings.Contains(f, "/java.")
}

// innerKind returns the colour kind of the runtime's frames in a sample.
func innerKind(class string) string {
	switch {
	case strings.HasPrefix(class, "gc "):
		return "gc"
	case class == "syscall", class == "page fault / zeroing":
		return "kernel"
	}
	return "runtime"
}

// slowTime adds the time of slow requests: by the mechanism it is charged to, then by the
// dependency or lock, then by the stack that waited, all in the mechanism's colour.
func (l *layout) slowTime() {
	if l.ledger == nil || l.ledger.Total <= 0 || !l.ledger.Traced {
		return
	}
	type key struct {
		m     ledger.Mechanism
		what  evidence.NameID
		stack evidence.StackID
	}
	sums := make(map[key]int64)
	for _, row := range l.ledger.Slow {
		l.ledger.Walk(row, func(_ int64, s evidence.Segment, charges *ledger.Charges) {
			for m, v := range charges {
				if v == 0 {
					continue
				}
				k := key{m: ledger.Mechanism(m), stack: s.Stack}
				if k.m.Named() {
					k.what = s.Cause
				}
				sums[k] += v
			}
		})
	}
	t := newTree("slow requests")
	for k, v := range sums {
		t.addTotal(v)
		kind := Mechanism + k.m.String()
		at, depth := t.addChild(0, l.ledger.TitleOf(k.m, l.laneNoun()), kind, v), 1
		if k.what != 0 {
			at, depth = t.addChild(at, l.b.Names.Text(k.what), kind, v), 2
		}
		l.addStack(t, at, depth, k.stack, "", kind, v)
	}
	l.addFlame(t, "slow", "time of slow requests", "ns")
}

// forCPU are the mechanisms of requests that wait for a CPU in use.
var forCPU = []ledger.Mechanism{ledger.RequestsCPU, ledger.CollectorCPU, ledger.BackgroundCPU, ledger.HostCPU}

// fewSamples is the number of samples below which they tell nothing of the CPUs' holders.
const fewSamples = 10

// addCPUHoldersFlame adds what held the CPUs while slow requests waited for one: samples with a
// time, from a CPU profile beside a trace or the kernel's CPU clock, by process where it is
// another.
func (l *layout) addCPUHoldersFlame() {
	if l.ledger == nil || !l.ledger.Traced {
		return
	}
	s := &l.b.Samples
	work, on := l.b.Names.Lookup(evidence.SampleWork), l.b.Names.Lookup(evidence.SampleOnCPU)
	var sampled []int
	for i := range s.Len() {
		if typ := s.Type[i]; typ != 0 && (typ == work || typ == on) && s.Time[i] != 0 && s.Stack[i] != 0 {
			sampled = append(sampled, i)
		}
	}
	if len(sampled) < fewSamples {
		return
	}
	var all []span
	for _, row := range l.ledger.Slow {
		l.ledger.Walk(row, func(at int64, x evidence.Segment, charges *ledger.Charges) {
			for _, m := range forCPU {
				if charges[m] > 0 && x.Kind == evidence.Runnable {
					all = append(all, span{at, at + x.Dur})
					return
				}
			}
		})
	}
	var waits spans
	waits.add(all...)
	t, n := newTree("CPUs"), 0
	for _, i := range sampled {
		if !waits.containsTime(s.Time[i]) {
			continue
		}
		n++
		v := max(s.Value[i], 1)
		t.addTotal(v)
		at, depth := int32(0), 1
		if s.Subject[i] != l.subject {
			at, depth = t.addChild(0, l.titles[s.Subject[i]], Mechanism+ledger.HostCPU.String(), v), 2
		}
		l.addStack(t, at, depth, s.Stack[i], l.b.Names.Text(s.Class[i]), "", v)
	}
	if n >= fewSamples {
		l.addFlame(t, "held", "what held the CPUs while slow requests waited for one", "ns")
	}
}
