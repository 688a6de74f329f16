package threaddump

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/format/java"
)

// emitted is the totals of the dumps that were written.
type emitted struct {
	first, last int64 // when they were taken, 0 unknown
	squares     float64
	undated     int
	zoned       bool // the time of day is known: from a collector of logs, or in UTC
	top         []thread
	stateless   bool
}

// endThread ends a thread.
func (p *parser) endThread() {
	if !p.open {
		return
	}
	p.open = false
	t := p.now
	if t.deep {
		p.deep++
	}
	t.virtual = t.virtual || t.outermost == firstOfVirtual
	t.bare = p.section == toFile && len(t.frames) == 0
	t.unmounted = t.bare && t.virtual
	if len(p.dump) == maxThreads {
		p.more++
		return
	}
	if (t.wait.use == evidence.WaitsOn || t.wait.use == evidence.NoLock) && strings.HasPrefix(t.state, "BLOCKED") {
		t.wait.use = evidence.ToLock // it was notified, before JDK 9; or the JVM itself wants a monitor, for what this thread calls
	}
	p.noteLoop(&t)
	t.held, t.classes = slices.Clone(t.held), slices.Clone(t.classes)
	t.stack = p.b.ThreadStack(t.frames, t.threadInfo())
	p.now.frames, t.frames = t.frames[:0], nil
	p.dump = append(p.dump, t)
	p.now.held, p.now.classes, p.now.waiter, p.now.loader = p.now.held[:0], p.now.classes[:0], "", lock{}
}

// eventLoops are the functions of Netty in which a thread runs an event loop, 4.0 to 4.2; Vert.x, gRPC, Lettuce, Reactor and others use them, some
// under another package.
var eventLoops = []string{"io.netty.channel.nio.NioEventLoop.run", "io.netty.channel.epoll.EpollEventLoop.run", "io.netty.channel.kqueue.KQueueEventLoop.run",
	"io.netty.channel.SingleThreadIoEventLoop.run"}

// ofLibraries are packages that wait for others' code.
var ofLibraries = []string{"java.", "jdk.", "sun.", "com.sun.", "io.netty.", "io.lettuce.", "io.grpc.", "reactor.", "io.vertx.", "rx.", "io.reactivex.", "redis.", "org.redisson.", "akka.", "scala."}

// noteLoop counts a thread that is to run an event loop and waits in code that the loop called: for a result, a latch or a timer. The loop
// itself waits for events in the kernel, and counts as running.
func (p *parser) noteLoop(t *thread) {
	if !strings.HasPrefix(t.state, "WAITING") && !strings.HasPrefix(t.state, "TIMED_WAITING") {
		return
	}
	where, called := "", false
	for i, f := range t.frames {
		name := p.b.Text(f.Func)
		if slices.ContainsFunc(eventLoops, func(loop string) bool { return strings.HasSuffix(name, loop) }) {
			if called = i > 1; called {
				break
			}
			return
		}
		if where == "" && !slices.ContainsFunc(ofLibraries, func(of string) bool { return strings.HasPrefix(name, of) }) {
			where = name
		}
	}
	if !called || where == "" {
		return
	}
	what := "wait for a lock, an event or a result"
	if strings.Contains(t.state, "sleeping") {
		what = "sleep"
	}
	if p.loops == nil {
		p.loops = make(map[string]loop)
	}
	key := what + evidence.Link + where
	x := p.loops[key]
	if x.n++; x.line == 0 {
		x.line = t.line
	}
	if len(p.loops) < mostLoops || x.n > 1 {
		p.loops[key] = x
	}
}

// loop is how many event loops wait at one place, in one dump.
type loop struct {
	n    int
	line int64
}

const mostLoops = 1000

// emitLoops writes the place at which most event loops wait, of a dump.
func (p *parser) emitLoops() {
	most := ""
	for key, x := range p.loops {
		if x.n > p.loops[most].n || x.n == p.loops[most].n && key < most {
			most = key
		}
	}
	if most != "" {
		x := p.loops[most]
		p.b.Fact(evidence.Fact{Subject: p.subject, Key: evidence.FactLoopBlocked, Value: most, Number: float64(x.n), Origin: p.b.Origin(x.line)})
	}
	clear(p.loops)
}

// threadInfo returns HotSpot's text about a thread's lock, and the pool's name.
func (t *thread) threadInfo() evidence.ThreadInfo {
	x := evidence.ThreadInfo{Name: java.Pool(t.name), Unmounted: t.unmounted}
	if t.wait.use == evidence.ToLock || t.wait.class != "" {
		x.Lock, x.Class = t.wait.use, t.wait.class
	}
	return x
}

// laneOf returns the system's number of a thread, else the program's, set apart from those.
func (t *thread) laneOf(index int) evidence.LaneID {
	const apart = int64(evidence.LanesOfProgram)
	switch {
	case t.native > 0:
		return evidence.LaneID(t.native)
	case t.java > 0:
		return evidence.LaneID(t.java + apart)
	}
	return evidence.LaneID(apart<<1 + int64(index))
}

// endDump writes a dump.
func (p *parser) endDump() {
	p.endThread()
	if p.section == deadlock && !p.listed {
		p.emitDeadlock()
	}
	if len(p.dump) == 0 {
		return
	}
	at := p.dumpTime()
	p.markUnmounted()
	p.findOwners()
	holders := make(map[string]evidence.LaneID)
	loader := p.onlyLoader()
	for i := range p.dump {
		t := &p.dump[i]
		if t.wait.use == evidence.ToLock && t.wait.object == "" {
			t.wait.object, t.wait.class = loader.object, loader.class
		}
		for _, o := range t.held {
			if o != t.wait.object { // a thread that waits to be notified has released it
				holders[o] = t.laneOf(i)
			}
		}
		if t.name == "VM Thread" && p.about.Instance == "" {
			p.about.Instance = t.address
		}
		if t.name == "main" {
			p.takeProgramName(t)
		}
	}
	for i := range p.dump {
		t := &p.dump[i]
		lane, origin := t.laneOf(i), p.b.Origin(t.line)
		p.stateless = p.stateless || t.stateless
		p.b.Sample(evidence.Sample{Subject: p.subject, Time: at, Lane: lane, Stack: t.stack, Type: p.typ, Unit: p.count, Value: 1, Origin: origin})
		if t.cpu >= 0 && t.java > 0 { // the JVM's own have no number
			p.b.Sample(evidence.Sample{Subject: p.subject, Time: at, Lane: lane, Type: p.b.Name(evidence.SampleThreadCPU), Value: int64(min(t.cpu, 1e12) * 1e6), Origin: origin})
		}
		if holder := holders[t.wait.object]; t.wait.use == evidence.ToLock || t.wait.use == evidence.ToPark && holder != 0 && t.wait.object != "" {
			if t.wait.object == "" || holder == lane {
				holder = 0
			}
			p.b.Interval(evidence.Interval{Subject: p.subject, Lane: lane, Kind: evidence.LockWait, Start: at, End: at, Stack: t.stack,
				Cause: p.b.Name(t.wait.class), Holder: holder, Origin: origin})
		}
	}
	p.findCircles()
	p.findNested()
	p.emitLoops()
	p.threads += int64(len(p.dump))
	p.rankByCPU()
	p.dump = p.dump[:0]
}

// markUnmounted marks the virtual threads that have not run yet among the threads without a stack.
// JDK 21 does not mark them as virtual, and lists those of the program's own
// executors, such as Tomcat's, among all others: their names are like those of virtual threads that have run.
// Other threads without a stack are the JVM's, or began in native code.
func (p *parser) markUnmounted() {
	families := make(map[string]bool)
	for i := range p.dump {
		if t := &p.dump[i]; t.virtual {
			families[java.Pool(t.name)] = true
		}
	}
	delete(families, "")
	for i := range p.dump {
		if t := &p.dump[i]; t.bare && !t.unmounted && families[java.Pool(t.name)] {
			t.virtual, t.unmounted = true, true
			t.stack = p.b.ThreadStack(nil, t.threadInfo())
		}
	}
}

// loadClass holds the monitor of a class loader that is not parallel capable. Other threads
// wait for it in the JVM, which prints that they are blocked, but not by what.
// https://docs.oracle.com/en/java/javase/17/docs/api/java.base/java/lang/ClassLoader.html#registerAsParallelCapable()
const loadClass = "java.lang.ClassLoader.loadClass"

// onlyLoader returns the monitor of the only class loader that loads in this dump. It returns none
// if there are several, since threads may wait for any of them.
func (p *parser) onlyLoader() (only lock) {
	for i := range p.dump {
		switch k := p.dump[i].loader; {
		case k.object == "" || k.object == only.object:
		case only.object == "":
			only = k
		default:
			return lock{}
		}
	}
	return only
}

// dumpTime returns when the dump was taken, ns since the epoch, 0 unknown: by its own line of
// time, which has whole seconds, or by the collector of the log.
func (p *parser) dumpTime() int64 {
	at := p.at
	if p.stamped != 0 {
		at, p.zoned = p.stamped, true
	}
	if at == 0 && p.b.Recorded() {
		at, p.zoned = p.b.Modified(), true
	}
	if at == 0 {
		p.undated++
		return 0
	}
	if p.first == 0 || at < p.first {
		p.first = at
	}
	if p.last != 0 && at > p.last {
		d := float64(at - p.last)
		p.squares += d * d
	}
	p.last = max(p.last, at)
	return at
}

// rankByCPU keeps the threads that used most CPU time, of the last dump.
func (p *parser) rankByCPU() {
	const most = 10
	p.top = p.top[:0]
	for i := range p.dump {
		if p.dump[i].cpu >= 1 {
			p.top = append(p.top, p.dump[i])
		}
	}
	sorting.Short(p.top, func(a, b thread) int { return cmp.Compare(b.cpu, a.cpu) })
	p.top = p.top[:min(len(p.top), most)]
}

// takeProgramName takes the class that the main thread runs for the program's name.
func (p *parser) takeProgramName(t *thread) {
	if p.about.PID == 0 || p.b.Recorded() {
		return // a name without a PID contradicts the kernel's name
	}
	if class, ok := strings.CutSuffix(t.outermost, ".main"); ok {
		p.about.Name = class[strings.LastIndexByte(class, '.')+1:]
	}
}

// emitSummary writes the process of the dumps, and their times.
func (p *parser) emitSummary() {
	b := p.b
	p.setClock()
	b.Describe(p.subject, func(s *evidence.Subject) {
		about := p.about
		if s.PID != 0 {
			about.PID, about.Name = s.PID, s.Name
		}
		if len(s.Version) > len(about.Version) {
			about.Version = s.Version
		}
		s.PID, s.Name, s.Version, s.Instance = about.PID, about.Name, about.Version, about.Instance
	})
	c := evidence.Coverage{Subject: p.subject, Kind: evidence.CoverThreads, From: p.first, Until: p.last, Origin: b.Origin(p.begun)}
	if p.last > p.first {
		c.Sampled = max(1, int64(p.squares/float64(p.last-p.first)))
	}
	b.Cover(c)
	if len(p.top) > 0 {
		p.processorTime()
	}
	if p.more > 0 {
		b.Warnf(0, "a dump has more than %d threads: the rest was left out", maxThreads)
	}
	if p.deep > 0 {
		b.Warnf(0, "stacks deeper than %d frames: %d; their outermost frames were left out", maxFrames, p.deep)
	}
	if p.stateless {
		b.FactAt(p.subject, evidence.FactStateless, "", 1, p.begun)
		b.WarnUnless(evidence.CoverThreads, p.begun, "this dump has no thread states: a thread that waits for a monitor looks as if it were running; jcmd PID Thread.print gives states")
	}
	if p.odd > 0 {
		b.Warnf(p.oddLine, "lines within thread dumps that do not belong to one: %d", p.odd)
	}
}

// setClock sets the clock. A dump that was recorded live has the time of its receipt, which
// also shows the zone of its own time.
func (p *parser) setClock() {
	b, clock := p.b, p.b.Clock()
	switch {
	case p.first == 0:
		*clock = evidence.Clock{Name: "undated", Error: evidence.Unanchored}
	case p.zoned:
	case b.Recorded() && b.Modified() != 0:
		*clock = evidence.Clock{Name: "unix", Offset: b.Modified() - p.last}
	default:
		clock.Resolution = 1e9
		b.Warnf(p.begun, "the times of the thread dumps have no time zone and were read as UTC: check them against the other files")
	}
	if p.first != 0 && p.undated > 0 {
		b.Warnf(p.begun, "thread dumps without a time: %d", p.undated)
	}
}

func (p *parser) processorTime() {
	t := evidence.Table{Title: "CPU time of threads since they began", Columns: []string{"thread", "ms"}}
	for i := range p.top {
		t.Rows = append(t.Rows, []string{strings.ToValidUTF8(p.top[i].name, "?"), fmt.Sprintf("%.0f", p.top[i].cpu)})
	}
	p.b.Table(t)
}
