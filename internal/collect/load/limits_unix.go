//go:build unix

package load

import (
	"syscall"
	"time"
)

// openFiles is how many connections the limit on open files leaves room for.
// The runtime has raised the soft limit to the hard one.
func openFiles() int {
	var l syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l) != nil {
		return 1000
	}
	return int(min(max(uint64(l.Cur), 128)-64, 1<<20))
}

// cpuTime is what this process has used.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
