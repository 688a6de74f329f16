//go:build linux

package main

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// TestPriorityOfTests checks that commands that tests run in this process leave its nice value alone: what tests start inherits it.
func TestPriorityOfTests(t *testing.T) {
	before, err := unix.Getpriority(unix.PRIO_PROCESS, os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	beNice()
	if after, err := unix.Getpriority(unix.PRIO_PROCESS, os.Getpid()); err != nil || after != before {
		t.Errorf("priority %d, before %d (%v)", after, before, err)
	}
}
