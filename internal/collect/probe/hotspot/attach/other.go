//go:build !linux

package attach

import (
	"context"
	"net"
)

// Find finds no process, because attaching to JVMs needs Linux.
func Find(pid int) (*VM, error) { return nil, unsupported(pid) }

func unsupported(pid int) error {
	return newProblem(pid, "JVMs can be recorded on Linux only", "run unstall on the host of the JVM, or give its GC log", ErrDenied)
}

// Ended says whether the process has ended.
func (v *VM) Ended() bool { return false }

func isStopped(int) bool { return false }

// Stopped says whether a process is stopped.
func Stopped(int) bool { return false }

func deniedError(pid int, what string) error { return newProblem(pid, what, "", ErrDenied) }

func (v *VM) ensureListener(context.Context) error { return unsupported(v.pid) }

func (v *VM) dial(context.Context) (net.Conn, error) { return nil, unsupported(v.pid) }

func newVM(pid int, root string) *VM { return &VM{pid: pid, inner: pid, root: root} }

// Started returns when a process was started, in ticks after boot; an error if it has ended.
func Started(pid int) (uint64, error) { return 0, unsupported(pid) }
