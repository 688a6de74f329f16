package main

import "syscall"

// ends has what is started asked to end when the thread does that started it.
func ends() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM} }
