package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// uncache drops a file from memory: whose memory it is, is then up to who reads it.
func uncache(f *os.File) error { return unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED) }
