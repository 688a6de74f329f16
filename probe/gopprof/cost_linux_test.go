package gopprof

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/unstall/unstall/lab/loadgen"
	"github.com/unstall/unstall/probe"
	"github.com/unstall/unstall/stats"
	"github.com/unstall/unstall/target"
)

// What recording costs, on a machine with nothing else to do:
//
//	go test ./probe/gopprof -run TestCost -cost 30s -v     of the recorder and, by its own profile, of the target
//	go test ./probe/gopprof -run TestThroughput -pairs 10 -v   requests/s with ÷ without, while everything is on
var (
	costFor = flag.Duration("cost", 0, "measure what recording this long costs")
	pairs   = flag.Int("pairs", 0, "compare throughput in this many pairs of runs")
)

// gateway starts the service of lab/go-ballast.
func gateway(t *testing.T) (serving, debug string) {
	exe := filepath.Join(t.TempDir(), "gateway")
	if out, err := exec.Command("go", "build", "-o", exe, "github.com/unstall/unstall/lab/go-ballast/gateway").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cmd := exec.Command(exe, "-control")
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
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var says struct{ Serving, Debug string }
	if err := json.Unmarshal(line, &says); err != nil {
		t.Fatal(err)
	}
	return says.Serving, says.Debug
}

func load(t *testing.T, serving string, p loadgen.Plan) loadgen.Result {
	p.Paths, p.Tokens = []string{"/v1/feed", "/v1/channel/7", "/v1/search"}, 5000
	c, err := loadgen.Dial(serving, p.Connections)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r := c.Run(t.Context(), p)
	if r.Failed+r.Unanswered > 0 {
		t.Fatalf("%d failed, %d unanswered: %s", r.Failed, r.Unanswered, r.Error)
	}
	return r
}

// TestRecorder is the recorder as a process of its own, so that its memory and
// CPU time are nobody else's.
func TestRecorder(t *testing.T) {
	at, dir := os.Getenv("UNSTALL_TEST_RECORD"), os.Getenv("UNSTALL_TEST_DIR")
	if at == "" {
		t.Skip("is started by the others")
	}
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	d, err := time.ParseDuration(os.Getenv("UNSTALL_TEST_FOR"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	s := newSink()
	s.dir = dir
	began := time.Now()
	if err := one(t, target.Target{URL: u}).Record(ctx, probe.Plan{For: d}, s); err != nil {
		t.Fatal(err)
	}
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	cpu := time.Duration(used.Utime.Nano() + used.Stime.Nano())
	fmt.Printf("recorder: %.2f %% of a core, %d MiB at most, warnings %q\n", 100*cpu.Seconds()/time.Since(began).Seconds(), used.Maxrss>>10, s.warnings)
}

func recorder(t *testing.T, debug, dir string, d time.Duration) (*exec.Cmd, io.Closer, *bytes.Buffer) {
	cmd := exec.Command(os.Args[0], "-test.run=^TestRecorder$", "-test.v")
	cmd.Env = append(os.Environ(), "UNSTALL_TEST_RECORD=http://"+debug, "UNSTALL_TEST_DIR="+dir, "UNSTALL_TEST_FOR="+d.String())
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, in, &out
}

func TestCost(t *testing.T) {
	if *costFor == 0 {
		t.Skip("asked for with -cost 30s")
	}
	serving, debug := gateway(t)
	dir := t.TempDir()
	load(t, serving, loadgen.Plan{Rate: 800, Poisson: true, Connections: 64}.For(3*time.Second)) // warm
	cmd, in, out := recorder(t, debug, dir, *costFor)
	defer in.Close()
	r := load(t, serving, loadgen.Plan{Rate: 800, Poisson: true, Connections: 64}.For(*costFor))
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Logf("%.0f requests/s, p50 %.2f ms, p99 %.2f ms", r.Achieved, r.P50, r.P99)
	for line := range strings.Lines(out.String()) {
		if strings.HasPrefix(line, "recorder") {
			t.Log(strings.TrimSpace(line))
		}
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	var all, tracing, profiling, serves int64
	for _, f := range files {
		info, err := os.Stat(f)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(filepath.Base(f), "cpu") {
			t.Logf("%s: %d kB", filepath.Base(f), info.Size()>>10)
			continue
		}
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		p, err := profile.ParseData(data)
		if err != nil {
			t.Fatal(err)
		}
		var own, a int64
		for _, s := range p.Sample {
			v := s.Value[1]
			a += v
			switch what := costOf(s); what {
			case "trace":
				tracing, own = tracing+v, own+v
			case "profile":
				profiling, own = profiling+v, own+v
			case "serve":
				serves, own = serves+v, own+v
			}
		}
		all += a
		t.Logf("%s: %.2f %% of %.2f s CPU", filepath.Base(f), 100*float64(own)/float64(a), float64(a)/1e9)
	}
	share := func(v int64) float64 { return 100 * float64(v) / float64(all) }
	t.Logf("of the target's %.2f s CPU: tracing %.2f %%, profiling %.2f %%, making and sending answers %.2f %%: %.2f %% in all",
		float64(all)/1e9, share(tracing), share(profiling), share(serves), share(tracing+profiling+serves))
}

// costOf says whether a stack is there because of the recording.
func costOf(s *profile.Sample) string {
	what := ""
	for _, l := range s.Location {
		for _, line := range l.Line {
			f := line.Function.Name
			switch {
			case strings.HasPrefix(f, "runtime.trace"), strings.HasPrefix(f, "runtime.(*trace"), strings.HasPrefix(f, "runtime.unsafeTraceWriter"), strings.HasPrefix(f, "runtime/trace"):
				return "trace"
			case strings.HasPrefix(f, "runtime.sigprof"), strings.HasPrefix(f, "runtime.(*cpuProfile"), strings.HasPrefix(f, "runtime.(*profBuf"), strings.HasPrefix(f, "runtime.(*sigctxt"), strings.HasPrefix(f, "runtime.sighandler"):
				return "profile"
			case strings.HasPrefix(f, "net/http/pprof."), strings.HasPrefix(f, "runtime/pprof."):
				what = "serve"
			}
		}
	}
	return what
}

func TestThroughput(t *testing.T) {
	if *pairs == 0 {
		t.Skip("asked for with -pairs 10")
	}
	serving, debug := gateway(t)
	plan := loadgen.Plan{Connections: 8, Requests: 4000}
	plan.Requests = int(2.2 * load(t, serving, plan).Achieved)
	var ratios []float64
	for i := range *pairs {
		var rate [2]float64 // without, with
		for _, with := range []int{i % 2, 1 - i%2} {
			if with == 0 {
				rate[0] = load(t, serving, plan).Achieved
				continue
			}
			// The first 4 s of a recording: profile and trace are both on all the time.
			cmd, in, out := recorder(t, debug, t.TempDir(), time.Minute)
			rate[1] = load(t, serving, plan).Achieved
			_ = in.Close()
			if err := cmd.Wait(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
		}
		ratios = append(ratios, rate[1]/rate[0])
	}
	slices.Sort(ratios)
	t.Logf("throughput with ÷ without: median %.3f of %.3f", stats.Median(ratios), ratios)
}
