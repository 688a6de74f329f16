//go:build !amd64 && !arm64

package linux

import "syscall"

// links is how many links a directory has that is open, 0 if that is not told.
func links(fd int) uint64 {
	var s syscall.Stat_t
	if err := syscall.Fstat(fd, &s); err != nil {
		return 0
	}
	return uint64(s.Nlink)
}
