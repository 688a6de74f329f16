//go:build !linux

package process

import (
	"os"
	"syscall"
)

func ownGroupAttr() *syscall.SysProcAttr { return nil }

func endProcess(p *os.Process) error { return p.Signal(os.Interrupt) }
