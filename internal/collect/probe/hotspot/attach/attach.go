// Package attach talks to the attach listener of a HotSpot JVM, JDK 8 to 25, as jcmd does. This side needs no JDK.
//
// The listener is a thread of the JVM that starts on demand: on a file .attach_pidN in the JVM's working directory or in /tmp, owned by the JVM's
// user, and a SIGQUIT. It then listens on the UNIX socket /tmp/.java_pidN. N is the JVM's PID in its own namespace, and /tmp is the JVM's, whatever
// TMPDIR says. A request is "1\0command\0argument\0argument\0argument\0". An answer is a line with a number, 0 for success, and then text up to the
// end of the connection. Sources:
// https://github.com/openjdk/jdk/blob/master/src/hotspot/os/posix/attachListener_posix.cpp
// https://github.com/openjdk/jdk/blob/master/src/jdk.attach/linux/classes/sun/tools/attach/VirtualMachineImpl.java
//
// JDK 24 added a second version of the protocol, and still answers the first.
//
// The package's opinion: a signal that may kill is sent last. A running listener is used as it is. SIGQUIT is sent only to a
// process that has libjvm.so mapped, that catches the signal (with -Xrs it does not, and would die) and that does not run with
// -XX:+DisableAttachMechanism (it would print all
// threads into its log). The signal is sent once, and only to this process, even if its PID is reused.
package attach

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"
)

// Kinds of [Problem] that callers distinguish.
var (
	ErrGone     = errors.New("no such process")
	ErrDenied   = errors.New("permission denied")
	ErrNotJVM   = errors.New("it is not a HotSpot JVM")
	ErrDisabled = errors.New("attaching is disabled")
	ErrSilent   = errors.New("the JVM does not answer")
	ErrStarting = errors.New("the JVM is still starting")
	ErrProtocol = errors.New("the answer is not from a JVM")
	ErrRefused  = errors.New("the JVM refused")
)

// Patience is how long an answer, or the start of the listener, may take. Both take milliseconds, but longer while a full collection
// stops all threads.
const Patience = 10 * time.Second

// longest is the longest argument of a request: AttachOperation::arg_length_max.
const longest = 1024

// VM is the attach listener of one process. It is safe for concurrent use: requests are sent one after the other, as the listener answers them.
type VM struct {
	pid, inner int // PID on this host, and in the process's own namespace
	uid, gid   int
	start      uint64 // when the process was started, ticks after boot
	root       string // prefix of the JVM's paths on this host: "" or /proc/PID/root

	mu   sync.Mutex
	open bool
}

// PID returns the process's PID on this host.
func (v *VM) PID() int { return v.pid }

// Inner returns the process's PID in its own namespace, which differs in a container.
func (v *VM) Inner() int { return v.inner }

// Path returns the path of one of the JVM's files, as reachable from here.
func (v *VM) Path(name string) string { return v.root + name }

// Socket returns where the listener is, or will be, as reachable from here.
func (v *VM) Socket() string { return v.root + "/tmp/" + v.socketName() }

func (v *VM) socketName() string { return fmt.Sprintf(".java_pid%d", v.inner) }

// Ask runs a diagnostic command in the form of jcmd ("Thread.print -e"), and writes its answer. On an error, the part before it was
// written. A command that
// this JVM does not know, or refuses, is an error of the kind [ErrRefused] with the JVM's text.
func (v *VM) Ask(ctx context.Context, command string, to io.Writer) error {
	if len(command) > longest || strings.ContainsRune(command, 0) {
		return fmt.Errorf("pid %d: a command of %d bytes is larger than the protocol's %d bytes", v.pid, len(command), longest)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.open {
		if err := v.ensureListener(ctx); err != nil {
			return err
		}
		v.open = true
	}
	conn, err := v.dial(ctx)
	if err != nil {
		return v.explainError(ctx, err)
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	a := &answer{conn: conn, ctx: ctx}
	a.extendDeadline()
	if _, err := io.WriteString(conn, "1\x00jcmd\x00"+command+"\x00\x00\x00"); err != nil {
		return v.explainError(ctx, err)
	}
	code, err := a.readCode()
	if err != nil {
		return v.explainError(ctx, err)
	}
	if code == "0" {
		if _, err := io.Copy(to, a); err != nil {
			var stored *storeError
			if errors.As(err, &stored) {
				return stored.error
			}
			return v.explainError(ctx, err)
		}
		return nil
	}
	said, err := io.ReadAll(io.LimitReader(a, 4<<10))
	if err != nil {
		return v.explainError(ctx, err)
	}
	return newProblem(v.pid, fmt.Sprintf("%s: %s", command, firstLine(said)), "", ErrRefused)
}

// Text returns a short answer, up to limit bytes.
func (v *VM) Text(ctx context.Context, command string, limit int) (string, error) {
	var b bytes.Buffer
	err := v.Ask(ctx, command, &bounded{&b, limit})
	return b.String(), err
}

// bounded keeps the first bytes and accepts all.
type bounded struct {
	to   *bytes.Buffer
	left int
}

func (b *bounded) Write(p []byte) (int, error) {
	n := min(len(p), b.left)
	b.left -= n
	_, _ = b.to.Write(p[:n])
	return len(p), nil
}

// answer reads a JVM's answer. It waits no longer than [Patience] for each piece.
type answer struct {
	conn net.Conn
	ctx  context.Context
}

func (a *answer) extendDeadline() {
	until := time.Now().Add(Patience)
	if d, ok := a.ctx.Deadline(); ok && d.Before(until) {
		until = d
	}
	if a.ctx.Err() == nil {
		_ = a.conn.SetDeadline(until)
	}
}

func (a *answer) Read(p []byte) (int, error) {
	a.extendDeadline()
	return a.conn.Read(p)
}

// WriteTo copies the answer. It distinguishes errors of the connection from those of the writer.
func (a *answer) WriteTo(to io.Writer) (all int64, err error) {
	buf := make([]byte, 32<<10)
	for {
		n, err := a.Read(buf)
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				return all, &storeError{err}
			}
			all += int64(n)
		}
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return all, err
		}
	}
}

type storeError struct{ error }

// readCode reads the line before the answer, byte by byte, because it is short.
func (a *answer) readCode() (string, error) {
	var line []byte
	for len(line) < 12 {
		var b [1]byte
		if _, err := io.ReadFull(a, b[:]); err != nil {
			return "", err
		}
		if b[0] == '\n' && len(line) > 0 {
			return string(line), nil
		}
		if (b[0] < '0' || b[0] > '9') && (b[0] != '-' || len(line) > 0) {
			break
		}
		line = append(line, b[0])
	}
	return "", fmt.Errorf("%w: it begins with %q", ErrProtocol, line)
}

func firstLine(b []byte) string {
	line, _, _ := bytes.Cut(bytes.TrimSpace(b), []byte("\n"))
	if len(line) == 0 {
		return "without a reason"
	}
	return string(bytes.TrimSpace(line))
}

// At returns the JVM with a PID whose listener is in the directory tmp of root. Unlike [Find] it does not examine the process.
func At(pid int, root string) *VM { return newVM(pid, root) }
