package linux

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// Who has the other end of a pipe or a UNIX socket is told by its name.
func TestOtherEnd(t *testing.T) {
	cat := exec.Command("cat")
	in, err := cat.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "ours"), os.NewFile(uintptr(pair[1]), "theirs")
	defer ours.Close()
	cat.ExtraFiles = []*os.File{theirs}
	if err := cat.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	t.Cleanup(func() {
		_ = cat.Process.Kill()
		_ = cat.Wait()
	})
	path := filepath.Join(t.TempDir(), "log")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	client, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	sends, err := net.ListenPacket("unixgram", path+".datagrams")
	if err != nil {
		t.Fatal(err)
	}
	defer sends.Close()
	to, err := net.Dial("unixgram", path+".datagrams")
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	here := &process{pid: os.Getpid(), dir: "/proc/self"}
	for want, of := range map[string]any{
		"pipe cat":                         in,
		"unix cat":                         ours,
		"listener":                         l,
		"client":                           server,
		"peer unix:" + path:                client,
		"peer unix:" + path + ".datagrams": to,
	} {
		d := newOpenFiles(here) // each asks anew
		fd := descriptor(t, of)
		link, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
		if err != nil {
			t.Fatal(err)
		}
		d.describeTarget(link, fd) // the tables that were read first may have cost what may be spent
		d.sockets.next, d.ends.next = d.sockets.next.AddDate(-1, 0, 0), d.ends.next.AddDate(-1, 0, 0)
		if got := d.describeTarget(link, fd); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// descriptor is that of a file or connection, as it is open here.
func descriptor(t *testing.T, of any) int {
	t.Helper()
	if f, ok := of.(*os.File); ok {
		return int(f.Fd())
	}
	f, err := of.(interface{ File() (*os.File, error) }).File()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return int(f.Fd())
}
