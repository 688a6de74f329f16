package attach_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/collect/probe/hotspot/attach"
	"github.com/unstall/unstall/internal/collect/probe/hotspot/attachtest"
)

func TestAsk(t *testing.T) {
	long := strings.Repeat("a line of an answer\n", 100_000)
	s := &attachtest.Server{Answer: func(command string) string {
		switch command {
		case "VM.version":
			return "0\nOpenJDK 64-Bit Server VM version 17.0.9+9\n"
		case "Thread.print":
			return "0\n" + long
		}
		return "-1\njava.lang.IllegalArgumentException: Unknown diagnostic command\n"
	}}
	vm := s.Start(t)
	text, err := vm.Text(t.Context(), "VM.version", 1000)
	if err != nil || text != "OpenJDK 64-Bit Server VM version 17.0.9+9\n" {
		t.Errorf("%q, %v", text, err)
	}
	var b bytes.Buffer
	if err := vm.Ask(t.Context(), "Thread.print", &b); err != nil || b.String() != long {
		t.Errorf("%d bytes, want %d; %v", b.Len(), len(long), err)
	}
	if text, err = vm.Text(t.Context(), "Thread.print", 10); err != nil || text != long[:10] {
		t.Errorf("bounded: %q, %v", text, err)
	}
	_, err = vm.Text(t.Context(), "Nothing", 1000)
	if !errors.Is(err, attach.ErrRefused) || !strings.Contains(err.Error(), "Nothing: java.lang.IllegalArgumentException: Unknown diagnostic command") {
		t.Errorf("an unknown command: %v", err)
	}
	if err := vm.Ask(t.Context(), strings.Repeat("x", 2000), &b); err == nil {
		t.Error("a command that does not fit was sent")
	}
}

// full is a writer that can store nothing.
type full struct{}

var errFull = errors.New("disk full")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestFailures(t *testing.T) {
	ask := func(s *attachtest.Server) error {
		_, err := s.Start(t).Text(t.Context(), "VM.version", 100)
		return err
	}
	says := func(text string) func(string) string { return func(string) string { return text } }
	for _, c := range []struct {
		name string
		s    *attachtest.Server
		kind error
	}{
		{"hangs up", &attachtest.Server{HangUp: true}, attach.ErrSilent},
		{"no code", &attachtest.Server{Answer: says("HTTP/1.1 400 Bad Request\r\n")}, attach.ErrProtocol},
		{"nothing", &attachtest.Server{Answer: says("")}, attach.ErrSilent},
		{"cut code", &attachtest.Server{Answer: says("0")}, attach.ErrSilent},
	} {
		err := ask(c.s)
		var p *attach.Problem
		if !errors.Is(err, c.kind) || !errors.As(err, &p) || p.Do == "" || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	s := &attachtest.Server{Answer: says("0\nx\n")}
	if err := s.Start(t).Ask(t.Context(), "VM.version", full{}); !errors.Is(err, errFull) {
		t.Errorf("cannot be stored: %v", err)
	}
	mute := &attachtest.Server{}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	if _, err := mute.Start(t).Text(ctx, "VM.version", 100); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

// TestNoSignal has a process that would die of SIGQUIT, with a socket that a JVM with its PID left. The process stays alive, and no file stays.
func TestNoSignal(t *testing.T) {
	dir := t.TempDir()
	c := exec.Command("sleep", "1000")
	c.Dir = dir
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Process.Kill(); _ = c.Wait() }()
	if err := os.Mkdir(dir+"/tmp", 0o700); err != nil {
		t.Fatal(err)
	}
	vm := attach.At(c.Process.Pid, dir)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: vm.Socket(), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	_ = l.Close()
	_, err = vm.Text(t.Context(), "VM.version", 100)
	if !errors.Is(err, attach.ErrStarting) {
		t.Errorf("%v", err)
	}
	if vm.Ended() {
		t.Error("it was killed")
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("left %v, %v", left, err)
	}
}

// TestImpostor has a socket that another process listens on.
func TestImpostor(t *testing.T) {
	s := &attachtest.Server{Answer: func(string) string { return "0\n" }}
	vm := s.Start(t)
	parent := attach.At(os.Getppid(), s.Root())
	if err := os.Rename(vm.Socket(), parent.Socket()); err != nil {
		t.Fatal(err)
	}
	_, err := parent.Text(t.Context(), "VM.version", 100)
	if err == nil || !strings.Contains(err.Error(), " listens on ") {
		t.Errorf("%v", err)
	}
}

func TestNoJVM(t *testing.T) {
	_, err := attach.Find(os.Getpid())
	if !errors.Is(err, attach.ErrNotJVM) || !strings.Contains(err.Error(), "libjvm.so is not among its libraries") {
		t.Errorf("%v", err)
	}
	if _, err := attach.Find(1 << 22); !errors.Is(err, attach.ErrGone) {
		t.Errorf("%v", err)
	}
}
