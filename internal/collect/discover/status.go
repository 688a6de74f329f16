package discover

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// status is the used part of /proc/PID/status, see proc_pid_status(5).
type status struct {
	tgid int   // the process this thread belongs to
	uid  int   // effective
	pids []int // in each PID namespace from ours inwards; nil before Linux 4.1
}

func parseStatus(r io.Reader) (status, error) {
	s := status{uid: -1}
	lines := bufio.NewScanner(io.LimitReader(r, procLimit))
	for lines.Scan() {
		key, value, _ := strings.Cut(lines.Text(), ":")
		fields := strings.Fields(value)
		var err error
		switch {
		case key == "Tgid" && len(fields) == 1:
			s.tgid, err = strconv.Atoi(fields[0])
		case key == "Uid" && len(fields) == 4: // real, effective, saved, file system
			s.uid, err = strconv.Atoi(fields[1])
		case key == "NSpid":
			s.pids = nil
			for _, f := range fields {
				var pid int
				if pid, err = strconv.Atoi(f); err != nil {
					break
				}
				s.pids = append(s.pids, pid)
			}
		}
		if err != nil {
			return status{}, fmt.Errorf("status: %.60q: %w", lines.Text(), err)
		}
	}
	if err := lines.Err(); err != nil {
		return status{}, fmt.Errorf("status: %w", err)
	}
	if s.tgid <= 0 || s.uid < 0 {
		return status{}, fmt.Errorf("status: it has no Tgid or no Uid")
	}
	return s, nil
}
