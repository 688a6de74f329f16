//go:build linux

// Redis measures what recording a Redis server costs the server: how many requests of redis-benchmark it answers a second
// without unstall and while unstall asks it.
//
//	go run ./dev/bench/redis              about 3 minutes
//	go run ./dev/bench/redis -pairs 6     a look
//
// The server is a new one, with as many commands in its statistics and as many clients as a server in use. This process
// discards what the probe records, and its CPU time is printed beside. Pairs follow each other, in alternating
// order.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/unstall/unstall/dev/bench/table"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe"
	"github.com/unstall/unstall/internal/collect/probe/redis"
	"github.com/unstall/unstall/lab/build"
)

// The required bounds.
const (
	leastRate = .99 // of the requests a second without
	mostCPU   = .02 // of one CPU, of the recorder
	idle      = 50  // connections that do nothing, to be listed
)

func main() {
	pairs := flag.Int("pairs", 20, "pairs of runs, without and with recording")
	requests := flag.Int("requests", 200_000, "of each run")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := measureRedis(ctx, *pairs, *requests); err != nil {
		fmt.Fprintln(os.Stderr, "dev/bench/redis:", err)
		os.Exit(1)
	}
}

func measureRedis(ctx context.Context, pairs, requests int) error {
	server, err := build.FindRedis(ctx, true, func(text string) { fmt.Fprintln(os.Stderr, text) })
	if err != nil {
		fmt.Printf("redis       not measured: %v\n", err)
		return nil
	}
	bench, env, err := build.RedisTool(server, "redis-benchmark")
	if err != nil {
		fmt.Printf("redis       not measured: %v\n", err)
		return nil
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	addr := l.Addr().String()
	_, port, _ := net.SplitHostPort(addr)
	_ = l.Close()
	c := exec.CommandContext(ctx, server, "--bind", "127.0.0.1", "--port", port, "--save", "", "--appendonly", "no")
	if err := c.Start(); err != nil {
		return err
	}
	defer func() { _ = c.Process.Kill(); _ = c.Wait() }()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			_ = conn.Close()
			break
		}
		if time.Now().After(deadline) {
			return err
		}
	}
	for range idle {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			return err
		}
		defer conn.Close()
	}
	ask := func() (float64, error) {
		cmd := exec.CommandContext(ctx, bench, "-p", port, "-t", "get", "-c", "20", "-n", strconv.Itoa(requests), "--csv")
		cmd.Env = env
		out, err := cmd.Output()
		if err != nil {
			return 0, err
		}
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		f := strings.Split(lines[len(lines)-1], ",")
		return strconv.ParseFloat(strings.Trim(f[min(1, len(f)-1)], `"`), 64)
	}
	// Every command of the benchmark, so that the statistics are as long as those of a server in use.
	every := exec.CommandContext(ctx, bench, "-p", port, "-n", "1000", "-q")
	every.Env = env
	if out, err := every.CombinedOutput(); err != nil {
		return fmt.Errorf("redis-benchmark: %w: %s", err, out)
	}
	u, err := url.Parse("redis://" + addr)
	if err != nil {
		return err
	}
	found := redis.Probe.Find(ctx, discover.Target{URL: u})
	if len(found) != 1 || found[0].Missing != nil {
		return fmt.Errorf("it cannot be asked: %+v", found)
	}
	var rate [2][]float64
	var used, took time.Duration
	for i := range pairs {
		for k := range 2 {
			with := (i + k) % 2
			stop := func() {}
			if with == 1 {
				inner, cancel := context.WithCancel(ctx)
				done := make(chan struct{})
				began, before := time.Now(), ownCPUTime()
				go func() {
					defer close(done)
					_ = found[0].Record(inner, probe.Plan{For: time.Hour}, nowhere{})
				}()
				stop = func() {
					cancel()
					<-done
					used, took = used+ownCPUTime()-before, took+time.Since(began)
				}
			}
			n, err := ask()
			stop()
			if err := errors.Join(err, ctx.Err()); err != nil {
				return err
			}
			rate[with] = append(rate[with], n)
		}
	}
	estimate, iv, ok := stats.RatioInterval(rate[0], rate[1], .95, 1)
	text := "(no interval from so few pairs)"
	if ok {
		text = fmt.Sprintf("(%.3f to %.3f in 95 of 100)", iv.Low, iv.High)
	}
	fmt.Printf("redis       %.0f requests/s; %d pairs of %d requests; load of the host %s\n", stats.Median(rate[0]), pairs, requests, loadAverage())
	fmt.Printf("  asked ÷ not asked      %.3f %s %s\n", estimate, text, formatVerdict(estimate >= leastRate, "at least .99"))
	share := used.Seconds() / took.Seconds()
	fmt.Printf("  the recorder           %.2f %% of a CPU %s\n", 100*share, formatVerdict(share <= mostCPU, "at most 2 %"))
	table.Add(table.Row{Work: "Recording Redis: requests a second meanwhile", Peer: "not recorded", Got: fmt.Sprintf("%.3f × %s", estimate, text), Goal: "≥ 0.99 ×", Met: estimate >= leastRate})
	table.Add(table.Row{Work: "Recording Redis: recorder's CPU", Peer: table.Limit, Got: fmt.Sprintf("%.2f %% of a CPU", 100*share), Goal: "≤ 2 %", Met: share <= mostCPU})
	return nil
}

func formatVerdict(is bool, what string) string {
	if is {
		return "(asked: " + what + ")"
	}
	return "(MISSED: " + what + ")"
}

// loadAverage returns the host's load average, since pairs say little on a busy host.
func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if f := strings.Fields(string(text)); err == nil && len(f) > 2 {
		return strings.Join(f[:3], " ")
	}
	return "unknown"
}

// ownCPUTime returns the CPU time of this process so far.
func ownCPUTime() time.Duration {
	var r unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &r)
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// nowhere is a sink that keeps nothing.
type nowhere struct{}

type nothing struct{ io.Writer }

func (nothing) Close() error { return nil }

func (nowhere) Create(capture.Meta) (io.WriteCloser, error) { return nothing{io.Discard}, nil }
func (nowhere) Known([]byte) bool                           { return false }
func (nowhere) Warnf(format string, args ...any)            { fmt.Fprintf(os.Stderr, format+"\n", args...) }
func (nowhere) Lack(l probe.Lack)                           { fmt.Fprintln(os.Stderr, l.What, l.Why) }
