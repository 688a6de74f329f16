package wire

// Type is a kind of event as it is written; the numbers are the format's
// (internal/trace/tracev2/events.go in Go's source).
type Type uint8

// Types of parts of batches that are no events themselves.
const (
	evEventBatch Type = 1 + iota
	evStacks
	evStack
	evStrings
	evString
	evCPUSamples
)

// Types of events.
const (
	EvCPUSample Type = 7 + iota
	evFrequency
	EvProcsChange
	EvProcStart
	EvProcStop
	EvProcSteal
	EvProcStatus
	EvGoCreate
	EvGoCreateSyscall
	EvGoStart
	EvGoDestroy
	EvGoDestroySyscall
	EvGoStop
	EvGoBlock
	EvGoUnblock
	EvGoSyscallBegin
	EvGoSyscallEnd
	EvGoSyscallEndBlocked
	EvGoStatus
	EvSTWBegin
	EvSTWEnd
	EvGCActive
	EvGCBegin
	EvGCEnd
	EvGCSweepActive
	EvGCSweepBegin
	EvGCSweepEnd
	EvGCMarkAssistActive
	EvGCMarkAssistBegin
	EvGCMarkAssistEnd
	EvHeapAlloc
	EvHeapGoal
	EvGoLabel
	EvUserTaskBegin
	EvUserTaskEnd
	EvUserRegionBegin
	EvUserRegionEnd
	EvUserLog
	EvGoSwitch                     // from Go 1.23 on
	EvGoSwitchDestroy              // from Go 1.23 on
	EvGoCreateBlocked              // from Go 1.23 on
	EvGoStatusStack                // from Go 1.23 on
	evExperimentalBatch            // from Go 1.23 on
	evSync                         // from Go 1.25 on; a lone evFrequency before
	evClockSnapshot                // from Go 1.25 on
	evEndOfGeneration              // from Go 1.26 on
	evSpan              Type = 128 // the first of the experiment AllocFree, from Go 1.23 on
	evLastAllocFree     Type = 136
	EvSync              Type = 255 // a generation begins, or the trace ends; written by the reader
)

// None is the ID of no goroutine, processor or thread.
const None = -1

// GoState is what a goroutine does.
type GoState = uint8

// States of goroutines.
const (
	GoUndetermined GoState = iota
	GoNotExist
	GoRunnable
	GoRunning
	GoWaiting
	GoSyscall
)

// ProcState is what a processor does.
type ProcState = uint8

// States of processors.
const (
	ProcUndetermined ProcState = iota
	ProcNotExist
	ProcRunning
	ProcIdle
)

// Event is one thing that happened, 64 bytes without a pointer. Which of the fields
// below Thread are set depends on its type.
//
//	changes of state      On: goroutine or processor, From, To, Text: why it stops or blocks,
//	                      Stack: of the goroutine, By: of Goroutine where it creates or wakes On
//	EvProcsChange, EvHeapAlloc, EvHeapGoal   Value: threads or bytes, Stack
//	EvSTW…, EvGCMarkAssist…                  On: the goroutine, Text: why the world stops, Stack: of Goroutine
//	EvGCBegin, EvGCActive, EvGCEnd           Value: sequence number, Stack
//	EvGCSweepBegin, EvGCSweepEnd             of Proc; Value, On: bytes swept and reclaimed, Stack
//	EvGCSweepActive                          On: the processor
//	EvGoLabel                                On: the goroutine, Text
//	EvUserTaskBegin, EvUserTaskEnd           Value: its ID, On: its parent's or 0, Text: its type, Stack
//	EvUserRegionBegin, EvUserRegionEnd       Value: the task's ID, Text: its type, Stack
//	EvUserLog                                Value: the task's ID, Text: category, Text2: message, Stack
//	EvCPUSample                              Stack
//	EvSync                                   Value: how many there have been
type Event struct {
	Time      int64 // ns of the trace's clock; no two events have the same
	Goroutine int64 // that ran on Thread before it happened, None: none
	Thread    int64
	On        int64
	Value     uint64
	Proc      int32 // that Thread had before it happened, None: none
	Stack     uint32
	By        uint32
	Text      uint32
	Text2     uint32
	Type      Type
	From, To  uint8
}

// Experimental says whether an event is of an experiment of the runtime's.
func (t Type) Experimental() bool { return t >= evSpan && t <= evLastAllocFree }

// OfGoroutine says whether an event changes, or tells, the state of a goroutine.
func (t Type) OfGoroutine() bool { return t < 64 && ofGoroutines>>t&1 != 0 }

// OfProc says whether an event changes, or tells, the state of a processor.
func (t Type) OfProc() bool { return t < 64 && ofProcs>>t&1 != 0 }

// Name is the type's name in Go's source, without the Ev.
func (t Type) Name() string {
	switch {
	case t == EvSync:
		return "Sync"
	case specs[t].name != "":
		return specs[t].name
	}
	return "unknown"
}
