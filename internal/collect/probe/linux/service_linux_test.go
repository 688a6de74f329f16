package linux

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe/probetest"
)

// TestMain lets the test binary be the service that the tests record, and somebody else
// who records it.
func TestMain(m *testing.M) {
	last := func(play func(string)) func([]string) {
		return func(args []string) { play(args[len(args)-1]) }
	}
	probetest.Main(m, map[string]func([]string){"service": last(serve), "stranger": last(stranger), "deaf": deaf, "toil": last(toil), "master": last(startWorker), "worker": sleepShortly})
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
	*probetest.Child
	t   *testing.T
	log string
}

const oldLine = `127.0.0.1 - - [20/Nov/2026:05:00:00 +0000] "GET /old HTTP/1.1" 200 3 "-" "test" 0.000100` + "\n"

// start runs the service, with lines in its log from before.
func start(t *testing.T, before string, env ...string) *service {
	t.Helper()
	s := &service{t: t, log: t.TempDir() + "/access.log"}
	if err := os.WriteFile(s.log, []byte(before), 0o644); err != nil {
		t.Fatal(err)
	}
	s.Child = probetest.Play(t, "service", env, "--password=hunter2", "--listen", "http://app:hunter2@127.0.0.1/", s.log)
	if _, err := netip.ParseAddrPort(s.Said); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *service) target() discover.Target { return targetOf(s.Process.Pid) }

func targetOf(pid int) discover.Target {
	return discover.Target{PID: pid, Name: "service", Runtime: "go", UID: os.Geteuid(), User: "me"}
}

// get makes requests /NAME/FROM … /NAME/UNTIL-1.
func (s *service) get(name string, from, until int) {
	s.t.Helper()
	for i := from; i < until; i++ {
		r, err := http.Get(fmt.Sprintf("http://%s/%s/%d", s.Said, name, i))
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
	s.Ask(s.t, what)
}
