// Package goclass classifies stacks of Go programs by what the CPU time was for: marking, assists, sweeping, allocation, the scheduler, system
// calls, or the program's own code. The functions of the runtime on the stack tell it, whichever profiler took it.
package goclass

import (
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Classes of CPU time: what the work was for. "" is the program's own code,
// which includes C called through cgo, copying (memmove) and stack growth.
const (
	Dedicated    = evidence.ClassGCMark + " (dedicated)"
	Fractional   = evidence.ClassGCMark + " (fractional)"
	Idle         = evidence.ClassGCMark + " (idle)"
	Background   = evidence.ClassGCMark // of a kind the profile does not show: before Go 1.22
	Assist       = evidence.ClassGCAssist
	Sweep        = evidence.ClassGC + "sweep"
	WriteBarrier = evidence.ClassGC + "write barrier"
	STW          = evidence.ClassGC + "stop-the-world"
	GCOther      = evidence.ClassGC + "other"
	Malloc       = "malloc"
	Zeroing      = "page fault / zeroing"
	Scheduler    = "scheduler"
	Syscall      = "syscall"
	Own          = ""
)

// weight is how a frame decides the class of a stack.
type weight uint8

const (
	neutral weight = iota // decides nothing: systemstack, memmove, lock2
	weak                  // decides if no other frame does: futex is the scheduler's, except below a mark worker
	strong                // decides unless a frame further in already did
	stops                 // turns GC work into a stop-the-world: stopTheWorldWithSema
	zeroes                // turns malloc into first fill: memclrNoHeapPointers
)

// Rule is what a function says of the stacks it is in.
type Rule struct {
	class  string
	weight weight
}

// rules is the table, by the function's name within package runtime; a closure
// or a function inlined into another counts as the outer one. The innermost
// strong frame wins: an assist inside mallocgc is an assist, a write barrier
// inside user code a write barrier. Sources: mgc.go, mgcmark.go, mgcsweep.go,
// mgcscavenge.go, mwbbuf.go, mbarrier.go, malloc.go, mheap.go, proc.go of Go
// 1.5 to 1.27; a name that some versions lack has its versions beside it.
var rules = map[string]Rule{
	// Background mark. Since 1.22 wrappers show the kinds to profilers.
	"gcDrainMarkWorkerDedicated":  {Dedicated, strong},
	"gcDrainMarkWorkerFractional": {Fractional, strong},
	"gcDrainMarkWorkerIdle":       {Idle, strong},
	"gcBgMarkWorker":              {Background, strong},
	"gcDrainUntilPreempt":         {Background, strong}, // –1.7: fractional or idle
	"gcscan_m":                    {Background, strong}, // 1.5
	// Marking whose root was lost: the stack was cut at its depth limit, or unwinding failed.
	"gcDrain":            {Background, weak},
	"markroot":           {Background, weak},
	"scanobject":         {Background, weak},
	"scanblock":          {Background, weak},
	"scanstack":          {Background, weak},
	"greyobject":         {Background, weak},
	"scanObject":         {Background, weak}, // 1.25–: Green Tea
	"scanObjectSmall":    {Background, weak},
	"scanObjectsSmall":   {Background, weak},
	"scanSpan":           {Background, weak},
	"tryDeferToSpanScan": {Background, weak},

	"gcAssistAlloc":  {Assist, strong},
	"gcAssistAlloc1": {Assist, strong}, // 1.9–
	"gcParkAssist":   {Assist, strong},
	"gcDrainN":       {Assist, strong}, // called by nothing else

	"bgsweep":               {Sweep, strong},
	"sweepone":              {Sweep, strong},
	"gosweepone":            {Sweep, strong}, // –1.9
	"finishsweep_m":         {Sweep, strong},
	"deductSweepCredit":     {Sweep, strong},
	"mSpan_Sweep":           {Sweep, strong}, // 1.5
	"mSpan_EnsureSwept":     {Sweep, strong},
	"mHeap_Reclaim":         {Sweep, strong},
	"mHeap_ReclaimList":     {Sweep, strong},
	"(*mheap).reclaimList":  {Sweep, strong}, // 1.6–1.11
	"(*mheap).reclaim":      {Sweep, strong},
	"(*mheap).reclaimChunk": {Sweep, strong}, // 1.12–
	"(*mspan).sweep":        {Sweep, strong}, // 1.6–1.16
	"(*mspan).ensureSwept":  {Sweep, strong},
	"(*sweepLocked).sweep":  {Sweep, strong}, // 1.17–

	"gcWriteBarrier":             {WriteBarrier, strong}, // 1.10–, gcWriteBarrierCX …, 1.21– gcWriteBarrier1 …: see RuleOf
	"wbBufFlush":                 {WriteBarrier, strong}, // wbBufFlush1 is also GC's own
	"bulkBarrierPreWrite":        {WriteBarrier, strong}, // 1.8–
	"bulkBarrierPreWriteSrcOnly": {WriteBarrier, strong},
	"bulkBarrierBitmap":          {WriteBarrier, strong},
	"typeBitsBulkBarrier":        {WriteBarrier, strong},
	"heapBitsBulkBarrier":        {WriteBarrier, strong}, // –1.7
	"gcmarkwb_m":                 {WriteBarrier, strong}, // –1.9
	"writebarrierptr":            {WriteBarrier, strong},
	"writebarrierptr_nostore":    {WriteBarrier, strong},
	"writebarrierptr_nostore1":   {WriteBarrier, strong},
	"writebarrierptr_prewrite":   {WriteBarrier, strong},
	"writebarrierptr_prewrite1":  {WriteBarrier, strong},

	// gcStart and gcMarkTermination do little outside their pauses. Others stop
	// the world too (ReadMemStats, GOMAXPROCS): alone that is the scheduler's.
	"gcStart":               {STW, strong},
	"gcMarkTermination":     {STW, strong},
	"gcMark":                {STW, strong}, // until 1.11 it marks within the pause
	"gchelper":              {STW, strong}, // –1.11
	"stopTheWorld":          {Scheduler, stops},
	"stopTheWorldGC":        {Scheduler, stops},
	"stopTheWorldWithSema":  {Scheduler, stops},
	"startTheWorld":         {Scheduler, stops},
	"startTheWorldGC":       {Scheduler, stops},
	"startTheWorldWithSema": {Scheduler, stops},

	"gcMarkDone":                 {GCOther, strong}, // 1.8–: the ragged barrier that finds the end of marking
	"forEachP":                   {GCOther, weak},
	"GC":                         {GCOther, strong},
	"gc":                         {GCOther, strong}, // –1.8
	"backgroundgc":               {GCOther, strong}, // 1.5
	"startGC":                    {GCOther, strong},
	"forcegchelper":              {GCOther, strong},
	"_GC":                        {GCOther, strong}, // GC on a stack that could not be walked
	"bgscavenge":                 {GCOther, strong}, // 1.13–
	"(*pageAlloc).scavenge":      {GCOther, strong}, // 1.14–, also by allocations under a memory limit
	"(*mheap).scavengeLocked":    {GCOther, strong}, // 1.13
	"(*mheap).scavenge":          {GCOther, strong}, // 1.6–1.12
	"mHeap_Scavenge":             {GCOther, strong}, // 1.5
	"runtime_debug_freeOSMemory": {GCOther, strong},

	// mallocgcTiny, mallocgcSmallNoscan … (1.24–): see RuleOf.
	"mallocgc":             {Malloc, strong},
	"largeAlloc":           {Malloc, strong}, // –1.17
	"newobject":            {Malloc, strong},
	"makeslice":            {Malloc, strong},
	"rawmem":               {Malloc, strong}, // 1.5
	"profilealloc":         {Malloc, strong},
	"nextFreeFast":         {Malloc, weak},
	"(*mcache).refill":     {Malloc, weak},
	"(*mcache).nextFree":   {Malloc, weak},
	"(*mcentral).grow":     {Malloc, weak},
	"(*mheap).alloc":       {Malloc, weak},
	"(*mheap).alloc_m":     {Malloc, weak}, // –1.13
	"(*mheap).allocManual": {Malloc, weak},
	"mHeap_Alloc":          {Malloc, weak}, // 1.5

	// First fill: new or reused memory is cleared, or requested, page by page.
	// The kernel faults pages in below these; user code that is the first to
	// touch a page does not show.
	"memclrNoHeapPointers":        {Own, zeroes}, // 1.8–
	"memclrNoHeapPointersChunked": {Own, zeroes}, // 1.17–
	"memclr":                      {Own, zeroes}, // –1.7
	"(*mheap).grow":               {Own, zeroes},
	"mHeap_Grow":                  {Own, zeroes}, // 1.5
	"sysMap":                      {Own, zeroes},
	"sysUsed":                     {Own, zeroes},
	"sysHugePage":                 {Own, zeroes},

	"schedule":        {Scheduler, strong},
	"findrunnable":    {Scheduler, strong}, // –1.18
	"findRunnable":    {Scheduler, strong}, // 1.19–
	"stealWork":       {Scheduler, strong},
	"mcall":           {Scheduler, strong},
	"park_m":          {Scheduler, strong},
	"goschedImpl":     {Scheduler, strong},
	"gosched_m":       {Scheduler, strong},
	"gopreempt_m":     {Scheduler, strong},
	"preemptPark":     {Scheduler, strong},
	"goexit0":         {Scheduler, strong},
	"exitsyscall0":    {Scheduler, strong},
	"exitsyscallNoP":  {Scheduler, strong}, // 1.26–
	"execute":         {Scheduler, strong},
	"sysmon":          {Scheduler, strong},
	"mstart":          {Scheduler, strong},
	"mstart0":         {Scheduler, strong},
	"mstart1":         {Scheduler, strong},
	"templateThread":  {Scheduler, strong},
	"gopark":          {Scheduler, weak},
	"Gosched":         {Scheduler, weak},
	"goready":         {Scheduler, weak},
	"ready":           {Scheduler, weak},
	"wakep":           {Scheduler, weak},
	"startm":          {Scheduler, weak},
	"stopm":           {Scheduler, weak},
	"handoffp":        {Scheduler, weak},
	"newm":            {Scheduler, weak},
	"newproc":         {Scheduler, weak},
	"goexit1":         {Scheduler, weak},
	"injectglist":     {Scheduler, weak},
	"netpoll":         {Scheduler, weak},
	"epollwait":       {Scheduler, weak}, // –1.20
	"futex":           {Scheduler, weak},
	"futexsleep":      {Scheduler, weak},
	"futexwakeup":     {Scheduler, weak},
	"notesleep":       {Scheduler, weak},
	"notetsleep":      {Scheduler, weak},
	"notewakeup":      {Scheduler, weak},
	"semasleep":       {Scheduler, weak},
	"semawakeup":      {Scheduler, weak},
	"usleep":          {Scheduler, weak},
	"osyield":         {Scheduler, weak},
	"asyncPreempt":    {Scheduler, weak}, // 1.14–
	"asyncPreempt2":   {Scheduler, weak},
	"sigtramp":        {Scheduler, weak},
	"entersyscall":    {Syscall, weak},
	"reentersyscall":  {Syscall, weak},
	"exitsyscall":     {Syscall, weak},
	"exitsyscallfast": {Syscall, weak}, // –1.25
}

// Class returns the class that the rule stands for.
func (r Rule) Class() string { return r.class }

// RuleOf returns the rule of a function for the stacks it is in.
func RuleOf(function string) Rule {
	pkg, name := SplitFunction(function)
	switch pkg {
	case "runtime":
	case "": // assembly without a package: gcWriteBarrier of 1.21–
		if name == "gcWriteBarrier" {
			return rules[name]
		}
		return Rule{}
	case "syscall", "golang.org/x/sys/unix", "internal/syscall/unix":
		for _, p := range []string{"Syscall", "RawSyscall", "syscall", "rawSyscall", "rawVforkSyscall"} {
			if strings.HasPrefix(name, p) {
				return Rule{Syscall, strong}
			}
		}
		return Rule{}
	case "runtime/internal/syscall", "internal/runtime/syscall", "internal/runtime/syscall/linux":
		// –1.23, 1.24–, 1.26–. The poller uses it too, so the outer frames decide.
		return Rule{Syscall, weak}
	case "internal/runtime/gc/scan": // 1.25–
		return Rule{Background, weak}
	default:
		return Rule{}
	}
	if r, ok := rules[name]; ok {
		return r
	}
	switch {
	case strings.HasPrefix(name, "mallocgc"):
		return rules["mallocgc"]
	case strings.HasPrefix(name, "gcWriteBarrier"):
		return rules["gcWriteBarrier"]
	}
	return Rule{}
}

// SplitFunction splits a function's name: package, and function or method without
// the closures and inlined calls inside it.
//
//	runtime.gcMarkDone.forEachP.func5  →  runtime, gcMarkDone
//	runtime.(*mheap).alloc.func1       →  runtime, (*mheap).alloc
func SplitFunction(function string) (pkg, name string) {
	slash := strings.LastIndexByte(function, '/') + 1
	if b := strings.IndexAny(function, "[("); b >= 0 && b < slash { // a type argument's or receiver's package
		slash = strings.LastIndexByte(function[:b], '/') + 1
	}
	dot := strings.IndexByte(function[slash:], '.')
	if dot < 0 {
		return "", function
	}
	pkg, name = function[:slash+dot], function[slash+dot+1:]
	from := 0
	if strings.HasPrefix(name, "(") {
		if from = strings.Index(name, ").") + 2; from < 2 {
			return pkg, name
		}
	}
	if end := strings.IndexByte(name[from:], '.'); end >= 0 {
		name = name[:from+end]
	}
	return pkg, name
}

// Decision is the state of classifying one stack, fed innermost frame first.
type Decision struct {
	class       string
	done        bool
	weak        string
	guessed     bool
	stop, clear bool
}

// Add adds the next frame's rule. It returns true when the class is settled.
func (d *Decision) Add(r Rule) bool {
	switch r.weight {
	case strong:
		d.class, d.done = r.class, true
	case weak:
		if !d.guessed {
			d.weak, d.guessed = r.class, true
		}
	case stops:
		d.stop = true
		if !d.guessed {
			d.weak, d.guessed = r.class, true
		}
	case zeroes:
		d.clear = true
	}
	return d.done
}

// Class returns the class of the frames so far.
func (d *Decision) Class() string {
	class := d.class
	if !d.done {
		class = d.weak
	}
	switch {
	case d.stop && IsGC(class):
		return STW
	case d.clear && class == Malloc:
		return Zeroing
	}
	return class
}

// IsGC says whether a class is GC work.
func IsGC(class string) bool { return strings.HasPrefix(class, "gc ") }

// Order is the order of classes in tables and facts.
var Order = []string{
	Own, Dedicated, Fractional, Idle, Background, Assist, Sweep, WriteBarrier, STW, GCOther,
	Malloc, Zeroing, Scheduler, Syscall,
}
