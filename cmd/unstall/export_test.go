package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestTerminal(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	r, pipe, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer pipe.Close()
	if isTerminal(file) || isTerminal(null) || isTerminal(pipe) || isTerminal(new(bytes.Buffer)) {
		t.Errorf("file %t, null %t, pipe %t, buffer %t: none is a terminal", isTerminal(file), isTerminal(null), isTerminal(pipe), isTerminal(new(bytes.Buffer)))
	}
	pty, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no terminal can be had here: %v", err)
	}
	defer pty.Close()
	if !isTerminal(pty) {
		t.Error("a terminal is not taken for one")
	}
	var said bytes.Buffer
	s := &session{out: pty, err: &said}
	if err := (&exportCommand{Files: []string{"trace.out"}, To: "perfetto"}).Run(s); err == nil || err.Error() != "--to perfetto cannot go to a terminal: add -o FILE.pftrace" {
		t.Errorf("a trace on a terminal: %v, %s", err, said.String())
	}
}
