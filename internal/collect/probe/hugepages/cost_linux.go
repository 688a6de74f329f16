package hugepages

import (
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// fault is the time of touching fresh memory, ns per page, and the number of measurements.
type fault struct{ median, least, most, times int64 }

// Limits of the measurement. Small pages are measured many at a time, because reading a clock takes as long as one. Huge pages are fewer, and end
// early if they take long, as when memory must be compacted for them.
const (
	rounds     = 8
	smallPages = 64
	atMost     = 10 * time.Millisecond // for each size, so that a recording costs at most 2 % of a core
)

// measureFaults measures the cost of touching fresh memory in pages of a size. ok is false if the kernel gives no such pages, or only after it
// compacted memory, because that is not the cost of a page.
func measureFaults(size, small, large int64) (f fault, ok bool) {
	advice := unix.MADV_NOHUGEPAGE
	if size == large {
		advice = unix.MADV_HUGEPAGE
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var took []int64
	for began := time.Now(); len(took) < rounds && time.Since(began) < atMost; {
		m, err := unix.Mmap(-1, 0, int(2*large), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
		if err != nil {
			return f, false
		}
		pad := int64(-uintptr(unsafe.Pointer(unsafe.SliceData(m))) & uintptr(large-1))
		page := m[pad : pad+large]
		_ = unix.Madvise(page, advice) // a kernel may ignore the advice; what it gives is counted
		touch, want := page[:1], int64(1)
		if size == small {
			touch, want = page[:smallPages*small], smallPages
		}
		before, compacted := minorFaults(), compactionCount()
		at := threadTime()
		for i := int64(0); i < int64(len(touch)); i += small {
			touch[i] = 1
		}
		d := int64(threadTime() - at)
		if size == large { // one fault brought the whole page, or the kernel gave a small page
			page[large-small] = 1
		}
		faults := minorFaults() - before
		_ = unix.Munmap(m)
		if faults >= want && faults <= want+want/8 && (size == small || compactionCount() == compacted) {
			took = append(took, max(1, d/want))
		} else if size == large && faults > want {
			break
		}
	}
	if len(took) == 0 {
		return f, false
	}
	slices.Sort(took)
	return fault{took[len(took)/2], took[0], took[len(took)-1], int64(len(took))}, true
}

// minorFaults returns the faults of this thread so far.
func minorFaults() int64 {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_THREAD, &u) != nil {
		return 0
	}
	return int64(u.Minflt)
}

// costOf returns the CPU time of a function.
func costOf(do func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began := threadTime()
	do()
	return threadTime() - began
}

// threadTime returns the CPU time of this thread only.
func threadTime() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

// compactionCount returns how often allocations on this host had to compact memory, since boot.
func compactionCount() string {
	b, _ := os.ReadFile("/proc/vmstat") // without the file no compaction is known
	_, rest, _ := strings.Cut(string(b), "\ncompact_stall ")
	n, _, _ := strings.Cut(rest, "\n")
	return n
}

var pageSize = int64(os.Getpagesize())
