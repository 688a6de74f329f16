package linux

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe"
)

// Intervals between readings if they cost little: often for the process, its threads and the host, seldom for everything else.
const (
	often  = 250 * time.Millisecond
	seldom = time.Second

	rarely  = 5 * time.Second  // settings
	atTimes = 10 * time.Second // data that the kernel must add up page by page
)

// Shares of one CPU that reading may take, including writing. Above them, files are read less often. With lookShare they are 1.5 % in
// all.
const (
	ownShare      = .003 // of the process and the host
	threadsShare  = .002
	switchesShare = .0005
	otherShare    = .002
	settingsShare = .0002
	rollupShare   = .0005
	queuesShare   = .0005 // accept queues
	unreadShare   = .001  // connections with unread bytes

	neighboursShare = .002 // threads of other processes
)

// Limits of a recording that lasts as long as the process: its intervals are alwaysLess times those above, at least a second.
// It may use alwaysShare of the shares above.
const (
	alwaysLess  = 4
	alwaysShare = .25
)

// mostRollup is the largest resident memory for which the kernel is asked about kinds of pages. It examines each page, some 20 ns, and
// before Linux 5.9 no other thread can map memory during that time.
const mostRollup = 4 << 30

// recordProcess records a process until the context, the plan or the process ends.
func recordProcess(ctx context.Context, t discover.Target, plan probe.Plan, sink probe.Sink) error {
	if plan.For > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, plan.For)
		defer cancel()
	}
	began := time.Now()
	p, err := openProcess(t)
	if err != nil {
		return err
	}
	about := p.buildSubject(t)
	buildInfo(p, about, sink)

	logs := openLogs(p, about, sink)
	reading, done := context.WithCancel(ctx)
	var beside sync.WaitGroup
	beside.Go(func() { logs.followAll(reading) })
	if !plan.Always {
		beside.Go(func() { watchSyscalls(reading, p, about, t, sink) })
	}
	defer func() { done(); beside.Wait() }()

	out, err := sink.Create(capture.Meta{Name: "procfs.txt", Probe: name, Origin: "/proc", About: about, Continues: true})
	if err != nil {
		return fmt.Errorf("procfs.txt: %w", err)
	}
	r := newRecorder(p, out)
	if size := p.residentBytes(); size > mostRollup {
		r.rollup = nil
		sink.Lack(probe.Lack{What: "how much of its memory is in huge pages", Why: fmt.Sprintf("the kernel would have to look at each page of %d GiB", size>>30), Do: fmt.Sprintf("grep AnonHugePages %s/smaps_rollup", p.dir)})
	}
	r.always = plan.Always
	ended, err := r.run(ctx)
	if err == nil && ended {
		sink.Warnf("pid %d ended after %.1f s: the data recorded until then is kept", t.PID, time.Since(began).Seconds())
	}
	if r.slowest > 2*seldom {
		sink.Warnf("reading %d processes takes long: they were read only every %.1f s", len(r.neighbours.files), r.slowest.Seconds())
	}
	if e := out.Close(); err == nil && e != nil {
		err = fmt.Errorf("procfs.txt: %w", e)
	}
	return err
}

// recorder writes procfs.txt.
type recorder struct {
	archive
	process    *process
	own        []*file // of the process, read often
	threads    *table
	host       []*file // the host's, read often
	group      []*file // its cgroup's, read often
	slow       []*file // files read once a second
	settings   []*file // files read every five seconds
	rollup     []*file // files read every ten seconds
	switches   *table  // of the threads
	names      *table  // of the threads, written when they change
	neighbours *neighbours
	entrance   *entrance
	always     bool          // the recording lasts as long as the process
	slowest    time.Duration // the longest pause between two readings of all processes
}

func newRecorder(p *process, out io.Writer) *recorder {
	r := &recorder{archive: archive{out: out, most: mostOpen()}, process: p,
		threads:  newTable(p.dir+"/task", "schedstat", 0),
		switches: newTable(p.dir+"/task", "status", 0),
		names:    newTable(p.dir+"/task", "comm", 0),
	}
	r.switches.from = "voluntary_ctxt_switches:"
	r.names.sparse = true
	r.entrance = newEntrance(p)
	r.neighbours = newNeighbours(p.pid, r.entrance)
	for _, name := range []string{"stat", "status", "schedstat", "io"} {
		r.own = append(r.own, newFile(p.dir+"/"+name, p.dir+"/"+name))
	}
	for _, name := range []string{"stat", "pressure/cpu", "pressure/memory", "pressure/io", "pressure/irq", "vmstat", "loadavg"} {
		r.host = append(r.host, newFile("/proc/"+name, "/proc/"+name))
	}
	for _, name := range []string{"/proc/meminfo", "/proc/buddyinfo", "/proc/diskstats", "/proc/softirqs", "/proc/net/softnet_stat", p.dir + "/net/dev"} {
		r.slow = append(r.slow, newSparseFile(name, name))
	}
	netstat := newSparseFile(p.dir+"/net/netstat", p.dir+"/net/netstat")
	netstat.keep = keepDrops
	r.slow = append(r.slow, netstat)
	r.rollup = []*file{newFile(p.dir+"/smaps_rollup", p.dir+"/smaps_rollup")}
	for _, name := range hostSettings() {
		r.settings = append(r.settings, newSparseFile(name, name))
	}
	for _, name := range networkSettings() {
		if f := newSparseFile(name, name); r.openIn(p.dir, f) == nil {
			r.settings = append(r.settings, f)
		}
	}
	r.addGroupFiles()
	return r
}

// run records until the context or the process ends; the first and the last moment are complete.
func (r *recorder) run(ctx context.Context) (ended bool, err error) {
	defer r.close()
	timer := time.NewTimer(0)
	defer timer.Stop()
	var lastOthers time.Time
	parts := []*part{
		{pace: pace{share: ownShare, least: often}, read: func(now time.Time, first, last bool) {
			if !ended {
				r.ownFiles(first)
			}
			r.appendFiles(r.host)
			r.appendFiles(r.group)
		}},
		{pace: pace{share: threadsShare, least: often}, read: func(time.Time, bool, bool) {
			if !ended {
				_ = r.threads.appendEntries(&r.archive)
			}
		}},
		{pace: pace{share: switchesShare, least: seldom}, read: func(time.Time, bool, bool) {
			if !ended {
				_ = r.switches.appendEntries(&r.archive)
				_ = r.names.appendEntries(&r.archive)
			}
		}},
		{pace: pace{share: rollupShare, least: atTimes}, read: func(time.Time, bool, bool) {
			if !ended {
				r.appendFiles(r.rollup)
			}
		}},
		{pace: pace{share: queuesShare, least: often}, read: func(time.Time, bool, bool) {
			if !ended {
				r.entrance.writeQueues(&r.archive)
			}
		}},
		{pace: pace{share: unreadShare, least: often}, read: func(time.Time, bool, bool) {
			if !ended {
				r.entrance.writeUnread(&r.archive)
			}
		}},
		{pace: pace{share: settingsShare, least: rarely}, read: func(time.Time, bool, bool) { r.appendFiles(r.settings) }},
		{pace: pace{share: otherShare, least: seldom}, read: func(now time.Time, first, last bool) {
			r.appendFiles(r.slow)
			r.neighbours.listProcesses(&r.archive, first)
			if !first && !last && !r.always {
				r.slowest = max(r.slowest, now.Sub(lastOthers))
			}
			lastOthers = now
		}},
		{pace: pace{share: neighboursShare, least: seldom}, read: func(time.Time, bool, bool) { r.neighbours.readThreads(&r.archive) }},
	}
	if r.always {
		for _, p := range parts {
			p.share *= alwaysShare
			p.least = max(p.least*alwaysLess, seldom)
		}
	}
	for first, last := true, false; ; first = false {
		select {
		case <-ctx.Done():
			last = true
		case <-timer.C:
		}
		if first && ctx.Err() != nil {
			last = true // a moment is written in any case
		}
		now := time.Now()
		if !r.process.isAlive() {
			ended, last = true, true
		}
		r.whole = last
		var due []*part
		for _, p := range parts {
			if first || last || !now.Before(p.next) {
				due = append(due, p)
				p.bytes = len(r.buf)
				p.cost = costOf(func() { p.read(now, first, last) })
				p.bytes = len(r.buf) - p.bytes
			}
		}
		whole := len(r.buf)
		writing := costOf(func() { err = r.flush() })
		if err != nil {
			return ended, fmt.Errorf("procfs.txt: %w", err)
		}
		if last {
			return ended, nil
		}
		for _, p := range due {
			cost := p.cost + writing*time.Duration(p.bytes)/time.Duration(max(1, whole))
			p.next = now.Add(p.pauseAfter(now, cost) - often/2) // the moment nearest to it
		}
		timer.Reset(time.Until(parts[0].next.Add(often / 2)))
	}
}

// part is a group of files that are read together.
type part struct {
	pace
	next  time.Time
	read  func(now time.Time, first, last bool)
	cost  time.Duration // cost of its last reading
	bytes int           // bytes of its last reading
}

// ownFiles returns the files of the process, its stat first, because an archive is about the first process in it.
func (r *recorder) ownFiles(first bool) {
	r.appendFiles(r.own)
	if first {
		r.readOnce()
	}
}

// appendFiles reads files. It leaves out a file that is missing or may not be read, and does not try again if that would mean opening it.
func (r *recorder) appendFiles(files []*file) {
	for i, f := range files {
		if f == nil {
			continue
		}
		if err := r.appendFile(f); err != nil && f.fd < 0 {
			files[i] = nil
		}
	}
}

func (r *recorder) close() {
	for _, files := range [][]*file{r.own, r.host, r.group, r.slow, r.settings, r.rollup} {
		for _, f := range files {
			if f != nil {
				r.archive.closeFile(f)
			}
		}
	}
	r.threads.close(&r.archive)
	r.switches.close(&r.archive)
	r.names.close(&r.archive)
	r.neighbours.close(&r.archive)
	r.entrance.close()
	r.process.close()
}

// costOf returns the CPU time of a function. It locks the thread only for that time: a locked thread that waits costs several switches
// between threads each time.
func costOf(do func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began := threadTime()
	do()
	return threadTime() - began
}

// threadTime returns the CPU time of this thread. Unlike elapsed time it does not grow on a busy host.
func threadTime() time.Duration {
	const thread = 1 // RUSAGE_THREAD, getrusage(2)
	var u syscall.Rusage
	if err := syscall.Getrusage(thread, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
