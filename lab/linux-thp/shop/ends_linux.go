package main

import "syscall"

// endWithParent returns the attributes of a process that is asked to end when the thread ends that
// started it.
func endWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM} }
