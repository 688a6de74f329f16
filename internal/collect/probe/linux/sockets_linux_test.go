package linux

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/unstall/unstall/internal/collect/probe/socketdiag"
)

// inodeOf is that of a connection's or listener's socket.
func inodeOf(t *testing.T, c interface {
	File() (*os.File, error)
}) string {
	t.Helper()
	f, err := c.File()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	link, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	of, _ := strings.CutPrefix(link, "socket:[")
	return strings.TrimSuffix(of, "]")
}

// Both ways to ask tell the same of who listens, was accepted and has connected.
func TestSocketsOfBothWays(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::]:0"} {
		l, err := net.Listen("tcp", address)
		if err != nil && address != "127.0.0.1:0" {
			t.Logf("no IPv6 here: %v", err)
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		_, port, _ := net.SplitHostPort(l.Addr().String())
		ours, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err != nil {
			t.Fatal(err)
		}
		defer ours.Close()
		theirs, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer theirs.Close()
		want := map[string]string{
			inodeOf(t, l.(*net.TCPListener)):  "listener",
			inodeOf(t, theirs.(*net.TCPConn)): "client",
			inodeOf(t, ours.(*net.TCPConn)):   "peer 127.0.0.1:" + port,
		}
		for _, way := range []struct {
			name string
			read func(*sockets) error
		}{
			{"sock_diag", (*sockets).readTCPDiag},
			{"tables", func(s *sockets) error { s.readProcTable("tcp6"); s.readProcTable("tcp"); return nil }},
		} {
			s := newSockets(&process{dir: "/proc/self"})
			if err := way.read(s); err != nil {
				t.Fatalf("%s: %v", way.name, err)
			}
			for inode, kind := range want {
				if s.known[inode] != kind {
					t.Errorf("%s of %s: %q, want %q", way.name, address, s.known[inode], kind)
				}
			}
		}
	}
}

// Of a UNIX socket that has no path it is told where its other end listens.
func TestUNIXSockets(t *testing.T) {
	at := filepath.Join(t.TempDir(), "s.sock")
	l, err := net.Listen("unix", at)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ours, err := net.Dial("unix", at)
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	theirs, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	s := newSockets(&process{dir: "/proc/self"})
	s.readTable("unix")
	for inode, kind := range map[string]string{
		inodeOf(t, l.(*net.UnixListener)):  "listener",
		inodeOf(t, theirs.(*net.UnixConn)): "client",
		inodeOf(t, ours.(*net.UnixConn)):   "peer unix:" + withoutIDs(at),
	} {
		if s.known[inode] != kind {
			t.Errorf("%q, want %q", s.known[inode], kind)
		}
	}
}

// A process in a network namespace of its own is asked in that one.
func TestSocketsOfAnotherNamespace(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root may make and enter network namespaces")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	other := isolated(t)
	d, err := socketdiag.Open(other)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	var seen []string
	if err := d.TCP(unix.AF_INET, socketdiag.Listens|socketdiag.Connected, mostSockets, make([]byte, 64<<10), func(x socketdiag.Inet) { seen = append(seen, fmt.Sprint(x.Port)) }); err != nil {
		t.Fatal(err)
	}
	if slices.Contains(seen, port) {
		t.Errorf("our own socket is among those of another namespace: %q", seen)
	}
	own, err := socketdiag.Open("/proc/self") // the thread that went there is not used again
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	seen = nil
	if err := own.TCP(unix.AF_INET, socketdiag.Listens, mostSockets, make([]byte, 64<<10), func(x socketdiag.Inet) { seen = append(seen, fmt.Sprint(x.Port)) }); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(seen, port) {
		t.Errorf("%s is not among those that listen here: %q", port, seen)
	}
}

func BenchmarkSockets(b *testing.B) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	for range 2000 {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			b.Fatal(err)
		}
		defer c.Close()
		a, err := l.Accept()
		if err != nil {
			b.Fatal(err)
		}
		defer a.Close()
	}
	s := newSockets(&process{dir: "/proc/self"})
	b.Run("sock_diag", func(b *testing.B) {
		for b.Loop() {
			if err := s.readTCPDiag(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("tables", func(b *testing.B) {
		for b.Loop() {
			s.readProcTable("tcp6")
			s.readProcTable("tcp")
		}
	})
}

// isolated starts a process in a network namespace of its own, and says where /proc has it.
func isolated(t *testing.T) (dir string) {
	t.Helper()
	c := exec.Command("cat")
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Skipf("no network namespaces here: %v", err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = c.Wait()
	})
	return fmt.Sprintf("/proc/%d", c.Process.Pid)
}
