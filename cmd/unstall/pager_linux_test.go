package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// screenOf opens a terminal with a number of rows, and returns it with its output.
func screenOf(t *testing.T, rows uint16) (seen, screen *os.File) {
	t.Helper()
	seen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = seen.Close() })
	if err := unix.IoctlSetPointerInt(int(seen.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Skip(err)
	}
	n, err := unix.IoctlGetInt(int(seen.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Skip(err)
	}
	screen, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = screen.Close() })
	if err := unix.IoctlSetWinsize(int(seen.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: 100}); err != nil {
		t.Fatal(err)
	}
	return seen, screen
}

// Only text longer than the terminal goes through a pager.
func TestPager(t *testing.T) {
	t.Setenv("TERM", "xterm")
	t.Setenv("PAGER", "false")
	long := strings.Repeat("a line\n", 20)
	for _, c := range []struct {
		name, text, pager string
		no, page          bool
	}{
		{"longer", long, "cat >", false, true},
		{"shorter", "a line\n", "cat >", false, false},
		{"none wanted", long, "cat >", true, false},
		{"cat", long, "cat", false, false},
		{"missing", long, "no-such-pager", false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			seen, screen := screenOf(t, 10)
			file := filepath.Join(t.TempDir(), "paged")
			command := c.pager
			if strings.HasSuffix(command, ">") {
				command += file
			}
			t.Setenv("UNSTALL_PAGER", command)
			var said bytes.Buffer
			s := &session{out: screen, err: &said, noPager: c.no}
			s.writeOutput("", nil, func(w io.Writer) error { _, err := io.WriteString(w, c.text); return err })
			paged, _ := os.ReadFile(file)
			if want := map[bool]string{true: c.text}[c.page]; string(paged) != want {
				t.Errorf("paged is %q, want %q", paged, want)
			}
			if !c.page {
				b := make([]byte, 4096)
				n, err := seen.Read(b)
				if got := strings.ReplaceAll(string(b[:n]), "\r\n", "\n"); err != nil || got != c.text {
					t.Errorf("the screen has %q, %v", got, err)
				}
			}
			if c.name == "missing" && !strings.Contains(said.String(), `cannot start the pager "no-such-pager"`) {
				t.Errorf("said %q", said.String())
			}
		})
	}
	var b bytes.Buffer
	t.Setenv("UNSTALL_PAGER", "cat >/dev/null")
	s := &session{out: &b}
	s.writeOutput("", nil, func(w io.Writer) error { _, err := io.WriteString(w, long); return err })
	if b.String() != long {
		t.Errorf("what is no terminal has %q", b.String())
	}
}
