package sample

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/unstall/unstall/internal/operate/top"
)

// tick is the unit of times in /proc: USER_HZ is 100 wherever Go runs.
const tick = .01

// Proc reads the kernel's figures of a process (proc_pid_stat(5), proc_pid_status(5)). It keeps two files open; a reading
// takes some 20 µs.
type Proc struct {
	pid          int
	stat, status *os.File
	buf          []byte
	start        string
	now          func() time.Time
}

// OpenProc opens the files of a process. The error wraps [top.ErrEnded] if there is no such process.
func OpenProc(pid int, now func() time.Time) (*Proc, error) {
	p := &Proc{pid: pid, buf: make([]byte, 8<<10), now: now}
	var err error
	if p.stat, err = os.Open(fmt.Sprintf("/proc/%d/stat", pid)); err == nil {
		p.status, err = os.Open(fmt.Sprintf("/proc/%d/status", pid))
	}
	if err != nil {
		p.stat.Close()
		if errors.Is(err, fs.ErrNotExist) {
			return nil, top.ErrEnded
		}
		return nil, err
	}
	return p, nil
}

// Read reads the files once.
func (p *Proc) Read(context.Context) ([]top.Reading, error) {
	text, err := p.readFile(p.stat)
	at := p.now()
	if err != nil {
		return nil, err
	}
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:]) // from the third field on
	if len(fields) < 22 {
		return nil, fmt.Errorf("/proc/%d/stat: %d fields after the name, want 22 or more", p.pid, len(fields))
	}
	if p.start == "" {
		p.start = string(fields[19])
	}
	if string(fields[19]) != p.start || fields[0][0] == 'Z' || fields[0][0] == 'X' {
		return nil, top.ErrEnded
	}
	field := func(n int) float64 { v, _ := strconv.ParseFloat(string(fields[n-3]), 64); return v }
	out := []top.Reading{
		{ID: "proc/cpu", Kind: top.Total, Scale: 100 * tick, Value: field(14) + field(15)},
		{ID: "proc/system", Kind: top.Total, Scale: 100 * tick, Value: field(15)},
		{ID: "proc/rss", Value: field(24) * float64(os.Getpagesize())},
		{ID: "proc/threads", Value: field(20)},
		{ID: "proc/major-faults", Kind: top.Total, Value: field(12)},
		{ID: "proc/minor-faults", Kind: top.Total, Value: field(10)},
	}
	if text, err := p.readFile(p.status); err == nil {
		anonymous, ok := parseKiB(text, "\nRssAnon:") // Linux 4.5
		swapped, also := parseKiB(text, "\nVmSwap:")
		if ok && also {
			out = append(out, top.Reading{ID: "proc/private", Value: anonymous + swapped})
		}
	}
	for i := range out {
		out[i].At = at
	}
	return out, nil
}

// readFile reads a file from its beginning.
func (p *Proc) readFile(f *os.File) ([]byte, error) {
	n, err := f.ReadAt(p.buf, 0)
	switch {
	case n > 0:
		return p.buf[:n], nil
	case errors.Is(err, syscall.ESRCH), errors.Is(err, fs.ErrNotExist), err == nil:
		return nil, top.ErrEnded
	}
	return nil, err
}

// Close closes the files.
func (p *Proc) Close() error { return errors.Join(p.stat.Close(), p.status.Close()) }

// parseKiB returns the bytes of a line such as "VmSwap: 12 kB".
func parseKiB(text []byte, key string) (float64, bool) {
	_, rest, ok := bytes.Cut(text, []byte(key))
	if !ok {
		return 0, false
	}
	f := bytes.Fields(rest[:min(len(rest), 64)])
	if len(f) == 0 {
		return 0, false
	}
	v, err := strconv.ParseFloat(string(f[0]), 64)
	return v * 1024, err == nil
}
