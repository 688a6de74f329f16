package main

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// beNice gives way to everything else: this is the sick host. On Linux a nice
// value belongs to a thread (setpriority(2), NOTES) and new threads inherit it,
// so all that are there get it.
func beNice() {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return
	}
	for _, t := range threads {
		if id, err := strconv.Atoi(t.Name()); err == nil {
			_ = unix.Setpriority(unix.PRIO_PROCESS, id, 19) // a courtesy: it goes on without
		}
	}
}
