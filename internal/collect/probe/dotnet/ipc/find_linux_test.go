package ipc

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/collect/probe/dotnet/ipctest"
)

func TestNoSuchProcess(t *testing.T) {
	cmd := play(t, "idle", nil)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	// The process is a zombie, because Wait is not called yet.
	for {
		if _, err := Find(cmd.Process.Pid); errors.Is(err, ErrGone) {
			break
		} else if !errors.Is(err, ErrNone) {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
	_ = cmd.Wait()
	_, err := Find(cmd.Process.Pid)
	if !errors.Is(err, ErrGone) || !strings.Contains(err.Error(), "no such process: run unstall without arguments to list") {
		t.Error(err)
	}
}

func TestDisabled(t *testing.T) {
	for _, setting := range []string{"DOTNET_EnableDiagnostics=0", "COMPlus_EnableDiagnostics=0", "DOTNET_EnableDiagnostics_IPC=00"} {
		cmd := play(t, "idle", func(c *exec.Cmd) { c.Env = append(c.Env, setting) })
		_, err := Find(cmd.Process.Pid)
		if !errors.Is(err, ErrDisabled) || !strings.Contains(err.Error(), setting+" in its environment: restart it without this setting") {
			t.Error(err)
		}
	}
	cmd := play(t, "idle", func(c *exec.Cmd) { c.Env = append(c.Env, "DOTNET_EnableDiagnostics=1") })
	if _, err := Find(cmd.Process.Pid); !errors.Is(err, ErrNone) {
		t.Error(err)
	}
}

// TestStale leaves a socket of an earlier process with the same PID.
func TestStale(t *testing.T) {
	dir := t.TempDir()
	cmd := play(t, "idle", func(c *exec.Cmd) { c.Env = append(c.Env, "TMPDIR="+dir) })
	stale := filepath.Join(dir, fmt.Sprintf("dotnet-diagnostic-%d-17-socket", cmd.Process.Pid))
	if err := new(ipctest.Server).Listen(stale); err != nil {
		t.Fatal(err)
	}
	_, err := Find(cmd.Process.Pid)
	if !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), "left by a killed process with the same id") {
		t.Error(err)
	}
}

// TestNobodyListens has a runtime that ended while its process continues.
func TestNobodyListens(t *testing.T) {
	s := &ipctest.Server{}
	c := serve(t, s)
	s.Close()
	if _, err := c.Info(soon(t, time.Minute)); !errors.Is(err, ErrSilent) || !strings.Contains(err.Error(), "nothing listens on") {
		t.Error(err)
	}
	if err := os.Remove(c.Path()); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Info(soon(t, time.Minute)); !errors.Is(err, ErrNone) {
		t.Error(err)
	}
}

// TestImpostor has a socket with the right name on which another process listens.
func TestImpostor(t *testing.T) {
	path, err := ipctest.Path(os.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(path) })
	cmd := play(t, "serve", nil, path)
	c, err := Find(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Info(soon(t, time.Minute))
	if !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), fmt.Sprintf("process %d listens on", cmd.Process.Pid)) {
		t.Error(err)
	}
}

// TestElsewhere finds sockets in TMPDIR, also with names longer than a socket may have.
func TestElsewhere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("deep", 30))
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := play(t, "serve", func(c *exec.Cmd) { c.Env = append(c.Env, "TMPDIR="+dir) })
	answers(t, cmd)
}

// TestContainer finds the socket of a process in namespaces of its own, where it has another PID and another /tmp.
func TestContainer(t *testing.T) {
	cmd := play(t, "serve", func(c *exec.Cmd) {
		c.Env = append(c.Env, "IPC_TEST_TMPFS=1")
		c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS}
		if os.Geteuid() != 0 {
			c.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
			c.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		}
	})
	answers(t, cmd)
}

func answers(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	c, err := Find(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if i, err := c.Info(soon(t, time.Minute)); err != nil || i.Assembly != "Other" {
		t.Errorf("%s: %+v, %v", c.Path(), i, err)
	}
}
