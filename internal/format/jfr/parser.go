package jfr

import (
	"errors"
	"io"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format/jfr/recording"
)

// interpreters maps the names of event types to their interpretation. Other events are only counted.
var interpreters = map[string]func(*parser, *recording.Record){
	"jdk.JVMInformation": (*parser).virtualMachine, "jdk.ContainerConfiguration": (*parser).containerConfiguration, "jdk.CPUInformation": (*parser).cpuInformation,
	"jdk.ActiveSetting": (*parser).activeSetting, "jdk.GCConfiguration": (*parser).gcConfiguration, "jdk.GCHeapConfiguration": (*parser).heapConfiguration,
	"jdk.CPULoad": (*parser).cpuLoad, "jdk.ExceptionStatistics": (*parser).exceptionStatistics,

	"jdk.GarbageCollection": (*parser).garbageCollection, "jdk.GCPhasePause": (*parser).gcPause, "jdk.G1GarbageCollection": (*parser).g1Collection,
	"jdk.GCHeapSummary": (*parser).heapSummary, "jdk.G1HeapSummary": (*parser).g1Summary, "jdk.PSHeapSummary": (*parser).parallelSummary,
	"jdk.MetaspaceSummary": (*parser).metaSummary, "jdk.GCCPUTime": (*parser).gcCPU, "jdk.PromotionFailed": (*parser).promotionFailed,
	"jdk.EvacuationFailed": (*parser).evacuationFailed, "jdk.ConcurrentModeFailure": (*parser).modeFailed, "jdk.ZAllocationStall": (*parser).allocationStall,

	"jdk.SafepointBegin": (*parser).safepointBegin, "jdk.SafepointEnd": (*parser).safepointEnd, "jdk.ExecuteVMOperation": (*parser).vmOperation,

	"jdk.JavaMonitorEnter": (*parser).monitorEnter, "jdk.JavaMonitorWait": (*parser).monitorWait, "jdk.ThreadPark": (*parser).threadPark,
	"jdk.ThreadSleep": (*parser).blockingCall, "jdk.SocketRead": (*parser).blockingCall, "jdk.SocketWrite": (*parser).blockingCall, "jdk.SocketConnect": (*parser).blockingCall,
	"jdk.FileRead": (*parser).blockingCall, "jdk.FileWrite": (*parser).blockingCall, "jdk.FileForce": (*parser).blockingCall, "jdk.VirtualThreadPinned": (*parser).threadPinned,

	"jdk.ExecutionSample": (*parser).executionSample, "jdk.CPUTimeSample": (*parser).executionSample, "jdk.NativeMethodSample": (*parser).nativeSample,
	"jdk.ObjectAllocationInNewTLAB": (*parser).objectAllocation, "jdk.ObjectAllocationOutsideTLAB": (*parser).objectAllocation, "jdk.ObjectAllocationSample": (*parser).objectAllocation,
	"jdk.JavaExceptionThrow": (*parser).exceptionThrow, "jdk.JavaErrorThrow": (*parser).exceptionThrow, "jdk.OldObjectSample": (*parser).oldObject,

	"io.opentelemetry.trace.Span": (*parser).otelSpan,
}

// samplerPeriod is the default interval of the JDK's sampler, ns: default.jfc.
const samplerPeriod = 20e6

// parser reads chunk after chunk.
type parser struct {
	b       *evidence.Builder
	subject evidence.SubjectID
	about   evidence.Subject
	cpus    int
	symbols *symbols
	recent  recent
	state   state // of the thread seen last
	number  int64 // of the current event, among those that are interpreted
	facts   map[string]string
	classes map[int64]*recording.Class // of the chunk being read
	kinds   []kind                     // by the tag of their class

	period     int64 // ns, of the sampler
	thresholds map[string]int64
	enabled    map[string]bool

	gc        *collections
	stops     map[int64]*stop
	waits     []wait // of the chunk being read
	allWaits  waitRuns
	moreWaits int64
	locks     bool // waits for locks were recorded

	lockStacks map[evidence.StackID]bool
	sightings  []sighting
	natives    []sighting
	running    sums

	allocations, drawn sums
	exceptions         sums
	old                sums
	oldAt              int64
	loads, throws      []point
	spans              bool

	chunks       int
	major, minor uint16
	bytes        int64
	from, until  int64 // ns since the epoch
	events       int64
	counts       map[string]int64 // events by the name of their type
	nameless     map[int64]int64  // events whose type the metadata lacks, by its number
	bare         int              // chunks without metadata
	unread       int64
	damaged      int64 // bytes
}

func newParser(b *evidence.Builder) *parser {
	*b.Clock() = evidence.Clock{Name: "unix", Error: 1e6, Resolution: 1} // a chunk's start is in ns, by a clock of µs or better
	return &parser{b: b, subject: b.Subject(evidence.Subject{Runtime: "jvm"}), symbols: newSymbols(b), facts: make(map[string]string),
		period: samplerPeriod, thresholds: make(map[string]int64), enabled: make(map[string]bool),
		gc: newCollections(), stops: make(map[int64]*stop), lockStacks: make(map[evidence.StackID]bool),
		running: newSums(), allocations: newSums(), drawn: newSums(), exceptions: newSums(), old: newSums(),
		counts: make(map[string]int64), nameless: make(map[int64]int64)}
}

// readChunk interprets the events of one chunk.
func (p *parser) readChunk(c *recording.Chunk) {
	p.chunks++
	p.major, p.minor = c.Major, c.Minor
	p.symbols.forgetChunk()
	p.recent.forgetChunk()
	p.classes = c.Classes
	p.kinds = p.kinds[:0]
	from, until := int64(0), int64(0)
	c.Each(func(x *recording.Class) bool {
		interpret := interpreters[x.Name]
		if interpret == nil {
			return false
		}
		x.Tag = len(p.kinds)
		p.kinds = append(p.kinds, newKind(x, interpret))
		return true
	}, func(e *recording.Record) {
		p.number++
		if c.Duration == 0 { // it was never finished
			if at := e.Start(); at > 0 {
				if from == 0 || at < from {
					from = at
				}
				until = max(until, at)
			}
		}
		p.kinds[e.Class.Tag].interpret(p, e)
	})
	p.allWaits.addChunk(p.waits)
	p.waits = p.waits[:0]
	p.notePeriod(c, from, until)
	p.countEvents(c)
}

// kind is a type of events of a chunk: its interpretation, and the positions of fields that are read often.
type kind struct {
	interpret                                  func(*parser, *recording.Record)
	stack, thread, class, weight, buffer, size int
}

func newKind(x *recording.Class, interpret func(*parser, *recording.Record)) kind {
	class := x.Field("objectClass")
	if class < 0 {
		class = x.Field("thrownClass")
	}
	return kind{interpret: interpret, stack: x.Field("stackTrace"), thread: x.Field("eventThread"), class: class,
		weight: x.Field("weight"), buffer: x.Field("tlabSize"), size: x.Field("allocationSize")}
}

// notePeriod records the time span of a chunk: from its header, or, if the chunk
// was never finished, from its events.
func (p *parser) notePeriod(c *recording.Chunk, first, last int64) {
	from, until := c.Start, c.Start+c.Duration
	if from <= 0 || c.Duration < 0 || until < from {
		return
	}
	if c.Duration == 0 && first > from {
		until = max(until, last)
	}
	if p.from == 0 || from < p.from {
		p.from = from
	}
	p.until = max(p.until, until)
}

func (p *parser) countEvents(c *recording.Chunk) {
	if c.Classes == nil && c.Events > 0 {
		p.bare++
	}
	for id, n := range c.Counts() {
		switch x := c.Classes[id]; {
		case id == 0:
			p.counts["jdk.Metadata"] += n
		case id == 1:
			p.counts["jdk.CheckPoint"] += n
		case x != nil && x.Event():
			p.counts[x.Name] += n
		default:
			p.nameless[id] += n
		}
	}
	p.events += c.Events
	p.unread += c.Unread
	p.damaged += c.Damaged
}

// addCoverage emits that something was recorded all the time.
func (p *parser) addCoverage(kind string) {
	if p.until > p.from {
		p.b.Cover(evidence.Coverage{Subject: p.subject, Kind: kind, From: p.from, Until: p.until, Origin: p.b.Origin(0)})
	}
}

// finish emits the content of all chunks. The last one may have broken off.
func (p *parser) finish(err error) {
	p.describeProcess()
	p.gc.emitPauses(p)
	if p.gc.watched || p.enabled["jdk.GCPhasePause"] {
		p.addCoverage(evidence.CoverGC)
	}
	if !p.b.Recorded() { // else a log beside the recording has them
		p.emitSafepoints()
	}
	if p.locks || p.enabled["jdk.JavaMonitorEnter"] {
		p.addCoverage(evidence.CoverWaits)
	}
	if p.counts["jdk.VirtualThreadPinned"] > 0 || p.enabled["jdk.VirtualThreadPinned"] {
		p.addCoverage(evidence.CoverPinned)
	}
	if p.spans {
		p.addCoverage(evidence.CoverRequests)
	}
	p.emitSamples()
	p.emitLooks()
	p.emitSeries()
	if err != nil && !errors.Is(err, io.EOF) {
		p.b.Warnf(0, "the flight recording is incomplete (%v): what there is of it is used", err)
		p.b.Cut()
	}
	if p.bare > 0 {
		p.b.Warnf(0, "chunks of the flight recording without metadata: %d; what their events hold is not known. A JVM before JDK 14 writes it when a chunk ends: end the recording with JFR.stop or JFR.dump", p.bare)
	}
	if p.damaged > 0 {
		p.b.Warnf(0, "bytes of the flight recording that are not events: %d", p.damaged)
	}
	if p.unread > 0 {
		p.b.Warnf(0, "events and constants of the flight recording that are not what its metadata says: %d", p.unread)
	}
	if n := p.counts["jdk.DataLoss"]; n > 0 {
		p.b.Warnf(0, "the JVM says %d times that it lost events of the flight recording: what it holds are lower bounds", n)
	}
	p.emitTables()
}
