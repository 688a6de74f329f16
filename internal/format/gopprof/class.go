package gopprof

import (
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Classes of CPU time: what the work was for. "" is the program's own code,
// which includes C called through cgo, copying (memmove) and stack growth.
const (
	ClassDedicated    = evidence.ClassGCMark + " (dedicated)"
	ClassFractional   = evidence.ClassGCMark + " (fractional)"
	ClassIdle         = evidence.ClassGCMark + " (idle)"
	ClassBackground   = evidence.ClassGCMark // of a kind the profile does not show: before Go 1.22
	ClassAssist       = evidence.ClassGCAssist
	ClassSweep        = evidence.ClassGC + "sweep"
	ClassWriteBarrier = evidence.ClassGC + "write barrier"
	ClassSTW          = evidence.ClassGC + "stop-the-world"
	ClassGCOther      = evidence.ClassGC + "other"
	ClassMalloc       = "malloc"
	ClassZeroing      = "page fault / zeroing"
	ClassScheduler    = "scheduler"
	ClassSyscall      = "syscall"
	ClassOwn          = ""
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

type rule struct {
	class  string
	weight weight
}

// rules is the table, by the function's name within package runtime; a closure
// or a function inlined into another counts as the outer one. The innermost
// strong frame wins: an assist inside mallocgc is an assist, a write barrier
// inside user code a write barrier. Sources: mgc.go, mgcmark.go, mgcsweep.go,
// mgcscavenge.go, mwbbuf.go, mbarrier.go, malloc.go, mheap.go, proc.go of Go
// 1.5 to 1.27; a name that some versions lack has its versions beside it.
var rules = map[string]rule{
	// Background mark. Since 1.22 wrappers show the kinds to profilers.
	"gcDrainMarkWorkerDedicated":  {ClassDedicated, strong},
	"gcDrainMarkWorkerFractional": {ClassFractional, strong},
	"gcDrainMarkWorkerIdle":       {ClassIdle, strong},
	"gcBgMarkWorker":              {ClassBackground, strong},
	"gcDrainUntilPreempt":         {ClassBackground, strong}, // –1.7: fractional or idle
	"gcscan_m":                    {ClassBackground, strong}, // 1.5
	// Marking whose root was lost: the stack was cut at its depth limit, or unwinding failed.
	"gcDrain":            {ClassBackground, weak},
	"markroot":           {ClassBackground, weak},
	"scanobject":         {ClassBackground, weak},
	"scanblock":          {ClassBackground, weak},
	"scanstack":          {ClassBackground, weak},
	"greyobject":         {ClassBackground, weak},
	"scanObject":         {ClassBackground, weak}, // 1.25–: Green Tea
	"scanObjectSmall":    {ClassBackground, weak},
	"scanObjectsSmall":   {ClassBackground, weak},
	"scanSpan":           {ClassBackground, weak},
	"tryDeferToSpanScan": {ClassBackground, weak},

	"gcAssistAlloc":  {ClassAssist, strong},
	"gcAssistAlloc1": {ClassAssist, strong}, // 1.9–
	"gcParkAssist":   {ClassAssist, strong},
	"gcDrainN":       {ClassAssist, strong}, // called by nothing else

	"bgsweep":               {ClassSweep, strong},
	"sweepone":              {ClassSweep, strong},
	"gosweepone":            {ClassSweep, strong}, // –1.9
	"finishsweep_m":         {ClassSweep, strong},
	"deductSweepCredit":     {ClassSweep, strong},
	"mSpan_Sweep":           {ClassSweep, strong}, // 1.5
	"mSpan_EnsureSwept":     {ClassSweep, strong},
	"mHeap_Reclaim":         {ClassSweep, strong},
	"mHeap_ReclaimList":     {ClassSweep, strong},
	"(*mheap).reclaimList":  {ClassSweep, strong}, // 1.6–1.11
	"(*mheap).reclaim":      {ClassSweep, strong},
	"(*mheap).reclaimChunk": {ClassSweep, strong}, // 1.12–
	"(*mspan).sweep":        {ClassSweep, strong}, // 1.6–1.16
	"(*mspan).ensureSwept":  {ClassSweep, strong},
	"(*sweepLocked).sweep":  {ClassSweep, strong}, // 1.17–

	"gcWriteBarrier":             {ClassWriteBarrier, strong}, // 1.10–, gcWriteBarrierCX …, 1.21– gcWriteBarrier1 …: see ruleOf
	"wbBufFlush":                 {ClassWriteBarrier, strong}, // wbBufFlush1 is also GC's own
	"bulkBarrierPreWrite":        {ClassWriteBarrier, strong}, // 1.8–
	"bulkBarrierPreWriteSrcOnly": {ClassWriteBarrier, strong},
	"bulkBarrierBitmap":          {ClassWriteBarrier, strong},
	"typeBitsBulkBarrier":        {ClassWriteBarrier, strong},
	"heapBitsBulkBarrier":        {ClassWriteBarrier, strong}, // –1.7
	"gcmarkwb_m":                 {ClassWriteBarrier, strong}, // –1.9
	"writebarrierptr":            {ClassWriteBarrier, strong},
	"writebarrierptr_nostore":    {ClassWriteBarrier, strong},
	"writebarrierptr_nostore1":   {ClassWriteBarrier, strong},
	"writebarrierptr_prewrite":   {ClassWriteBarrier, strong},
	"writebarrierptr_prewrite1":  {ClassWriteBarrier, strong},

	// gcStart and gcMarkTermination do little outside their pauses. Others stop
	// the world too (ReadMemStats, GOMAXPROCS): alone that is the scheduler's.
	"gcStart":               {ClassSTW, strong},
	"gcMarkTermination":     {ClassSTW, strong},
	"gcMark":                {ClassSTW, strong}, // until 1.11 it marks within the pause
	"gchelper":              {ClassSTW, strong}, // –1.11
	"stopTheWorld":          {ClassScheduler, stops},
	"stopTheWorldGC":        {ClassScheduler, stops},
	"stopTheWorldWithSema":  {ClassScheduler, stops},
	"startTheWorld":         {ClassScheduler, stops},
	"startTheWorldGC":       {ClassScheduler, stops},
	"startTheWorldWithSema": {ClassScheduler, stops},

	"gcMarkDone":                 {ClassGCOther, strong}, // 1.8–: the ragged barrier that finds the end of marking
	"forEachP":                   {ClassGCOther, weak},
	"GC":                         {ClassGCOther, strong},
	"gc":                         {ClassGCOther, strong}, // –1.8
	"backgroundgc":               {ClassGCOther, strong}, // 1.5
	"startGC":                    {ClassGCOther, strong},
	"forcegchelper":              {ClassGCOther, strong},
	"_GC":                        {ClassGCOther, strong}, // GC on a stack that could not be walked
	"bgscavenge":                 {ClassGCOther, strong}, // 1.13–
	"(*pageAlloc).scavenge":      {ClassGCOther, strong}, // 1.14–, also by allocations under a memory limit
	"(*mheap).scavengeLocked":    {ClassGCOther, strong}, // 1.13
	"(*mheap).scavenge":          {ClassGCOther, strong}, // 1.6–1.12
	"mHeap_Scavenge":             {ClassGCOther, strong}, // 1.5
	"runtime_debug_freeOSMemory": {ClassGCOther, strong},

	// mallocgcTiny, mallocgcSmallNoscan … (1.24–): see ruleOf.
	"mallocgc":             {ClassMalloc, strong},
	"largeAlloc":           {ClassMalloc, strong}, // –1.17
	"newobject":            {ClassMalloc, strong},
	"makeslice":            {ClassMalloc, strong},
	"rawmem":               {ClassMalloc, strong}, // 1.5
	"profilealloc":         {ClassMalloc, strong},
	"nextFreeFast":         {ClassMalloc, weak},
	"(*mcache).refill":     {ClassMalloc, weak},
	"(*mcache).nextFree":   {ClassMalloc, weak},
	"(*mcentral).grow":     {ClassMalloc, weak},
	"(*mheap).alloc":       {ClassMalloc, weak},
	"(*mheap).alloc_m":     {ClassMalloc, weak}, // –1.13
	"(*mheap).allocManual": {ClassMalloc, weak},
	"mHeap_Alloc":          {ClassMalloc, weak}, // 1.5

	// First fill: new or reused memory is cleared, or requested, page by page.
	// The kernel faults pages in below these; user code that is the first to
	// touch a page does not show.
	"memclrNoHeapPointers":        {ClassOwn, zeroes}, // 1.8–
	"memclrNoHeapPointersChunked": {ClassOwn, zeroes}, // 1.17–
	"memclr":                      {ClassOwn, zeroes}, // –1.7
	"(*mheap).grow":               {ClassOwn, zeroes},
	"mHeap_Grow":                  {ClassOwn, zeroes}, // 1.5
	"sysMap":                      {ClassOwn, zeroes},
	"sysUsed":                     {ClassOwn, zeroes},
	"sysHugePage":                 {ClassOwn, zeroes},

	"schedule":        {ClassScheduler, strong},
	"findrunnable":    {ClassScheduler, strong}, // –1.18
	"findRunnable":    {ClassScheduler, strong}, // 1.19–
	"stealWork":       {ClassScheduler, strong},
	"mcall":           {ClassScheduler, strong},
	"park_m":          {ClassScheduler, strong},
	"goschedImpl":     {ClassScheduler, strong},
	"gosched_m":       {ClassScheduler, strong},
	"gopreempt_m":     {ClassScheduler, strong},
	"preemptPark":     {ClassScheduler, strong},
	"goexit0":         {ClassScheduler, strong},
	"exitsyscall0":    {ClassScheduler, strong},
	"exitsyscallNoP":  {ClassScheduler, strong}, // 1.26–
	"execute":         {ClassScheduler, strong},
	"sysmon":          {ClassScheduler, strong},
	"mstart":          {ClassScheduler, strong},
	"mstart0":         {ClassScheduler, strong},
	"mstart1":         {ClassScheduler, strong},
	"templateThread":  {ClassScheduler, strong},
	"gopark":          {ClassScheduler, weak},
	"Gosched":         {ClassScheduler, weak},
	"goready":         {ClassScheduler, weak},
	"ready":           {ClassScheduler, weak},
	"wakep":           {ClassScheduler, weak},
	"startm":          {ClassScheduler, weak},
	"stopm":           {ClassScheduler, weak},
	"handoffp":        {ClassScheduler, weak},
	"newm":            {ClassScheduler, weak},
	"newproc":         {ClassScheduler, weak},
	"goexit1":         {ClassScheduler, weak},
	"injectglist":     {ClassScheduler, weak},
	"netpoll":         {ClassScheduler, weak},
	"epollwait":       {ClassScheduler, weak}, // –1.20
	"futex":           {ClassScheduler, weak},
	"futexsleep":      {ClassScheduler, weak},
	"futexwakeup":     {ClassScheduler, weak},
	"notesleep":       {ClassScheduler, weak},
	"notetsleep":      {ClassScheduler, weak},
	"notewakeup":      {ClassScheduler, weak},
	"semasleep":       {ClassScheduler, weak},
	"semawakeup":      {ClassScheduler, weak},
	"usleep":          {ClassScheduler, weak},
	"osyield":         {ClassScheduler, weak},
	"asyncPreempt":    {ClassScheduler, weak}, // 1.14–
	"asyncPreempt2":   {ClassScheduler, weak},
	"sigtramp":        {ClassScheduler, weak},
	"entersyscall":    {ClassSyscall, weak},
	"reentersyscall":  {ClassSyscall, weak},
	"exitsyscall":     {ClassSyscall, weak},
	"exitsyscallfast": {ClassSyscall, weak}, // –1.25
}

// ruleOf returns the rule of a function for the stacks it is in.
func ruleOf(function string) rule {
	pkg, name := splitFunction(function)
	switch pkg {
	case "runtime":
	case "": // assembly without a package: gcWriteBarrier of 1.21–
		if name == "gcWriteBarrier" {
			return rules[name]
		}
		return rule{}
	case "syscall", "golang.org/x/sys/unix", "internal/syscall/unix":
		for _, p := range []string{"Syscall", "RawSyscall", "syscall", "rawSyscall", "rawVforkSyscall"} {
			if strings.HasPrefix(name, p) {
				return rule{ClassSyscall, strong}
			}
		}
		return rule{}
	case "runtime/internal/syscall", "internal/runtime/syscall", "internal/runtime/syscall/linux":
		// –1.23, 1.24–, 1.26–. The poller uses it too, so the outer frames decide.
		return rule{ClassSyscall, weak}
	case "internal/runtime/gc/scan": // 1.25–
		return rule{ClassBackground, weak}
	default:
		return rule{}
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
	return rule{}
}

// splitFunction splits a function's name: package, and function or method without
// the closures and inlined calls inside it.
//
//	runtime.gcMarkDone.forEachP.func5  →  runtime, gcMarkDone
//	runtime.(*mheap).alloc.func1       →  runtime, (*mheap).alloc
func splitFunction(function string) (pkg, name string) {
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

// decision is the state of classifying one stack, fed innermost frame first.
type decision struct {
	class       string
	done        bool
	weak        string
	guessed     bool
	stop, clear bool
}

// addRule adds the next frame's rule. It returns true when the class is settled.
func (d *decision) addRule(r rule) bool {
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

func (d *decision) finalClass() string {
	class := d.class
	if !d.done {
		class = d.weak
	}
	switch {
	case d.stop && IsGC(class):
		return ClassSTW
	case d.clear && class == ClassMalloc:
		return ClassZeroing
	}
	return class
}

// IsGC says whether a class is GC work.
func IsGC(class string) bool { return strings.HasPrefix(class, "gc ") }
