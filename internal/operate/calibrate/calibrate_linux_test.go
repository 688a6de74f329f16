package calibrate

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain lets the test binary run as a load, as the tool does.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == LoadCommand {
		if err := Play(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// TestRun runs every load for a moment. Each ends by itself and leaves nothing behind.
func TestRun(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var told []string
	if err := Run(t.Context(), Loads, 100*time.Millisecond, func(l Load) { told = append(told, l.Name) }); err != nil {
		t.Fatal(err)
	}
	if len(told) != len(Loads) {
		t.Errorf("ran %v", told)
	}
	nothingLeft(t, os.TempDir())
}

func nothingLeft(t *testing.T, dirs ...string) {
	t.Helper()
	for _, dir := range dirs {
		left, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range left {
			t.Errorf("%s is left", e.Name())
		}
	}
}

// TestCancel checks that loads end early when their context is cancelled.
func TestCancel(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	began := time.Now()
	if err := Run(ctx, Loads, 30*time.Second, func(Load) { time.AfterFunc(50*time.Millisecond, cancel) }); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
	nothingLeft(t, os.TempDir())
}

// TestOrphan checks that a load ends with the process that started it, and removes its file.
func TestOrphan(t *testing.T) {
	for _, name := range []string{"write", "packets", "pipe", "futex"} {
		dir := t.TempDir()
		c := exec.Command("/proc/self/exe", LoadCommand, name, dir, "30s")
		in, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		_ = in.Close() // as when the other process ends
		ended := make(chan error, 1)
		go func() { ended <- c.Wait() }()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		case <-time.After(20 * time.Second):
			_ = c.Process.Signal(syscall.SIGKILL)
			t.Errorf("%s goes on", name)
		}
		nothingLeft(t, dir)
	}
}

func TestPlay(t *testing.T) {
	for _, args := range [][]string{nil, {"sqrt", "/", "x"}, {"nothing", "/", "1s"}, {"sqrt", "/", "1h"}} {
		if err := Play(args); err == nil || !strings.Contains(err.Error(), "unstall calibrate") {
			t.Errorf("%q: %v", args, err)
		}
	}
}

func TestUnwritable(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing") // root cannot write there either
	if err := writes(missing, func() bool { return false }); err == nil {
		t.Errorf("it writes to %s", missing)
	}
}
