package jfr

import (
	"cmp"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format/jfr/recording"
)

// site is a stack, and the class of its object.
type site struct {
	stack evidence.StackID
	class evidence.NameID
}

// sum is the total at a site.
type sum struct {
	count, value int64
	first        int64 // number of the event
}

// sums are the kept totals of samples: their number grows with sites, and not with events.
type sums struct {
	at   map[site]*sum
	more int64 // events at sites beyond maxSites
}

const maxSites = 1 << 18

func newSums() sums { return sums{at: make(map[site]*sum)} }

// addAt counts an event at a site and returns the site's sum; nil if there are too many sites.
func (s *sums) addAt(p *parser, at site, value int64) *sum {
	x := s.at[at]
	if x == nil {
		if len(s.at) == maxSites {
			s.more++
			return nil
		}
		x = &sum{first: p.number}
		s.at[at] = x
	}
	x.add(value)
	return x
}

func (x *sum) add(value int64) {
	x.count++
	x.value = min(x.value+value, 1<<60)
}

// recent finds the sum of an earlier event with the same keys of a chunk's constants: most samples of a
// program are of few sites, and are added without being interpreted again. Threads of a pool count as equal.
type recent struct{ at [1 << 14]likeness }

// likeness is what events share that count at one site.
type likeness struct {
	of           *sums
	stack, class int64
	pool         evidence.NameID
	sum          *sum // nil: none
}

// findLike returns the slot for an event like this, and whether it has an earlier one.
func (r *recent) findLike(of *sums, stack int64, pool evidence.NameID, class int64) (*likeness, bool) {
	h := uint64(stack)*0x9e3779b97f4a7c15 ^ uint64(pool)*0xc2b2ae3d27d4eb4f ^ uint64(class)*0x165667b19e3779f9
	x := &r.at[(h^h>>29)%uint64(len(r.at))]
	if x.sum != nil && x.stack == stack && x.pool == pool && x.class == class && x.of == of {
		return x, true
	}
	*x = likeness{of: of, stack: stack, pool: pool, class: class}
	return x, false
}

// forgetChunk begins another chunk, which has its own keys.
func (r *recent) forgetChunk() { clear(r.at[:]) }

// emitSites emits a row for each site, those with most first; value converts an event's
// sum.
func (s *sums) emitSites(p *parser, typ, unit string, value func(*sum) int64) {
	type row struct {
		site
		value, first int64
	}
	rows := make([]row, 0, len(s.at))
	for at, x := range s.at {
		rows = append(rows, row{at, value(x), x.first})
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(a.first, b.first), cmp.Compare(a.stack, b.stack), cmp.Compare(a.class, b.class))
	})
	p.b.RoomForSamples(len(rows))
	kind, of := p.b.Name(typ), p.b.Name(unit)
	for _, r := range rows {
		p.b.Sample(evidence.Sample{Subject: p.subject, Stack: r.stack, Type: kind, Unit: of, Class: r.class, Value: r.value, Origin: p.b.Origin(r.first)})
	}
	if s.more > 0 {
		p.b.Warnf(0, "samples (%s) at more than %d combinations of stack and class: events of the others left out: %d", typ, maxSites, s.more)
	}
}

// sighting is a thread that ran at a moment.
type sighting struct {
	lane  evidence.LaneID
	at    int64
	stack evidence.StackID
}

// maxSightings bounds the sightings kept: at 50 a second, those of 5 threads over hours.
const maxSightings = 4 << 20

// state is the thread state that a key of a chunk stands for.
type state struct {
	chunk  int
	key    int64
	sleeps bool
}

// executionSample counts a sample of a thread that ran Java code. The JDK's sampler examines up to five of them every 10 or 20 ms
// (https://github.com/openjdk/jdk/blob/master/src/hotspot/share/jfr/periodic/sampling/jfrThreadSampler.cpp);
// CPUTimeSample (JDK 25) has the CPU time that it stands for. Async-profiler's may be of a thread that
// sleeps, if it samples by wall-clock time.
func (p *parser) executionSample(e *recording.Record) {
	if key := e.Int("state"); key == 0 || key != p.state.key || p.state.chunk != p.chunks { // most are the same
		p.state = state{p.chunks, key, e.Text("state") == "STATE_SLEEPING"}
	}
	if p.state.sleeps {
		return
	}
	thread := "sampledThread"
	if !e.Has(thread) {
		thread = "eventThread"
	}
	t := p.symbols.fieldThread(e, thread)
	stack := p.symbols.eventStack(e, t)
	if stack == 0 {
		return
	}
	p.running.addAt(p, site{stack: stack}, max(0, e.Int("samplingPeriod")))
	if len(p.sightings) < maxSightings && t.lane != 0 {
		p.sightings = append(p.sightings, sighting{t.lane, e.Start(), stack})
	}
}

// nativeSample counts a sample of a thread in native code, where it may wait: the sampler examines one of them at a time.
func (p *parser) nativeSample(e *recording.Record) {
	t := p.symbols.fieldThread(e, "sampledThread")
	if stack := p.symbols.eventStack(e, t); stack != 0 && t.lane != 0 && len(p.natives) < maxSightings {
		p.natives = append(p.natives, sighting{t.lane, e.Start(), stack})
	}
}

// objectAllocation counts the bytes that an event about allocation stands for: its weight for
// ObjectAllocationSample, the buffer for an object that got its thread a new one (TLAB), the
// object itself for one outside of buffers. The first replaces both others from JDK 16 on; if
// both are recorded it would count twice, so it is kept apart.
func (p *parser) objectAllocation(e *recording.Record) {
	switch k := &p.kinds[e.Class.Tag]; {
	case k.weight >= 0:
		p.countSample(&p.drawn, e, "objectClass", e.Number(k.weight))
	case k.buffer >= 0:
		p.countSample(&p.allocations, e, "objectClass", e.Number(k.buffer))
	default:
		p.countSample(&p.allocations, e, "objectClass", e.Number(k.size))
	}
}

// exceptionThrow counts exceptions by class and stack.
func (p *parser) exceptionThrow(e *recording.Record) {
	p.countSample(&p.exceptions, e, "thrownClass", 0)
}

// countSample counts an event at its stack and the class of its object.
func (p *parser) countSample(to *sums, e *recording.Record, class string, value int64) {
	k := &p.kinds[e.Class.Tag]
	value = max(0, value)
	t := p.symbols.threadOf(e, "eventThread", e.Number(k.thread))
	like, known := p.recent.findLike(to, e.Number(k.stack), t.pool, e.Number(k.class))
	if known {
		like.sum.add(value)
		return
	}
	like.sum = to.addAt(p, site{p.symbols.eventStack(e, t), p.symbols.fieldClass(e, class)}, value)
}

// oldObject counts one of the objects that the JVM sampled at their allocation and that are still alive at the
// end: each recording, or piece of it, lists all of them again, so the last list counts.
// https://github.com/openjdk/jdk/tree/master/src/hotspot/share/jfr/leakprofiler
func (p *parser) oldObject(e *recording.Record) {
	if at := e.Start(); at > p.oldAt+oldApart {
		p.old = newSums()
		p.oldAt = at
	}
	object, ok := e.Constant("object")
	if !ok {
		return
	}
	class := p.symbols.fieldClass(&object, "type")
	if holder := p.heldBy(&object); holder != "" {
		class = p.b.Name(p.b.Text(class) + " in " + holder)
	}
	t := p.symbols.fieldThread(e, "eventThread")
	p.old.addAt(p, site{p.symbols.eventStack(e, t), class}, max(0, e.Int("objectAge")))
}

// oldApart is the least distance (ns) between events of two lists: those of one list have nearly the same time.
const oldApart = 1e9

// mostReferrers bounds the walk along a chain to a root; a linked list has as many as it has elements.
const mostReferrers = 64

// heldBy returns the outermost field that leads to an object, "shop.Basket.open", if the recording has
// paths to the roots (path-to-gc-roots); else "". A static field is the class's.
func (p *parser) heldBy(object *recording.Record) (holder string) {
	at := *object
	for range mostReferrers {
		ref, ok := at.Constant("referrer")
		if !ok {
			return holder
		}
		next, ok := ref.Constant("object")
		if !ok {
			return holder
		}
		if field, ok := ref.Constant("field"); ok {
			if name := field.Text("name"); name != "" {
				class := p.b.Text(p.symbols.fieldClass(&next, "type"))
				if class == "java.lang.Class" {
					class = className(next.Text("description"))
				}
				holder = class + "." + name
			}
		}
		at = next
	}
	return holder
}

// emitSamples writes what was counted.
func (p *parser) emitSamples() {
	of := func(s *sum) int64 { return s.value }
	if len(p.running.at) > 0 {
		p.addCoverage(evidence.CoverRunning)
		p.running.emitSites(p, evidence.SampleRunning, "nanoseconds", func(s *sum) int64 { return max(s.value, s.count*p.period) })
	}
	all := &p.allocations
	if len(all.at) == 0 {
		all = &p.drawn
	}
	if len(all.at) > 0 {
		p.addCoverage(evidence.CoverAllocation)
		all.emitSites(p, evidence.SampleAllocated, "bytes", of)
	}
	if len(p.exceptions.at) > 0 {
		p.exceptions.emitSites(p, evidence.SampleThrown, "count", func(s *sum) int64 { return s.count })
	}
	if len(p.old.at) > 0 {
		p.old.emitSites(p, evidence.SampleOldObject, "count", func(s *sum) int64 { return s.count })
	}
}
