package linux

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe/probetest"
	"github.com/unstall/unstall/internal/collect/probe/socketdiag"
)

// deaf is a service that listens with a short queue, at a path if one is given. For each line of its standard input it accepts one
// connection, which it never reads.
func deaf(args []string) {
	family, address := unix.AF_INET, unix.Sockaddr(&unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})
	if len(args) > 0 {
		family, address = unix.AF_UNIX, &unix.SockaddrUnix{Name: args[0]}
	}
	fd, err := unix.Socket(family, unix.SOCK_STREAM, 0)
	if err != nil {
		panic(err)
	}
	if err := unix.Bind(fd, address); err != nil {
		panic(err)
	}
	if err := unix.Listen(fd, deafBacklog); err != nil {
		panic(err)
	}
	at, err := unix.Getsockname(fd)
	if err != nil {
		panic(err)
	}
	if in, is := at.(*unix.SockaddrInet4); is {
		fmt.Printf("127.0.0.1:%d\n", in.Port)
	} else {
		fmt.Println("unix:" + args[0])
	}
	for in := bufio.NewScanner(os.Stdin); in.Scan(); fmt.Println("done") {
		if _, _, err := unix.Accept(fd); err != nil {
			panic(err)
		}
	}
}

const deafBacklog = 16

// connect makes connections and sends a request on each.
func connect(t *testing.T, address string, n int) {
	t.Helper()
	network := "tcp"
	if path, is := strings.CutPrefix(address, "unix:"); is {
		network, address = "unix", path
	}
	for range n {
		c, err := net.Dial(network, address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		if _, err := c.Write([]byte("GET / HTTP/1.1\r\n\r\n")); err != nil {
			t.Fatal(err)
		}
	}
}

// All waiting connections of a service that does not accept are seen, at a port or at a UNIX socket.
func TestEntrance(t *testing.T) {
	t.Run("TCP", func(t *testing.T) { testEntrance(t) })
	t.Run("UNIX", func(t *testing.T) { testEntrance(t, t.TempDir()+"/app.sock") })
}

func testEntrance(t *testing.T, at ...string) {
	c := probetest.Play(t, "deaf", nil, at...)
	r := probetest.Begin(t, probetest.One(t, Probe.Find, discover.Target{PID: c.Process.Pid, Name: "deaf", UID: os.Geteuid()}))
	connect(t, c.Said, 5)
	r.Wait(t, "procfs.txt", has(c.Said+" queue 5 backlog 16\n"))
	r.Wait(t, "procfs.txt", has(c.Said+" unread 0 unaccepted 5\n"))
	c.Ask(t, "accept")
	c.Ask(t, "accept")
	r.Wait(t, "procfs.txt", has(c.Said+" queue 3 backlog 16\n"))
	r.Wait(t, "procfs.txt", has(c.Said+" unread 2 unaccepted 3\n"))
	if err := r.End(); err != nil {
		t.Fatal(err)
	}
	b := r.Read(t, "procfs.txt")
	for name, want := range map[string]float64{evidence.SeriesListenQueue: 5, evidence.SeriesListenBacklog: deafBacklog, evidence.SeriesUnacceptedConnections: 5, evidence.SeriesUnreadConnections: 2} {
		s := b.SeriesOf(1, name+":"+c.Said)
		if s == nil {
			t.Errorf("no %s", name)
			continue
		}
		most := 0.
		for _, v := range s.V {
			most = max(most, v)
		}
		if most != want {
			t.Errorf("%s is at most %g, want %g", name, most, want)
		}
	}
	for _, kind := range []string{evidence.CoverListenQueues, evidence.CoverUnread, evidence.CoverTCPDrops} {
		if len(b.Covered(1, kind)) == 0 {
			t.Errorf("%s are not covered", kind)
		}
	}
	if f, ok := b.Fact(0, "net.ipv4.tcp_max_syn_backlog"); !ok || f.Number <= 0 {
		t.Errorf("tcp_max_syn_backlog %+v", f)
	}
}

func has(text string) func([]byte) bool {
	return func(b []byte) bool { return bytes.Contains(b, []byte(text)) }
}

// Without sock_diag, the tables give the same data except limits; in both, workers count.
func TestEntranceBothWays(t *testing.T) {
	l, err := net.Listen("tcp", "[::]:0")
	if err != nil {
		t.Skipf("no IPv6 here: %v", err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	connect(t, fmt.Sprintf("127.0.0.1:%d", port), 3)
	if c, err := l.Accept(); err != nil {
		t.Fatal(err)
	} else {
		defer c.Close()
	}
	ask := func(e *entrance) string {
		var out strings.Builder
		a := &archive{out: &out}
		for range 2 { // the files are looked through once
			e.writeQueues(a)
			e.writeUnread(a)
		}
		if err := a.flush(); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	e := newEntrance(&process{pid: os.Getpid(), dir: "/proc/self"})
	defer e.close()
	if e.diag == nil {
		t.Skip("no sock_diag here")
	}
	got := ask(e)
	for _, want := range []string{fmt.Sprintf("\n[::]:%d queue 2 backlog ", port), fmt.Sprintf("\n[::]:%d unread 1 unaccepted 2\n", port)} {
		if strings.Count(got, want) != 2 {
			t.Errorf("no %q in %s", want, got)
		}
	}
	got = ask(&entrance{process: e.process, own: make(map[uint32]bool)})
	for _, want := range []string{fmt.Sprintf("\n[::]:%d queue 2\n", port), fmt.Sprintf("\n[::]:%d unread 1 unaccepted 2\n", port)} {
		if strings.Count(got, want) != 2 {
			t.Errorf("no %q in the tables' %s", want, got)
		}
	}
}

// A connection counts for the socket of its own address before one of all addresses. It does not count if that socket is another process's.
func TestCount(t *testing.T) {
	all, one, others := netip.MustParseAddrPort("0.0.0.0:80"), netip.MustParseAddrPort("10.0.0.1:80"), netip.MustParseAddrPort("10.0.0.2:80")
	at := map[netip.AddrPort]*waiting{all: {}, one: {}, others: nil}
	for _, x := range []socketdiag.Inet{
		{At: one.Addr(), Port: 80, State: socketdiag.Established, Inode: 7, Queue: 1},
		{At: one.Addr(), Port: 80, State: socketdiag.CloseWait, Inode: 7, Queue: 1},
		{At: one.Addr(), Port: 80, State: socketdiag.CloseWait, Inode: 7, Queue: 2},
		{At: others.Addr(), Port: 80, State: socketdiag.Established, Queue: 1},
		{At: netip.MustParseAddr("10.0.0.3"), Port: 80, State: socketdiag.Established},
		{At: netip.MustParseAddr("10.0.0.3"), Port: 81, State: socketdiag.Established},
		{At: netip.MustParseAddr("::1"), Port: 80, State: socketdiag.Established},
	} {
		countConnection(at, x)
	}
	if *at[all] != (waiting{unaccepted: 1}) || *at[one] != (waiting{unread: 2}) {
		t.Errorf("%+v, %+v", *at[all], *at[one])
	}
}

func TestKeepDrops(t *testing.T) {
	for _, x := range []struct{ text, want string }{
		{"TcpExt: SyncookiesSent EmbryonicRsts ListenOverflows\nTcpExt: 1 2 3\nIpExt: InNoRoutes\nIpExt: 0\n", "TcpExt: SyncookiesSent ListenOverflows\nTcpExt: 1 3\n"},
		{"TcpExt: SyncookiesSent ListenOverflows\nTcpExt: 1\n", ""},
		{"", ""},
	} {
		if got := string(keepDrops([]byte(x.text))); got != x.want {
			t.Errorf("%q: %q", x.text, got)
		}
	}
}

// A process in a network namespace of its own has the settings and sockets of that namespace.
func TestEntranceOfAnotherNamespace(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root may make and enter network namespaces")
	}
	other := isolated(t)
	f := newSparseFile("/proc/sys/net/core/somaxconn", "/proc/sys/net/core/somaxconn")
	a := &archive{most: 1}
	if err := a.openIn(other, f); err != nil {
		t.Fatal(err)
	}
	defer a.closeFile(f)
	if a.open != 1 || a.appendFile(f) != nil || !bytes.Contains(a.buf, []byte("somaxconn")) {
		t.Errorf("%d open, read %q", a.open, a.buf)
	}
	if err := a.openIn(other, newSparseFile("/proc/sys/net/none", "none")); err == nil {
		t.Error("a file that is not there was opened")
	}
}

func BenchmarkEntrance(b *testing.B) {
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
		s, err := l.Accept()
		if err != nil {
			b.Fatal(err)
		}
		defer s.Close()
	}
	e := newEntrance(&process{pid: os.Getpid(), dir: "/proc/self"})
	defer e.close()
	a := &archive{}
	b.Run("queues", func(b *testing.B) {
		for b.Loop() {
			e.writeQueues(a)
			a.buf = a.buf[:0]
		}
	})
	b.Run("unread", func(b *testing.B) {
		for b.Loop() {
			e.writeUnread(a)
			a.buf = a.buf[:0]
		}
	})
}
