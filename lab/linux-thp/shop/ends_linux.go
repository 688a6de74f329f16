package main

import "syscall"

// endWithParent returns the attributes of a process that the kernel ends when the thread that started
// it ends.
func endWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM} }
