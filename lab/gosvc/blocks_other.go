//go:build !linux

package main

// withBlock calls do with fresh memory.
func withBlock(size int, do func([]byte)) error {
	do(make([]byte, size))
	return nil
}
