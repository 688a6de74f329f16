package gopprof

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	_ "net/http/pprof"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"runtime/trace"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/unstall/unstall/capture"
	"github.com/unstall/unstall/discover"
	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/format"
	formats "github.com/unstall/unstall/format/gopprof"
	"github.com/unstall/unstall/format/gotrace"
	"github.com/unstall/unstall/probe"
)

// TestMain is also the target of the tests: a process that serves pprof, says
// where, and burns some of its time until its standard input ends.
func TestMain(m *testing.M) {
	mode := os.Getenv("UNSTALL_TEST_TARGET")
	if mode == "" {
		os.Exit(m.Run())
	}
	if mode == "profiled" {
		if err := errors.Join(pprof.StartCPUProfile(io.Discard), trace.Start(io.Discard)); err != nil {
			panic(err)
		}
	}
	network, address := "tcp", "127.0.0.1:0"
	if path, ok := strings.CutPrefix(mode, "unix:"); ok {
		network, address = "unix", path
	}
	l, err := net.Listen(network, address)
	if err != nil {
		panic(err)
	}
	fmt.Println(l.Addr())
	go func() { panic(http.Serve(l, nil)) }()
	go func() {
		for {
			kept = make([]byte, 1<<20)
			time.Sleep(time.Millisecond)
		}
	}()
	_, _ = io.Copy(io.Discard, os.Stdin)
}

var kept []byte

// child starts the target.
func child(t *testing.T, mode string) (discover.Target, *os.Process) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "UNSTALL_TEST_TARGET="+mode)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	x := discover.Target{PID: cmd.Process.Pid, Name: "srv", Runtime: "go"}
	address := strings.TrimSpace(line)
	if at, err := netip.ParseAddrPort(address); err == nil {
		x.Listens = []discover.Listener{{Addr: at}}
	} else {
		x.Listens = []discover.Listener{{Path: address}}
	}
	return x, cmd.Process
}

// sink keeps artifacts in memory.
type sink struct {
	mu       sync.Mutex
	names    []string
	data     map[string]*bytes.Buffer
	metas    map[string]capture.Meta
	warnings []string
	lacks    []probe.Lack
	wrote    func(name string) // called with each write
	full     int               // bytes that can be stored, 0: any
	dir      string            // to write files to instead, "" none
}

func newSink() *sink {
	return &sink{data: make(map[string]*bytes.Buffer), metas: make(map[string]capture.Meta)}
}

var errFull = errors.New("the disk is full")

type part struct {
	s    *sink
	name string
}

func (p part) Write(b []byte) (int, error) {
	p.s.mu.Lock()
	p.s.data[p.name].Write(b)
	full := p.s.full > 0 && p.s.data[p.name].Len() > p.s.full
	p.s.mu.Unlock()
	if p.s.wrote != nil {
		p.s.wrote(p.name)
	}
	if full {
		return 0, errFull
	}
	return len(b), nil
}

func (part) Close() error { return nil }

func (s *sink) Create(m capture.Meta) (io.WriteCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.data[m.Name] != nil {
		return nil, fmt.Errorf("%s: twice", m.Name)
	}
	s.names = append(s.names, m.Name)
	if s.dir != "" {
		return os.Create(filepath.Join(s.dir, m.Name))
	}
	s.data[m.Name], s.metas[m.Name] = &bytes.Buffer{}, m
	return part{s, m.Name}, nil
}

func (s *sink) Known([]byte) bool { return false }

func (s *sink) Warnf(f string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.warnings = append(s.warnings, fmt.Sprintf(f, args...))
}

func (s *sink) Lack(l probe.Lack) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lacks = append(s.lacks, l)
}

// one finds the only access to a target, which is not missing.
func one(t *testing.T, x discover.Target) probe.Access {
	t.Helper()
	as := Probe.Find(t.Context(), x)
	if len(as) != 1 || len(as[0].Lacks) > 0 {
		t.Fatalf("found %+v", as)
	}
	return as[0]
}

// off makes sure that neither is on: both can be started at once.
func off(t *testing.T, x discover.Target) {
	t.Helper()
	for _, path := range []string{"trace?seconds=0.01", "profile?seconds=1"} {
		r, err := http.Get("http://" + x.Listens[0].Addr.String() + "/debug/pprof/" + path)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, r.Body)
		_ = r.Body.Close()
		if r.StatusCode != http.StatusOK {
			t.Errorf("%s: status %d after the recording", path, r.StatusCode)
		}
	}
}

// read parses what was recorded.
func (s *sink) read(t *testing.T) *evidence.Bundle {
	t.Helper()
	b := evidence.NewBundle()
	for _, name := range s.names {
		data := s.data[name].Bytes()
		a := &format.Artifact{Name: name, Size: int64(len(data)), Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }}
		if err := format.Read(t.Context(), []format.Format{formats.Format, gotrace.Format}, a, b); err != nil {
			t.Errorf("%v", err)
		}
	}
	return b
}

func TestRecord(t *testing.T) {
	x, _ := child(t, "serve")
	a := one(t, x)
	if len(a.SwitchesOn) != 2 {
		t.Errorf("switches on %v", a.SwitchesOn)
	}
	s := newSink()
	if err := a.Record(t.Context(), probe.Plan{For: 2 * time.Second}, s); err != nil {
		t.Fatal(err)
	}
	if len(s.warnings)+len(s.lacks) > 0 {
		t.Errorf("warnings %q, lacks %v", s.warnings, s.lacks)
	}
	for _, name := range []string{"heap-0001.txt", "heap-0002.txt", "goroutine-1.pb.gz", "goroutine-2.pb.gz", "cpu-0001.pb.gz", "trace-0001.out"} {
		if s.data[name] == nil {
			t.Errorf("%s is not among %q", name, s.names)
		}
	}
	for name, m := range s.metas {
		if m.About.PID != x.PID || m.About.Runtime != "go" || m.Probe != "gopprof" || !strings.HasPrefix(m.Origin, "http://127.0.0.1:") {
			t.Errorf("%s: %+v", name, m)
		}
	}
	b := s.read(t)
	for _, kind := range []string{evidence.CoverCPUProfile, evidence.CoverGC, evidence.CoverHeap, evidence.CoverGoroutines} {
		if len(b.Covered(-1, kind)) == 0 {
			t.Errorf("no %s", kind)
		}
	}
	off(t, x)
}

func TestPassive(t *testing.T) {
	x, _ := child(t, "profiled") // which would be noticed
	s := newSink()
	if err := one(t, x).Record(t.Context(), probe.Plan{For: time.Second, Passive: true}, s); err != nil {
		t.Fatal(err)
	}
	if len(s.warnings) > 0 || s.data["cpu-0001.pb.gz"] != nil || s.data["trace-0001.out"] != nil || s.data["heap-0002.txt"] == nil {
		t.Errorf("%q, warnings %q", s.names, s.warnings)
	}
}

func TestAlreadyInUse(t *testing.T) {
	x, _ := child(t, "profiled")
	s := newSink()
	if err := one(t, x).Record(t.Context(), probe.Plan{For: time.Second}, s); err != nil {
		t.Fatal(err)
	}
	if s.data["heap-0001.txt"] == nil || s.data["cpu-0001.pb.gz"] != nil {
		t.Errorf("recorded %q", s.names)
	}
	for _, want := range []string{"Could not enable CPU profiling", "Could not enable tracing"} {
		if n := strings.Count(strings.Join(s.warnings, "\n"), want); n != 1 {
			t.Errorf("%q %d times in %q", want, n, s.warnings)
		}
	}
}

// TestInterrupt ends a recording of a minute when its trace has begun.
func TestInterrupt(t *testing.T) {
	x, _ := child(t, "serve")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := newSink()
	s.wrote = func(name string) {
		if strings.HasPrefix(name, "trace") {
			cancel()
		}
	}
	if err := one(t, x).Record(ctx, probe.Plan{For: time.Minute}, s); err != nil {
		t.Fatal(err)
	}
	if len(s.warnings) > 0 || s.data["goroutine-2.pb.gz"] == nil {
		t.Errorf("%q, warnings %q", s.names, s.warnings)
	}
	off(t, x)
}

func TestTargetEnds(t *testing.T) {
	x, p := child(t, "serve")
	a := one(t, x)
	s := newSink()
	s.wrote = func(name string) {
		if strings.HasPrefix(name, "trace") {
			_ = p.Kill()
		}
	}
	if err := a.Record(t.Context(), probe.Plan{For: time.Minute}, s); err != nil {
		t.Fatal(err)
	}
	if s.data["trace-0001.out"].Len() == 0 || !strings.Contains(strings.Join(s.warnings, "\n"), "the target ended") {
		t.Errorf("%q, warnings %q", s.names, s.warnings)
	}
}

func TestDiskFull(t *testing.T) {
	x, _ := child(t, "serve")
	s := newSink()
	s.full = 1
	if err := one(t, x).Record(t.Context(), probe.Plan{For: time.Minute}, s); !errors.Is(err, errFull) {
		t.Errorf("error %v", err)
	}
	off(t, x)
}

func TestUnixSocket(t *testing.T) {
	x, _ := child(t, "unix:"+filepath.Join(t.TempDir(), "s"))
	s := newSink()
	a := one(t, x)
	if err := a.Record(t.Context(), probe.Plan{For: time.Second, Passive: true}, s); err != nil || s.data["heap-0001.txt"] == nil {
		t.Errorf("%v: %q", err, s.names)
	}
	if !strings.HasPrefix(a.Where, "unix:/") {
		t.Errorf("where %s", a.Where)
	}
}

// index answers like net/http/pprof under a prefix.
func index(prefix string) http.Handler {
	mux := http.NewServeMux()
	mux.Handle(prefix+"/debug/pprof/", http.StripPrefix(prefix, http.DefaultServeMux))
	return mux
}

func TestForms(t *testing.T) {
	plainly := httptest.NewServer(index(""))
	defer plainly.Close()
	below := httptest.NewServer(index("/admin"))
	defer below.Close()
	secured := httptest.NewTLSServer(index(""))
	defer secured.Close()
	for _, c := range []struct{ typed, where string }{
		{plainly.URL, plainly.URL + "/debug/pprof"},
		{plainly.URL + "/", plainly.URL + "/debug/pprof"},
		{plainly.URL + "/debug/pprof", plainly.URL + "/debug/pprof"},
		{plainly.URL + "/debug/pprof/", plainly.URL + "/debug/pprof"},
		{plainly.URL + "/debug/pprof/heap?debug=1", plainly.URL + "/debug/pprof"},
		{below.URL + "/admin", below.URL + "/admin/debug/pprof"},
		{below.URL + "/admin/debug/pprof/", below.URL + "/admin/debug/pprof"},
		{secured.URL, secured.URL + "/debug/pprof"},
	} {
		u, err := url.Parse(c.typed)
		if err != nil {
			t.Fatal(err)
		}
		if a := one(t, discover.Target{URL: u}); a.Where != c.where {
			t.Errorf("%s: %s", c.typed, a.Where)
		}
	}
}

func TestNotPprof(t *testing.T) {
	hello := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") }))
	defer hello.Close()
	empty := httptest.NewServer(http.NewServeMux())
	defer empty.Close()
	binary := serve(t, func(c net.Conn) { _, _ = c.Write([]byte("-ERR unknown command\r\n")) })
	silent := serve(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	refusing := closed.Addr().String()
	_ = closed.Close()
	for _, c := range []struct{ url, want string }{
		{hello.URL, "not with net/http/pprof's index page"},
		{empty.URL, "status 404"},
		{"http://" + binary, "does not speak HTTP"},
		{"http://" + silent, "did not answer in time"},
		{"http://" + refusing, "nothing listens there"},
		{strings.Replace(hello.URL, "http:", "https:", 1), "does not speak TLS"},
	} {
		u, _ := url.Parse(c.url)
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		if strings.HasSuffix(c.url, silent) {
			ctx, cancel = context.WithTimeout(ctx, 100*time.Millisecond)
		}
		as := Probe.Find(ctx, discover.Target{URL: u})
		cancel()
		if len(as) != 1 || len(as[0].Lacks) != 1 || !strings.Contains(as[0].Lacks[0].Why, c.want) {
			t.Errorf("%s: %+v", c.want, as)
			continue
		}
		err := as[0].Record(t.Context(), probe.Plan{For: time.Minute}, newSink())
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v", c.want, err)
		}
	}
}

// serve accepts connections until the test ends.
func serve(t *testing.T, handle func(net.Conn)) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				handle(c)
			}()
		}
	}()
	return l.Addr().String()
}

func TestCredentials(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "ops" || password != "geheim" || r.FormValue("token") != "secret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		http.DefaultServeMux.ServeHTTP(w, r)
	}))
	defer s.Close()
	u, _ := url.Parse(strings.Replace(s.URL, "http://", "http://ops:geheim@", 1) + "?token=secret")
	a := one(t, discover.Target{URL: u})
	out := newSink()
	if err := a.Record(t.Context(), probe.Plan{For: time.Second, Passive: true}, out); err != nil {
		t.Fatal(err)
	}
	if len(out.names) == 0 {
		t.Error("nothing recorded")
	}
	for _, m := range out.metas {
		if told := fmt.Sprint(m, a.Where, out.warnings); strings.Contains(told, "geheim") || strings.Contains(told, "secret") || strings.Contains(told, "ops") {
			t.Errorf("tells %s", told)
		}
	}
	u.User = nil
	as := Probe.Find(t.Context(), discover.Target{URL: u})
	if len(as) != 1 || len(as[0].Lacks) != 1 || !strings.Contains(as[0].Lacks[0].Why, "401") {
		t.Errorf("without credentials: %+v", as)
	}
}

// TestWriteTimeout meets a server as Go up to 1.22 serves pprof.
func TestWriteTimeout(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seconds := r.FormValue("seconds")
		if strings.HasSuffix(r.URL.Path, "/profile") && seconds != "1" || strings.HasSuffix(r.URL.Path, "/trace") && !strings.HasPrefix(seconds, "0.") {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintln(w, "profile duration exceeds server's WriteTimeout")
			return
		}
		http.DefaultServeMux.ServeHTTP(w, r)
	}))
	defer s.Close()
	u, _ := url.Parse(s.URL)
	out := newSink()
	if err := one(t, discover.Target{URL: u}).Record(t.Context(), probe.Plan{For: 2 * time.Second}, out); err != nil {
		t.Fatal(err)
	}
	if out.data["cpu-0001.pb.gz"] == nil || out.data["trace-0001.out"] == nil || !strings.Contains(strings.Join(out.warnings, "\n"), "WriteTimeout") {
		t.Errorf("%q, warnings %q", out.names, out.warnings)
	}
}

func TestFit(t *testing.T) {
	for _, c := range []struct {
		round, left time.Duration
		want        int
	}{
		{4 * time.Second, 30 * time.Second, 4},
		{4 * time.Second, 2 * time.Second, 2},
		{5 * time.Second, 5300 * time.Millisecond, 5},
		{5 * time.Second, 900 * time.Millisecond, 1},
		{5 * time.Second, 400 * time.Millisecond, 0},
		{5 * time.Second, -time.Second, 0},
	} {
		if got := fit(c.round, c.left); got != c.want {
			t.Errorf("fit(%v, %v) = %d, want %d", c.round, c.left, got, c.want)
		}
	}
}
