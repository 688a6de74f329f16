package main

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A closed pipe, as with unstall … | head, is not an error; a full disk is.
func TestClosedPipe(t *testing.T) {
	for err, want := range map[error]int{syscall.EPIPE: 0, syscall.ENOSPC: unreadable} {
		var said bytes.Buffer
		s := &session{out: io.Discard, err: &said}
		s.writeOutput("", nil, func(io.Writer) error { return &os.PathError{Op: "write", Path: "/dev/stdout", Err: err} })
		if s.code != want || (said.Len() > 0) != (want > 0) {
			t.Errorf("%v: exit code %d and %q, want %d", err, s.code, said.String(), want)
		}
	}
}

// A report that cannot be written whole leaves no file that looks like one.
func TestUnfinishedReport(t *testing.T) {
	var said bytes.Buffer
	s := &session{err: &said}
	name := filepath.Join(t.TempDir(), "report.html")
	full := func(w io.Writer) error {
		if _, err := io.WriteString(w, "<html>"); err != nil {
			return err
		}
		return syscall.ENOSPC
	}
	if s.writeOutput(name, nil, full) || s.code != unreadable || !strings.Contains(said.String(), "no space left") {
		t.Errorf("code %d: %s", s.code, said.String())
	}
	if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a part of a report is left")
	}
}
