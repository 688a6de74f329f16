//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"time"

	"github.com/unstall/unstall/internal/collect/load"
	"github.com/unstall/unstall/lab/build"
)

const (
	loadFor     = 2 * time.Second // each run
	loadClients = 125             // connections of a closed loop
	loadThreads = 2               // of wrk
	loadRate    = 20_000          // per second, of the open loop
)

// measureLoads measures making load: closed loops in turn with wrk, on the same nginx, each in a
// process of its own, and how late an open loop sends.
func measureLoads(dir string, rounds int) error {
	ctx := context.Background()
	say := func(text string) { fmt.Fprintln(os.Stderr, text) }
	nginx, err := build.FindNginx(ctx, true, say)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench: making load not measured:", err)
		return nil
	}
	wrk, err := build.FindWrk(ctx, true, say)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench: making load not measured:", err)
		return nil
	}
	url, streams, stop, err := startNginx(ctx, nginx, dir)
	if err != nil {
		return err
	}
	defer stop()
	closed := load.Plan{URL: url, Mode: load.Closed, Connections: loadClients, Duration: loadFor}
	spread := load.Plan{URL: streams, Mode: load.Closed, HTTP2: true, Connections: 5, Streams: loadClients / 5, Duration: loadFor}
	open := load.Plan{URL: url, Rate: loadRate, Duration: loadFor}
	var ours, theirs, ratio, cpu, wrkCPU, cpuRatio, two, p99, worst figures
	for range rounds {
		r, used, err := runPlan(ctx, closed)
		if err != nil {
			return err
		}
		rate, wrkUsed, err := runWrk(ctx, wrk, url)
		if err != nil {
			return err
		}
		ours, theirs, ratio = append(ours, r.Rate.Mean/1e3), append(theirs, rate/1e3), append(ratio, r.Rate.Mean/rate)
		each, wrkEach := used/float64(r.Completed)*1e6, wrkUsed/(rate*loadFor.Seconds())*1e6
		cpu, wrkCPU, cpuRatio = append(cpu, each), append(wrkCPU, wrkEach), append(cpuRatio, each/wrkEach)
		if r, _, err = runPlan(ctx, spread); err != nil {
			return err
		}
		two = append(two, r.Rate.Mean/1e3)
		if r, _, err = runPlan(ctx, open); err != nil {
			return err
		}
		if r.SendLag.P99 != nil && r.SendLag.Max != nil {
			p99, worst = append(p99, *r.SendLag.P99), append(worst, *r.SendLag.Max)
		}
	}
	printHeading(fmt.Sprintf("Making load: %d connections to nginx with one worker on the same CPUs", loadClients))
	printRow("closed loop, HTTP/1.1", ours.formatMedian("%.1f")+" k/s", "", false)
	printRow(fmt.Sprintf("wrk with %d threads", loadThreads), theirs.formatMedian("%.1f")+" k/s", "", false)
	printGoal("wrk", "closed loop against wrk", ratio.formatMedian("%.2f")+" ×", "≥ 0.9", ratio.median() >= .9)
	printRow("CPU time of a request", cpu.formatMedian("%.1f")+" µs", "", false)
	printRow("CPU time of a request, wrk", wrkCPU.formatMedian("%.1f")+" µs", "", false)
	printRow("CPU time against wrk", cpuRatio.formatMedian("%.2f")+" ×", "", false)
	printRow("closed loop, HTTP/2, 5 × 25", two.formatMedian("%.1f")+" k/s", "", false)
	if len(p99) > 0 {
		printRow(fmt.Sprintf("open loop, %d/s: send lag p99", loadRate), p99.formatMedian("%.3f")+" ms", "≤ 0.1", p99.median() <= .1)
		printRow("  its maximum", worst.formatMedian("%.1f")+" ms", "", false)
	}
	return nil
}

// runPlan runs a plan in a process of its own; used is its CPU time, s.
func runPlan(ctx context.Context, p load.Plan) (r load.Result, used float64, err error) {
	self, err := os.Executable()
	if err != nil {
		return r, 0, err
	}
	plan, err := json.Marshal(p)
	if err != nil {
		return r, 0, err
	}
	cmd := exec.CommandContext(ctx, self, "-send", string(plan))
	cmd.Stderr = os.Stderr
	said, err := cmd.Output()
	if err != nil {
		return r, 0, err
	}
	return r, processUsed(cmd), json.Unmarshal(said, &r)
}

// sendPlan makes the load of a plan (JSON) and prints the result; it is the process that runPlan
// starts.
func sendPlan(plan string) error {
	var p load.Plan
	if err := json.Unmarshal([]byte(plan), &p); err != nil {
		return err
	}
	r, err := load.Run(context.Background(), p, nil)
	if err != nil {
		return err
	}
	return r.JSON(os.Stdout)
}

var wrkRate = regexp.MustCompile(`Requests/sec:\s+([0-9.]+)`)

func runWrk(ctx context.Context, wrk, url string) (rate, used float64, err error) {
	cmd := exec.CommandContext(ctx, wrk, "-t", strconv.Itoa(loadThreads), "-c", strconv.Itoa(loadClients), "-d", strconv.Itoa(int(loadFor.Seconds()))+"s", url)
	said, err := cmd.CombinedOutput()
	if err != nil {
		return 0, 0, fmt.Errorf("wrk: %w: %s", err, said)
	}
	m := wrkRate.FindSubmatch(said)
	if m == nil {
		return 0, 0, fmt.Errorf("wrk said no rate: %s", said)
	}
	rate, err = strconv.ParseFloat(string(m[1]), 64)
	return rate, processUsed(cmd), err
}

func processUsed(cmd *exec.Cmd) float64 {
	u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// startNginx starts an nginx that answers in HTTP/1.1 at one address and in HTTP/2 at another.
func startNginx(ctx context.Context, nginx, dir string) (one, two string, stop func(), err error) {
	var ports [2]string
	for i := range ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return "", "", nil, err
		}
		defer l.Close()
		ports[i] = l.Addr().String()
		_ = l.Close()
	}
	conf := filepath.Join(dir, "nginx.conf")
	text := fmt.Sprintf(`daemon off; worker_processes 1; pid %[1]s/nginx.pid; error_log %[1]s/nginx.log;
events { worker_connections 4096; }
http {
	access_log off; keepalive_requests 100000000; client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy;
	fastcgi_temp_path %[1]s/fastcgi; uwsgi_temp_path %[1]s/uwsgi; scgi_temp_path %[1]s/scgi;
	server { listen %[2]s; location / { return 200 "hello world"; } }
	server { listen %[3]s http2; location / { return 200 "hello world"; } }
}
`, dir, ports[0], ports[1])
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		return "", "", nil, err
	}
	cmd := exec.CommandContext(ctx, nginx, "-c", conf, "-p", dir, "-e", filepath.Join(dir, "nginx.log"))
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return "", "", nil, err
	}
	stop = func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	}
	for range 200 {
		if c, err := net.Dial("tcp", ports[1]); err == nil {
			_ = c.Close()
			return "http://" + ports[0] + "/", "http://" + ports[1] + "/", stop, nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	stop()
	said, _ := os.ReadFile(filepath.Join(dir, "nginx.log"))
	return "", "", nil, fmt.Errorf("nginx does not answer: %s", said)
}
