//go:build amd64 || arm64

package linux

import (
	"syscall"
	"unsafe"
)

// linkCount returns how many links an open directory has, 0 if that is unknown.
func linkCount(fd int) uint64 {
	var s syscall.Stat_t
	if _, _, errno := syscall.RawSyscall(syscall.SYS_FSTAT, uintptr(fd), uintptr(unsafe.Pointer(&s)), 0); errno != 0 {
		return 0
	}
	return uint64(s.Nlink)
}
