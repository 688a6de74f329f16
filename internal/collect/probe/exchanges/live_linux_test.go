package exchanges

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe/probetest"
	"github.com/unstall/unstall/internal/collect/probe/tracepoint"
	"github.com/unstall/unstall/internal/format"
	reading "github.com/unstall/unstall/internal/format/exchanges"
	"github.com/unstall/unstall/internal/format/formattest"
)

func TestMain(m *testing.M) {
	probetest.Main(m, map[string]func([]string){"service": service, "locked": locked, "echo": echo, "frames": frames, "statements": statements, "looksUp": looksUp, "unconnected": unconnected,
		"namespace": namespace, "echoDatagrams": echoDatagrams})
}

// networkOf is what an address is of: a path is a UNIX socket.
func networkOf(address string) string {
	if address[0] == '/' || address[0] == '@' {
		return "unix"
	}
	return "tcp"
}

// service answers one request after the other over HTTP, at the first address, and makes two calls for each, to the second, and one to a
// database, at the third.
func service(args []string) {
	runtime.LockOSThread() // one thread reads the request and makes its calls
	l, err := net.Listen(networkOf(args[0]), args[0])
	if err != nil {
		panic(err)
	}
	fmt.Println(l.Addr())
	dependency, err := net.Dial(networkOf(args[1]), args[1])
	if err != nil {
		panic(err)
	}
	var stock net.Conn
	if len(args) > 2 {
		if stock, err = net.Dial(networkOf(args[2]), args[2]); err != nil {
			panic(err)
		}
	}
	for {
		c, err := l.Accept()
		if err != nil {
			panic(err)
		}
		room := make([]byte, 4096)
		for {
			if n, err := c.Read(room); err != nil || n == 0 {
				break
			}
			if stock != nil {
				if _, err := io.WriteString(stock, pg('Q', "update stock set owner = 'secret' where id = 4711\x00")); err != nil {
					panic(err)
				}
				if n, err := stock.Read(room); err != nil || n == 0 {
					panic(err)
				}
			}
			for range 2 {
				if _, err := io.WriteString(dependency, "GET /stock?of=secret HTTP/1.1\r\nHost: d\r\n\r\n"); err != nil {
					panic(err)
				}
				if n, err := dependency.Read(room); err != nil || n == 0 {
					panic(err)
				}
			}
			if _, err := io.WriteString(c, "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n"); err != nil {
				break
			}
		}
		c.Close()
	}
}

// What a service was asked, how long that waited to be read, and which calls it made for it is told, and nothing of what
// identifies an order; over UNIX sockets, too.
func TestRecord(t *testing.T) {
	t.Run("TCP", func(t *testing.T) { testRecord(t, func(string) string { return "127.0.0.1:0" }) })
	t.Run("UNIX", func(t *testing.T) {
		dir := t.TempDir()
		testRecord(t, func(name string) string { return filepath.Join(dir, name) })
	})
	t.Run("names", func(t *testing.T) {
		testRecord(t, func(name string) string { return fmt.Sprintf("@unstall-test-%s-%d", name, os.Getpid()) })
	})
}

func testRecord(t *testing.T, at func(name string) string) {
	if err := tracepoint.Try(); err != nil {
		t.Skipf("it needs root or the capabilities BPF and PERFMON, and types of the kernel: %v", err)
	}
	const takes = 5 * time.Millisecond
	dependency := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(takes) // what it is about
		w.WriteHeader(http.StatusNoContent)
	}))
	dependency.Listener.Close()
	dependency.Listener = listen(t, at("dependency"))
	dependency.Start()
	defer dependency.Close()
	stock := listen(t, at("stock"))
	go answerAll(stock, pg('C', "UPDATE 1\x00")+pg('Z', "T"))
	child := probetest.Play(t, "service", nil, at("service"), dependency.Listener.Addr().String(), stock.Addr().String())
	found := findAccess(t.Context(), discover.Target{PID: child.Process.Pid})
	if len(found) != 1 || len(found[0].Lacks) > 0 {
		t.Fatalf("found %+v", found)
	}
	w, err := startWatching(os.Getpid())
	if err != nil {
		t.Skipf("this kernel does not tell: %v", err)
	}
	w.close()
	r := probetest.Begin(t, found[0])
	r.Wait(t, "exchanges.txt", func(b []byte) bool { return bytes.Contains(b, []byte("until")) })
	asked := 0
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, networkOf(child.Said), child.Said)
	}}}
	r.Wait(t, "exchanges.txt", func(b []byte) bool {
		answer, err := client.Get("http://shop/orders/4711?token=secret")
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		asked++
		return bytes.Count(b, []byte("\nq ")) >= 5
	})
	if err := r.End(); err != nil {
		t.Fatal(err)
	}
	b := evidence.NewBundle()
	var text []byte
	for _, a := range r.Kept {
		text = a.Bytes()
		if err := format.Read(t.Context(), []format.Format{reading.Format}, formattest.Artifact(a.Meta.Name, text), b); err != nil {
			t.Fatal(err)
		}
	}
	for _, w := range b.Warnings {
		t.Errorf("warned: %s", w.Text)
	}
	if strings.Contains(string(text), "secret") || strings.Contains(string(text), "/4711") {
		t.Errorf("it tells what only the client should know:\n%s", text)
	}
	q := &b.Requests
	if q.Len() < 5 || q.Len() > asked {
		t.Fatalf("%d of %d requests\n%s", q.Len(), asked, text)
	}
	for i := range q.Len() {
		if route := b.Names.Text(q.Route.At(i)); route != "GET /orders/{id}" || q.Outcome.At(i) != evidence.OK {
			t.Errorf("request %d is %q, %v", i, route, q.Outcome.At(i))
		}
		if q.Latency(i) < int64(2*takes) {
			t.Errorf("request %d took %d ns", i, q.Latency(i))
		}
		var waited int64
		for s := range q.Path(i).All {
			if s.Kind == evidence.NetWait && strings.HasSuffix(b.Names.Text(s.Cause), placeOf(dependency.Listener)) {
				waited += s.Dur
			}
		}
		if waited < int64(2*takes) || waited > q.Latency(i) {
			t.Errorf("request %d of %d ns waited %d ns for its calls\n%s", i, q.Latency(i), waited, text)
		}
	}
	if networkOf(child.Said) == "unix" && (!strings.Contains(string(text), fmt.Sprintf("\np unix:%s %d exchanges.test", child.Said, os.Getpid())) || !strings.Contains(string(text), " "+placeOf(stock)+" postgresql ")) {
		t.Errorf("ends of UNIX sockets are not told:\n%s", text)
	}
	if lines := regexp.MustCompile(`(?m)^q( \d+){8} \d+/\d+ \d+/\d+ `).FindAllString(string(text), -1); registers.call != "" && len(lines) != q.Len() {
		t.Errorf("goroutines of %d in %d requests\n%s", len(lines), q.Len(), text)
	}
	calls, v := make(map[string]int), &b.Intervals
	for i, k := range v.Kind {
		if k != evidence.Call || v.Request.At(i) == 0 {
			continue
		}
		if registers.call != "" && !slices.ContainsFunc(b.Stacks.Frames(v.Stack.At(i)), func(f evidence.Frame) bool {
			return strings.HasSuffix(b.Names.Text(f.Func), "probe/exchanges.service")
		}) {
			t.Errorf("the code that sends call %d is not told\n%s", i, text)
		}
		status, _ := v.Get(i, evidence.CallStatus)
		open, _ := v.Get(i, evidence.Transaction)
		calls[fmt.Sprintf("%s %.0f %.0f", b.Names.Text(v.NameOf(i, evidence.Operation)), status, open)]++
	}
	if calls["GET /stock 204 0"] != 2*q.Len() || calls["UPDATE stock 0 1"] != q.Len() {
		t.Errorf("%v calls of %d requests\n%s", calls, q.Len(), text)
	}
}

// listen listens at an address until the test ends.
func listen(t *testing.T, at string) net.Listener {
	t.Helper()
	l, err := net.Listen(networkOf(at), at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// placeOf is what a listener is called in a recording.
func placeOf(l net.Listener) string {
	if l.Addr().Network() == "unix" {
		return "unix:" + l.Addr().String()
	}
	return l.Addr().String()
}

// answerAll answers whatever is asked.
func answerAll(l net.Listener, answer string) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer c.Close()
			room := make([]byte, 4096)
			for {
				if _, err := c.Read(room); err != nil {
					return
				}
				if _, err := io.WriteString(c, answer); err != nil {
					return
				}
			}
		}()
	}
}

// A request that is under way when the recording ends is unfinished.
func TestUnderWay(t *testing.T) {
	if err := tracepoint.Try(); err != nil {
		t.Skipf("it needs root or the capabilities BPF and PERFMON, and types of the kernel: %v", err)
	}
	silent := listen(t, "127.0.0.1:0") // accepts in its queue, and never answers
	child := probetest.Play(t, "service", nil, "127.0.0.1:0", silent.Addr().String())
	found := findAccess(t.Context(), discover.Target{PID: child.Process.Pid})
	r := probetest.Begin(t, found[0])
	r.Wait(t, "exchanges.txt", func(b []byte) bool { return bytes.Contains(b, []byte("until")) })
	first, err := net.Dial("tcp", child.Said) // it waits for the dependency
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	fmt.Fprint(first, "GET /a HTTP/1.1\r\n\r\n")
	second, err := net.Dial("tcp", child.Said) // it waits to be accepted
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(second, "GET /b HTTP/1.1\r\n\r\n")
	r.Wait(t, "exchanges.txt", func(b []byte) bool { return bytes.Count(b, []byte("until")) > 12 })
	second.Close()
	if err := r.End(); err != nil {
		t.Fatal(err)
	}
	b := evidence.NewBundle()
	for _, a := range r.Kept {
		if err := format.Read(t.Context(), []format.Format{reading.Format}, formattest.Artifact(a.Meta.Name, a.Bytes()), b); err != nil {
			t.Fatal(err)
		}
	}
	if b.Requests.Len() == 0 || b.Requests.Outcome.At(0) != evidence.Unfinished {
		for _, a := range r.Kept {
			t.Errorf("told:\n%s", a.Bytes())
		}
	}
}

// echo answers with what it is asked.
func echo(args []string) {
	l, err := net.Listen(networkOf(args[0]), args[0])
	if err != nil {
		panic(err)
	}
	fmt.Println(l.Addr())
	for {
		c, err := l.Accept()
		if err != nil {
			panic(err)
		}
		go func() {
			room := make([]byte, 512)
			for {
				n, err := c.Read(room)
				if err != nil {
					return
				}
				if _, err := c.Write(room[:n]); err != nil {
					return
				}
			}
		}()
	}
}

// A message of HTTP/2 that asks, and is taken for the answer to itself: headers, and data.
var message = string([]byte{0, 0, 2, frameHeaders, flagEndHeaders, 0, 0, 0, 0, 0x83, 0x84, 0, 0, 80, frameData, flagEndStream, 0, 0, 0, 0}) + strings.Repeat("d", 80)

// transfers are ways to ask echo: where it listens, what is sent first, and what the n-th request is, of about 100 bytes.
var transfers = []struct {
	name, at, first string
	ask             func(room []byte, n int)
}{
	{"TCP", "127.0.0.1:0", "", func([]byte, int) {}},
	{"UNIX", "@unstall-transfers", "", func([]byte, int) {}},
	{"HTTP2", "127.0.0.1:0", preface, func(room []byte, n int) {
		copy(room, message)
		binary.BigEndian.PutUint32(room[5:], uint32(2*n+1))
		binary.BigEndian.PutUint32(room[16:], uint32(2*n+1))
	}},
}

// BenchmarkTransfers says what CPU time a process needs for one small request and its answer with the programs and without, and how long
// the programs themselves run for it, as the kernel counts.
func BenchmarkTransfers(b *testing.B) {
	if err := tracepoint.Try(); err != nil {
		b.Skip(err)
	}
	for _, x := range transfers {
		for _, on := range []bool{false, true, false, true, false, true} {
			b.Run(fmt.Sprintf("%s/on=%v", x.name, on), func(b *testing.B) {
				child := probetest.Play(b, "echo", nil, x.at)
				room := make([]byte, 512)
				var w *watching
				if on {
					var err error
					if w, err = startWatching(child.Process.Pid); err != nil {
						b.Skip(err)
					}
					defer w.close()
				}
				c, err := net.Dial(networkOf(child.Said), child.Said)
				if err != nil {
					b.Fatal(err)
				}
				defer c.Close()
				if _, err := io.WriteString(c, x.first); err != nil {
					b.Fatal(err)
				}
				if _, err := io.ReadFull(c, room[:len(x.first)]); err != nil {
					b.Fatal(err)
				}
				stats, err := ebpf.EnableStats(unix.BPF_STATS_RUN_TIME)
				if err != nil {
					b.Skip(err)
				}
				defer stats.Close()
				before, ran := onCPU(b, child.Process.Pid), programTime(b)
				for n := 0; b.Loop(); n++ {
					x.ask(room, n)
					if _, err := c.Write(room[:100]); err != nil {
						b.Fatal(err)
					}
					if _, err := io.ReadFull(c, room[:100]); err != nil {
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

// programTime is how long (ns) the programs of this process have run.
func programTime(b *testing.B) (sum int64) {
	files, err := os.ReadDir("/proc/self/fdinfo")
	if err != nil {
		b.Fatal(err)
	}
	for _, f := range files {
		text, _ := os.ReadFile("/proc/self/fdinfo/" + f.Name())
		if _, after, is := strings.Cut(string(text), "run_time_ns:"); is && strings.Contains(string(text), "prog_jited:") {
			var ns int64
			_, _ = fmt.Sscan(after, &ns)
			sum += ns
		}
	}
	return sum
}

// onCPU is how long (ns) all threads of a process have run.
func onCPU(b *testing.B, pid int) (sum int64) {
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		b.Fatal(err)
	}
	for _, f := range files {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/schedstat", pid, f.Name()))
		var ns int64
		_, _ = fmt.Sscan(string(text), &ns)
		sum += ns
	}
	return sum
}
