//go:build !amd64 && !arm64

package linux

import "syscall"

// linkCount returns how many links an open directory has, 0 if that is unknown.
func linkCount(fd int) uint64 {
	var s syscall.Stat_t
	if err := syscall.Fstat(fd, &s); err != nil {
		return 0
	}
	return uint64(s.Nlink)
}
