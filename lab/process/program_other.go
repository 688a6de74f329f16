//go:build !linux

package process

import (
	"os"
	"syscall"
)

func apart() *syscall.SysProcAttr { return nil }

func end(p *os.Process) error { return p.Signal(os.Interrupt) }
