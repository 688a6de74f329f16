package process

import (
	"os"
	"syscall"
)

// ownGroupAttr keeps a terminal's signals from a program, which only its starter may end, and ends
// the program with its starter, however the starter ends.
func ownGroupAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}

func endProcess(p *os.Process) error { return p.Signal(syscall.SIGTERM) }
