// Package ballast makes Go's garbage collector run less often: it holds memory
// that is live, has no pointers, and is never touched.
//
//	func main() {
//		ballast.New(1 << 30) // first thing: see below
//		...
//	}
//
// How it works. After a cycle the collector lets the heap grow to
//
//	live × (1 + GOGC/100)
//
// before the next one, so a service with a small live heap that allocates much
// collects all the time, however much memory is free. A ballast adds to live.
// It is one object without pointers, so marking it takes no time, and the kernel
// gives no memory to pages that nobody touches. With GOGC=100, L bytes of real
// live heap and a ballast of B there are (L+B)/L times fewer cycles.
//
// What it costs. The ballast is not resident, but what the program may now
// allocate between two cycles is: expect up to 2·L + B bytes of resident heap
// where there were 2·L. Leave room for that; start small and raise B while it
// still helps: the first doublings gain most.
//
// When not to use it. Since Go 1.19 there is a setting for this,
//
//	GOGC=off GOMEMLIMIT=1GiB
//
// which needs no code, says what is meant (so much memory may be used), and
// works harder near the limit instead of running out of memory. Prefer it
// wherever all instances are built with Go 1.19 or later and the limit is well
// above what is live at peak. This package is for what is built with older Go,
// and for programs whose live heap may exceed any limit one would set: a ballast
// is no limit.
//
// What to mind:
//
//   - Call New early in main. Memory fresh from the kernel is zero already and is
//     left alone; an address range the heap used before is cleared, and then all
//     of it is resident.
//   - Limits of resident memory (containers, cgroups, the OOM killer) do not count
//     it. Limits of address space do (ulimit -v), and so does
//     vm.overcommit_memory=2; on Windows it counts to the commit charge. Beyond
//     one of these the runtime ends the program.
//   - mlockall(MCL_FUTURE) makes it resident.
//   - GOMEMLIMIT counts it, untouched or not: set both and the collector works for
//     a limit that is smaller by the ballast.
//   - Transparent huge pages leave it alone, except for the huge page at either
//     end, which it may share with other data. The race detector does not: it
//     keeps a shadow of all memory.
//   - HeapAlloc, HeapInuse, NextGC and heap profiles (inuse_space) include it:
//     subtract Size before an alert does not.
//   - The runtime's index of pages is resident: 0.1 % of the size.
//
// The idea and its first measurements are Twitch's:
// https://blog.twitch.tv/en/2019/04/10/go-memory-ballast-how-i-learnt-to-stop-worrying-and-love-the-heap/
// The collector's arithmetic: https://go.dev/doc/gc-guide
package ballast

import "sync"

// Ballast is memory that is held and not used. It is held until Release, whether
// or not the program keeps the value New returned. Its methods may be called by
// several goroutines at once.
type Ballast struct{ memory []byte }

var (
	mu   sync.Mutex
	held = make(map[*Ballast]struct{}) // what keeps them alive
)

// New holds that many bytes of live heap. Nothing is held for a size of zero or
// less, so that a setting can turn it off.
func New(bytes int) *Ballast {
	b := new(Ballast)
	if bytes <= 0 {
		return b
	}
	b.memory = make([]byte, bytes)
	mu.Lock()
	defer mu.Unlock()
	held[b] = struct{}{}
	return b
}

// Size is how many bytes are held: 0 after Release.
func (b *Ballast) Size() int {
	mu.Lock()
	defer mu.Unlock()
	return len(b.memory)
}

// Release gives the memory up: the collector frees it in its next cycle, and the
// heap's goal falls with that. To release twice does no harm.
func (b *Ballast) Release() {
	mu.Lock()
	defer mu.Unlock()
	b.memory = nil
	delete(held, b)
}
