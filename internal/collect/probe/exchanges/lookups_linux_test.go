package exchanges

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/sys/unix"

	"github.com/unstall/unstall/internal/collect/probe/probetest"
	"github.com/unstall/unstall/internal/collect/probe/tracepoint"
)

// takesToName is how long the name server takes for names that begin with slow.
const takesToName = 30 * time.Millisecond

// serveNames answers queries of names: of what begins with none there is no name, with silent there is no answer, and with lost only the second
// query of each type is answered.
func serveNames(c net.PacketConn) {
	room := make([]byte, 1500)
	var mu sync.Mutex
	met := make(map[string]bool)
	for {
		n, from, err := c.ReadFrom(room)
		if err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(room[:n]) != nil {
			continue
		}
		q := m.Questions[0]
		name := q.Name.String()
		mu.Lock()
		key := name + q.Type.String()
		again := met[key]
		met[key] = true
		mu.Unlock()
		m.Response, m.RecursionAvailable, m.Additionals = true, true, nil
		after := time.Duration(0)
		switch {
		case strings.HasPrefix(name, "silent"), strings.HasPrefix(name, "lost") && !again:
			continue
		case strings.HasPrefix(name, "none"), strings.HasSuffix(name, ".svc.example.org."):
			m.RCode = dnsmessage.RCodeNameError
		case strings.HasPrefix(name, "slow"):
			after = takesToName
			fallthrough
		default:
			head := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}
			switch q.Type {
			case dnsmessage.TypeA:
				m.Answers = []dnsmessage.Resource{{Header: head, Body: &dnsmessage.AResource{A: [4]byte{127, 0, 0, 1}}}}
			case dnsmessage.TypeAAAA:
				m.Answers = []dnsmessage.Resource{{Header: head, Body: &dnsmessage.AAAAResource{AAAA: [16]byte{15: 1}}}}
			}
		}
		b, err := m.Pack()
		if err != nil {
			panic(err)
		}
		time.AfterFunc(after, func() { _, _ = c.WriteTo(b, from) })
	}
}

// looksUp looks up the names it reads, by Go's own resolver, at the name server it is told of.
func looksUp(args []string) {
	r := net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, args[0])
	}}
	fmt.Println("ready")
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		_, err := r.LookupHost(context.Background(), in.Text())
		fmt.Println("looked up", err != nil)
	}
}

// unconnected sends a query from a socket that is connected to nobody, to each address it reads, and reads the answer.
func unconnected(args []string) {
	c, err := net.ListenPacket("udp", args[0])
	if err != nil {
		panic(err)
	}
	query, err := (&dnsmessage.Message{Header: dnsmessage.Header{ID: 4711, RecursionDesired: true},
		Questions: []dnsmessage.Question{{Name: dnsmessage.MustNewName("secret.example.com."), Type: dnsmessage.TypeMX, Class: dnsmessage.ClassINET}}}).Pack()
	if err != nil {
		panic(err)
	}
	fmt.Println("ready")
	room := make([]byte, 512)
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		to, err := net.ResolveUDPAddr("udp", in.Text())
		if err != nil {
			panic(err)
		}
		if _, err := c.WriteTo(query, to); err != nil {
			panic(err)
		}
		if _, _, err := c.ReadFrom(room); err != nil {
			panic(err)
		}
		fmt.Println("answered")
	}
}

// told is what was recorded of a child, which says something to each of some lines.
func told(t *testing.T, child *probetest.Child, pid int, lines ...string) string {
	t.Helper()
	w, err := startWatching(pid)
	if err != nil {
		t.Skipf("this kernel does not tell: %v", err)
	}
	w.close()
	r := recordOf(t, pid)
	for _, line := range lines {
		child.Ask(t, line)
	}
	var seen []byte
	n := 0
	r.Wait(t, "exchanges.txt", func(b []byte) bool { // what was told until now is written with the time
		if n == 0 {
			n = bytes.Count(b, []byte("\nuntil "))
		}
		seen = b
		return bytes.Count(b, []byte("\nuntil ")) > n+1
	})
	if err := r.End(); err != nil {
		t.Fatal(err)
	}
	for _, a := range r.Kept {
		seen = a.Bytes()
	}
	if bytes.Contains(seen, []byte("secret")) {
		t.Errorf("it tells whole names:\n%s", seen)
	}
	return string(seen)
}

// count demands that as many lines are as a pattern says, and returns what its groups hold.
func count(t *testing.T, text string, n int, pattern string) [][]string {
	t.Helper()
	found := regexp.MustCompile(`(?m)^k \d+ `+pattern+`$`).FindAllStringSubmatch(text, -1)
	if len(found) != n {
		t.Errorf("%d lines are %q, want %d:\n%s", len(found), pattern, n, text)
	}
	return found
}

// Lookups of Go's resolver are told with how long they took, and what became of them, at any port.
func TestLookups(t *testing.T) {
	if err := tracepoint.Try(); err != nil {
		t.Skipf("it needs root or the capabilities BPF and PERFMON, and types of the kernel: %v", err)
	}
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	go serveNames(c)
	child := probetest.Play(t, "looksUp", nil, c.LocalAddr().String())
	text := told(t, child, child.Process.Pid, "secret.example.com.", "none.secret.example.com.", "slow.secret.example.com.")
	at := ` \d+/\d+ \d+/\d+ \d+ ` + regexp.QuoteMeta(c.LocalAddr().String()) + ` dns `
	for _, kind := range []string{"A", "AAAA"} {
		count(t, text, 1, `\d+ \d+ 0 \d+ \d+ 1 1`+at+`nxdomain `+kind+` example.com`)
		slow := 0
		for _, found := range count(t, text, 2, `\d+ (\d+) 0 \d+ \d+ 1 1`+at+`ok `+kind+` example.com`) {
			if ns, _ := strconv.ParseInt(found[1], 10, 64); ns >= takesToName.Nanoseconds() {
				slow++
			}
		}
		if slow != 1 {
			t.Errorf("%d queries for %s took %v:\n%s", slow, kind, takesToName, text)
		}
	}
}

// Where a socket is connected to nobody, the name server is whom the query is sent to; over IPv6, too.
func TestLookupsUnconnected(t *testing.T) {
	if err := tracepoint.Try(); err != nil {
		t.Skipf("it needs root or the capabilities BPF and PERFMON, and types of the kernel: %v", err)
	}
	for _, at := range []string{"127.0.0.1:0", "[::1]:0"} {
		c, err := net.ListenPacket("udp", at)
		if err != nil {
			t.Skipf("this host has no address of that kind: %v", err)
		}
		defer c.Close()
		go serveNames(c)
		child := probetest.Play(t, "unconnected", nil, at)
		text := told(t, child, child.Process.Pid, c.LocalAddr().String())
		count(t, text, 1, `\d+ \d+ 0 \d+ 36 1 1 \d+/\d+ \d+/\d+ \d+ `+regexp.QuoteMeta(c.LocalAddr().String())+` dns ok MX example.com`)
	}
}

// namespace has a name server of its own, and looks up the names it reads there by the C library.
func namespace(args []string) {
	runtime.LockOSThread()
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	check(unix.Unshare(unix.CLONE_NEWNET | unix.CLONE_NEWNS))
	check(unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""))
	check(unix.Mount(args[1], "/etc/resolv.conf", "", unix.MS_BIND, ""))
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	check(err)
	up, err := unix.NewIfreq("lo")
	check(err)
	up.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	check(unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, up))
	c, err := net.ListenPacket("udp4", "127.0.0.1:53") // the namespace is this process's alone
	check(err)
	go serveNames(c)
	look := exec.Command(args[0], "-c", `
import socket, sys
for name in sys.stdin:
    try:
        socket.getaddrinfo(name.strip(), 80, type=socket.SOCK_STREAM)
        print("found", flush=True)
    except OSError as e:
        print("none", flush=True)
`)
	look.Stdin, look.Stdout, look.Stderr = os.Stdin, os.Stdout, os.Stderr
	look.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	check(look.Start())
	fmt.Println(look.Process.Pid)
	_ = look.Wait()
}

// The C library asks for A and AAAA by one call, again after a time without an answer, and in each search domain.
func TestLookupsOfTheCLibrary(t *testing.T) {
	if err := tracepoint.Try(); err != nil || os.Geteuid() != 0 {
		t.Skipf("it needs root, and types of the kernel: %v", err)
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skipf("no python3, whose C library is asked: %v", err)
	}
	settings := filepath.Join(t.TempDir(), "resolv.conf")
	if err := os.WriteFile(settings, []byte("nameserver 127.0.0.1\nsearch svc.example.org example.org\noptions timeout:1 attempts:2\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	child := probetest.Play(t, "namespace", nil, python, settings)
	pid, err := strconv.Atoi(child.Said)
	if err != nil {
		t.Fatal(err)
	}
	text := told(t, child, pid, "slow.secret.example.com", "secret", "lost.secret.example.net", "silent.secret.example.edu.")
	at := ` \d+ \d+ \d+ 127\.0\.0\.1:53 dns `
	for _, kind := range []string{"A", "AAAA"} {
		slow := count(t, text, 1, `\d+ (\d+) 0 \d+ \d+ 1 1`+at+`ok `+kind+` example.com`)
		if ns, _ := strconv.ParseInt(slow[0][1], 10, 64); ns < takesToName.Nanoseconds() {
			t.Errorf("the slow query took %d ns:\n%s", ns, text)
		}
		count(t, text, 1, `\d+ \d+ 0 \d+ \d+ 1 1`+at+`nxdomain `+kind+` example.org`)
		count(t, text, 1, `\d+ \d+ 0 \d+ \d+ 1 1`+at+`ok `+kind+` example.org`)
		lost := count(t, text, 1, `\d+ (\d+) 0 \d+ \d+ 1 2`+at+`ok `+kind+` example.net`)
		if ns, _ := strconv.ParseInt(lost[0][1], 10, 64); ns < int64(9e8) {
			t.Errorf("the query that was sent again took %d ns:\n%s", ns, text)
		}
		silent := count(t, text, 1, `0 -1 (\d+) 0 \d+ 0 2 \d+ 0 \d+ 127\.0\.0\.1:53 dns - `+kind+` example.edu`)
		if ns, _ := strconv.ParseInt(silent[0][1], 10, 64); ns < int64(19e8) {
			t.Errorf("the query without an answer is %d ns old:\n%s", ns, text)
		}
	}
}

// echoDatagrams answers datagrams with themselves, and queries of names as a name server does.
func echoDatagrams(args []string) {
	c, err := net.ListenPacket("udp", args[0])
	if err != nil {
		panic(err)
	}
	fmt.Println(c.LocalAddr())
	room := make([]byte, 1500)
	for {
		n, from, err := c.ReadFrom(room)
		if err != nil {
			return
		}
		if _, err := c.WriteTo(room[:n], from); err != nil {
			return
		}
	}
}

// BenchmarkDatagrams says what the programs cost for a datagram that a process reads and one that it sends: of something else than queries of
// names, short and long, and of those.
func BenchmarkDatagrams(b *testing.B) {
	if err := tracepoint.Try(); err != nil {
		b.Skip(err)
	}
	query := messageOf(b, 7, "api.example.com.", dnsmessage.TypeA, nil)
	for _, x := range []struct {
		name string
		text []byte
	}{{"short", bytes.Repeat([]byte("m"), 100)}, {"long", bytes.Repeat([]byte("m"), 1200)}, {"query", query}} {
		for _, on := range []bool{false, true, false, true, false, true} {
			b.Run(fmt.Sprintf("%s/on=%v", x.name, on), func(b *testing.B) {
				child := probetest.Play(b, "echoDatagrams", nil, "127.0.0.1:0")
				if on {
					w, err := startWatching(child.Process.Pid)
					if err != nil {
						b.Skip(err)
					}
					defer w.close()
				}
				c, err := net.Dial("udp", child.Said)
				if err != nil {
					b.Fatal(err)
				}
				defer c.Close()
				stats, err := ebpf.EnableStats(unix.BPF_STATS_RUN_TIME)
				if err != nil {
					b.Skip(err)
				}
				defer stats.Close()
				room := make([]byte, 1500)
				before, ran := onCPU(b, child.Process.Pid), programTime(b)
				for b.Loop() {
					if _, err := c.Write(x.text); err != nil {
						b.Fatal(err)
					}
					if _, err := c.Read(room); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(onCPU(b, child.Process.Pid)-before)/float64(b.N), "child-ns/op")
				if on {
					b.ReportMetric(float64(programTime(b)-ran)/float64(b.N), "programs-ns/op")
				}
			})
		}
	}
}
