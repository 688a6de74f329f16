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

// fault is what touching fresh memory takes, ns for each page, and how often that was measured.
type fault struct{ median, least, most, times int64 }

// What is measured: small pages many at a time, since a clock takes as long as one; huge ones
// fewer, and none more once they take long, as where memory must be compacted for them.
const (
	rounds     = 8
	smallPages = 64
	atMost     = 10 * time.Millisecond // for each size, of a recording that may take 2 % of a core
)

// measureFaults measures what touching fresh memory costs, in pages of a size. It is not ok if the
// kernel gives no such pages, or only after it compacted memory: that is not the price of a page.
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
		_ = unix.Madvise(page, advice) // a kernel without it gives what it gives: that is counted
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
		if size == large { // one fault brought all of it, or the kernel gave a small page
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

// minorFaults are those of this thread so far.
func minorFaults() int64 {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_THREAD, &u) != nil {
		return 0
	}
	return int64(u.Minflt)
}

// costOf is the CPU time that something takes.
func costOf(do func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began := threadTime()
	do()
	return threadTime() - began
}

// threadTime is the CPU time of this thread: others on its CPU do not count.
func threadTime() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

// compactionCount returns how often allocations on this host had to compact memory, since boot.
func compactionCount() string {
	b, _ := os.ReadFile("/proc/vmstat") // without it nothing is known to have been
	_, rest, _ := strings.Cut(string(b), "\ncompact_stall ")
	n, _, _ := strings.Cut(rest, "\n")
	return n
}

var pageSize = int64(os.Getpagesize())
