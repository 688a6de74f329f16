package linux

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/collect/probe"
	"github.com/unstall/unstall/internal/collect/probe/probetest"
)

// tree makes a /proc.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func statOf(pid int, name string, ticks int) string {
	return fmt.Sprintf("%d (%s) S 1 1 1 0 -1 0 5 0 0 0 %d 0 0 0 20 0 1 0 1000 1000000 100 0 0\n", pid, name, ticks)
}

// hostOnce records a made host until it is told to end.
func hostOnce(t *testing.T, root string, opt HostOptions) string {
	t.Helper()
	opt.Root = root
	var b bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // one moment is written in any case
	if err := newHostRecorder(opt, &b).run(ctx); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestHostTree: a kernel without pressure, softirqs or cgroups; one process that ends while it is read.
func TestHostTree(t *testing.T) {
	root := tree(t, map[string]string{
		"stat": "cpu  1 0 1 1 0 0 0 0 0 0\nbtime 1\n", "loadavg": "0 0 0 1/1 1\n",
		"7/stat": statOf(7, "a b) (c", 10), "7/cgroup": "0::/x\n", "7/io": "write_bytes: 1\n",
		"7/task/7/schedstat": "1 2 3\n", "7/task/8/schedstat": "4 5 6\n",
		"7/task/7/status": "Name:\ta\nvoluntary_ctxt_switches:\t5\nnonvoluntary_ctxt_switches:\t6\n", "7/task/8/status": "Name:\tb\nState:\tS\n",
		"9/cgroup": "0::/y\n", "net/x": "",
	})
	got := hostOnce(t, root, HostOptions{Of: []int{7, 12345}})
	for _, want := range []string{"/proc/stat --\ncpu ", "/proc/loadavg --", "/proc/7/stat --\n7 (a b) (c) S", "/proc/7/cgroup --\n0::/x\n", "/proc/7/io --\nwrite_bytes: 1\n",
		"/proc/7/task/7/schedstat --\n1 2 3\n", "/proc/7/task/8/schedstat --\n4 5 6\n", "/proc/7/task/7/status --\nvoluntary_ctxt_switches:\t5\nnonvoluntary_ctxt_switches:\t6\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no %q in\n%s", want, got)
		}
	}
	for _, no := range []string{"pressure", "softirqs", "Name:\ta", "12345", "fd/tcp", root} {
		if strings.Contains(got, no) {
			t.Errorf("there is %q in\n%s", no, got)
		}
	}
}

// TestHostNone: where there is no /proc, the error says what to do instead.
func TestHostNone(t *testing.T) {
	a := Host(HostOptions{Root: t.TempDir()})
	err := a.Record(t.Context(), probe.Plan{For: time.Second}, probetest.NewSink())
	if err == nil || !strings.Contains(err.Error(), "unstall host FILE") {
		t.Error(err)
	}
}

func TestHostLacks(t *testing.T) {
	find := func(root, what string) bool {
		for _, l := range hostLacks(root) {
			if strings.Contains(l.What, what) {
				return l.Why != "" && l.Do != ""
			}
		}
		return false
	}
	without := tree(t, map[string]string{"stat": "cpu  1 0 1 1 0 0 0 0 0 0\n"})
	with := tree(t, map[string]string{"stat": "cpu  1 0 1 1 0 0 0 0 0 0\n", "pressure/cpu": "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"})
	if !find(without, "pressure") || find(with, "pressure") {
		t.Error("pressure")
	}
	inside := tree(t, map[string]string{"stat": "cpu  1 0 1 1 0 0 0 0 0 0\n", "self/x": ""})
	if err := os.MkdirAll(inside+"/self/ns", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("pid:[4026532999]", inside+"/self/ns/pid"); err != nil {
		t.Fatal(err)
	}
	if !find(inside, "outside this container") {
		t.Error("a PID namespace of its own")
	}
}

// TestSegments: what goes to and fro over a connection is counted of the process that has it, and of no other.
func TestSegments(t *testing.T) {
	s := newSegments("/proc")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	p, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	count := func() int64 {
		t.Helper()
		s.startRound()
		n, ok := s.countSegments(os.Getpid())
		if !ok {
			t.Skip("this kernel does not tell of sockets")
		}
		return n
	}
	before := count()
	const round = 200
	b := make([]byte, 1)
	for range round {
		for _, x := range [][2]net.Conn{{c, p}, {p, c}} {
			if _, err := x[0].Write(b); err != nil {
				t.Fatal(err)
			}
			if _, err := x[1].Read(b); err != nil {
				t.Fatal(err)
			}
		}
	}
	if grew := count() - before; grew < 4*round || grew > 8*round {
		t.Errorf("%d round trips between two sockets of ours: %d segments", round, grew)
	}
	for n, last := 0, count(); ; n++ { // the last acknowledgement comes late
		now := count()
		if now == last {
			break
		}
		if last = now; n == 1000 {
			t.Fatal("it grows by itself")
		}
	}
}

// TestHost records this host, with a process that is busy.
func TestHost(t *testing.T) {
	r := probetest.Begin(t, Host(HostOptions{Every: often, Of: []int{os.Getpid()}}))
	own := fmt.Sprintf("/proc/%d/", os.Getpid())
	r.Wait(t, "procfs.txt", func(b []byte) bool {
		return bytes.Count(b, []byte(own+"stat --")) >= 3 && bytes.Count(b, []byte(own+"task/")) >= 4
	})
	if err := r.End(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"/proc/stat --", own + "cgroup --", own + "io --", "/schedstat --", "/status --\nvoluntary_ctxt_switches:"} {
		if !strings.Contains(r.Text("procfs.txt"), want) {
			t.Errorf("there is no %q", want)
		}
	}
}
