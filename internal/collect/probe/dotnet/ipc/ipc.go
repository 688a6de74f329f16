// Package ipc talks to the diagnostics server inside a .NET runtime, over the
// UNIX socket it listens on: .NET Core 3.0 and 3.1, .NET 5 to 11.
//
// Protocol: https://github.com/dotnet/diagnostics/blob/main/documentation/design-docs/ipc-protocol.md
//
// A version that lacks a command answers [UnknownCommand] (or [BadEncoding], if it knows the command in an older layout). Then the next
// older form is tried. The package concludes nothing from version numbers, which it does not ask for before. The server has a thread of
// its own, not one of the pool's, so that a service without a free thread still answers.
//
// The package's opinion: the socket gives access to the process, and any user may put a file of that name into /tmp. So it is used only if
// its name has the process's start time and the process itself listens on it. Each step has a time limit, and each error says what to do
// about it. Command lines, which the server also sends, are not kept, because they may hold secrets.
package ipc

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// Kinds of [Problem] that callers distinguish, beside [Code].
var (
	ErrGone      = errors.New("no such process")
	ErrDenied    = errors.New("permission denied")
	ErrDisabled  = errors.New("diagnostics are disabled")
	ErrNone      = errors.New("no .NET diagnostics socket")
	ErrSilent    = errors.New("the diagnostics server does not answer")
	ErrSuspended = errors.New("the runtime is suspended at startup")
	ErrProtocol  = errors.New("the answer is not from a .NET diagnostics server")
)

// patience is how long an answer may take. Answers come within a millisecond, except on a host without a free CPU.
const patience = 5 * time.Second

// Client is the diagnostics server of one process. It is safe for concurrent use, because each command has a connection of its own.
type Client struct {
	pid  int
	path string // of the socket, as reachable from here

	collect atomic.Int32         // the newest CollectTracing that this runtime is known to have; 0 not tried yet
	old     atomic.Pointer[bool] // whether it is older than .NET 6; nil not asked yet
}

// Path is the path of the socket, as reachable from here.
func (c *Client) Path() string { return c.path }

// PID is the process's PID on this host, which differs from the one in its container.
func (c *Client) PID() int { return c.pid }

// Ended says whether the process has ended. Its connections close a moment before that, so Ended waits for a moment.
func (c *Client) Ended() bool {
	for range 50 {
		if hasEnded(c.pid) {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}

// connect opens a connection for one command.
func (c *Client) connect(ctx context.Context) (*net.UnixConn, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	path, release, err := shortenPath(c.path)
	if err != nil {
		return nil, c.explainError(ctx, err)
	}
	defer release()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, c.explainError(ctx, err)
	}
	u := conn.(*net.UnixConn)
	if err := c.verifyPeer(u); err != nil {
		_ = u.Close()
		return nil, err
	}
	return u, nil
}

// sendCommand sends a command over a connection and reads the answer's payload. within limits the exchange; the connection then stays open
// for further data.
func (c *Client) sendCommand(ctx context.Context, conn *net.UnixConn, command uint16, payload []byte, within time.Duration) ([]byte, error) {
	until := time.Now().Add(within)
	if d, ok := ctx.Deadline(); ok && d.Before(until) {
		until = d
	}
	_ = conn.SetDeadline(until)
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	request, err := encodeMessage(command, payload)
	if err != nil {
		return nil, err
	}
	if _, err := conn.Write(request); err != nil {
		return nil, c.explainError(ctx, err)
	}
	answer, err := readMessage(conn)
	if err != nil {
		return nil, c.explainError(ctx, err)
	}
	return answer, nil
}

// runCommand sends a command and reads its answer over a connection of its own.
func (c *Client) runCommand(ctx context.Context, command uint16, payload []byte, within time.Duration) ([]byte, error) {
	conn, err := c.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	return c.sendCommand(ctx, conn, command, payload, within)
}

// explainError says what an error of a connection means and what to do about it.
func (c *Client) explainError(ctx context.Context, err error) error {
	var code Code
	switch {
	case errors.As(err, &code):
		if code == notYetAvailable || code == uninitialized {
			return newProblem(c.pid, "", "resume it with the tool that suspended it, such as dotnet-monitor (DOTNET_DiagnosticPorts, DOTNET_DefaultDiagnosticPortSuspend)", ErrSuspended)
		}
		return newProblem(c.pid, "the runtime refused: "+err.Error(), "update the runtime, or try again", err)
	case errors.Is(err, ErrProtocol):
		return newProblem(c.pid, c.path+": "+err.Error(), "remove that file, and restart the process", err)
	case errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err()
	case hasEnded(c.pid):
		return newProblem(c.pid, "it has ended", "run unstall without arguments to list what runs here", ErrGone)
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		return deniedError(c.pid, c.path)
	case errors.Is(err, os.ErrNotExist):
		return newProblem(c.pid, c.path+" has been removed", "restart the process", ErrNone)
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		if isStopped(c.pid) {
			return newProblem(c.pid, "the process is stopped", fmt.Sprintf("kill -CONT %d", c.pid), ErrSilent)
		}
		return newProblem(c.pid, fmt.Sprintf("no answer within %v", patience), "try again; a debugger or a dump may be blocking it", ErrSilent)
	case errors.Is(err, syscall.ECONNREFUSED):
		return newProblem(c.pid, "nothing listens on "+c.path, "restart the process", ErrSilent)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return newProblem(c.pid, "it closed the connection", "try again", ErrSilent)
	}
	return newProblem(c.pid, c.path+": "+err.Error(), "try again", err)
}

func deniedError(pid int, what string) error {
	do := fmt.Sprintf("run unstall %d as root of the host or with the capability SYS_PTRACE", pid)
	if who := ownerName(pid); who != "" && os.Geteuid() != 0 {
		what, do = fmt.Sprintf("%s belongs to user %s", what, who), fmt.Sprintf("sudo unstall %d", pid)
	}
	return newProblem(pid, what, do, ErrDenied)
}

// Problem is an error in talking to a process's diagnostics server.
type Problem struct {
	PID  int
	Why  string // "nothing listens on /tmp/…", may be ""
	Do   string // what the user can do: "restart the process"
	Kind error  // one of this package's sentinels, a Code, or the system's error
}

func newProblem(pid int, why, do string, kind error) error { return &Problem{pid, why, do, kind} }

// Error returns one line: "pid 4711: the diagnostics server does not answer: nothing listens on /tmp/…: restart the process".
func (p *Problem) Error() string { return fmt.Sprintf("pid %d: %s: %s", p.PID, p.Reason(), p.Do) }

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

// encodeMessage puts a header before a payload. The error says that a message would be longer than the protocol allows.
func encodeMessage(command uint16, payload []byte) ([]byte, error) {
	size := headerSize + len(payload)
	if size > 0xffff {
		return nil, fmt.Errorf("a command of %d bytes is larger than the protocol's 65,535 bytes: ask for fewer providers", size)
	}
	m := make([]byte, 0, size)
	m = append(m, magic...)
	m = binary.LittleEndian.AppendUint16(m, uint16(size))
	m = append(m, byte(command>>8), byte(command), 0, 0)
	return append(m, payload...), nil
}

// readMessage reads an answer. It returns the payload, or a [Code] as the error.
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
		return nil, fmt.Errorf("%w: it is of kind %#04x", ErrProtocol, kind)
	}
}
