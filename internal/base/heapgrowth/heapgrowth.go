// Package heapgrowth sets how far the program's own heap may grow between two GC cycles.
//
// Its opinion: on a sick host memory is worth more than time, so the heap grows by half of what is live instead of doubling, and by less where
// that is much.
package heapgrowth

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// The heap has a minimum, because at the start the live heap is tiny, and collecting from 2 MiB on takes a sixth of a short diagnosis. What is
// live of a large file are mostly columns of numbers, which GC need not look into.
const (
	usual     = 50       // percent of the live heap
	least     = 20       // percent, however much is live
	floor     = 32 << 20 // bytes that the heap may always have
	mostRoom  = 40 << 20 // bytes that it may grow by, unless that is less than least
	leastHeap = 4 << 20  // bytes: the runtime's minimum heap at 100 % (heapMinimum, runtime/mgcpacer.go)
)

// Spare sets GC to these limits, anew after each cycle.
var Spare = sync.OnceFunc(func() {
	debug.SetGCPercent(floor * 100 / leastHeap)
	eachCycle(func() {
		kept := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(kept)
		live := int64(0)
		if kept[0].Value.Kind() == metrics.KindUint64 {
			live = int64(kept[0].Value.Uint64())
		}
		debug.SetGCPercent(percentFor(live))
	})
})

// percentFor returns by how many percent of so many live bytes the heap may grow; 0: unknown.
func percentFor(live int64) int {
	if live <= 0 {
		return usual
	}
	return max(min(usual, int(mostRoom*100/live)), least, int(floor*100/live)-100)
}

// eachCycle calls f after each GC cycle. It uses the finalizer of an unreachable object, which the next cycle finds.
func eachCycle(f func()) {
	type unused struct{ _ *int }
	runtime.SetFinalizer(new(unused), func(*unused) {
		f()
		eachCycle(f)
	})
}
