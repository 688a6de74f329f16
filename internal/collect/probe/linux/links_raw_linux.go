//go:build amd64 || arm64

package linux

import (
	"syscall"
	"unsafe"
)

// links is how many links a directory has that is open, 0 if that is not told.
func links(fd int) uint64 {
	var s syscall.Stat_t
	if _, _, errno := syscall.RawSyscall(syscall.SYS_FSTAT, uintptr(fd), uintptr(unsafe.Pointer(&s)), 0); errno != 0 {
		return 0
	}
	return uint64(s.Nlink)
}
