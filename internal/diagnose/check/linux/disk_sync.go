package linux

import (
	"fmt"
	"math"
	"slices"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// DiskSync is waiting until data is on the disk.
var DiskSync = check.Check{
	ID:    "linux.disk-sync",
	Title: "requests wait until data is on the disk (fsync)",
	Step:  check.StepDisks,
	Doc: `fsync, fdatasync, msync, sync and writes to a file opened with O_SYNC or O_DSYNC return when the
data is on the disk: the file system writes it, often with a journal record, and flushes the disk's
cache. That takes from some 0.1 ms on an SSD with a protected cache to 10 ms and more on cloud
volumes and hard disks. A file system has one journal: a sync also waits for the writes of others.
If the thread holds a lock during the sync, other threads wait for the lock; that time is charged
here, not to the lock.

It shows as threads in fsync with the file's name, as stacks with vfs_fsync_range and what the file
system does below it (jbd2_log_wait_commit of ext4, xfs_log_force of XFS), and for requests behind a
lock, as holders inside fsync. The CPU is idle during that time. I/O pressure (/proc/pressure/io)
does not count waits for a journal, so low pressure rules nothing out.

How to tell it from similar problems: reads and non-durable writes that wait for a disk are
linux.disk-busy. A background thread that sometimes syncs a log slows nothing if no request waits
for it.

What helps: sync once for many requests (group commit: collect the waiting writes, write, sync,
answer all); sync outside the lock; fdatasync instead of fsync, on a file whose blocks were
allocated and written before, so that no journal record is needed; a sync each second if the last
second may be lost (Redis appendfsync everysec, PostgreSQL synchronous_commit=off, InnoDB
innodb_flush_log_at_trx_commit=2); a dedicated device for the log, with a protected write cache.
Smaller writes do not help: the sync is the cost.`,
	Least: fmt.Sprintf("%v slow requests with %v of all request time, %v of slow time, above the usual, in fsync or behind threads in it, with a p99 of %v unless --slo is given; without requests, on average %v busy threads in it, and %v of the time of busy threads; by a program's own log of its syncs, a median of %v, one of a hundred of %v, or %v of them so long that it logged them; at one look at a host, %v tasks in fsync that are %v of those whose sleep nothing interrupts",
		check.SomeSlow, check.SlowShare, check.Material, check.Noticeable, leastWork, check.Material, slowSync, slowTail, fewSlowSyncs, fewTasks, mostTasks),
	Thresholds: []check.Threshold{beyondQueue, fewAtWork, fewSlowSyncs, fewTasks, mostTasks, leastWork, longSync, manySyncs, ofBusyThreads, oneAtWork, slowSync, slowTail, tailSyncs, check.Arguable, check.Material, check.MaterialBeyond, check.TwoKinds,
		check.MaterialUnseen, check.MinRequests, check.MostlyUnseen, check.Noticeable, check.SlowShare, check.SomeSlow, check.WorthTelling},

	Needs:     "what its threads wait for in the kernel, as root: unstall record PID, with --kernel for stacks",
	Applies:   func(c *check.Case) bool { return syncMechanism(c).hasEvidence(c) || tellsSyncs(c) },
	Judge:     judgeSync,
	JudgeHost: judgeHostSync,
}

// syncMechanism returns how waiting for a sync is recognised. A write to a file opened with O_SYNC
// or O_DSYNC ends with a sync, which only kernel stacks show.
func syncMechanism(c *check.Case) *mechanism {
	if !writesSync(c) {
		return &syncs
	}
	m := syncs
	m.onFiles = writes
	return &m
}

// writesSync says whether calls that write files wait longer for syncs than for disks otherwise.
func writesSync(c *check.Case) bool {
	return bool(check.Once(c, func(c *check.Case) syncedWrites {
		k := kernelOf(c)
		if k == nil {
			return false
		}
		var synced, other float64
		for _, s := range k.Stacks(evidence.KernelFsync, evidence.KernelDisk, evidence.KernelThrottled) {
			functions, _ := k.Frames(s.Stack)
			switch {
			case !s.Waits || !slices.ContainsFunc(functions, writesFile):
			case s.Class == evidence.KernelFsync:
				synced += s.Seconds
			default:
				other += s.Seconds
			}
		}
		return syncedWrites(synced > other)
	}))
}

// syncedWrites is a type of its own because [check.Once] keeps results by their type.
type syncedWrites bool

// writesFile says whether a function of the kernel belongs to a call that writes files.
func writesFile(function string) bool {
	switch function {
	case "vfs_write", "vfs_writev", "vfs_iter_write", "do_iter_write", "ksys_write", "ksys_pwrite64", "do_writev", "do_pwritev", "io_write":
		return true
	}
	return false
}

var syncs = mechanism{
	what:    "fsync",
	classes: []string{evidence.KernelFsync},
	calls:   []string{"fsync", "fdatasync", "sync", "syncfs", "msync", "sync_file_range"},
	functions: []string{
		"os.(*File).Sync", "internal/poll.(*FD).Fsync", "syscall.Fsync", "syscall.Fdatasync", "unix.Fsync", "unix.Fdatasync", "unix.Msync",
		"FileChannelImpl.force", "FileDispatcherImpl.force", "FileDescriptor.sync", "MappedByteBuffer.force",
		"Interop+Sys.FSync", "FlushToDisk", "FlushOSBuffer",
	},
}

func judgeSync(c *check.Case) check.Verdict {
	m := syncMechanism(c)
	v, f := m.judgeLoss(c)
	if told, ok := judgeSyncsTold(c); ok && !v.Supported() && c.Ledger == nil {
		return told
	}
	if !v.Supported() {
		return v
	}
	v.Title = fmt.Sprintf("%s wait until data is on the disk%s: %s.", f.who(), f.placeSuffix(), f.formatShare())
	v.Summary = f.formatShare() + " is fsync"
	if each := f.meanPerRequest(); each != "" {
		v.Summary += ", " + each + " of each slow request affected"
	}
	v.Evidence = append(v.Evidence, diskFigures(c)...)
	once := "sync once for many requests: collect their writes, write, sync, and answer all of them (group commit)"
	switch {
	case f.x == nil || 2*f.x.linked < f.x.ns:
	case 2*f.x.queued >= f.x.linked:
		once = "other requests wait until a thread or connection that is in a sync is free: " + once
	default:
		once = "other threads wait for the lock during the sync: release it before the sync, and " + once
	}
	v.Fix = append(v.Fix, check.Fix{Text: once, Code: siteOf(c, &f)})
	k := kernelOf(c)
	switch {
	case len(m.onFiles) > 0:
		v.Fix = append(v.Fix, check.Fix{Text: "the file is opened with O_SYNC or O_DSYNC, so each write is a sync: open it without the flag, write related data together, then call fdatasync once"})
	case k != nil && isMostlyJournal(k):
		v.Fix = append(v.Fix, check.Fix{Text: "the file system writes its journal for each sync: write into blocks that are allocated and were written before (fallocate, then zeros), and call fdatasync instead of fsync, which then needs no journal record"})
	default:
		v.Fix = append(v.Fix, check.Fix{Text: "call fdatasync instead of fsync, on a file whose size does not change (fallocate)"})
	}
	v.Fix = append(v.Fix, check.Fix{Text: "if the last second may be lost, sync each second in the background, without requests waiting; else put the log on a dedicated device with a protected write cache"})
	return v
}

// siteOf returns the code of the place with most of the time, "" if unknown.
func siteOf(c *check.Case, f *finding) string {
	if f.x == nil || len(f.x.places) == 0 {
		return ""
	}
	return c.SiteOf(f.x.places[0].Stack).Path()
}

// journalled are functions in which file systems wait for their journal or log.
var journalled = []string{"jbd2_log_wait_commit", "jbd2_complete_transaction", "ext4_fc_commit", "xfs_log_force_seq", "xfs_log_force", "btrfs_sync_log", "f2fs_write_checkpoint"}

// isMostlyJournal says whether most of the waits for syncs are for a file system's journal.
func isMostlyJournal(k *kernel) bool {
	var all, journal float64
	for _, s := range k.Stacks(syncs.classes...) {
		all += s.Seconds
		if functions, _ := k.Frames(s.Stack); slices.ContainsFunc(functions, func(f string) bool { return slices.Contains(journalled, f) }) {
			journal += s.Seconds
		}
	}
	return journal > all/2
}

// diskFigures returns what is known of the disks meanwhile.
func diskFigures(c *check.Case) (out []check.Evidence) {
	d := metrics.DisksOf(c.Bundle, requestWindow(c))
	if took := d.Took(); !math.IsNaN(took) {
		out = append(out, c.Figure("disk.requests_per_s", "requests completed by the host's disks", d.Requests.Number, "1/s", d.Requests.Origin),
			c.Figure("disk.request_ms", "mean time per disk request", took*1e3, "ms", d.InFlight.Origin))
	}
	s := strainOf(c)
	if p, of := groupOrHostPressure(s.IO, s.HostIO); p.Known() {
		out = append(out, c.Figure("disk.pressure_share", "share of the time in which a task of "+of+" waited for a disk", p.Number, "1", p.Origin))
	}
	return out
}

// formatDiskTime writes how long a disk took for a request, "" if unknown.
func formatDiskTime(c *check.Case) string {
	d := metrics.DisksOf(c.Bundle, requestWindow(c))
	if s := d.Took(); !math.IsNaN(s) {
		return units.Time(s * 1e9)
	}
	return ""
}
