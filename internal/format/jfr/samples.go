package jfr

import (
	"cmp"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format/jfr/recording"
)

// site is a stack, and for what: the class of an object.
type site struct {
	stack evidence.StackID
	class evidence.NameID
}

// sum is what there was at a site.
type sum struct {
	count, value int64
	first        int64 // number of the event
}

// sums are what is kept of samples: as many as there are sites, not events.
type sums struct {
	at   map[site]*sum
	more int64 // events at others than the first maxSites
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

// recent finds the sums of events that are like one before by the keys of a chunk's constants: most samples of a
// program are of few sites, and are added up without being understood anew. Threads of a pool are alike.
type recent struct{ at [1 << 14]likeness }

// likeness is what events have in common that count at one site.
type likeness struct {
	of           *sums
	stack, class int64
	pool         evidence.NameID
	sum          *sum // nil: none
}

// findLike returns where an event like this is kept, and whether one was before.
func (r *recent) findLike(of *sums, stack int64, pool evidence.NameID, class int64) (*likeness, bool) {
	h := uint64(stack)*0x9e3779b97f4a7c15 ^ uint64(pool)*0xc2b2ae3d27d4eb4f ^ uint64(class)*0x165667b19e3779f9
	x := &r.at[(h^h>>29)%uint64(len(r.at))]
	if x.sum != nil && x.stack == stack && x.pool == pool && x.class == class && x.of == of {
		return x, true
	}
	*x = likeness{of: of, stack: stack, pool: pool, class: class}
	return x, false
}

// forgetChunk begins another chunk, whose keys are its own.
func (r *recent) forgetChunk() { clear(r.at[:]) }

// emitSites emits a row for each site, those of most first; value returns what an event's sum
// stands for.
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

// maxSightings are kept for looks: at 50 a second, those of 5 threads over hours.
const maxSightings = 4 << 20

// state is what a key of a chunk says of a thread.
type state struct {
	chunk  int
	key    int64
	sleeps bool
}

// executionSample is a thread that ran Java code. The JDK's sampler looks at up to five of them every 10 or 20 ms
// (https://github.com/openjdk/jdk/blob/master/src/hotspot/share/jfr/periodic/sampling/jfrThreadSampler.cpp);
// CPUTimeSample (JDK 25) tells how much CPU time it stands for. Async-profiler's may be of a thread that
// sleeps, where it goes by the clock on the wall.
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

// nativeSample is a thread that is in native code, where it may wait: the sampler looks at one of them at a time.
func (p *parser) nativeSample(e *recording.Record) {
	t := p.symbols.fieldThread(e, "sampledThread")
	if stack := p.symbols.eventStack(e, t); stack != 0 && t.lane != 0 && len(p.natives) < maxSightings {
		p.natives = append(p.natives, sighting{t.lane, e.Start(), stack})
	}
}

// objectAllocation counts what an event about allocation stands for: its weight for
// ObjectAllocationSample, the buffer for an object that got its thread a new one (TLAB), the
// object itself for one outside of buffers. The first replaces both others from JDK 16 on; where
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

// oldObject is one of the objects that the JVM sampled when they were allocated and that are still alive at the
// end: each recording, or piece of it, tells all of them anew, so that the last count.
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

// oldApart is how far apart (ns) events of two emissions are at least: those of one bear nearly the same time.
const oldApart = 1e9

// mostReferrers of a chain are gone through to a root; a linked list has as many as it has elements.
const mostReferrers = 64

// heldBy is the outermost field that an object is reached from, "shop.Basket.open", where the recording was asked for
// paths to the roots (path-to-gc-roots); "" else. A static field is the class's.
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
