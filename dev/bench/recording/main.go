//go:build linux

// Recording measures what recording a live service costs: the recorder itself,
// the recorded service by its own CPU profiles, and its throughput. It runs the
// gateway of lab/go-ballast and unstall as a user does.
//
//	go run ./dev/bench/recording                       all of it, about 4 minutes
//	go run ./dev/bench/recording -for 60s -pairs 0     cost only
//	go run ./dev/bench/recording -for 0 -pairs 0       how soon the report stands after the end, and what diagnosing the capture takes
//
// Its opinion: a share of a profile is exact and a difference of throughputs is
// not, so the budget is a share, and the throughput shows that no cost was
// missed. Throughput is measured in the first seconds of a recording,
// when profile and trace are both on: over all of it, the cost is lower.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/google/pprof/profile"

	"github.com/unstall/unstall/dev/bench/table"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/collect/load"
)

func main() {
	d := flag.Duration("for", 30*time.Second, "how long to record; 0: not at all")
	report := flag.Duration("report", 20*time.Second, "how long to record for a report at 1,000 requests per second; 0: not at all")
	rate := flag.Float64("rate", 800, "requests per second meanwhile")
	pairs := flag.Int("pairs", 20, "pairs of runs of throughput; 0: none")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := measureRecording(ctx, *d, *report, *rate, *pairs); err != nil {
		fmt.Fprintln(os.Stderr, "dev/bench/recording:", err)
		os.Exit(1)
	}
}

// bench is a running gateway and the unstall that records it.
type bench struct {
	dir, unstall, url string
	pid               string
}

func measureRecording(ctx context.Context, d, report time.Duration, rate float64, pairs int) error {
	dir, err := os.MkdirTemp("", "unstall-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := &bench{dir: dir, unstall: filepath.Join(dir, "unstall")}
	gateway := filepath.Join(dir, "gateway")
	for out, pkg := range map[string]string{b.unstall: "./cmd/unstall", gateway: "./lab/go-ballast/gateway"} {
		if text, err := exec.CommandContext(ctx, "go", "build", "-o", out, pkg).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", pkg, err, text)
		}
	}
	fmt.Printf("%s, %d processors\n", runtime.Version(), runtime.NumCPU())
	if report > 0 {
		if err := b.runGateway(ctx, gateway, func() error { return b.measureReport(ctx, report) }, "-garbage=20"); err != nil {
			return err
		}
	}
	if d == 0 && pairs == 0 {
		return nil
	}
	return b.runGateway(ctx, gateway, func() error {
		if d > 0 {
			if err := b.measureCost(ctx, d, rate); err != nil {
				return err
			}
		}
		return b.compareThroughput(ctx, pairs)
	})
}

// runGateway starts a gateway, warms it up, and measures it.
func (b *bench) runGateway(ctx context.Context, gateway string, measure func() error, args ...string) error {
	c := exec.Command(gateway, append(args, "-control", "-access-log", filepath.Join(b.dir, "access.log"))...)
	in, err := c.StdinPipe()
	if err != nil {
		return err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	defer func() {
		_ = in.Close() // ends it
		_ = c.Wait()
	}()
	var says struct {
		Serving string
		PID     int
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &says)
	}
	if err != nil {
		return fmt.Errorf("the gateway does not say where it serves: %w", err)
	}
	b.url, b.pid = "http://"+says.Serving+"/v1/feed", fmt.Sprint(says.PID)
	if _, err := b.closedLoopRate(ctx, 3*time.Second); err != nil {
		return err
	}
	return measure()
}

func (b *bench) newPlan(d time.Duration) load.Plan {
	return load.Plan{URL: b.url, Duration: d, Header: http.Header{"Authorization": {"Bearer t{n%5000:7}"}}}
}

// closedLoopRate returns the throughput of eight clients in closed loop, requests per second.
func (b *bench) closedLoopRate(ctx context.Context, d time.Duration) (float64, error) {
	p := b.newPlan(d)
	p.Mode, p.Connections = load.Closed, 8
	r, err := load.Run(ctx, p, nil)
	if err != nil {
		return 0, err
	}
	return float64(r.Completed) / r.Duration, nil
}

// startRecording starts unstall record.
func (b *bench) startRecording(path string, d time.Duration) (*exec.Cmd, error) {
	c := exec.Command(b.unstall, "record", b.pid, "--for", d.String(), "--capture", path)
	c.Stderr = os.Stderr
	return c, c.Start()
}

// measureCost records under a load and prints the cost to the recorder and to the service.
func (b *bench) measureCost(ctx context.Context, d time.Duration, rate float64) error {
	path := filepath.Join(b.dir, "cost.unstall")
	began := time.Now()
	c, err := b.startRecording(path, d)
	if err != nil {
		return err
	}
	p := b.newPlan(d)
	p.Rate, p.Arrivals = rate, load.Poisson
	r, runErr := load.Run(ctx, p, nil)
	if err := c.Wait(); err != nil {
		return err
	}
	if runErr != nil {
		return runErr
	}
	wall := time.Since(began).Seconds()
	used := c.ProcessState.SysUsage().(*syscall.Rusage)
	cpu := c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	fmt.Printf("load       %.0f requests/s, p50 %.2f ms, p99 %.2f ms\n", float64(r.Completed)/r.Duration, valueOrZero(r.Latency.P50), valueOrZero(r.Latency.P99))
	fmt.Printf("recorder   %.2f %% of a core, %d MiB at most   (asked: 2 %%, 64 MiB)\n", 100*cpu.Seconds()/wall, used.Maxrss>>10)
	share, peak := 100*cpu.Seconds()/wall, used.Maxrss>>10
	table.Add(table.Row{Work: "Recording a Go service: recorder's CPU", Peer: table.Limit, Got: fmt.Sprintf("%.2f %% of a core", share), Goal: "≤ 2 %", Met: share <= 2})
	table.Add(table.Row{Work: "Recording a Go service: recorder's peak", Peer: table.Limit, Got: fmt.Sprintf("%d MiB", peak), Goal: "≤ 64 MiB", Met: peak <= 64})
	return printShares(path)
}

// reportRate is how many requests per second there are while a report is waited for: of a gateway whose requests make little garbage, so that
// two CPUs serve them.
const reportRate = 1000

// measureReport records under a load and prints after how long the report stands once the recording has ended, and what diagnosing its capture
// again takes. The end is the start that the capture tells and the time asked for, so that ending the recording counts as waiting.
func (b *bench) measureReport(ctx context.Context, d time.Duration) error {
	path, page := filepath.Join(b.dir, "report.unstall"), filepath.Join(b.dir, "report.txt")
	c := exec.CommandContext(ctx, b.unstall, b.pid, "--for", d.String(), "--capture", path, "-o", page)
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		return err
	}
	p := b.newPlan(d + time.Second)
	p.Rate, p.Arrivals = reportRate, load.Poisson
	loaded := make(chan error, 1)
	var r *load.Result
	go func() {
		var err error
		r, err = load.Run(ctx, p, nil)
		loaded <- err
	}()
	ended := waitForExit(c)
	stood := time.Now()
	if err := <-loaded; err != nil {
		return err
	}
	if ended > 1 {
		return fmt.Errorf("%s ended with %d", c, ended)
	}
	recorded, err := capture.Open(path)
	if err != nil {
		return err
	}
	after := stood.Sub(recorded.Info.Start.Add(d)).Seconds()
	fmt.Printf("report     %.2f s after the end of %s at %.0f requests/s   (asked: .5 s)\n", after, d, float64(r.Completed)/r.Duration)
	table.Add(table.Row{Work: fmt.Sprintf("Report after the end of %s at %d requests/s, s", d, reportRate), Peer: table.Limit, Got: fmt.Sprintf("%.2f", after), Goal: "≤ 0.5", Met: after <= .5})

	again := exec.CommandContext(ctx, b.unstall, path, "-o", page)
	began := time.Now()
	if ended := waitForExit(again); ended > 1 {
		return fmt.Errorf("%s ended with %d", again, ended)
	}
	wall, peak := time.Since(began).Seconds(), again.ProcessState.SysUsage().(*syscall.Rusage).Maxrss>>10
	fmt.Printf("diagnosis  of its capture: %.2f s, %d MiB at most   (asked: .13 s, 85 MiB)\n", wall, peak)
	table.Add(table.Row{Work: "Diagnosis of that capture: wall, peak", Peer: table.Limit, Got: fmt.Sprintf("%.2f s, %d MiB", wall, peak), Goal: "≤ 0.13 s, 85 MiB", Met: wall <= .13 && peak <= 85})
	return nil
}

// waitForExit runs a program, if it has not been started, and returns its exit code.
func waitForExit(c *exec.Cmd) int {
	if c.Process == nil {
		if err := c.Start(); err != nil {
			return 2
		}
	}
	_ = c.Wait()
	return c.ProcessState.ExitCode()
}

// printShares prints the recorded service's CPU time for being recorded, by the CPU profiles in
// the capture.
func printShares(path string) error {
	c, err := capture.Open(path)
	if err != nil {
		return err
	}
	var all int64
	sums := map[string]int64{}
	for _, a := range c.Artifacts() {
		if a.Series != "cpu" {
			continue
		}
		f, err := a.Open()
		if err != nil {
			return err
		}
		p, err := profile.Parse(f)
		_ = f.Close()
		if err != nil {
			return fmt.Errorf("%s: %w", a.Name, err)
		}
		for _, s := range p.Sample {
			all += s.Value[1]
			sums[recordingPart(s)] += s.Value[1]
		}
	}
	share := func(v int64) float64 { return 100 * float64(v) / float64(max(all, 1)) }
	whole := share(sums["trace"] + sums["profile"] + sums["answer"])
	table.Add(table.Row{Work: "Recording a Go service: of the service's CPU", Peer: table.Limit, Got: fmt.Sprintf("%.2f %%", whole), Goal: "≤ 1 %", Met: whole <= 1})
	fmt.Printf("service    of its %.2f s CPU: tracing %.2f %%, profiling %.2f %%, making answers %.2f %%: %.2f %% in all   (asked: 1 %%)\n",
		float64(all)/1e9, share(sums["trace"]), share(sums["profile"]), share(sums["answer"]), whole)
	return nil
}

// prefixes of functions that run because of the recording; the innermost function of a stack
// decides.
var prefixes = []struct{ prefix, what string }{
	{"runtime.trace", "trace"}, {"runtime.(*trace", "trace"}, {"runtime.unsafeTraceWriter", "trace"}, {"runtime/trace", "trace"},
	{"runtime.sigprof", "profile"}, {"runtime.(*cpuProfile", "profile"}, {"runtime.(*profBuf", "profile"}, {"runtime.(*sigctxt", "profile"}, {"runtime.sighandler", "profile"},
	{"net/http/pprof.", "answer"}, {"runtime/pprof.", "answer"},
}

func recordingPart(s *profile.Sample) string {
	for _, l := range s.Location {
		for _, line := range l.Line {
			for _, p := range prefixes {
				if strings.HasPrefix(line.Function.Name, p.prefix) {
					return p.what
				}
			}
		}
	}
	return ""
}

// compareThroughput compares runs with and without a recording, in pairs of alternating order.
func (b *bench) compareThroughput(ctx context.Context, pairs int) error {
	const each = 3 * time.Second
	var without, with, ratios []float64
	for i := range pairs {
		var rate [2]float64
		for _, on := range []int{i % 2, 1 - i%2} {
			var c *exec.Cmd
			var err error
			if on == 1 {
				if c, err = b.startRecording(filepath.Join(b.dir, fmt.Sprintf("pair-%d.unstall", i)), time.Minute); err != nil {
					return err
				}
			}
			if rate[on], err = b.closedLoopRate(ctx, each); err != nil {
				return err
			}
			if c != nil {
				if err := endRecording(c); err != nil {
					return err
				}
			}
		}
		without, with = append(without, rate[0]), append(with, rate[1])
		ratios = append(ratios, rate[1]/rate[0])
	}
	if pairs == 0 {
		return nil
	}
	slices.Sort(ratios)
	estimate, iv, ok := stats.RatioInterval(without, with, .95, 1)
	interval := "no interval from so few pairs"
	if ok {
		interval = fmt.Sprintf("95 %%: %.3f–%.3f", iv.Low, iv.High)
	}
	fmt.Printf("throughput while profile and trace are on, with ÷ without: %.3f (%s), %d pairs, median %.3f (%.3f–%.3f)   (asked: .95)\n",
		estimate, interval, pairs, stats.Median(ratios), ratios[0], ratios[len(ratios)-1])
	table.Add(table.Row{Work: "Recording a Go service: throughput meanwhile", Peer: "not recorded", Got: fmt.Sprintf("%.3f × (%s)", estimate, interval), Goal: "≥ 0.95 ×", Met: estimate >= .95})
	return nil
}

// endRecording ends a recording early and waits for it.
func endRecording(c *exec.Cmd) error {
	if err := c.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	return c.Wait()
}

func valueOrZero(v *float64) float64 {
	if v == nil {
		return 0
	}
	return *v
}
