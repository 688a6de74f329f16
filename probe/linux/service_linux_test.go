package linux

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/unstall/unstall/discover"
)

// TestMain lets the test binary be the service that the tests record.
func TestMain(m *testing.M) {
	switch os.Getenv("UNSTALL_TEST_ROLE") {
	case "service":
		serve(os.Args[len(os.Args)-1])
	case "stranger":
		stranger(os.Args[len(os.Args)-1])
	default:
		os.Exit(m.Run())
	}
}

// serve is a small HTTP server with an access log, which obeys its standard
// input and ends with it.
func serve(path string) {
	var mu sync.Mutex
	var log *os.File
	open := func() {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
		if err != nil {
			panic(err)
		}
		if log != nil {
			_ = log.Close()
		}
		log = f
	}
	open()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	var live [][]byte
	go func() {
		_ = http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			began := time.Now()
			mu.Lock()
			defer mu.Unlock()
			if live = append(live, make([]byte, 64<<10)); len(live) > 100 {
				live = live[50:]
			}
			_, _ = io.WriteString(w, "ok\n")
			fmt.Fprintf(log, "%s - - [%s] \"GET %s HTTP/1.1\" 200 3 \"-\" \"test\" %.6f\n", strings.Split(r.RemoteAddr, ":")[0],
				began.Format("02/Jan/2006:15:04:05 -0700"), r.URL.Path, time.Since(began).Seconds())
		}))
	}()
	fmt.Println(l.Addr())
	for in := bufio.NewScanner(os.Stdin); in.Scan(); fmt.Println("done") {
		mu.Lock()
		switch in.Text() {
		case "rotate":
			if err := os.Rename(path, path+".1"); err != nil {
				panic(err)
			}
			open()
		case "truncate":
			if err := log.Truncate(0); err != nil {
				panic(err)
			}
		case "half":
			_, _ = io.WriteString(log, `127.0.0.1 - - [21/Nov/2026:05:00:00 +0000] "GET /half HTTP/1.1" 200`)
		}
		mu.Unlock()
	}
}

// service is a running one.
type service struct {
	t    *testing.T
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	addr string
	log  string
}

const oldLine = `127.0.0.1 - - [20/Nov/2026:05:00:00 +0000] "GET /old HTTP/1.1" 200 3 "-" "test" 0.000100` + "\n"

// start runs the service, with lines in its log from before.
func start(t *testing.T, before string, env ...string) *service {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := &service{t: t, log: t.TempDir() + "/access.log"}
	if err := os.WriteFile(s.log, []byte(before), 0o644); err != nil {
		t.Fatal(err)
	}
	s.cmd = exec.Command(exe, "--password=hunter2", "--listen", "http://app:hunter2@127.0.0.1/", s.log)
	s.cmd.Env = append(os.Environ(), append(env, "UNSTALL_TEST_ROLE=service")...)
	s.cmd.Stderr = os.Stderr
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.in.Close()
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
	})
	s.out = bufio.NewReader(out)
	if s.addr, err = s.out.ReadString('\n'); err != nil {
		t.Fatal("the service did not start: ", err)
	}
	s.addr = strings.TrimSpace(s.addr)
	if _, err := netip.ParseAddrPort(s.addr); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *service) target() discover.Target {
	return discover.Target{PID: s.cmd.Process.Pid, Name: "service", Runtime: "go", UID: os.Geteuid(), User: "me"}
}

// get makes requests /NAME/FROM … /NAME/UNTIL-1.
func (s *service) get(name string, from, until int) {
	s.t.Helper()
	for i := from; i < until; i++ {
		r, err := http.Get(fmt.Sprintf("http://%s/%s/%d", s.addr, name, i))
		if err != nil {
			s.t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, r.Body)
		_ = r.Body.Close()
	}
}

// command gives one and waits until it is done. The log is written after the
// answer: a command also waits for that.
func (s *service) command(what string) {
	s.t.Helper()
	if _, err := fmt.Fprintln(s.in, what); err != nil {
		s.t.Fatal(err)
	}
	if _, err := s.out.ReadString('\n'); err != nil {
		s.t.Fatal(err)
	}
}
