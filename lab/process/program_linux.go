package process

import (
	"os"
	"syscall"
)

// apart keeps a terminal's signals from a program, whose end is for who started it to
// order, and ends it with that one, however that ends.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}

func end(p *os.Process) error { return p.Signal(syscall.SIGTERM) }
