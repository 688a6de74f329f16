package discover

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// Left returns the files in a process's temporary directory that match a well-formed pattern; nil if they cannot be seen, as in another
// user's container. Files of other processes are among them, also of killed ones. The caller must not take those for files of a later
// process with the same PID.
func (p *process) Left(pattern string) []string {
	h, root, of := p.host, "", p.host.mounts
	switch {
	case p.mounts != "" && p.mounts != h.mounts:
		root, of = procPath(p.pid, "root"), p.mounts
	case p.mounts == "" && len(p.pids) > 1:
		return nil
	}
	key := of + " " + pattern
	if _, ok := h.left[key]; !ok {
		h.left[key], _ = filepath.Glob(root + "/tmp/" + pattern)
	}
	return h.left[key]
}

func (p *process) Inner() int {
	if n := len(p.pids); n > 0 {
		return p.pids[n-1]
	}
	return p.pid
}

// Hotspot looks for a JVM's counters. They exist unless the JVM runs with -XX:-UsePerfData or -XX:+PerfDisableSharedMem.
func (p *process) Hotspot() (Seen, bool) {
	for _, name := range p.hsperfdataFiles() {
		f, _, err := openRegular(name)
		if err != nil {
			return Seen{}, true // the file is another user's; its existence is enough
		}
		seen, err := parseHsperfdata(f)
		_ = f.Close()
		if err == nil || seen.Version != "" {
			return seen, true
		}
	}
	return Seen{}, false
}

// hsperfdataFiles returns the files that may be a process's hsperfdata.
func (p *process) hsperfdataFiles() (files []string) {
	inner := strconv.Itoa(p.Inner())
	for _, name := range p.Left("hsperfdata_*/*") { // a user may make directories for another
		if filepath.Base(name) != inner {
			continue
		}
		fi, err := os.Lstat(name)
		if err != nil || !fi.Mode().IsRegular() || !p.host.wasWrittenSinceStart(fi, p) {
			continue
		}
		if s, ok := fi.Sys().(*syscall.Stat_t); ok && int(s.Uid) == p.uid {
			files = append(files, name)
		}
	}
	return files
}

// Hsperfdata opens the counters of a JVM, for [hsperf.Parse], wherever its temporary directory is seen from here. The counters are
// those at the time of reading. The error is one line without the PID.
func Hsperfdata(pid int) (*os.File, error) {
	h := newHost(nil)
	p, err := h.openProcess(pid)
	if err != nil {
		return nil, err
	}
	err = errors.New("it publishes no hsperfdata: it runs with -XX:-UsePerfData or -XX:+PerfDisableSharedMem")
	for _, name := range p.hsperfdataFiles() {
		f, _, opened := openRegular(name)
		if opened == nil {
			return f, nil
		}
		err = fmt.Errorf("only %s may read its hsperfdata", h.requiredPrivilege(p.uid))
	}
	return nil, err
}

// wasWrittenSinceStart says whether a file was written after a process started.
func (h *host) wasWrittenSinceStart(fi os.FileInfo, p *process) bool {
	const slack = 2 * time.Second // the boot time is in whole seconds
	return !fi.ModTime().Add(slack).Before(h.booted.Add(time.Duration(p.start) * tick))
}
