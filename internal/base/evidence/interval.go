package evidence

import (
	"slices"
	"sort"
)

// LaneID is a thread or goroutine as its runtime numbers it. Lane 0 is unknown.
type LaneID int64

// LanesOfProgram is the first lane for a program's own numbers of threads, which are not the operating system's: virtual thread 7 is
// lane LanesOfProgram+7.
const LanesOfProgram LaneID = 1 << 40

// AllLanes marks an interval that concerns every lane of its subject: a stop-the-world pause. Stalls of single lanes never use it:
// 19 s of stalls on many lanes are not 19 s of pauses.
const AllLanes LaneID = -1

// Interval is one row of [Intervals].
type Interval struct {
	Subject SubjectID
	Clock   ClockID
	Lane    LaneID
	Kind    Kind
	Start   int64 // ns
	End     int64 // ns
	Request RequestID
	Stack   StackID
	Cause   NameID
	Holder  LaneID
	Origin  Origin
	Extra   []Extra
}

// Key names a figure that only some intervals have.
type Key uint8

// Keys of [Extra]. Sizes are bytes, times ns, counts plain numbers.
const (
	HeapBefore        Key = iota // live heap when the cycle began
	HeapAfter                    // heap size when marking ended
	HeapLive                     // marked, that is live, heap
	HeapGoal                     // the size the pacer aimed for
	StackScan                    // stacks to scan, bytes
	GlobalScan                   // globals to scan, bytes
	AssistTime                   // processor time of mark assists
	BackgroundTime               // processor time of dedicated and fractional workers
	IdleTime                     // processor time of idle-priority workers
	STWTime                      // sum of the cycle's stop-the-world pauses, wall time
	MarkTime                     // concurrent mark, wall time
	CPUFraction                  // the collector's share of processor time since the start, 0…1
	Forced                       // 1: not started by the pacer
	Processors                   // GOMAXPROCS
	CycleNumber                  // the runtime's number
	Generation                   // the generation that was collected, 0 the youngest
	PoolThreads                  // threads of the runtime's pool, after an adjustment
	Trigger                      // a NameID: why the runtime says it collected, "Allocation Failure"
	Failure                      // a NameID: what went wrong in it, "promotion failed", "to-space exhausted"
	PauseOf                      // a [Pause]: which part of a collection stopped the world
	HeapCapacity                 // committed heap, after
	YoungBefore                  // young generation in use, before
	YoungAfter                   //   … after
	YoungCapacity                //   … its capacity as the runtime prints it: without one survivor space where it has two
	OldBefore                    // old generation in use, before; only where it is printed, else heap − young
	OldAfter                     //   … after
	OldCapacity                  //   … its capacity
	MetaBefore                   // class metadata (metaspace, perm gen) in use, before
	MetaAfter                    //   … after
	HumongousBefore              // how many G1 regions hold humongous objects, before: a count
	HumongousAfter               //   … after
	SurvivorTotal                // bytes of all ages in the survivor space (PrintTenuringDistribution, age tables)
	TenuringThreshold            // collections an object survives before it is promoted
	UserCPU                      // ns of processor time in user mode, all GC threads
	SystemCPU                    // ns of processor time in the kernel
	RealTime                     // ns of wall time by the runtime's coarse timer (10 ms)
	ToSafepoint                  // ns until all threads had stopped
	RegionSize                   // bytes of a G1 or Shenandoah region
	Operation                    // a NameID: what a call asked for, "SELECT orders"
	ServerTime                   // ns that a call took on the called side
	YoungTime                    // ns of collecting the young generation, in a pause that did more
	WaitedWithin                 // ns before its end; the wait was within them, at an unknown time
	MetaCapacity                 // bytes of the permanent generation, of full collections without a trigger in the log

	// Figures of a .NET collection, see collection.go.
	Resuming         // ns of a pause in which threads were resumed: .NET's own sum leaves it out; of a JVM's safepoint, of JDK 21 on
	CollectionKind   // a [Collection]: blocking, background, or during a background one
	PauseTime        // ns that the world was stopped, in all its pauses
	PromotedBytes    // bytes that survived in the generations that were collected
	FreeBytes        // bytes between objects at its end: fragmentation
	PinnedObjects    // number of objects that it must not move
	HandleCount      // number of GC handles
	FinalizableBytes // bytes kept only because their finalizers have not run
	CondemnReasons   // bits of [CondemnReason]: why that generation and not a lower one was collected
	Compacting       // 1: it moved objects together; 0: it swept
	MemoryLoad       // percent of memory in use, as the runtime saw it
	HeapCount        // heaps it collected: 1 for workstation GC, one per CPU for server GC
	GenBudget        // bytes that generation 0 may grow until the next collection
	MarkedStacks     // bytes it found alive from stacks
	MarkedFinalizer  //   … from the finalizer's queue
	MarkedHandles    //   … from GC handles: statics, pinned buffers
	MarkedOlder      //   … from older generations
	MarkedOther      //   … from elsewhere

	// Figures of a server's command ([Command]).
	Arguments     // number of arguments, without the name
	ArgumentBytes // bytes of all of them
	ClientAddress // a NameID: the address of the client, "10.0.0.7:51234"

	// Figures of a call seen by the kernel ([Call]).
	Connection  // port of the process's end of the call's connection
	Transaction // 1: the connection has a transaction open after the call, 0: none; databases
	SentBytes   // bytes of the call
	SentParts   // in how many writes, where these are several and all of the call's
	CallStatus  // of the HTTP answer
	CallFailed  // the call failed: [FailedByAnswer] or [FailedUnanswered]
	UnreadTime  // ns from the answer's arrival until it was read
	SentAgain   // how often a query to a name server was sent again for lack of an answer
	UnknownName // 1: the name server answered that the name does not exist

	Repeated // equal pauses, one right after another, that the row stands for: their source counts them and tells their total time

	// By generation, [Generations] keys each: see [Key.In].
	GenBefore   // bytes at its beginning, including those between objects
	GenAfter    = GenBefore + Generations
	GenFree     = GenAfter + Generations    // bytes between its objects after
	GenSurvived = GenFree + Generations     // bytes that it kept
	GenGaps     = GenSurvived + Generations // bytes between its objects when it began
	NumKeys     = GenGaps + Generations     // how many keys there are
)

var keyNames = [NumKeys]string{"before", "after", "live", "goal", "stack scan", "global scan", "assist", "background", "idle",
	"stw", "mark", "cpu fraction", "forced", "processors", "cycle", "generation", "pool threads",
	"trigger", "failure", "pause of", "capacity", "young before", "young after", "young capacity", "old before", "old after", "old capacity",
	"metaspace before", "metaspace after", "humongous before", "humongous after", "survivors", "tenuring threshold", "user cpu", "system cpu", "real",
	"to safepoint", "region size", "operation", "server time", "young time", "waited within", "perm capacity",
	"resuming", "collection", "pause", "promoted", "free", "pinned", "handles", "finalizable", "condemned", "compacting", "memory load", "heaps", "budget",
	"from stacks", "from finalizers", "from handles", "from older", "from others",
	"arguments", "argument bytes", "client", "connection", "transaction", "sent", "sent in parts", "status", "failed", "unread", "sent again", "unknown name", "repeated",
	"gen 0 before", "gen 1 before", "gen 2 before", "loh before", "poh before", "gen 0 after", "gen 1 after", "gen 2 after", "loh after", "poh after",
	"gen 0 free", "gen 1 free", "gen 2 free", "loh free", "poh free", "gen 0 survived", "gen 1 survived", "gen 2 survived", "loh survived", "poh survived",
	"gen 0 gaps", "gen 1 gaps", "gen 2 gaps", "loh gaps", "poh gaps"}

func (k Key) String() string { return keyNames[k] }

// Extra is one figure of an interval.
type Extra struct {
	Key   Key
	Value float64
}

// Intervals holds states, pauses, cycles and phases as columns. The states of
// requests recovered from a trace are not here but in their [Path].
//
// Columns that are alike in most rows are packed. Times and kinds are slices: every analysis goes through them.
type Intervals struct {
	Subject Column[SubjectID]
	Clock   Column[ClockID]
	Lane    Column[LaneID]
	Kind    []Kind
	Start   []int64
	End     []int64
	Request Column[RequestID]
	Stack   Column[StackID]
	Cause   Column[NameID]
	Holder  Column[LaneID]
	Origin  Column[Origin]

	extras extras
}

// Len returns the number of intervals.
func (v *Intervals) Len() int { return len(v.Start) }

// Get returns a figure of row i, and whether the row has it.
func (v *Intervals) Get(i int, k Key) (float64, bool) { return v.extras.figureOf(i, k) }

// Has reports whether any row has a figure.
func (v *Intervals) Has(k Key) bool { return v.extras.has.hasKey(k) }

// Select returns the rows of a kind, of one subject or of all (subject < 0), in order of start.
func (v *Intervals) Select(kind Kind, subject SubjectID) []int {
	var rows []int
	for i, k := range v.Kind {
		if k == kind && (subject < 0 || v.Subject.At(i) == subject) {
			rows = append(rows, i)
		}
	}
	sort.SliceStable(rows, func(a, b int) bool { return v.Start[rows[a]] < v.Start[rows[b]] })
	return rows
}

// doubleRoom doubles the room of a full column: append alone grows large slices by a quarter, and the copying took a fifth of the
// time of reading a log.
func doubleRoom[T any](column []T) []T {
	if len(column) < cap(column) {
		return column
	}
	return slices.Grow(column, max(64, len(column)))
}

// growRows makes room for n more rows.
func (v *Intervals) growRows(n int) {
	if n <= cap(v.Start)-len(v.Start) {
		return
	}
	v.Kind, v.Start, v.End = slices.Grow(v.Kind, n), slices.Grow(v.Start, n), slices.Grow(v.End, n)
}

func (v *Intervals) addRow(x *Interval) int {
	i := len(v.Start)
	if i == cap(v.Start) {
		v.Kind, v.Start, v.End = doubleRoom(v.Kind), doubleRoom(v.Start), doubleRoom(v.End)
	}
	v.Subject.Append(x.Subject)
	v.Clock.Append(x.Clock)
	v.Lane.Append(x.Lane)
	v.Kind = append(v.Kind, x.Kind)
	v.Start = append(v.Start, x.Start)
	v.End = append(v.End, x.End)
	v.Request.Append(x.Request)
	v.Stack.Append(x.Stack)
	v.Cause.Append(x.Cause)
	v.Holder.Append(x.Holder)
	v.Origin.Append(x.Origin)
	v.extras.addRow(i, x.Extra)
	return i
}

// clone returns a table of the same rows whose times, subjects and clocks can change, and to which rows can be added, while v stays as it
// is.
func (v *Intervals) clone() Intervals {
	return Intervals{Subject: v.Subject.Clone(), Clock: v.Clock.Clone(), Lane: v.Lane.Clone(), Kind: slices.Clip(v.Kind), Start: slices.Clone(v.Start), End: slices.Clone(v.End),
		Request: v.Request.Clone(), Stack: v.Stack.Clone(), Cause: v.Cause.Clone(), Holder: v.Holder.Clone(), Origin: v.Origin.Clone(), extras: v.extras.clone()}
}

// Values of [CallFailed].
const (
	FailedUnanswered = 1. // it got no answer, or one whose status says so
	FailedByAnswer   = 2. // its answer is an error of a protocol without statuses
)
