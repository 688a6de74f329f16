package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestFullDisk writes pages into a file system that is too small for them, or has no room at all: each fails with the reason, and
// leaves neither an empty page nor a part of one.
func TestFullDisk(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can mount a small file system")
	}
	disk := t.TempDir()
	if err := unix.Mount("unstall-test", disk, "tmpfs", 0, "size=64k"); errors.Is(err, unix.EPERM) {
		t.Skip("no right to mount a small file system here")
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(disk, 0); err != nil {
			t.Error(err)
		}
	})
	program := filepath.Join(t.TempDir(), "unstall")
	self, err := filepath.Abs(os.Args[0])
	if err == nil {
		err = os.Symlink(self, program)
	}
	if err != nil {
		t.Fatal(err)
	}
	const log = "../../internal/diagnose/check/testdata/jvm.g1-evacuation-failure/sick/gc.log.gz"
	write := func(args ...string) {
		t.Helper()
		page := filepath.Join(disk, "page.html")
		c := exec.Command(program, append(args, "-o", page)...)
		var said bytes.Buffer
		c.Stderr = &said
		err := c.Run()
		if c.ProcessState == nil || c.ProcessState.ExitCode() != unreadable {
			t.Errorf("%q: %v, want exit status %d", args, err, unreadable)
		}
		if !strings.Contains(said.String(), page+": no space left on device") {
			t.Errorf("%q: %s", args, said.String())
		}
		if _, err := os.Lstat(page); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%q left a page: %v", args, err)
		}
	}
	write(log)
	write("compare", log, log)
	rest, err := os.Create(filepath.Join(disk, "rest"))
	if err != nil {
		t.Fatal(err)
	}
	defer rest.Close()
	for err == nil {
		_, err = rest.Write(make([]byte, 4096))
	}
	if !errors.Is(err, unix.ENOSPC) {
		t.Fatal(err)
	}
	write(log)
}
