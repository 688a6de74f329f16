package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// dropFileCache drops a file from the page cache, so that the process that reads it next is
// charged for its memory.
func dropFileCache(f *os.File) error { return unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED) }
