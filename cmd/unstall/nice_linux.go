package main

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// beNice gives way to all other programs, because this is the sick host. Tests that run commands in their own process replace it: what they start
// would inherit the nice value and starve beside other tests.
var beNice = lowerPriority

// lowerPriority sets the nice value of all threads: on Linux it belongs to a thread (setpriority(2), NOTES), and new threads inherit it.
func lowerPriority() {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return
	}
	for _, t := range threads {
		if id, err := strconv.Atoi(t.Name()); err == nil {
			_ = unix.Setpriority(unix.PRIO_PROCESS, id, 19) // optional, so errors are ignored
		}
	}
}
