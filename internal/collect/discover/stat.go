package discover

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// stat is the used part of /proc/PID/stat, see proc_pid_stat(5).
type stat struct {
	comm  string // the first 15 bytes of the name the process was started by, or gave itself
	state byte
	ppid  int
	flags uint64        // PF_* of include/linux/sched.h
	cpu   time.Duration // user and system, in steps of a tick
	start uint64        // ticks after boot
	rss   int64         // pages; since Linux 6.2 only approximately
}

// tick is the unit of times in /proc: USER_HZ is 100 wherever Go runs.
const tick = time.Second / 100

const pfKthread = 0x00200000 // PF_KTHREAD: a thread of the kernel's own

func (s *stat) isKernelThread() bool { return s.flags&pfKthread != 0 }

// hasEnded says whether only an exit status is left of the process, which its parent has not collected yet.
func (s *stat) hasEnded() bool { return s.state == 'Z' || s.state == 'X' }

// procLimit bounds what is read of a file that normally has a line or a page, in bytes.
const procLimit = 1 << 20

// parseStat reads "4711 (comm) S 1 …". The name may contain blanks, parentheses and line breaks.
func parseStat(r io.Reader) (stat, error) {
	text, err := io.ReadAll(io.LimitReader(r, procLimit))
	if err != nil {
		return stat{}, err
	}
	open, close := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
	if open < 0 || close < open {
		return stat{}, fmt.Errorf("stat: %.60q has no (name)", text)
	}
	s := stat{comm: string(text[open+1 : close])}
	fields := strings.Fields(string(text[close+1:])) // from the third field on
	if len(fields) < 22 || len(fields[0]) != 1 {
		return stat{}, fmt.Errorf("stat: %d fields behind the name, want 22 or more", len(fields))
	}
	s.state = fields[0][0]
	var utime, stime uint64
	var errs [6]error
	s.ppid, errs[0] = strconv.Atoi(fields[1])
	s.flags, errs[1] = strconv.ParseUint(fields[6], 10, 64)
	utime, errs[2] = strconv.ParseUint(fields[11], 10, 64)
	stime, errs[3] = strconv.ParseUint(fields[12], 10, 64)
	s.start, errs[4] = strconv.ParseUint(fields[19], 10, 64)
	s.rss, errs[5] = strconv.ParseInt(fields[21], 10, 64)
	if err := errors.Join(errs[:]...); err != nil {
		return stat{}, fmt.Errorf("stat: %.60q: a field is no number", text)
	}
	s.cpu = time.Duration(utime+stime) * tick
	return s, nil
}
