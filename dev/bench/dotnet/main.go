//go:build linux

// Dotnet measures what recording a .NET service costs it and the machine: the recorder's
// CPU time, the service's CPU time per request with and without a recording, and its
// latency, on each installed runtime.
//
//	go run ./dev/bench/dotnet                    3.1 and 9, six pairs each, about 6 minutes
//	go run ./dev/bench/dotnet -on 9 -pairs 2     a look
//	go run ./dev/bench/dotnet -before OLD        beside another unstall, in turn with it
//
// The service is the one of lab/dotnet-starvation under requests that compute, hold one
// lock and allocate large arrays. Their rate is so high that the service uses -busy of the machine's
// CPUs.
//
// Its opinion: requests come at a fixed rate, so that the cost of recording shows as CPU
// time per request, whose reciprocal is the capacity of a busy service. The throughput of
// closed loops scatters by more than the required bound.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/unstall/unstall/dev/bench/table"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/collect/load"
	"github.com/unstall/unstall/lab"
	"github.com/unstall/unstall/lab/build"
	"github.com/unstall/unstall/lab/dotnet-starvation/app"
	"github.com/unstall/unstall/lab/process"
)

func main() {
	on := flag.String("on", "3.1,9", "runtimes")
	pairs := flag.Int("pairs", 6, "pairs of runs, without and with a recording")
	d := flag.Duration("for", 10*time.Second, "how long each run is, and how long is recorded")
	busy := flag.Float64("busy", .7, "share of the machine's CPUs that the service is to keep busy")
	tool := flag.String("unstall", "", "the unstall to run; built anew if empty")
	before := flag.String("before", "", "another unstall to hold it against")
	keep := flag.String("keep", "", "folder for the captures")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := measureRuntimes(ctx, strings.Split(*on, ","), *tool, *keep, bench{before: *before, pairs: *pairs, each: *d, busy: *busy}); err != nil {
		fmt.Fprintln(os.Stderr, "dev/bench/dotnet:", err)
		os.Exit(1)
	}
}

// bench is a running service, and the unstall that records it.
type bench struct {
	pairs int
	each  time.Duration
	busy  float64

	dir, unstall, url string
	before            string // another unstall, "" none
	pid               int
	rate              float64
}

func measureRuntimes(ctx context.Context, runtimes []string, tool, keep string, b bench) (err error) {
	dir, err := os.MkdirTemp("", "unstall-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b.dir, b.unstall = dir, tool
	if keep != "" {
		b.dir = keep
	}
	if tool == "" {
		b.unstall = filepath.Join(dir, "unstall")
		if text, err := exec.CommandContext(ctx, "go", "build", "-o", b.unstall, "./cmd/unstall").CombinedOutput(); err != nil {
			return fmt.Errorf("unstall is not built: %w: %s", err, text)
		}
	}
	say := func(text string) { fmt.Fprintln(os.Stderr, text) }
	sdk, err := build.FindDotnet(ctx, true, say)
	if err != nil {
		return err
	}
	assembly, err := build.Dotnet(ctx, sdk, "dotnet-starvation", build.Project{Sources: app.Sources, File: app.Project}, say)
	if err != nil {
		return err
	}
	fmt.Printf("%d CPUs; of pairs of %v the median, and between which it lies in 95 of 100\n", runtime.NumCPU(), b.each)
	for _, name := range runtimes {
		dotnet := sdk
		if name == "9" {
			if dotnet, err = build.FindDotnet9(ctx, true, say); err != nil {
				return err
			}
		}
		if err := b.measureRuntime(ctx, name, dotnet, assembly); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// measureRuntime measures one runtime.
func (b bench) measureRuntime(ctx context.Context, name, dotnet, assembly string) error {
	var said struct{ Serving string }
	p, err := process.Start(ctx, dotnet, []string{assembly, "--control=true"}, build.DotnetEnv(), filepath.Join(b.dir, "stderr"), &said)
	if err != nil {
		return err
	}
	defer p.Stop()
	b.url, b.pid = "http://"+said.Serving, p.PID
	b.rate = 100
	for range 2 { // the first run warms it up
		r, err := b.measureRun(ctx, 4*time.Second, "", "")
		if err != nil {
			return err
		}
		b.rate = b.busy * float64(runtime.NumCPU()) / r.perRequest
	}
	tools := []string{"", b.unstall}
	if b.before != "" {
		tools = append(tools, b.before)
	}
	runs := make([][]result, len(tools))
	for i := range b.pairs {
		for k := range tools {
			on := (i + k) % len(tools)
			r, err := b.measureRun(ctx, b.each, tools[on], filepath.Join(b.dir, fmt.Sprintf("dotnet-%s-%d-%d.unstall", name, i, on)))
			if err != nil {
				return err
			}
			runs[on] = append(runs[on], r)
		}
	}
	b.printCosts(name, runs[0], runs[1])
	if b.before != "" {
		b.printComparison(runs[0], runs[1], runs[2])
	}
	return nil
}

// paths are requested in turn: half of them compute.
var paths = []string{"/api/diagscenario/cpu?rounds=20", "/api/diagscenario/allocate?megabytes=1", "/api/diagscenario/cpu?rounds=30", "/api/diagscenario/lock?rounds=10"}

// result is the result of one run.
type result struct {
	perRequest float64 // CPU time of the service, s
	cores      float64 // that it used
	recorder   float64 // cores that the recorder used
	p50, p99   float64 // ms
	answered   float64 // per second
}

// measureRun makes load for d, or for as long as the tool records the service for d into a file.
func (b bench) measureRun(ctx context.Context, d time.Duration, tool, record string) (r result, err error) {
	var c *exec.Cmd
	from, began := lab.CPUSeconds(b.pid), time.Now()
	if tool != "" {
		_ = os.Remove(record) // of an earlier run
		c = exec.CommandContext(ctx, tool, "record", strconv.Itoa(b.pid), "--for", d.String(), "--capture", record)
		c.Stderr = os.Stderr
		if err := c.Start(); err != nil {
			return r, err
		}
	}
	all, err := load.Run(ctx, load.Plan{URL: b.url, Paths: paths, Rate: b.rate, Arrivals: load.Poisson, Seed: 1, Duration: d + time.Second}, nil)
	if c != nil {
		if e := c.Wait(); e != nil {
			return r, errors.Join(err, fmt.Errorf("record: %w", e))
		}
		r.recorder = (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds() / d.Seconds()
	}
	if err != nil {
		return r, err
	}
	used := lab.CPUSeconds(b.pid) - from
	if all.Errors > 0 || all.Completed == 0 {
		return r, fmt.Errorf("%d of %d requests failed", all.Errors, all.Sent)
	}
	r.perRequest, r.cores = used/float64(all.Completed), used/time.Since(began).Seconds()
	r.p50, r.p99, r.answered = *all.Latency.P50, *all.Latency.P99, float64(all.Completed)/all.Duration
	return r, nil
}

// printCosts prints the costs of recording on a runtime.
func (b bench) printCosts(name string, without, with []result) {
	fmt.Printf(".NET %s   %.0f requests/s keep %.2f CPUs busy; p50 %.1f ms, p99 %.1f ms; recorded %.1f and %.1f ms\n", name, b.rate,
		stats.Median(collectColumn(without, func(r result) float64 { return r.cores })),
		stats.Median(collectColumn(without, func(r result) float64 { return r.p50 })), stats.Median(collectColumn(without, func(r result) float64 { return r.p99 })),
		stats.Median(collectColumn(with, func(r result) float64 { return r.p50 })), stats.Median(collectColumn(with, func(r result) float64 { return r.p99 })))
	own := collectColumn(with, recorderCores)
	fmt.Printf("  recorder    %.2f %% of a core (%.2f to %.2f)   (asked: 2 %%)\n", 100*stats.Median(own), 100*slices.Min(own), 100*slices.Max(own))
	var extra, ratio []float64
	for i := range with {
		extra = append(extra, 100*(with[i].perRequest-without[i].perRequest)*b.rate)
		ratio = append(ratio, without[i].perRequest/with[i].perRequest)
	}
	fmt.Printf("  service     %+.2f %% of a core more %s; pairs %.2f\n", stats.Median(extra), formatInterval(stats.SignFlipInterval(extra, .95, 1)), extra)
	estimate, iv, ok := stats.RatioInterval(collectColumn(with, requestCPU), collectColumn(without, requestCPU), .95, 1)
	fmt.Printf("  throughput  %.3f of that without %s, median of pairs %.3f   (asked: .98)\n", estimate, formatInterval(iv, ok), stats.Median(ratio))
	work := "Recording .NET " + name + ": "
	table.Add(table.Row{Work: work + "recorder's CPU", Peer: table.Limit, Got: fmt.Sprintf("%.2f %% of a core", 100*stats.Median(own)), Goal: "≤ 2 %", Met: stats.Median(own) <= .02})
	table.Add(table.Row{Work: work + "throughput meanwhile", Peer: "not recorded", Got: fmt.Sprintf("%.3f × %s", estimate, formatInterval(iv, ok)), Goal: "≥ 0.98 ×", Met: estimate >= .98})
}

// printComparison prints how the costs relate to those of another unstall, which recorded in turn
// with this one.
func (b bench) printComparison(without, with, before []result) {
	estimate, iv, ok := stats.RatioInterval(collectColumn(before, recorderCores), collectColumn(with, recorderCores), .95, 1)
	fmt.Printf("  recorder    %.3f of what %s took %s: %.2f %%\n", estimate, b.before, formatInterval(iv, ok), 100*stats.Median(collectColumn(before, recorderCores)))
	estimate, iv, ok = stats.RatioInterval(collectColumn(before, requestCPU), collectColumn(without, requestCPU), .95, 1)
	fmt.Printf("  throughput  %.3f of that without %s by that\n", estimate, formatInterval(iv, ok))
}

func recorderCores(r result) float64 { return r.recorder }
func requestCPU(r result) float64    { return r.perRequest }

func collectColumn(of []result, f func(result) float64) (v []float64) {
	for _, r := range of {
		v = append(v, f(r))
	}
	return v
}

func formatInterval(iv stats.Interval, ok bool) string {
	if !ok {
		return "(no interval from so few pairs)"
	}
	return fmt.Sprintf("(%.3f to %.3f)", iv.Low, iv.High)
}
