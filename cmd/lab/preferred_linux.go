package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// preferredNice is the nice value of a demo that other programs would keep from the CPUs.
const preferredNice = -20

// runPreferred runs this program again at a higher priority and returns its exit code; ok is false if that is not allowed.
// The new process gets a session of its own. If the scheduler groups processes by session (sched_autogroup_enabled), only
// the group's nice value counts against other sessions (sched(7)).
func runPreferred(s *session) (code int, ok bool) {
	if os.Geteuid() != 0 {
		return 0, false
	}
	runtime.LockOSThread() // Pdeathsig is sent when the thread ends
	defer runtime.UnlockOSThread()
	c := exec.CommandContext(s, "/proc/self/exe", append(os.Args[1:], "--preferred")...)
	c.Args[0] = os.Args[0]
	c.Stdout, c.Stderr = s.out, s.err
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGTERM}
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	if c.Start() != nil {
		return 0, false
	}
	_ = unix.Setpriority(unix.PRIO_PGRP, c.Process.Pid, preferredNice)
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/autogroup", c.Process.Pid), fmt.Append(nil, preferredNice), 0)
	_ = c.Wait()
	return c.ProcessState.ExitCode(), true
}
