package process

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// Limit is a control group with a memory limit, made for one program.
type Limit struct{ Quota }

// ErrNoLimit says that this host or user cannot set a memory limit.
var ErrNoLimit = errors.New("no cgroup with a memory limit can be made: run it as root where /sys/fs/cgroup is writable and hands out the memory controller")

// NewLimit makes a group whose processes may use that many bytes.
func NewLimit(bytes int64) (*Limit, error) {
	for _, h := range []struct{ dir, file string }{{"/sys/fs/cgroup", "memory.max"}, {"/sys/fs/cgroup/memory", "memory.limit_in_bytes"}} {
		l := &Limit{Quota{filepath.Join(h.dir, fmt.Sprintf("%s%d-%d", groupPrefix, os.Getpid(), made.Add(1)))}}
		if os.Mkdir(l.dir, 0o755) != nil {
			continue
		}
		if writeExisting(filepath.Join(l.dir, h.file), strconv.FormatInt(bytes, 10)) == nil {
			return l, nil
		}
		if err := l.Remove(); err != nil {
			return nil, err
		}
	}
	return nil, ErrNoLimit
}

// Within returns the command line that runs a program in the group from its beginning, so that the
// group is charged for what the program reads then.
func (l *Limit) Within(bin string, args []string) (string, []string) {
	return "/bin/sh", append([]string{"-c", `echo $$ >"$0" && exec "$@"`, l.membersFile(), bin}, args...)
}
