package linux

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strconv"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/collect/probe"
)

// Shares of one CPU that reading a host may take, including writing. With the samples of package kernel that is less than 2 %.
const (
	hostShare  = .002 // its own files
	listShare  = .003 // every process's stat
	lookShares = .003 // everything else of busy processes, except
	waitShare  = .001 // switches of their threads, and their sockets
)

// Limits of detailed reading: the processes that used so much CPU time since the recording began, at most so many, the first ones
// found. Less CPU time is below the kernel's resolution, which is a tick.
const (
	leastTicks     = 2
	mostLooked     = 64
	mostThreads    = 512 // threads of all of them: one takes some 40 µs to open, read three times and close
	mostHostGroups = 64
)

// Host returns one access for the whole of this host: every process and control group, as procfs.txt. It switches nothing on.
func Host(opt HostOptions) probe.Access {
	if opt.Root == "" {
		opt.Root = "/proc"
	}
	return probe.Access{Probe: name, Where: opt.Root, Lacks: hostLacks(opt.Root), Record: func(ctx context.Context, plan probe.Plan, sink probe.Sink) error {
		return recordHost(ctx, opt, plan, sink)
	}}
}

// hostLacks says which data of a host is missing, or not for this user.
func hostLacks(root string) (out []probe.Lack) {
	if b, err := os.ReadFile(root + "/stat"); err != nil || len(b) == 0 {
		return nil // recording reports it
	}
	if b, err := os.ReadFile(root + "/pressure/cpu"); err != nil || len(b) == 0 { // with psi=0 the file exists and cannot be read
		out = append(out, probe.Lack{What: "how long services waited for CPU, memory and disks (pressure): estimated from run queues and counters instead", Why: "this kernel does not measure it", Do: "boot with psi=1 (Linux 4.20 and later)"})
	}
	if ns, err := os.Readlink(root + "/self/ns/pid"); err == nil && ns != hostPIDs {
		out = append(out, probe.Lack{What: "processes outside this container: their CPU time is in the host's sums alone", Why: "this container has its own PID namespace", Do: "run unstall on the host, or with --pid=host"})
	} else if hidesOthers() {
		out = append(out, probe.Lack{What: "processes of other users", Why: "/proc is mounted with hidepid", Do: "sudo unstall host"})
	}
	if os.Geteuid() != 0 {
		out = append(out, probe.Lack{What: "pages written and sockets of other users' processes", Why: "the kernel lets only their owner and root read it", Do: "sudo unstall host"})
	}
	if len(cgroupMounts()) == 0 {
		out = append(out, probe.Lack{What: "limits and throttling of control groups", Why: "no cgroup file system is mounted here", Do: "mount the host's /sys/fs/cgroup into this container"})
	}
	return out
}

func recordHost(ctx context.Context, opt HostOptions, plan probe.Plan, sink probe.Sink) error {
	if plan.For > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, plan.For)
		defer cancel()
	}
	if _, err := os.ReadFile(opt.Root + "/stat"); err != nil {
		return fmt.Errorf("%s/stat: %w: give a recording of the host instead: unstall host FILE", opt.Root, errors.Unwrap(err))
	}
	out, err := sink.Create(capture.Meta{Name: "procfs.txt", Probe: name, Origin: opt.Root, About: evidence.Subject{Kind: evidence.Host}, Continues: true})
	if err != nil {
		return fmt.Errorf("procfs.txt: %w", err)
	}
	h := newHostRecorder(opt, out)
	err = h.run(ctx)
	if n := len(h.beyond); n > 0 {
		sink.Warnf("there are more busy threads than can be read at little cost: how long they waited for a CPU is not known of %d processes", n)
	}
	if e := out.Close(); err == nil && e != nil {
		err = fmt.Errorf("procfs.txt: %w", e)
	}
	return err
}

// hostRecorder writes procfs.txt of a host.
type hostRecorder struct {
	archive
	busyList
	opt     HostOptions
	host    []*file
	list    *table
	looked  map[int]*look
	threads int          // threads of the detailed processes
	beyond  map[int]bool // busy processes beyond the limit
	mounts  map[string]cgroupMount
	groups  map[string][]*file // by path
	sockets *segments
	named   map[int]bool // processes whose cgroup was written
}

// look is a process that is read in detail.
type look struct {
	files []*file
	runs  *table // schedstat of its threads; nil: there are too many
	waits *table // status of its threads, with the number of their switches
	gone  bool
}

func newHostRecorder(opt HostOptions, out io.Writer) *hostRecorder {
	h := &hostRecorder{archive: archive{out: out, most: mostOpen()}, opt: opt, list: newTable(opt.Root, "stat", 0), looked: make(map[int]*look),
		mounts: cgroupMounts(), groups: make(map[string][]*file), beyond: make(map[int]bool), sockets: newSegments(opt.Root), named: make(map[int]bool)}
	h.list.as, h.list.sparse = "/proc", true // most processes are idle
	for _, name := range []string{"stat", "pressure/cpu", "pressure/memory", "pressure/io", "pressure/irq", "vmstat", "loadavg", "softirqs", "diskstats", "meminfo", "net/softnet_stat"} {
		f := h.rootFile(name)
		f.sparse = true
		h.host = append(h.host, f)
	}
	return h
}

// rootFile returns a file below the root, which is recorded under its path in /proc.
func (h *hostRecorder) rootFile(name string) *file {
	return newFile(h.opt.Root+"/"+name, "/proc/"+name)
}

// run records until the context ends; the first and the last moment are complete.
func (h *hostRecorder) run(ctx context.Context) error {
	defer h.close()
	every := max(h.opt.Every, often)
	if h.opt.Every == 0 {
		every = seldom
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	parts := []*part{
		{pace: pace{share: hostShare, least: every / 2}, read: func(_ time.Time, first, _ bool) {
			if first {
				f := h.rootFile("sys/kernel/hostname")
				_ = h.archive.appendFile(f)
				h.archive.closeFile(f)
			}
			h.appendFiles(h.host)
		}},
		{pace: pace{share: listShare, least: every}, read: func(_ time.Time, first, _ bool) { h.readProcesses(first) }},
		{pace: pace{share: lookShares, least: every}, read: func(time.Time, bool, bool) { h.readBusy() }},
		{pace: pace{share: waitShare, least: 3 * every}, read: func(time.Time, bool, bool) { h.readSwitchesAndSockets() }},
	}
	for first, last := true, false; ; first = false {
		select {
		case <-ctx.Done():
			last = true
		case <-timer.C:
		}
		now := time.Now()
		h.whole = last
		var due []*part
		for _, p := range parts {
			if first || last || !now.Before(p.next) {
				due = append(due, p)
				p.bytes = len(h.buf)
				p.cost = costOf(func() { p.read(now, first, last) })
				p.bytes = len(h.buf) - p.bytes
			}
		}
		whole := len(h.buf)
		var err error
		writing := costOf(func() { err = h.flush() })
		if err != nil {
			return fmt.Errorf("procfs.txt: %w", err)
		}
		if last {
			return nil
		}
		for _, p := range due {
			cost := p.cost + writing*time.Duration(p.bytes)/time.Duration(max(1, whole))
			p.next = now.Add(p.pauseAfter(now, cost) - often/4)
		}
		timer.Reset(time.Until(slices.MinFunc(parts, func(a, b *part) int { return a.next.Compare(b.next) }).next.Add(often / 4)))
	}
}

// appendFiles reads files. A file that is absent or may not be read is not tried again.
func (h *hostRecorder) appendFiles(files []*file) {
	for i, f := range files {
		if f == nil {
			continue
		}
		if err := h.archive.appendFile(f); err != nil && f.fd < 0 {
			files[i] = nil
		}
	}
}

// readProcesses reads every process's stat, and begins to read busy processes in detail.
func (h *hostRecorder) readProcesses(first bool) {
	start := len(h.buf)
	_ = h.list.appendEntries(&h.archive)
	busy := h.listBusy(h.buf[start:], first)
	if first {
		for _, pid := range h.opt.Of {
			busy = append(busy, used{pid: pid})
		}
	}
	for _, u := range busy {
		h.watchProcess(u.pid)
	}
	for pid := range h.list.files {
		if !h.named[pid] && len(h.named) < 1<<14 { // what service a process is of
			h.named[pid] = true
			f := h.rootFile(fmt.Sprintf("%d/cgroup", pid))
			_ = h.archive.appendFile(f)
			h.archive.closeFile(f)
		}
	}
}

// watchProcess begins to read a process in detail.
func (h *hostRecorder) watchProcess(pid int) {
	if h.looked[pid] != nil {
		return
	}
	dir := fmt.Sprintf("%s/%d", h.opt.Root, pid)
	threads := threadsIn(dir + "/task")
	if threads == 0 {
		return
	}
	if len(h.looked) >= mostLooked {
		h.beyond[pid] = true
		return
	}
	x := &look{files: []*file{h.rootFile(fmt.Sprintf("%d/io", pid))}}
	h.looked[pid] = x
	h.addGroups(pid)
	if h.threads+threads > mostThreads {
		h.beyond[pid] = true
		return
	}
	h.threads += threads
	x.runs, x.waits = newTable(dir+"/task", "schedstat", 0), newTable(dir+"/task", "status", 0)
	x.runs.as = fmt.Sprintf("/proc/%d/task", pid)
	x.waits.as, x.waits.from = x.runs.as, "voluntary_ctxt_switches:" // two lines of sixty
}

// addGroups adds the files of a process's control groups.
func (h *hostRecorder) addGroups(pid int) {
	b, err := os.ReadFile(fmt.Sprintf("%s/%d/cgroup", h.opt.Root, pid))
	if err != nil {
		return
	}
	for line := range bytes.Lines(b) {
		parts := bytes.SplitN(bytes.TrimRight(line, "\n"), []byte(":"), 3)
		if len(parts) != 3 {
			continue
		}
		for _, controller := range bytes.Split(parts[1], []byte(",")) {
			c, at := string(controller), path.Clean("/"+string(parts[2]))
			m, ok := h.mounts[c]
			key := c + ":" + at
			if _, known := h.groups[key]; !ok || known || len(h.groups) >= mostHostGroups {
				continue
			}
			h.groups[key] = slices.Concat(m.groupFiles(c, at, groupOften[c], newSparseFile), m.groupFiles(c, at, groupSeldom[c], newSparseFile))
		}
	}
}

// readBusy reads the files of busy processes and of their groups.
func (h *hostRecorder) readBusy() {
	for _, x := range h.looked {
		if x.gone {
			continue
		}
		h.appendFiles(x.files)
		if x.runs != nil && x.runs.appendEntries(&h.archive) != nil {
			x.gone = true
			h.closeLook(x)
			continue
		}
	}
	for _, files := range h.groups {
		h.appendFiles(files)
	}
}

// readSwitchesAndSockets reads the most expensive data of busy processes: how often their threads were switched, and what their sockets
// sent and received.
func (h *hostRecorder) readSwitchesAndSockets() {
	for pid, x := range h.looked {
		if x.gone {
			continue
		}
		if x.waits != nil {
			_ = x.waits.appendEntries(&h.archive)
		}
		if n, ok := h.sockets.countSegments(pid); ok {
			h.appendSection(fmt.Sprintf("/proc/%d/fd/tcp", pid), []string{"segments " + strconv.FormatInt(n, 10)})
		}
	}
	h.sockets.startRound()
}

func (h *hostRecorder) closeLook(x *look) {
	for _, f := range x.files {
		if f != nil {
			h.archive.closeFile(f)
		}
	}
	if x.runs != nil {
		x.runs.close(&h.archive)
		x.waits.close(&h.archive)
	}
}

func (h *hostRecorder) close() {
	for _, files := range h.groups {
		for _, f := range files {
			if f != nil {
				h.archive.closeFile(f)
			}
		}
	}
	for _, f := range h.host {
		if f != nil {
			h.archive.closeFile(f)
		}
	}
	for _, x := range h.looked {
		h.closeLook(x)
	}
	h.list.close(&h.archive)
	h.sockets.close()
}
