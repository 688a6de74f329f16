package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
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

// Without a CPU profile, what the kernel showed of running threads takes its place unless the CPU profile was asked for by name.
func TestExportInstead(t *testing.T) {
	const kernel = "../../internal/diagnose/check/testdata/linux.disk-sync/sick"
	for what, code := range map[string]int{"": 0, "on-cpu": 0, "cpu": unreadable} {
		var out, said bytes.Buffer
		file := filepath.Join(t.TempDir(), "cpu.pb.gz")
		s := &session{out: &out, err: &said}
		if err := (&exportCommand{Files: []string{kernel}, Output: file, What: what}).Run(s); err != nil || s.code != code {
			t.Errorf("%q: %v, code %d, want %d: %s", what, err, s.code, code, said.String())
		}
		if fi, err := os.Stat(file); (err == nil && fi.Size() > 0) != (code == 0) {
			t.Errorf("%q: %v", what, err)
		}
		if told := strings.Contains(said.String(), "note: there is no CPU profile; this is --what on-cpu\n"); told != (what == "") {
			t.Errorf("%q: %s", what, said.String())
		}
	}
}
