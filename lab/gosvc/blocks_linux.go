package main

import "syscall"

// withBlock calls do with fresh memory and unmaps it.
func withBlock(size int, do func([]byte)) error {
	b, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		return err
	}
	do(b)
	return syscall.Munmap(b)
}
