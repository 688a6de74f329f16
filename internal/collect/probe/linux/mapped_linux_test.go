package linux

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// The file that msync is about is told once by its address.
func TestMapped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "seats")
	if err := os.WriteFile(path, make([]byte, 8192), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, err := unix.Mmap(int(f.Fd()), 0, 8192, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(b)
	d := newOpenFiles(&process{pid: os.Getpid(), dir: "/proc/self"})
	at := fmt.Sprintf("%p", &b[4096])
	call := []byte(msyncNumber + " " + at + " 0x1000 0x4 0x0 0x0 0x0 0x1 0x2")
	if got, want := string(d.writeArgument(nil, call)), "word "+at+" "+path+"\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if again := d.writeArgument(nil, call); len(again) > 0 {
		t.Errorf("said again: %q", again)
	}
	none := strings.Replace(string(call), at, "0x10", 1)
	if got := d.writeArgument(nil, []byte(none)); len(got) > 0 {
		t.Errorf("of no file: %q", got)
	}
}
