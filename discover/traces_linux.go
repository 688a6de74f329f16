package discover

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// traces are what runtimes leave in a temporary directory, by the process id
// they know themselves by. A process that was killed leaves its traces, which
// the next one with its id must not be taken for.
type traces struct {
	hsperfdata map[int][]string // files; users may make directories for each other
	dotnet     map[int][]uint64 // when those processes started, ticks after boot
}

// leftBy returns the traces that a process would have left its own among, and
// the id it has there; nil if they cannot be seen: in a container of another
// user.
func (h *host) leftBy(p *process) (*traces, int) {
	root, key := "", h.mounts
	switch {
	case p.mounts != "" && p.mounts != h.mounts:
		root, key = procPath(p.pid, "root"), p.mounts
	case p.mounts == "" && len(p.pids) > 1:
		return nil, 0
	}
	if h.left[key] == nil {
		h.left[key] = findTraces(root + "/tmp")
	}
	if n := len(p.pids); n > 0 {
		return h.left[key], p.pids[n-1]
	}
	return h.left[key], p.pid
}

func findTraces(dir string) *traces {
	t := &traces{hsperfdata: map[int][]string{}, dotnet: map[int][]uint64{}}
	files, _ := filepath.Glob(dir + "/hsperfdata_*/*") // the pattern is well-formed
	for _, f := range files {
		if pid, err := strconv.Atoi(filepath.Base(f)); err == nil {
			t.hsperfdata[pid] = append(t.hsperfdata[pid], f)
		}
	}
	sockets, _ := filepath.Glob(dir + "/dotnet-diagnostic-*-socket")
	for _, s := range sockets {
		// dotnet-diagnostic-PID-STARTED-socket
		parts := strings.Split(filepath.Base(s), "-")
		if len(parts) != 5 {
			continue
		}
		pid, err := strconv.Atoi(parts[2])
		started, err2 := strconv.ParseUint(parts[3], 10, 64)
		if err == nil && err2 == nil {
			t.dotnet[pid] = append(t.dotnet[pid], started)
		}
	}
	return t
}

// hotspot looks for a JVM's counters. They are there unless it runs with
// -XX:-UsePerfData or -XX:+PerfDisableSharedMem.
func (h *host) hotspot(p *process) (jvm, bool) {
	for _, name := range h.counters(p) {
		f, _, err := openRegular(name)
		if err != nil {
			return jvm{}, true // another user's: that it is there tells enough
		}
		j, err := parseHsperfdata(f)
		_ = f.Close()
		if err == nil || j.version != "" {
			return j, true
		}
	}
	return jvm{}, false
}

// counters are the files that may be a process's hsperfdata.
func (h *host) counters(p *process) (files []string) {
	left, pid := h.leftBy(p)
	if left == nil {
		return nil
	}
	for _, name := range left.hsperfdata[pid] {
		fi, err := os.Lstat(name)
		if err != nil || !fi.Mode().IsRegular() || !h.younger(fi, p) {
			continue
		}
		if s, ok := fi.Sys().(*syscall.Stat_t); ok && int(s.Uid) == p.uid {
			files = append(files, name)
		}
	}
	return files
}

// Hsperfdata opens the counters of a JVM, for [hsperf.Parse], wherever its
// temporary directory is seen from here. What is read of the file is as it is then.
// The error is one line without the process's id.
func Hsperfdata(pid int) (*os.File, error) {
	h := newHost()
	p, err := open(pid)
	if err != nil {
		return nil, err
	}
	err = errors.New("it publishes no hsperfdata: it runs with -XX:-UsePerfData or -XX:+PerfDisableSharedMem")
	for _, name := range h.counters(p) {
		f, _, opened := openRegular(name)
		if opened == nil {
			return f, nil
		}
		err = fmt.Errorf("only %s may read its hsperfdata", h.needs(p.uid))
	}
	return nil, err
}

// younger says whether a file was written to after a process started.
func (h *host) younger(fi os.FileInfo, p *process) bool {
	const slack = 2 * time.Second // the boot time is in whole seconds
	return !fi.ModTime().Add(slack).Before(h.booted.Add(time.Duration(p.start) * tick))
}

// diagnosticSocket looks for the socket of a .NET runtime (3.0 on), whose name
// holds when the process started, as its /proc/PID/stat has it:
// https://github.com/dotnet/diagnostics/blob/main/documentation/design-docs/ipc-protocol.md#naming-and-location-conventions
func (h *host) diagnosticSocket(p *process) bool {
	left, pid := h.leftBy(p)
	if left == nil {
		return false
	}
	for _, started := range left.dotnet[pid] {
		if started == p.start {
			return true
		}
	}
	return false
}
