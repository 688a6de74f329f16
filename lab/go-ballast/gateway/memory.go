package main

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"
)

// memory is the configuration of the process's heap.
type memory struct {
	pretouch int // MiB, of a limit or a ballast as it was at the start
	ballast  int // MiB
	held     atomic.Pointer[[]byte]
}

// newMemory allocates the ballast and touches the heap. Sizes are MiB.
func newMemory(ballast, pretouch int) *memory {
	m := &memory{pretouch: pretouch, ballast: ballast}
	m.holdBallast(ballast)
	touchHeap(pretouch << 20)
	return m
}

// holdBallast makes the ballast that large: memory that counts as live and is never touched. If
// the runtime reuses memory for it, it clears and so touches the memory; holdBallast gives those pages
// back, which makes them zero again.
func (m *memory) holdBallast(mib int) {
	b := make([]byte, mib<<20)
	giveBack(b)
	m.held.Store(&b)
	runtime.GC()
}

// changeBallast changes the ballast.
func (m *memory) changeBallast(mib int) {
	was := m.ballast
	m.holdBallast(mib)
	m.ballast = mib
	m.resizeHeap(mib, was)
}

// changeLimit changes the memory limit.
func (m *memory) changeLimit(mib int) {
	was := debug.SetMemoryLimit(int64(mib) << 20)
	if was == math.MaxInt64 {
		was = int64(mib) << 20
	}
	m.resizeHeap(mib, int(was>>20))
}

// resizeHeap touches the heap again, in proportion to its new size.
func (m *memory) resizeHeap(mib, was int) {
	if was > 0 {
		m.pretouch = int(float64(m.pretouch) * float64(mib) / float64(was))
	}
	touchHeap(m.pretouch << 20)
}

// touchHeap makes the heap that large once, writes to all of it and frees it. The runtime keeps it
// up to its memory limit.
func touchHeap(bytes int) {
	if bytes == 0 {
		return
	}
	const piece = 4 << 20
	var held [][]byte
	for ; bytes > 0; bytes -= piece {
		p := make([]byte, piece)
		for i := 0; i < len(p); i += os.Getpagesize() {
			p[i] = 1
		}
		held = append(held, p)
	}
	runtime.KeepAlive(held)
	runtime.GC() // held is dead from here on
}

// freeMemory gives memory back to the host at an interval, as services do that must look small.
func freeMemory(every time.Duration) {
	for range time.Tick(every) {
		debug.FreeOSMemory()
	}
}
