package main

import "syscall"

// withBlock does something with fresh memory.
func withBlock(size int, do func([]byte)) error {
	b, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		return err
	}
	do(b)
	return syscall.Munmap(b)
}
