package wire

const (
	ofGoroutine = 1 + iota
	ofProc
)

// spec is how an event is written: its type, and so many numbers, of which the first is how
// much later it is than the one before. Without a number it is none of a batch of events.
type spec struct {
	name    string
	numbers uint8
	state   uint8
}

// specs is the table of events; versions add to its end, so that one serves all.
var specs = [256]spec{
	EvCPUSample:           {name: "CPUSample"},      // in batches of its own
	EvProcsChange:         {"ProcsChange", 3, 0},    // GOMAXPROCS, stack
	EvProcStart:           {"ProcStart", 3, ofProc}, // P, its sequence number
	EvProcStop:            {"ProcStop", 1, ofProc},
	EvProcSteal:           {"ProcSteal", 4, ofProc},            // P, its sequence number, M
	EvProcStatus:          {"ProcStatus", 3, ofProc},           // P, status
	EvGoCreate:            {"GoCreate", 4, ofGoroutine},        // G, its stack, stack
	EvGoCreateSyscall:     {"GoCreateSyscall", 2, ofGoroutine}, // G
	EvGoStart:             {"GoStart", 3, ofGoroutine},         // G, its sequence number
	EvGoDestroy:           {"GoDestroy", 1, ofGoroutine},
	EvGoDestroySyscall:    {"GoDestroySyscall", 1, ofGoroutine},
	EvGoStop:              {"GoStop", 3, ofGoroutine},         // reason, stack
	EvGoBlock:             {"GoBlock", 3, ofGoroutine},        // reason, stack
	EvGoUnblock:           {"GoUnblock", 4, ofGoroutine},      // G, its sequence number, stack
	EvGoSyscallBegin:      {"GoSyscallBegin", 3, ofGoroutine}, // sequence number of the P, stack
	EvGoSyscallEnd:        {"GoSyscallEnd", 1, ofGoroutine},
	EvGoSyscallEndBlocked: {"GoSyscallEndBlocked", 1, ofGoroutine},
	EvGoStatus:            {"GoStatus", 4, ofGoroutine}, // G, M, status
	EvSTWBegin:            {"STWBegin", 3, 0},           // why, stack
	EvSTWEnd:              {"STWEnd", 1, 0},
	EvGCActive:            {"GCActive", 2, 0},           // sequence number
	EvGCBegin:             {"GCBegin", 3, 0},            // sequence number, stack
	EvGCEnd:               {"GCEnd", 2, 0},              // sequence number
	EvGCSweepActive:       {"GCSweepActive", 2, 0},      // P
	EvGCSweepBegin:        {"GCSweepBegin", 2, 0},       // stack
	EvGCSweepEnd:          {"GCSweepEnd", 3, 0},         // bytes swept, reclaimed
	EvGCMarkAssistActive:  {"GCMarkAssistActive", 2, 0}, // G
	EvGCMarkAssistBegin:   {"GCMarkAssistBegin", 2, 0},  // stack
	EvGCMarkAssistEnd:     {"GCMarkAssistEnd", 1, 0},
	EvHeapAlloc:           {"HeapAlloc", 2, 0},                 // bytes
	EvHeapGoal:            {"HeapGoal", 2, 0},                  // bytes
	EvGoLabel:             {"GoLabel", 2, 0},                   // label
	EvUserTaskBegin:       {"UserTaskBegin", 5, 0},             // task, parent, type, stack
	EvUserTaskEnd:         {"UserTaskEnd", 3, 0},               // task, stack
	EvUserRegionBegin:     {"UserRegionBegin", 4, 0},           // task, type, stack
	EvUserRegionEnd:       {"UserRegionEnd", 4, 0},             // task, type, stack
	EvUserLog:             {"UserLog", 5, 0},                   // task, category, message, stack
	EvGoSwitch:            {"GoSwitch", 3, ofGoroutine},        // G, its sequence number
	EvGoSwitchDestroy:     {"GoSwitchDestroy", 3, ofGoroutine}, // G, its sequence number
	EvGoCreateBlocked:     {"GoCreateBlocked", 4, ofGoroutine}, // G, its stack, stack
	EvGoStatusStack:       {"GoStatusStack", 5, ofGoroutine},   // G, M, status, stack
	evClockSnapshot:       {"ClockSnapshot", 4, 0},             // not among other events
	evSpan:                {"Span", 4, 0},                      // ID, pages, kind
	evSpan + 1:            {"SpanAlloc", 4, 0},                 // ID, pages, kind
	evSpan + 2:            {"SpanFree", 2, 0},                  // ID
	evSpan + 3:            {"HeapObject", 3, 0},                // ID, type
	evSpan + 4:            {"HeapObjectAlloc", 3, 0},           // ID, type
	evSpan + 5:            {"HeapObjectFree", 2, 0},            // ID
	evSpan + 6:            {"GoroutineStack", 3, 0},            // ID, order
	evSpan + 7:            {"GoroutineStackAlloc", 3, 0},       // ID, order
	evSpan + 8:            {"GoroutineStackFree", 2, 0},        // ID
}

// ofGoroutines and ofProcs are the types that change such a state, a bit for each.
var ofGoroutines, ofProcs = typesChanging(ofGoroutine), typesChanging(ofProc)

func typesChanging(state uint8) (types uint64) {
	for t, s := range specs[:64] {
		if s.state == state {
			types |= 1 << t
		}
	}
	return types
}

// numbersOf is specs' numbers, which are asked for with each event, in a few lines of the cache.
var numbersOf = func() (n [256]uint8) {
	for t, s := range specs {
		n[t] = s.numbers
	}
	return n
}()
