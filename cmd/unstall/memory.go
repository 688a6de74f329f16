package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// Memory is worth more than our time on a host that is sick: the heap grows by half of what is
// kept, not to twice of it. But to begin with hardly anything is, and to collect that again and
// again, from 2 MiB on, takes a sixth of a short diagnosis.
const (
	heapGrowth = 50       // percent
	heapFloor  = 32 << 20 // bytes that the heap may have in any case
	leastHeap  = 4 << 20  // of the runtime's, at 100 % (heapMinimum, runtime/mgcpacer.go)
)

// spareMemory sets the collector to that, anew after each of its cycles.
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

// eachCycle calls f after each cycle of the collector: what nothing refers to is found by the next one.
func eachCycle(f func()) {
	type unused struct{ _ *int }
	runtime.SetFinalizer(new(unused), func(*unused) {
		f()
		eachCycle(f)
	})
}
