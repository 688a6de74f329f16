package gopprof

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe"
	"github.com/unstall/unstall/internal/collect/probe/probetest"
)

// TestServer is no test: it is what TestNamespace records.
func TestServer(t *testing.T) {
	if os.Getenv("UNSTALL_TEST_SERVER") == "" {
		t.Skip("is run by another test")
	}
	// A namespace's loopback is down at first.
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		t.Fatal(err)
	}
	lo.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, lo); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("listens on", l.Addr())
	_ = http.Serve(l, nil) //nolint:gosec // is killed soon
}

// TestNamespace records a process in a network namespace of its own, which serves
// pprof on its loopback.
func TestNamespace(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("network namespaces need root")
	}
	c := exec.Command(os.Args[0], "-test.run=^TestServer$")
	c.Env = append(os.Environ(), "UNSTALL_TEST_SERVER=1")
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Skip("no network namespace can be made here:", err)
	}
	defer func() { _ = c.Process.Kill(); _ = c.Wait() }()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "listens on ") {
		t.Fatal(line, err)
	}
	on, err := discover.Resolve(t.Context(), fmt.Sprint(c.Process.Pid), nil)
	if err != nil {
		t.Fatal(err)
	}
	on.Runtime = "go"
	a := probetest.One(t, findAccess, on)
	if a.Missing != nil || len(a.Lacks) > 0 || !strings.HasPrefix(a.Where, fmt.Sprintf("network of pid %d: http://127.0.0.1:", c.Process.Pid)) {
		t.Fatalf("%+v", a)
	}
	to := probetest.Record(t, a, probe.Plan{For: 2 * time.Second})
	if len(to.Warnings) > 0 || to.Text("heap-0001.txt") == "" || to.Text("trace-0001.out") == "" {
		t.Errorf("warned %q, %d artifacts", to.Warnings, len(to.Kept))
	}
	// This process is where it was.
	ours, _ := os.Readlink("/proc/self/ns/net")
	if theirs, _ := os.Readlink("/proc/thread-self/ns/net"); theirs != ours {
		t.Error("a thread stayed in another namespace")
	}
}
