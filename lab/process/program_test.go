//go:build linux

package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func launch(t *testing.T, s Spec) *Program {
	t.Helper()
	s.Log = filepath.Join(t.TempDir(), "log")
	p, err := Launch(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Stop() })
	return p
}

// TestStopProgram checks that a signal ends a program, and that one that ignores the signal ends, too.
func TestStopProgram(t *testing.T) {
	p := launch(t, Spec{Bin: "/bin/sh", Args: []string{"-c", "exec sleep 100"}})
	if err := p.Stop(); err != nil {
		t.Error(err)
	}
	if p.Running() {
		t.Error("it runs")
	}
	if err := p.Failed(); err == nil {
		t.Error("that it ended by a signal is not said")
	}
}

func TestProgramThatEnds(t *testing.T) {
	p := launch(t, Spec{Bin: "/bin/sh", Args: []string{"-c", "echo no such table; exit 3"}})
	address, err := FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Accepts(t.Context(), address, time.Minute); err == nil || !strings.Contains(err.Error(), "no such table") {
		t.Errorf("error %v: it does not say why", err)
	}
}

func TestWaitEndsWithContext(t *testing.T) {
	p := launch(t, Spec{Bin: "/bin/sh", Args: []string{"-c", "exec sleep 100"}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Wait(ctx); !errors.Is(err, context.Canceled) || p.Running() {
		t.Errorf("error %v, running %v", err, p.Running())
	}
}

// TestQuota checks that a program is in its group from the start, and that the group is removed afterwards.
func TestQuota(t *testing.T) {
	q, err := NewQuota(.5)
	if errors.Is(err, ErrNoQuota) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := q.Prefer(); err != nil {
		t.Error(err)
	}
	p := launch(t, Spec{Bin: "/bin/sh", Args: []string{"-c", "exec sleep 100"}, Group: q})
	name := fmt.Sprintf("/proc/%d/cgroup", p.PID)
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(time.Millisecond) {
		groups, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(q.Membership(groups)) > 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("it is not in the group:\n%s", groups)
		}
	}
	p.Stop()
	if err := q.Remove(); err != nil {
		t.Error(err)
	}
	if files := q.Files(); len(files) > 0 {
		t.Errorf("left behind: %v", files)
	}
}

// TestIOPS checks that in a group with a limit of writes, synchronous writes take as long as the limit demands.
func TestIOPS(t *testing.T) {
	dir := t.TempDir()
	const writes, each = 40, 20 // a second
	q, err := NewIOPS(dir, each)
	if errors.Is(err, ErrNoIOPS) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	p := launch(t, Spec{Bin: "/bin/dd", Args: []string{"if=/dev/zero", "of=" + filepath.Join(dir, "file"), "bs=4k", fmt.Sprint("count=", writes), "oflag=sync"}, Group: q})
	if err := p.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	// Each slice allows some writes at once at its beginning.
	if took := time.Since(began); took < time.Second {
		t.Errorf("%d writes took %v at %d a second", writes, took, each)
	}
	if err := q.Remove(); err != nil {
		t.Error(err)
	}
}
