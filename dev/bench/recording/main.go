//go:build linux

// Recording measures what recording a live service costs: the recorder itself,
// the recorded service by its own CPU profiles, and its throughput. It runs the
// gateway of lab/go-ballast and unstall as a user does.
//
//	go run ./dev/bench/recording                       all of it, about 4 minutes
//	go run ./dev/bench/recording -for 60s -pairs 0     cost only
//	go run ./dev/bench/recording -for 0 -pairs 0       how soon the report stands after the end, and what diagnosing the capture takes
//	go run ./dev/bench/recording -for 0 -pairs 0 -rounds 3 -before OTHER    the same in turn with another build of unstall
//
// Its opinion: a share of a profile is exact and a difference of throughputs is
// not, so the budget is a share, and the throughput shows that no cost was
// missed. Throughput is measured in the first seconds of a recording,
// when profile and trace are both on: over all of it, the cost is lower.
package main

import (
	"bufio"
	"bytes"
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
	"strconv"
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
	rounds := flag.Int("rounds", 1, "how often a report is waited for")
	before := flag.String("before", "", "another build of unstall, whose reports are waited for in turn")
	keep := flag.String("keep", "", "where to keep the capture of the last report; \"\": nowhere")
	built := flag.String("built", "", "a directory with unstall and gateway, to be used instead of building them")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := measureRecording(ctx, *d, *rate, *pairs, *built, reports{*report, *rounds, *before, *keep}); err != nil {
		fmt.Fprintln(os.Stderr, "dev/bench/recording:", err)
		os.Exit(1)
	}
}

// bench is a running gateway and the unstall that records it.
type bench struct {
	dir, unstall, url string
	pid               string
}

// reports says how reports are waited for.
type reports struct {
	d      time.Duration // of each recording; 0: none
	rounds int
	before string // another build of unstall, "" none
	keep   string // where the last capture is kept, "" nowhere
}

func measureRecording(ctx context.Context, d time.Duration, rate float64, pairs int, built string, report reports) error {
	dir, err := os.MkdirTemp("", "unstall-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := &bench{dir: dir, unstall: filepath.Join(dir, "unstall")}
	gateway := filepath.Join(dir, "gateway")
	if built != "" {
		b.unstall, gateway = filepath.Join(built, "unstall"), filepath.Join(built, "gateway")
	} else if err := buildPrograms(ctx, b.unstall, gateway); err != nil {
		return err
	}
	fmt.Printf("%s, %d processors\n", runtime.Version(), runtime.NumCPU())
	if report.d > 0 {
		if err := b.runGateway(ctx, gateway, func() error { return b.compareReports(ctx, report) }, "-garbage=20"); err != nil {
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

func buildPrograms(ctx context.Context, unstall, gateway string) error {
	for out, pkg := range map[string]string{unstall: "./cmd/unstall", gateway: "./lab/go-ballast/gateway"} {
		if text, err := exec.CommandContext(ctx, "go", "build", "-o", out, pkg).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", pkg, err, text)
		}
	}
	return nil
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

// compareReports waits for reports of this build, in turn with those of the build before.
func (b *bench) compareReports(ctx context.Context, how reports) error {
	var now, before []waited
	for range how.rounds {
		if how.before != "" {
			w, err := b.waitForReport(ctx, how.before, how.d)
			if err != nil {
				return err
			}
			before = append(before, w)
		}
		w, err := b.waitForReport(ctx, b.unstall, how.d)
		if err != nil {
			return err
		}
		now = append(now, w)
	}
	if how.keep != "" {
		if err := os.Rename(filepath.Join(b.dir, reportCapture), how.keep); err != nil {
			return err
		}
	}
	if before != nil {
		fmt.Println("the build before:")
		printWaited(before, how.d)
		fmt.Println("this build:")
	}
	after, wall, peak := printWaited(now, how.d)
	table.Add(table.Row{Work: fmt.Sprintf("Report after the end of %s at %d requests/s, s", how.d, reportRate), Peer: table.Limit, Got: fmt.Sprintf("%.2f", after), Goal: "≤ 0.5", Met: after <= .5})
	table.Add(table.Row{Work: "Diagnosis of that capture: wall, peak", Peer: table.Limit, Got: fmt.Sprintf("%.2f s, %.0f MiB", wall, peak), Goal: "≤ 0.13 s, 85 MiB", Met: wall <= .13 && peak <= 85})
	return nil
}

// reportCapture is the name of a report's capture.
const reportCapture = "report.unstall"

// waited is what one report took.
type waited struct {
	after float64 // s from the end of the recording until the report stood
	share float64 // percent of a CPU that unstall used until then, from its start on
	peak  float64 // MiB
	rate  float64 // requests per second that were answered

	again, againPeak float64 // s and MiB that diagnosing the capture took
}

// printWaited prints medians, and returns some of them.
func printWaited(all []waited, d time.Duration) (after, again, peak float64) {
	of := func(figure func(w waited) float64) (median float64, text string) {
		var x []float64
		for _, w := range all {
			x = append(x, figure(w))
		}
		slices.Sort(x)
		median = stats.Median(x)
		return median, fmt.Sprintf("%.2f (%.2f–%.2f)", median, x[0], x[len(x)-1])
	}
	after, afterText := of(func(w waited) float64 { return w.after })
	_, rate := of(func(w waited) float64 { return w.rate })
	_, share := of(func(w waited) float64 { return w.share })
	_, peakText := of(func(w waited) float64 { return w.peak })
	again, againText := of(func(w waited) float64 { return w.again })
	peak, againPeak := of(func(w waited) float64 { return w.againPeak })
	fmt.Printf("report     %s s after the end of %s at %s requests/s   (asked: .5 s)\n", afterText, d, rate)
	fmt.Printf("           until the end %s %% of a CPU, %s MiB at most in all\n", share, peakText)
	fmt.Printf("diagnosis  of its capture: %s s, %s MiB at most   (asked: .13 s, 85 MiB)\n", againText, againPeak)
	return after, again, peak
}

// waitForReport records under a load, and measures after how long the report stands once the recording has ended, and what diagnosing its capture
// again takes. The end is the start that the capture tells and the time asked for, so that ending the recording counts as waiting.
func (b *bench) waitForReport(ctx context.Context, unstall string, d time.Duration) (w waited, err error) {
	path, page := filepath.Join(b.dir, reportCapture), filepath.Join(b.dir, "report.txt")
	_ = os.Remove(path)
	c := exec.CommandContext(ctx, unstall, b.pid, "--for", d.String(), "--capture", path, "-o", page)
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		return w, err
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
	used := make(chan time.Duration, 1)
	time.AfterFunc(d, func() { used <- usedCPU(c.Process.Pid) })
	ended := waitForExit(c)
	stood := time.Now()
	if err := <-loaded; err != nil {
		return w, err
	}
	if ended > 1 {
		return w, fmt.Errorf("%s ended with %d", c, ended)
	}
	recorded, err := capture.Open(path)
	if err != nil {
		return w, err
	}
	w.after, w.rate = stood.Sub(recorded.Info.Start.Add(d)).Seconds(), float64(r.Completed)/r.Duration
	w.share, w.peak = 100*float64(<-used)/float64(d), peakMiB(c)

	again := exec.CommandContext(ctx, unstall, path, "-o", page)
	began := time.Now()
	if ended := waitForExit(again); ended > 1 {
		return w, fmt.Errorf("%s ended with %d", again, ended)
	}
	w.again, w.againPeak = time.Since(began).Seconds(), peakMiB(again)
	return w, nil
}

// peakMiB returns the most memory that a program had resident.
func peakMiB(c *exec.Cmd) float64 {
	return float64(c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss) / (1 << 10)
}

// usedCPU returns the CPU time of a process so far, from fields 14 and 15 of its stat file (proc_pid_stat(5)).
func usedCPU(pid int) time.Duration {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(f) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(f[11])
	system, _ := strconv.Atoi(f[12])
	return time.Duration(user+system) * 10 * time.Millisecond // USER_HZ, on all of Go's architectures
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
