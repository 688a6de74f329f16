package gopprof

import (
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
	"path/filepath"
	"runtime/pprof"
	"runtime/trace"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe"
	"github.com/unstall/unstall/internal/collect/probe/probetest"
)

// TestMain is also the target of the tests: a process that serves pprof, says where, and uses some CPU time until its standard input ends.
func TestMain(m *testing.M) {
	probetest.Main(m, map[string]func([]string){
		"serve": func(args []string) {
			if len(args) > 0 {
				target("unix", args[0])
			}
			target("tcp", "127.0.0.1:0")
		},
		"profiled": func([]string) {
			if err := errors.Join(pprof.StartCPUProfile(io.Discard), trace.Start(io.Discard)); err != nil {
				panic(err)
			}
			target("tcp", "127.0.0.1:0")
		},
	})
}

func target(network, address string) {
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
func child(t *testing.T, as string, args ...string) (discover.Target, *os.Process) {
	t.Helper()
	c := probetest.Play(t, as, nil, args...)
	x := discover.Target{PID: c.Process.Pid, Name: "srv", Runtime: "go", Listens: []discover.Listener{{Path: c.Said}}}
	if at, err := netip.ParseAddrPort(c.Said); err == nil {
		x.Listens = []discover.Listener{{Addr: at}}
	}
	return x, c.Process
}

// off checks that neither a profile nor a trace is on: both can be started at once.
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

func TestRecord(t *testing.T) {
	x, _ := child(t, "serve")
	a := probetest.One(t, Probe.Find, x)
	if len(a.SwitchesOn) != 2 {
		t.Errorf("switches on %v", a.SwitchesOn)
	}
	s := probetest.Record(t, a, probe.Plan{For: 2 * time.Second})
	if len(s.Warnings)+len(s.Lacks) > 0 {
		t.Errorf("warnings %q, lacks %v", s.Warnings, s.Lacks)
	}
	for _, name := range []string{"heap-0001.txt", "heap-0002.txt", "goroutine-1.pb.gz", "goroutine-2.pb.gz", "cpu-0001.pb.gz", "trace-0001.out"} {
		if s.Named(name) == nil {
			t.Errorf("%s is not among %q", name, s.Names())
		}
	}
	for _, k := range s.Kept {
		if m := k.Meta; m.About.PID != x.PID || m.About.Runtime != "go" || m.Probe != "gopprof" || !strings.HasPrefix(m.Origin, "http://127.0.0.1:") {
			t.Errorf("%+v", m)
		}
	}
	b := s.Read(t, s.Names()...)
	for _, kind := range []string{evidence.CoverCPUProfile, evidence.CoverGC, evidence.CoverHeap, evidence.CoverGoroutines} {
		if len(b.Covered(-1, kind)) == 0 {
			t.Errorf("no %s", kind)
		}
	}
	off(t, x)
}

func TestPassive(t *testing.T) {
	x, _ := child(t, "profiled") // otherwise the test would notice it
	s := probetest.Record(t, probetest.One(t, Probe.Find, x), probe.Plan{For: time.Second, Passive: true})
	if len(s.Warnings) > 0 || s.Named("cpu-0001.pb.gz") != nil || s.Named("trace-0001.out") != nil || s.Named("heap-0002.txt") == nil {
		t.Errorf("%q, warnings %q", s.Names(), s.Warnings)
	}
}

func TestAlreadyInUse(t *testing.T) {
	x, _ := child(t, "profiled")
	s := probetest.Record(t, probetest.One(t, Probe.Find, x), probe.Plan{For: time.Second})
	if s.Named("heap-0001.txt") == nil || s.Named("cpu-0001.pb.gz") != nil {
		t.Errorf("recorded %q", s.Names())
	}
	for _, want := range []string{"Could not enable CPU profiling", "Could not enable tracing"} {
		if n := strings.Count(strings.Join(s.Warnings, "\n"), want); n != 1 {
			t.Errorf("%q %d times in %q", want, n, s.Warnings)
		}
	}
}

// TestInterrupt ends a recording of an hour when its trace has begun. The trace is whole all the same.
func TestInterrupt(t *testing.T) {
	x, _ := child(t, "serve")
	s := probetest.Begin(t, probetest.One(t, Probe.Find, x))
	s.Wait(t, "trace-0001.out", probetest.Some)
	if err := s.End(); err != nil {
		t.Fatal(err)
	}
	if len(s.Warnings) > 0 || s.Named("goroutine-2.pb.gz") == nil {
		t.Errorf("%q, warnings %q", s.Names(), s.Warnings)
	}
	if b := s.Read(t, "trace-0001.out"); b.Artifacts[0].Tail || len(b.Warnings) > 0 {
		t.Errorf("the trace is cut: %+v, %v", b.Artifacts[0], b.Warnings)
	}
	off(t, x)
}

func TestTargetEnds(t *testing.T) {
	x, p := child(t, "serve")
	s := probetest.Begin(t, probetest.One(t, Probe.Find, x))
	s.Wait(t, "trace-0001.out", probetest.Some)
	_ = p.Kill()
	if err := s.Ended(); err != nil {
		t.Fatal(err)
	}
	if s.Text("trace-0001.out") == "" || !s.Warned("the process ended") || s.Warned("closed the connection") {
		t.Errorf("%q, warnings %q", s.Names(), s.Warnings)
	}
}

func TestDiskFull(t *testing.T) {
	x, _ := child(t, "serve")
	s := probetest.NewSink()
	s.Fill()
	if err := probetest.One(t, Probe.Find, x).Record(t.Context(), probe.Plan{For: time.Minute}, s); !errors.Is(err, probetest.ErrFull) {
		t.Errorf("error %v", err)
	}
	off(t, x)
}

func TestUnixSocket(t *testing.T) {
	x, _ := child(t, "serve", filepath.Join(t.TempDir(), "s"))
	s := probetest.NewSink()
	a := probetest.One(t, Probe.Find, x)
	if err := a.Record(t.Context(), probe.Plan{For: time.Second, Passive: true}, s); err != nil || s.Named("heap-0001.txt") == nil {
		t.Errorf("%v: %q", err, s.Names())
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
		if a := probetest.One(t, Probe.Find, discover.Target{URL: u}); a.Where != c.where {
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
		{hello.URL, "not with the index page of net/http/pprof"},
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
		err := as[0].Record(t.Context(), probe.Plan{For: time.Minute}, probetest.NewSink())
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
	a := probetest.One(t, Probe.Find, discover.Target{URL: u})
	out := probetest.Record(t, a, probe.Plan{For: time.Second, Passive: true})
	if len(out.Names()) == 0 {
		t.Error("nothing recorded")
	}
	for _, k := range out.Kept {
		if told := fmt.Sprint(k.Meta, a.Where, out.Warnings); strings.Contains(told, "geheim") || strings.Contains(told, "secret") || strings.Contains(told, "ops") {
			t.Errorf("tells %s", told)
		}
	}
	u.User = nil
	as := Probe.Find(t.Context(), discover.Target{URL: u})
	if len(as) != 1 || len(as[0].Lacks) != 1 || !strings.Contains(as[0].Lacks[0].Why, "401") {
		t.Errorf("without credentials: %+v", as)
	}
}

// TestWriteTimeout records a server with a WriteTimeout, which Go up to 1.22 does not extend for pprof.
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
	out := probetest.Record(t, probetest.One(t, Probe.Find, discover.Target{URL: u}), probe.Plan{For: 2 * time.Second})
	if out.Named("cpu-0001.pb.gz") == nil || out.Named("trace-0001.out") == nil || !out.Warned("WriteTimeout") {
		t.Errorf("%q, warnings %q", out.Names(), out.Warnings)
	}
}

// What the index page counts, as Go 1.5, 1.11 and 1.26 write it.
func TestListed(t *testing.T) {
	for _, c := range []struct {
		index, profile string
		count          int
		ok             bool
	}{
		{`<tr><td align=right>0<td><a href="block?debug=1">block</a>`, "block", 0, true},
		{"<tr>\n<td>17</td><td><a href=mutex?debug=1>mutex</a></td>\n</tr>", "mutex", 17, true},
		{"<tr><td>0</td><td><a href='mutex?debug=1'>mutex</a></td></tr>\n<tr><td>3</td><td><a href='block?debug=1'>block</a></td></tr>", "block", 3, true},
		{"heap profile: 1: 2", "mutex", 0, false},
		{"", "mutex", 0, false},
	} {
		if count, ok := listedSamples([]byte(c.index), c.profile); count != c.count || ok != c.ok {
			t.Errorf("%s in %s: %d, %v", c.profile, c.index, count, ok)
		}
	}
}

// No profile is requested from a server that would sample during the request, if its index page says that the profile is empty.
func TestEmptyProfiles(t *testing.T) {
	var asked sync.Map
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Store(strings.TrimPrefix(r.URL.Path, "/debug/pprof/"), true)
		if r.URL.Path == "/debug/pprof/" {
			fmt.Fprint(w, "<title>/debug/pprof/</title><td>0</td><td><a href='mutex?debug=1'>mutex</a></td><td>0</td><td><a href='block?debug=1'>block</a></td>")
			return
		}
		http.DefaultServeMux.ServeHTTP(w, r)
	}))
	defer server.Close()
	u, _ := url.Parse(server.URL)
	probetest.Record(t, probetest.One(t, Probe.Find, discover.Target{URL: u}), probe.Plan{For: time.Second})
	for profile, want := range map[string]bool{"mutex": false, "block": false, "goroutine": true} {
		if _, got := asked.Load(profile); got != want {
			t.Errorf("asked for %s: %v", profile, got)
		}
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
		if got := fitSeconds(c.round, c.left); got != c.want {
			t.Errorf("fit(%v, %v) = %d, want %d", c.round, c.left, got, c.want)
		}
	}
}
