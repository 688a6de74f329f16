//go:build unix

package service

import "syscall"

// ownUsage returns the process's usage so far: CPU seconds and minor faults.
func ownUsage() (user, system float64, minorFaults int64) {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0, 0, 0
	}
	return float64(u.Utime.Nano()) / 1e9, float64(u.Stime.Nano()) / 1e9, int64(u.Minflt)
}
