// Package ipc talks to the diagnostics server inside a .NET runtime, over the
// UNIX socket it listens on: .NET Core 3.0 and 3.1, .NET 5 to 11.
//
// Protocol: https://github.com/dotnet/diagnostics/blob/main/documentation/design-docs/ipc-protocol.md
//
// Where a version lacks a command it answers [UnknownCommand] (or [BadEncoding],
// where it knows the command by an older layout), and the next lower one is tried;
// nothing is concluded from version numbers, which are not asked for before.
// The server has a thread of its own, not one of the pool's, so that a service
// without a free thread still answers.
//
// The package's opinion: the socket is a door into the process, and everybody may
// put a file of that name into /tmp, so it is used only if it bears the time at
// which the process started and the process itself listens on it. Each step has
// its time limit, and each error says what to do about it. Command lines, which
// the server also tells, are not kept: they may hold secrets.
package ipc

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"
)

// Errors that callers tell apart; those that [Find] and a [Client] return wrap
// one of them or a [Code] and are one line that says what to do.
var (
	ErrGone      = errors.New("there is no such process")
	ErrDenied    = errors.New("permission denied")
	ErrDisabled  = errors.New("diagnostics are disabled")
	ErrNone      = errors.New("no .NET diagnostics socket")
	ErrSilent    = errors.New("the diagnostics server does not answer")
	ErrSuspended = errors.New("the runtime waits to be resumed")
	ErrProtocol  = errors.New("not an answer of a .NET diagnostics server")
)

// patience is how long an answer may take: they come within a millisecond, but
// for one on a host without a free processor.
const patience = 5 * time.Second

// Client is the diagnostics server of one process. Safe for concurrent use: each
// command has a connection of its own.
type Client struct {
	pid  int
	path string // of the socket, as it is reached from here

	collect atomic.Int32 // the CollectTracing this runtime was found to know; 0 not tried yet
}

// Path is the socket, as it is reached from here.
func (c *Client) Path() string { return c.path }

// PID is the process's number here, which in a container is another.
func (c *Client) PID() int { return c.pid }

// connect opens a connection for one command.
func (c *Client) connect(ctx context.Context) (*net.UnixConn, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	path, release, err := reach(c.path)
	if err != nil {
		return nil, c.failed(ctx, err)
	}
	defer release()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, c.failed(ctx, err)
	}
	u := conn.(*net.UnixConn)
	if err := c.own(u); err != nil {
		_ = u.Close()
		return nil, err
	}
	return u, nil
}

// ask sends a command and reads the answer's payload. Within limits the exchange;
// the connection stays open for what may follow.
func (c *Client) ask(ctx context.Context, conn *net.UnixConn, command uint16, payload []byte, within time.Duration) ([]byte, error) {
	until := time.Now().Add(within)
	if d, ok := ctx.Deadline(); ok && d.Before(until) {
		until = d
	}
	_ = conn.SetDeadline(until)
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	request, err := message(command, payload)
	if err != nil {
		return nil, err
	}
	if _, err := conn.Write(request); err != nil {
		return nil, c.failed(ctx, err)
	}
	answer, err := readMessage(conn)
	if err != nil {
		return nil, c.failed(ctx, err)
	}
	return answer, nil
}

// command is a whole exchange on a connection of its own.
func (c *Client) command(ctx context.Context, command uint16, payload []byte, within time.Duration) ([]byte, error) {
	conn, err := c.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	return c.ask(ctx, conn, command, payload, within)
}

// failed says what an error of a connection means.
func (c *Client) failed(ctx context.Context, err error) error {
	var code Code
	switch {
	case errors.As(err, &code):
		if code == notYetAvailable || code == uninitialized {
			return fmt.Errorf("pid %d: %w: it was started with DOTNET_DiagnosticPorts or DOTNET_DefaultDiagnosticPortSuspend and does nothing until a tool such as dotnet-monitor resumes it", c.pid, ErrSuspended)
		}
		return fmt.Errorf("pid %d: the runtime refuses: %w", c.pid, err)
	case errors.Is(err, ErrProtocol):
		return fmt.Errorf("pid %d: %s: %w", c.pid, c.path, err)
	case errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err()
	case ended(c.pid):
		return fmt.Errorf("pid %d: %w any more: it has ended", c.pid, ErrGone)
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		return denied(c.pid, c.path)
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("pid %d: %w: %s has been removed: restart the process", c.pid, ErrNone, c.path)
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		if stopped(c.pid) {
			return fmt.Errorf("pid %d: %w: the process is stopped: kill -CONT %d", c.pid, ErrSilent, c.pid)
		}
		return fmt.Errorf("pid %d: %w within %v: is a debugger attached, or another tool taking a dump? Try again", c.pid, ErrSilent, patience)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("pid %d: %w: nobody listens on %s: restart the process", c.pid, ErrSilent, c.path)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return fmt.Errorf("pid %d: %w: it closed the connection: try again", c.pid, ErrSilent)
	}
	return fmt.Errorf("pid %d: %s: %w", c.pid, c.path, err)
}

func denied(pid int, what string) error {
	if who := owner(pid); who != "" && os.Geteuid() != 0 {
		return fmt.Errorf("pid %d: %w: %s belongs to user %s: sudo unstall %d, or as that user", pid, ErrDenied, what, who, pid)
	}
	return fmt.Errorf("pid %d: %w: %s: as root of the host, or with the capability SYS_PTRACE: unstall %d", pid, ErrDenied, what, pid)
}

// header is what each message begins with: magic, size of all of it, command.
const (
	magic      = "DOTNET_IPC_V1\x00"
	headerSize = 20
)

// Answers come from the command set 0xff.
const (
	answerOK    = 0xff00
	answerError = 0xffff
)

// message puts a header before a payload.
func message(command uint16, payload []byte) ([]byte, error) {
	size := headerSize + len(payload)
	if size > 0xffff {
		return nil, fmt.Errorf("a command of %d bytes does not fit into the 65,535 of the protocol: ask for fewer providers", size)
	}
	m := make([]byte, 0, size)
	m = append(m, magic...)
	m = binary.LittleEndian.AppendUint16(m, uint16(size))
	m = append(m, byte(command>>8), byte(command), 0, 0)
	return append(m, payload...), nil
}

// readMessage reads an answer: its payload, or a [Code].
func readMessage(r io.Reader) ([]byte, error) {
	var h [headerSize]byte
	if _, err := io.ReadFull(r, h[:]); err != nil {
		return nil, err
	}
	size := int(binary.LittleEndian.Uint16(h[14:]))
	if string(h[:14]) != magic || size < headerSize {
		return nil, fmt.Errorf("%w: it begins with %q", ErrProtocol, h[:16])
	}
	payload := make([]byte, size-headerSize)
	if _, err := io.ReadFull(r, payload); err != nil {
		return nil, err
	}
	switch kind := binary.BigEndian.Uint16(h[16:]); kind {
	case answerOK:
		return payload, nil
	case answerError:
		if len(payload) < 4 {
			return nil, fmt.Errorf("%w: an error without a code", ErrProtocol)
		}
		return nil, Code(binary.LittleEndian.Uint32(payload))
	default:
		return nil, fmt.Errorf("%w: it is of the kind %#04x", ErrProtocol, kind)
	}
}
