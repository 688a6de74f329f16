package attach

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
)

// Problem is an error of attaching to a process.
type Problem struct {
	PID  int
	Why  string // "it runs with -XX:+DisableAttachMechanism", may be ""
	Do   string // what the user can do: "restart it without -Xrs", may be ""
	Kind error  // one of this package's sentinels, or the system's error
}

func newProblem(pid int, why, do string, kind error) error { return &Problem{pid, why, do, kind} }

// Error returns one line: "pid 4711: attaching is disabled: it runs with -XX:+DisableAttachMechanism: restart it without
// -XX:+DisableAttachMechanism".
func (p *Problem) Error() string {
	text := fmt.Sprintf("pid %d: %s", p.PID, p.Reason())
	if p.Do != "" {
		text += ": " + p.Do
	}
	return text
}

// Reason returns the error without the process and without what to do.
func (p *Problem) Reason() string {
	switch kind := p.Kind.Error(); {
	case p.Why == "":
		return kind
	case strings.Contains(p.Why, kind):
		return p.Why
	default:
		return kind + ": " + p.Why
	}
}

func (p *Problem) Unwrap() error { return p.Kind }

// explainError says what an error of a connection means and what to do about it.
func (v *VM) explainError(ctx context.Context, err error) error {
	var known *Problem
	switch {
	case errors.As(err, &known):
		return err
	case errors.Is(err, ErrProtocol):
		return newProblem(v.pid, v.Socket()+": "+err.Error(), "remove that file, and try again", err)
	case errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err()
	case v.Ended():
		return newProblem(v.pid, "it has ended", "run unstall without arguments to list what runs here", ErrGone)
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		return deniedError(v.pid, v.Socket())
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded), errors.Is(err, syscall.EAGAIN):
		return v.silentError()
	case errors.Is(err, syscall.ECONNREFUSED):
		return newProblem(v.pid, "nothing listens on "+v.Socket(), "remove that file, and try again", ErrSilent)
	case errors.Is(err, os.ErrNotExist):
		return newProblem(v.pid, v.Socket()+" has been removed", "try again", ErrSilent)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return newProblem(v.pid, "it closed the connection", "run unstall as the user and group of the JVM", ErrSilent)
	}
	return newProblem(v.pid, v.Socket()+": "+err.Error(), "try again", err)
}

func (v *VM) silentError() error {
	if isStopped(v.pid) {
		return newProblem(v.pid, "the process is stopped", fmt.Sprintf("kill -CONT %d", v.pid), ErrSilent)
	}
	return newProblem(v.pid, fmt.Sprintf("no answer within %v", Patience), "try again; a long GC, a debugger or an overloaded host may be blocking it", ErrSilent)
}
