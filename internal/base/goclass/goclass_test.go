package goclass

import (
	"strings"
	"testing"
)

func TestClassify(t *testing.T) {
	for _, c := range []struct{ name, stack, want string }{
		// Background mark.
		{"1.26 dedicated", "internal/runtime/gc/scan.scanSpanPackedAVX512 runtime.scanSpan runtime.gcDrain runtime.gcDrainMarkWorkerDedicated runtime.gcBgMarkWorker.func2 runtime.systemstack runtime.gcBgMarkWorker runtime.gcBgMarkStartWorkers.gowrap1 runtime.goexit", Dedicated},
		{"1.22 fractional", "runtime.greyobject runtime.scanobject runtime.gcDrain runtime.gcDrainMarkWorkerFractional runtime.gcBgMarkWorker.func2 runtime.systemstack runtime.gcBgMarkWorker", Fractional},
		{"1.22 idle", "runtime.findObject runtime.scanobject runtime.gcDrain runtime.gcDrainMarkWorkerIdle runtime.gcBgMarkWorker.func2 runtime.systemstack runtime.gcBgMarkWorker", Idle},
		{"1.14 unknown kind", "runtime.scanobject runtime.gcDrain runtime.gcBgMarkWorker.func2 runtime.systemstack runtime.gcBgMarkWorker", Background},
		{"1.5 until preempt", "runtime.scanobject runtime.gcDrainUntilPreempt runtime.gcBgMarkWorker.func1 runtime.systemstack runtime.gcBgMarkWorker", Background},
		{"1.5 stack scan", "runtime.scanblock runtime.markroot runtime.parfordo runtime.gcscan_m runtime.gc.func2 runtime.systemstack runtime.gc runtime.backgroundgc", Background},
		{"root lost", "runtime.greyobject runtime.scanobject runtime.gcDrain runtime.systemstack", Background},
		{"a worker wakes an assist", "runtime.futex runtime.futexwakeup runtime.notewakeup runtime.startm runtime.wakep runtime.ready runtime.gcFlushBgCredit runtime.gcDrain runtime.gcDrainMarkWorkerIdle runtime.gcBgMarkWorker.func2 runtime.systemstack runtime.gcBgMarkWorker", Idle},
		{"a worker clears a work buffer", "runtime.memclrNoHeapPointers runtime.(*mheap).allocSpan runtime.(*mheap).allocManual runtime.getempty runtime.gcDrain runtime.gcDrainMarkWorkerDedicated runtime.gcBgMarkWorker.func2 runtime.gcBgMarkWorker", Dedicated},

		// Assist inside malloc is assist.
		{"1.26 assist", "runtime.scanObject runtime.gcDrainN runtime.gcAssistAlloc1 runtime.gcAssistAlloc.func2 runtime.systemstack runtime.gcAssistAlloc runtime.deductAssistCredit runtime.mallocgc runtime.newobject main.handle", Assist},
		{"1.5 assist", "runtime.scanobject runtime.gcDrainN runtime.gcAssistAlloc.func1 runtime.systemstack runtime.gcAssistAlloc runtime.mallocgc runtime.newobject main.handle", Assist},
		{"assist credit by itself", "runtime.deductAssistCredit runtime.mallocgc runtime.newobject main.handle", Malloc},

		{"1.17 sweep", "runtime.(*sweepLocked).sweep runtime.sweepone runtime.bgsweep runtime.gcenable.func1", Sweep},
		{"1.14 sweep to allocate", "runtime.(*mspan).sweep runtime.(*mcentral).cacheSpan runtime.(*mcache).refill runtime.mallocgc main.f", Sweep},
		{"1.5 sweep", "runtime.heapBitsSweepSpan runtime.mSpan_Sweep runtime.mCentral_CacheSpan runtime.mCache_Refill runtime.mallocgc main.f", Sweep},
		{"sweep credit", "runtime.sweepone runtime.deductSweepCredit runtime.(*mcentral).cacheSpan runtime.mallocgc main.f", Sweep},
		{"1.26, inlined", "runtime.(*mheap).freeSpan runtime.(*sweepLocked).sweep.(*mheap).freeSpan.func2 runtime.systemstack main.f", Sweep},

		{"1.21 write barrier in user code", "runtime.wbBufFlush1 runtime.wbBufFlush.func1 runtime.systemstack runtime.wbBufFlush runtime.gcWriteBarrier2 main.link", WriteBarrier},
		{"1.21 its assembly", "gcWriteBarrier main.link", WriteBarrier},
		{"1.11", "runtime.wbBufFlush1 runtime.wbBufFlush.func1 runtime.systemstack runtime.wbBufFlush runtime.gcWriteBarrierCX main.link", WriteBarrier},
		{"1.8", "runtime.shade runtime.writebarrierptr_prewrite1.func1 runtime.systemstack runtime.writebarrierptr_prewrite1 runtime.writebarrierptr main.link", WriteBarrier},
		{"bulk", "runtime.bulkBarrierPreWrite runtime.growslice main.f", WriteBarrier},
		{"a flush by the collector", "runtime.wbBufFlush1 runtime.gcMarkDone.func1 runtime.systemstack runtime.gcMarkDone runtime.gcBgMarkWorker", GCOther},

		{"malloc", "runtime.nextFreeFast runtime.mallocgc runtime.makeslice main.f", Malloc},
		{"1.25 malloc", "runtime.mallocgcSmallNoscan runtime.mallocgc runtime.newobject main.f", Malloc},
		{"1.26 specialised", "runtime.mallocgcSmallScanNoHeaderSC4 main.f", Malloc},
		{"1.26 span", "runtime.(*mheap).initSpan runtime.(*mheap).allocSpan runtime.(*mheap).alloc.func1 runtime.systemstack runtime.(*mheap).alloc runtime.(*mcentral).grow runtime.mallocgc main.f", Malloc},
		{"first fill", "runtime.memclrNoHeapPointers runtime.memclrNoHeapPointersChunked runtime.mallocgcLarge runtime.mallocgc runtime.makeslice main.f", Zeroing},
		{"1.7 first fill", "runtime.memclr runtime.(*mheap).alloc runtime.largeAlloc runtime.mallocgc main.f", Zeroing},
		{"the heap grows", "runtime.mmap runtime.sysMap runtime.(*mheap).grow runtime.(*mheap).allocSpan runtime.mallocgc main.f", Zeroing},
		{"clear() in user code", "runtime.memclrNoHeapPointers main.f", Own},

		{"start", "runtime.stopTheWorldWithSema runtime.gcStart.func2 runtime.systemstack runtime.gcStart runtime.mallocgc main.f", STW},
		{"termination", "runtime.startTheWorldWithSema runtime.gcMarkTermination.func4 runtime.systemstack runtime.gcMarkTermination runtime.gcMarkDone runtime.gcBgMarkWorker", STW},
		{"1.26 marking is found done", "runtime.preemptall runtime.stopTheWorldWithSema runtime.gcMarkDone.func2 runtime.gcMarkDone runtime.gcBgMarkWorker", STW},
		{"1.8 marks in the pause", "runtime.scanobject runtime.gcDrain runtime.gchelper runtime.mstart1 runtime.mstart", STW},
		{"somebody else stops the world", "runtime.stopTheWorldWithSema runtime.stopTheWorld runtime.ReadMemStats main.metrics", Scheduler},

		{"scavenger", "runtime.madvise runtime.sysUnusedOS runtime.sysUnused runtime.(*pageAlloc).scavengeOne runtime.(*pageAlloc).scavenge.func1 runtime.(*pageAlloc).scavenge runtime.bgscavenge", GCOther},
		{"scavenging under a memory limit", "runtime.madvise runtime.(*pageAlloc).scavengeOne runtime.(*pageAlloc).scavenge runtime.(*mheap).allocSpan runtime.mallocgc main.f", GCOther},
		{"unwinding failed", "runtime.scanobject runtime._GC", GCOther},

		{"idle", "runtime.futex runtime.futexsleep runtime.notesleep runtime.stopm runtime.findRunnable runtime.schedule runtime.park_m runtime.mcall", Scheduler},
		{"1.18 idle", "runtime.epollwait runtime.netpoll runtime.findrunnable runtime.schedule runtime.park_m runtime.mcall", Scheduler},
		{"1.26 poll", "internal/runtime/syscall/linux.Syscall6 internal/runtime/syscall/linux.EpollWait runtime.netpoll runtime.findRunnable runtime.schedule runtime.park_m runtime.mcall", Scheduler},
		{"sysmon", "runtime.usleep runtime.sysmon runtime.mstart1 runtime.mstart0 runtime.mstart", Scheduler},
		{"waking another", "runtime.futex runtime.futexwakeup runtime.notewakeup runtime.startm runtime.wakep runtime.ready runtime.goready.func1 runtime.systemstack runtime.goready runtime.send runtime.chansend main.f", Scheduler},

		{"1.26 syscall", "internal/runtime/syscall/linux.Syscall6 syscall.RawSyscall6 syscall.Syscall syscall.write internal/poll.(*FD).Write net.(*conn).Write main.f", Syscall},
		{"1.10 syscall", "syscall.Syscall syscall.write internal/poll.(*FD).Write main.f", Syscall},
		{"macOS", "syscall.syscall syscall.write internal/poll.(*FD).Write main.f", Syscall},
		{"leaving one", "runtime.casgstatus runtime.exitsyscall syscall.Syscall main.f", Syscall},

		{"own", "main.work main.handle net/http.HandlerFunc.ServeHTTP", Own},
		{"copying", "runtime.memmove runtime.growslice main.f", Own},
		{"maps", "internal/runtime/maps.(*Map).getWithoutKeySmallFastStr runtime.mapaccess1_faststr main.f", Own},
		{"cgo", "crypto_hash runtime.asmcgocall runtime.cgocall main._Cfunc_hash main.f", Own},
		{"stack growth", "runtime.copystack runtime.newstack runtime.morestack main.f", Own},
		{"a user's own mallocgc", "example.com/gc.mallocgc main.f", Own},
		{"nothing", "", Own},
	} {
		if got := classify(strings.Fields(c.stack)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestSplit(t *testing.T) {
	for _, c := range []struct{ in, pkg, name string }{
		{"runtime.mallocgc", "runtime", "mallocgc"},
		{"runtime.gcMarkDone.forEachP.func5", "runtime", "gcMarkDone"},
		{"runtime.(*mheap).alloc.func1", "runtime", "(*mheap).alloc"},
		{"runtime.(*sweepLocked).sweep.(*mheap).freeSpan.func2", "runtime", "(*sweepLocked).sweep"},
		{"internal/runtime/syscall/linux.Syscall6", "internal/runtime/syscall/linux", "Syscall6"},
		{"net/http.(*conn).serve", "net/http", "(*conn).serve"},
		{"main.F[github.com/a/b.T]", "main", "F[github"},
		{"golang.org/x/sys/unix.Syscall", "golang.org/x/sys/unix", "Syscall"},
		{"gcWriteBarrier", "", "gcWriteBarrier"},
		{"runtime.(*broken", "runtime", "(*broken"},
	} {
		if pkg, name := SplitFunction(c.in); pkg != c.pkg || name != c.name {
			t.Errorf("%s: %q %q, want %q %q", c.in, pkg, name, c.pkg, c.name)
		}
	}
}

// TestRulesNameClasses checks that the table has only listed classes.
func TestRulesNameClasses(t *testing.T) {
	known := make(map[string]bool)
	for _, c := range Order {
		known[c] = true
	}
	for name, r := range rules {
		if !known[r.class] {
			t.Errorf("%s: class %q is not in Order", name, r.class)
		}
		if r.weight == neutral {
			t.Errorf("%s: a neutral rule says nothing", name)
		}
	}
}

// classify returns the class of the CPU time of a stack, innermost function first.
func classify(stack []string) string {
	var d Decision
	for _, f := range stack {
		if d.Add(RuleOf(f)) {
			break
		}
	}
	return d.Class()
}
