package linux

import (
	"fmt"
	"slices"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// DiskBusy is waiting for disks, other than for data to be durable.
var DiskBusy = check.Check{
	ID:    "linux.disk-busy",
	Title: "requests wait for a disk",
	Step:  check.StepDisks,
	Doc: `What is not in the page cache is read from the disk, and the thread waits meanwhile: in read and
pread, in a page fault on a mapped file, in open and stat of names that were not looked up
lately. Writes go into the page cache and wait for nobody, until more of it is dirty than
vm.dirty_ratio allows: then who writes is slowed down to what the disk takes
(balance_dirty_pages).

It shows as threads in read of a file, as stacks with io_schedule below filemap_read or
filemap_fault, and as major page faults; the disks' requests and how long each takes say whether the
disk is at its limit (many at a time, each slower than alone) or simply asked in the
middle of a request. I/O pressure (/proc/pressure/io) bounds all of it.

How to tell it from similar problems: fsync is linux.disk-sync. Where the memory limit of the group
leaves no room for files, they are dropped and read again: linux.memory-reclaim. Memory
that was swapped out is linux.swap.

What helps: room for what is read often (more memory, or less beside it); reading it before it
is needed (posix_fadvise with POSIX_FADV_WILLNEED, readahead(2), at the start); an index or a
cache in place of reads all over a file; several reads at once (io_uring, threads) where
the device can; a larger read-ahead for sequential files (blockdev --setra), a smaller one
for random reads; a faster device, or one of its own, where many requests are in flight.
For writes: less, sooner (vm.dirty_background_bytes), or elsewhere.`,
	Thresholds: "5 slow requests that took 1 % of all request time together, a quarter of slow time, and as much beyond what is usual, in waits for a disk or behind those who are there, with a p99 of 20 ms unless an objective was given, and I/O pressure of 1 %; without requests, a tenth of a thread with work, and a quarter of the time of such threads",
	Needs:      "what its threads wait for in the kernel, as root: unstall record PID, with --kernel for stacks; /proc/pressure/io",
	Applies:    func(c *check.Case) bool { m := disk(c); return m.met(c) || strained(c) },
	Judge:      judgeDisk,
}

// reads are calls that wait for a disk where they are on a file, and writes those of them that write.
var (
	reads  = slices.Concat([]string{"read", "readv", "pread", "preadv", "getdents64", "sendfile", "copy_file_range"}, writes)
	writes = []string{"write", "writev", "pwrite", "pwritev"}
)

// goReads are functions of Go that read files: its execution trace tells no path.
var goReads = []string{"os.(*File).ReadAt", "internal/poll.(*FD).Pread", "os.ReadFile"}

// disk is the mechanism as it is recognised here. That a thread is in read of a file is a wait for
// a disk only where there was any: it may wait for the file's lock. A page fault that waits,
// too, unless memory is short.
func disk(c *check.Case) *mechanism {
	m := &mechanism{what: "waiting for a disk", classes: []string{evidence.KernelDisk, evidence.KernelDiskFault, evidence.KernelThrottled}}
	if strained(c) {
		m.onFiles = reads
		if writesSync(c) {
			m.onFiles = slices.DeleteFunc(slices.Clone(reads), func(call string) bool { return slices.Contains(writes, call) })
		}
		m.functions = goReads
		if kernelOf(c) == nil && !thrashing(c) && !swapping(c) {
			m.calls = []string{"page fault"}
		}
	}
	return m
}

// strained says that tasks waited for disks.
func strained(c *check.Case) bool {
	s := strain(c)
	p, _ := pressure(s.IO, s.HostIO)
	return p.Known() && p.Number >= slight
}

func judgeDisk(c *check.Case) check.Verdict {
	m := disk(c)
	s := strain(c)
	p, of := pressure(s.IO, s.HostIO)
	v, f := m.judge(c)
	switch {
	case p.Known() && p.Number < slight && v.State != check.Supported:
		v.State, v.Needs = check.RuledOut, nil
		v.Summary = fmt.Sprintf("tasks of %s waited for a disk for %s of the time", of, units.Percent(p.Number))
		v.Evidence = append(v.Evidence, c.Figure("disk.pressure_share", "share of the time in which a task of "+of+" waited for a disk", p.Number, "1", p.Origin))
		return v
	case v.State != check.Supported:
		return v
	}
	if again := refaults(c); again != "" && f.share > 0 { // what is read was there a moment ago
		v.State, v.Saves, v.Explains, v.Weight, v.Work, v.Prediction = check.RuledOut, nil, nil, 0, 0, nil
		v.Summary = f.portion() + " is waiting for a disk, but " + again + ": see linux.memory-reclaim"
		return v
	}
	who := "Requests wait"
	if f.of != "slow time" {
		who = "Threads wait"
	}
	v.Title = fmt.Sprintf("%s for a disk%s: %s.", who, f.named(), f.portion())
	v.Summary = f.portion() + " is waiting for a disk"
	if t := took(c); t != "" {
		v.Summary += ", which takes " + t + " for a request"
	}
	v.Evidence = append(v.Evidence, diskFigures(c)...)
	if s.MajorFaults.Known() && s.MajorFaults.Number > 0 {
		v.Evidence = append(v.Evidence, c.Figure("process.major_faults_per_s", "major page faults of the process", s.MajorFaults.Number, "1/s", s.MajorFaults.Origin))
	}
	if k := kernelOf(c); k != nil && k.work != nil && k.work.Threads(evidence.KernelThrottled) > k.work.Threads(evidence.KernelDisk, evidence.KernelDiskFault) {
		v.Fix = append(v.Fix, check.Fix{Text: "it writes more than the disk takes: write less (compress, batch), to a faster disk or one of its own; let writing back begin sooner (vm.dirty_background_bytes), so that nobody is stopped for it", Code: siteOf(c, &f)})
		return v
	}
	v.Fix = append(v.Fix, check.Fix{Text: "let what is read often fit into memory (more of it, or less beside it), and read it before requests come (posix_fadvise with POSIX_FADV_WILLNEED); cache what is made of it", Code: siteOf(c, &f)})
	d := metrics.DisksOf(c.Bundle, span(c))
	if d.InFlight.Known() && d.InFlight.Number >= queued {
		v.Fix = append(v.Fix, check.Fix{Text: fmt.Sprintf("the disks have %s requests at a time: give the service a device of its own, or find who else uses it (iostat -x, io.stat of each group) and limit that (io.max, io.weight)", units.Num(d.InFlight.Number))})
	} else {
		v.Fix = append(v.Fix, check.Fix{Text: "the disk is asked for one thing after the other: ask for several at once (threads, io_uring), or for more at a time where files are read from end to end (blockdev --setra)"})
	}
	return v
}

// queued is how many requests at a time from which a disk has others waiting, if it does one after
// the other.
const queued = 2

// refaults words that files are read again soon after they were dropped, "" where they are not.
func refaults(c *check.Case) string {
	s := strain(c)
	if !thrashing(c) || !s.Refaults.Known() {
		return ""
	}
	return fmt.Sprintf("%s pages/s of files are read back that its memory limit had it drop", units.Num(s.Refaults.Number))
}
