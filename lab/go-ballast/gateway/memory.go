package main

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"
)

// memory is what the process is told about its heap.
type memory struct {
	pretouch int // MiB, of a limit or a ballast as it was at the start
	ballast  int // MiB
	held     atomic.Pointer[[]byte]
}

// newMemory allocates the ballast and touches the heap. Sizes are MiB.
func newMemory(ballast, pretouch int) *memory {
	m := &memory{pretouch: pretouch, ballast: ballast}
	m.hold(ballast)
	touch(pretouch << 20)
	return m
}

// hold makes the ballast that large: memory that counts as live and is never touched.
// Where the runtime takes it from memory that was in use it clears it, which touches it;
// those pages go back, and are zero again.
func (m *memory) hold(mib int) {
	b := make([]byte, mib<<20)
	giveBack(b)
	m.held.Store(&b)
	runtime.GC()
}

// reballast changes the ballast.
func (m *memory) reballast(mib int) {
	was := m.ballast
	m.hold(mib)
	m.ballast = mib
	m.resize(mib, was)
}

// limit changes the memory limit.
func (m *memory) limit(mib int) {
	was := debug.SetMemoryLimit(int64(mib) << 20)
	if was == math.MaxInt64 {
		was = int64(mib) << 20
	}
	m.resize(mib, int(was>>20))
}

// resize touches the heap again, as much more or less of it as it may fill.
func (m *memory) resize(mib, was int) {
	if was > 0 {
		m.pretouch = int(float64(m.pretouch) * float64(mib) / float64(was))
	}
	touch(m.pretouch << 20)
}

// touch makes the heap that large once, writes to all of it and frees it. The
// runtime keeps it up to its memory limit.
func touch(bytes int) {
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

// freeMemory gives memory back to the host again and again, as services do that are to look small.
func freeMemory(every time.Duration) {
	for range time.Tick(every) {
		debug.FreeOSMemory()
	}
}
