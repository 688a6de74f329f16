package top

import (
	"bufio"
	"context"
	"expvar"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/lab/dotnetapp"
)

// TestMain lets the test binary run as a Go service, too.
func TestMain(m *testing.M) {
	role := os.Getenv("TOP_TEST_ROLE")
	if role == "" {
		os.Exit(m.Run())
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	if role == "vars" {
		expvar.NewInt("orders").Set(12)
		mux.Handle("/debug/vars", expvar.Handler())
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(l.Addr())
	go func() { _ = http.Serve(l, mux) }()
	go func() {
		for { // allocates, so that GC runs
			runtime.GC()
			time.Sleep(10 * time.Millisecond)
		}
	}()
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// run starts a process that ends with the test, and returns its first line.
func run(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
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
	return strings.TrimSpace(line)
}

// live opens a process of a runtime and reads it until each counter has a value.
func live(t *testing.T, pid int, of string, want ...string) *Watch {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	found, err := discover.Resolve(ctx, strconv.Itoa(pid), nil)
	if err != nil {
		t.Fatal(err)
	}
	found.Runtime = of
	w, err := Open(ctx, found, "test", time.Second, map[string]*Counters{"go": &Go, "dotnet": &Dotnet, "jvm": &JVM}[of])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	for {
		if err := w.applyBatch(w.collectReadings(ctx)); err != nil {
			t.Fatal(err)
		}
		missing := slices.DeleteFunc(slices.Clone(want), func(id string) bool { r := w.rows[id]; return r != nil && len(r.value) > 0 })
		if len(missing) == 0 {
			return w
		}
		select {
		case <-ctx.Done():
			t.Fatalf("no value of %q; %q", missing, w.Missing())
		case <-time.After(50 * time.Millisecond): // until rates have data
		}
	}
}

func TestGo(t *testing.T) {
	for _, role := range []string{"pprof", "vars"} {
		cmd := exec.Command("/proc/self/exe")
		cmd.Env = append(os.Environ(), "TOP_TEST_ROLE="+role)
		run(t, cmd)
		w := live(t, cmd.Process.Pid, "go", cpuID, threadsID, "proc/rss", "proc/voluntary", goroutineID, gcCyclesID, "go/heap", "go/goal", "go/alloc", "go/last-pause", "go/forced")
		if len(w.Missing()) > 0 || w.Subject.Cores < 1 {
			t.Errorf("%s: not seen: %q; %g processors", role, w.Missing(), w.Subject.Cores)
		}
		if n := w.rows[goroutineID].newestValue(); n < 3 || n > 1000 {
			t.Errorf("%s: %g goroutines", role, n)
		}
		if own := w.rows["expvar/orders"]; (own != nil) != (role == "vars") {
			t.Errorf("%s: its own variable: %v", role, own)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		var err error
		for range patient {
			if err == nil {
				err = w.applyBatch(w.collectReadings(t.Context()))
			}
		}
		if err == nil || !strings.HasPrefix(err.Error(), ErrEnded.Error()) {
			t.Errorf("%s: it was killed: %v", role, err)
		}
	}
}

func TestJVM(t *testing.T) {
	java, err := exec.LookPath("java")
	if err != nil {
		t.Skip("there is no java here")
	}
	source := filepath.Join(t.TempDir(), "Churn.java")
	program := `class Churn { static Object[] kept = new Object[1000];
		public static void main(String[] a) throws Exception {
			System.out.println("up");
			for (int i = 0; System.in.available() == 0; i++) { kept[i % 1000] = new byte[10000]; if (i % 1000 == 0) Thread.sleep(1); } } }`
	if err := os.WriteFile(source, []byte(program), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(java, "-Xmx64m", "-XX:+UseSerialGC", source)
	run(t, cmd)
	w := live(t, cmd.Process.Pid, "jvm", cpuID, "jvm/gc-0", "jvm/gc-0-time", "jvm/gc-time", "jvm/full-gc", "jvm/old-used", "jvm/threads", "jvm/classes", "jvm/safepoints", "jvm/metaspace")
	if n := w.rows["jvm/threads"].newestValue(); n < 3 || n > 200 {
		t.Errorf("%g threads", n)
	}
	if used := w.rows["jvm/old-used"].newestValue(); !(used >= 0 && used <= 100) {
		t.Errorf("the old generation uses %g %% of its maximum", used)
	}
	if len(w.Missing()) > 0 {
		t.Errorf("not seen: %q", w.Missing())
	}
}

func TestDotnet(t *testing.T) {
	a := dotnetapp.Start(t)
	w := live(t, a.PID, "dotnet", evidence.SeriesPoolThreads, evidence.SeriesPoolQueue, evidence.SeriesPoolCompleted, evidence.SeriesWorkingSet,
		evidence.SeriesTimers, evidence.SeriesRequestsInFlight, evidence.SeriesRequestRate, "System.Runtime/alloc-rate")
	n := 0
	for id := range w.rows {
		if strings.HasPrefix(id, "System.Runtime/") {
			n++
		}
	}
	if n < 19 {
		t.Errorf("%d counters of System.Runtime, want 19 or more", n)
	}
	if size := w.rows[evidence.SeriesWorkingSet].newestValue(); size < 10e6 || size > 2e9 {
		t.Errorf("working set of %g bytes", size)
	}
}

// The terminal's program ends by q, and switches off what it has switched on.
func TestScreenEnds(t *testing.T) {
	in, keys, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer keys.Close()
	shown, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	drawn := make(chan struct{})
	go func() {
		defer close(drawn)
		_, _ = io.Copy(io.Discard, shown)
	}()
	w := watch(2, pool(climb, 14)...)
	if _, err := keys.WriteString("prq"); err != nil {
		t.Fatal(err)
	}
	if err := Screen(t.Context(), in, out, w, Look{Width: 80, Height: 24}); err != nil {
		t.Error(err)
	}
	_ = out.Close()
	<-drawn
}
