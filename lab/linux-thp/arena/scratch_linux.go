package main

import (
	"os"
	"syscall"
)

// useScratch maps memory, touches one byte in every so many, and gives it back.
func useScratch(size, every int) error {
	m, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		return err
	}
	touchPages(m, every)
	return syscall.Munmap(m)
}

// touchPages faults pages in; its name shows in stacks.
//
//go:noinline
func touchPages(m []byte, every int) {
	for i := 0; i < len(m); i += every {
		m[i] = 1
	}
}

// withoutHugePages switches them off for this process: prctl(2).
func withoutHugePages() error {
	const setTHPDisable = 41 // PR_SET_THP_DISABLE
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, setTHPDisable, 1, 0, 0, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// dropFileCache drops a file from the page cache, so that written pages do not count as its
// reader's memory.
func dropFileCache(f *os.File) error {
	const dontNeed = 4 // POSIX_FADV_DONTNEED
	if _, _, errno := syscall.Syscall6(syscall.SYS_FADVISE64, f.Fd(), 0, 0, dontNeed, 0, 0); errno != 0 {
		return errno
	}
	return nil
}
