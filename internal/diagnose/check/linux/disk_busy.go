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
	Doc: `A thread waits for the disk if the page cache lacks what it reads: in read and pread, in a page
fault on a mapped file, in open and stat of names that were not used lately. Writes go into the page
cache without waiting until more of it is dirty than vm.dirty_ratio allows: then the kernel slows
writers down to the speed of the disk (balance_dirty_pages).

It shows as threads in read of a file, as stacks with io_schedule below filemap_read or
filemap_fault, and as major page faults; the disks' queue and service times show whether the disk is
at its limit (many requests at a time, each slower than alone) or only on the path of a request. I/O
pressure (/proc/pressure/io) is an upper bound.

How to tell it from similar problems: fsync is linux.disk-sync. If the memory limit of the cgroup
leaves no room for files, the kernel drops and rereads them: linux.memory-reclaim. Memory that was
swapped out is linux.swap.

What helps: memory for often-read files (more of it, or less other use); reading them ahead
(posix_fadvise with POSIX_FADV_WILLNEED, readahead(2), at the start); an index or a cache instead of
scattered reads; several reads in parallel (io_uring, threads) if the device can; a larger
read-ahead for sequential files (blockdev --setra), a smaller one for random reads; a faster or
dedicated device if many requests are in flight. For writes: write less, earlier
(vm.dirty_background_bytes), or to another device.`,
	Least: fmt.Sprintf("%v slow requests with %v of all request time, %v of slow time, above the usual, in waits for a disk or behind threads that wait for it, with a p99 of %v unless --slo is given, and I/O pressure of %v; without requests, on average %v busy threads in it, and %v of the time of busy threads; of a host alone, a disk that is busy for %v of the time with two requests or always one write at a time, each of %v and more, or %v of the CPUs' time waiting for it, or one that is busy for %v with %v requests at a time and %v of the CPUs' time waiting; by a listing of all its requests, %v on average, of %v requests; by vmstat or top alone, %v of the CPUs' time waiting for a disk",
		check.SomeSlow, check.SlowShare, check.Material, check.Noticeable, slight, leastWork, check.Material, diskFull, slowDisk, waitsMuch, mostlyFull, longQueue, waitsLong, slowMean, listed, waitsMost),
	Thresholds: []check.Threshold{beyondQueue, diskFull, fewAtWork, fewPages, leastWork, listed, longQueue, manyPages, manyRefaults, mostlyFull, nearlyOne, ofBusyThreads, oneAtWork, queued, slight,
		slowDisk, slowMean, waitsLong, waitsMost, waitsMuch, check.Arguable, check.Material, check.MaterialBeyond, check.TwoKinds, check.MaterialUnseen, check.MinRequests, check.MostlyUnseen,
		check.Noticeable, check.SlowShare, check.SomeSlow, check.WorthTelling},

	Needs:     "what its threads wait for in the kernel, as root: unstall record PID, with --kernel for stacks; /proc/pressure/io",
	Applies:   func(c *check.Case) bool { m := diskMechanism(c); return m.hasEvidence(c) || isDiskStrained(c) },
	Judge:     judgeDisk,
	JudgeHost: judgeHostDisk,
}

// reads are calls that wait for a disk if they are on a file; writes are those of them that write.
var (
	reads  = slices.Concat([]string{"read", "readv", "pread", "preadv", "getdents64", "sendfile", "copy_file_range"}, writes)
	writes = []string{"write", "writev", "pwrite", "pwritev"}
)

// goReads are functions of Go that read files: its execution trace tells no path.
var goReads = []string{"os.(*File).ReadAt", "internal/poll.(*FD).Pread", "os.ReadFile"}

// diskMechanism returns how waiting for a disk is recognised. A thread in read of a file counts
// only if tasks waited for disks, as it may wait for the file's lock; so does a page fault that
// waits, unless memory is short.
func diskMechanism(c *check.Case) *mechanism {
	m := &mechanism{what: "waiting for a disk", classes: []string{evidence.KernelDisk, evidence.KernelDiskFault, evidence.KernelThrottled}}
	if isDiskStrained(c) {
		m.onFiles = reads
		if writesSync(c) {
			m.onFiles = slices.DeleteFunc(slices.Clone(reads), func(call string) bool { return slices.Contains(writes, call) })
		}
		m.functions = goReads
		if kernelOf(c) == nil && !isThrashing(c) && !isSwapping(c) {
			m.calls = []string{"page fault"}
		}
	}
	return m
}

// isDiskStrained says whether tasks waited for disks.
func isDiskStrained(c *check.Case) bool {
	s := strainOf(c)
	p, _ := groupOrHostPressure(s.IO, s.HostIO)
	return p.Known() && p.Number >= slight.Value
}

func judgeDisk(c *check.Case) check.Verdict {
	m := diskMechanism(c)
	s := strainOf(c)
	p, of := groupOrHostPressure(s.IO, s.HostIO)
	v, f := m.judgeLoss(c)
	if p.Known() {
		v.Weigh(p.Number, slight)
	}
	switch {
	case p.Known() && p.Number < slight.Value && !v.Supported():
		v.Rule, v.Needs = check.TooLittle, nil
		v.Summary = fmt.Sprintf("tasks of %s waited for a disk for %s of the time", of, units.Percent(p.Number))
		v.Evidence = append(v.Evidence, c.Figure("disk.pressure_share", "share of the time in which a task of "+of+" waited for a disk", p.Number, "1", p.Origin))
		return v
	case !v.Supported():
		return v
	}
	if again := formatRefaults(c); again != "" && f.share > 0 { // what is read was there a moment ago
		v.Rule, v.Saves, v.Explains, v.Weight, v.Work, v.Prediction = check.Explained, nil, nil, 0, 0, nil
		v.Summary = f.formatShare() + " is waiting for a disk, but " + again + ": see linux.memory-reclaim"
		return v
	}
	v.Title = fmt.Sprintf("%s wait for a disk%s: %s.", f.who(), f.placeSuffix(), f.formatShare())
	v.Summary = f.formatShare() + " is waiting for a disk"
	if t := formatDiskTime(c); t != "" {
		v.Summary += ", which takes " + t + " for a request"
	}
	v.Evidence = append(v.Evidence, diskFigures(c)...)
	if s.MajorFaults.Known() && s.MajorFaults.Number > 0 {
		v.Evidence = append(v.Evidence, c.Figure("process.major_faults_per_s", "major page faults of the process", s.MajorFaults.Number, "1/s", s.MajorFaults.Origin))
	}
	if k := kernelOf(c); k != nil && k.work != nil && k.work.Threads(evidence.KernelThrottled) > k.work.Threads(evidence.KernelDisk, evidence.KernelDiskFault) {
		v.Fix = append(v.Fix, check.Fix{Text: "it writes more than the disk can take: write less (compress, batch), or to a faster or dedicated disk; start write-back earlier (vm.dirty_background_bytes), so that no writer is throttled", Code: siteOf(c, &f)})
		return v
	}
	v.Fix = append(v.Fix, check.Fix{Text: "keep often-read files in memory (more memory, or less other use), and read them before requests need them (posix_fadvise with POSIX_FADV_WILLNEED); cache the results", Code: siteOf(c, &f)})
	d := metrics.DisksOf(c.Bundle, requestWindow(c))
	if d.InFlight.Known() && d.InFlight.Number >= queued.Value {
		v.Fix = append(v.Fix, check.Fix{Text: fmt.Sprintf("the disks have %s requests at a time: give the service a dedicated device, or find the other users of the disk (iostat -x, io.stat of each cgroup) and limit them (io.max, io.weight)", units.Num(d.InFlight.Number))})
	} else {
		v.Fix = append(v.Fix, check.Fix{Text: "the disk gets one request after the other: issue several in parallel (threads, io_uring), or increase read-ahead if files are read sequentially (blockdev --setra)"})
	}
	return v
}

var queued = check.Threshold{Name: "requests at a time from which a disk has others waiting", Value: 2, Unit: "count",
	Why: "if it does one after the other", Source: "arithmetic: beside one that is served, one waits"}

// formatRefaults says that files are read again soon after they were dropped; "" where they are
// not.
func formatRefaults(c *check.Case) string {
	s := strainOf(c)
	if !isThrashing(c) || !s.Refaults.Known() {
		return ""
	}
	return fmt.Sprintf("%s pages/s of files are reread after its memory limit dropped them", units.Num(s.Refaults.Number))
}
