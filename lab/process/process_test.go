//go:build linux

package process

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestStop checks that a service ends with its standard input, also if it ignores the end.
func TestStop(t *testing.T) {
	script := filepath.Join(t.TempDir(), "stubborn")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho '{}'\ncat >/dev/null\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	p, err := Start(t.Context(), script, nil, nil, filepath.Join(t.TempDir(), "stderr"), new(any))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Stop(); err != nil {
		t.Error(err)
	}
	if err := syscall.Kill(p.PID, 0); err == nil {
		t.Errorf("process %d is still there", p.PID)
	}
}

func TestStartSaysWhatTheProgramSaid(t *testing.T) {
	script := filepath.Join(t.TempDir(), "broken")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho no such flag >&2\nexit 2\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := Start(t.Context(), script, nil, nil, filepath.Join(t.TempDir(), "stderr"), new(any))
	if err == nil || !strings.Contains(err.Error(), "no such flag") {
		t.Errorf("error %v: it does not say why", err)
	}
}
