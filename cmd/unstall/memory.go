package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// On a sick host memory is worth more than time, so the heap grows by half of the live heap instead of doubling. It has a minimum,
// because at the start the live heap is tiny, and collecting from 2 MiB on takes a sixth of a short diagnosis.
const (
	heapGrowth = 50       // percent
	heapFloor  = 32 << 20 // bytes that the heap may always have
	leastHeap  = 4 << 20  // bytes: the runtime's minimum heap at 100 % (heapMinimum, runtime/mgcpacer.go)
)

// spareMemory sets GC to these limits, anew after each cycle.
var spareMemory = sync.OnceFunc(func() {
	debug.SetGCPercent(heapFloor * 100 / leastHeap)
	eachCycle(func() {
		kept := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(kept)
		growth := heapGrowth
		if kept[0].Value.Kind() == metrics.KindUint64 {
			if live := int64(kept[0].Value.Uint64()); live > 0 {
				growth = max(growth, int(heapFloor*100/live)-100)
			}
		}
		debug.SetGCPercent(growth)
	})
})

// eachCycle calls f after each GC cycle. It uses the finalizer of an unreachable object, which the next cycle finds.
func eachCycle(f func()) {
	type unused struct{ _ *int }
	runtime.SetFinalizer(new(unused), func(*unused) {
		f()
		eachCycle(f)
	})
}
