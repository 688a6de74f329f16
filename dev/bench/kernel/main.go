//go:build linux

// Kernel measures what recording the kernel costs: other programs, by the BPF program that runs at each
// thread switch, and the recorder itself. It needs root.
//
//	go run ./dev/bench/kernel              about 5 minutes
//	go run ./dev/bench/kernel -pairs 6     a look
//
// Two threads on one CPU pass a byte to and fro by pipes, some 200,000 switches a second; and
// redis-benchmark loads a redis-server, if these are installed. Both are measured with and without a
// recording, in pairs of alternating order. The recorder's own CPU time and memory are those of a process
// of its own, on a host with 100 more processes of 50 threads.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/unstall/unstall/dev/bench/table"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe"
	"github.com/unstall/unstall/internal/collect/probe/kernel"
)

// The required bounds.
const (
	mostSlower = 1.01 // times as long
	mostCPU    = .02  // of one CPU
	mostMemory = 64   // MiB
	processes  = 100  // beside, for the recorder itself
	threads    = 50   // of each
	settles    = 300 * time.Millisecond
)

func main() {
	pairs := flag.Int("pairs", 20, "pairs of runs, without and with recording")
	each := flag.Duration("for", 3*time.Second, "how long each run is")
	only := flag.String("only", "pingpong,redis,recorder", "what is measured")
	flag.Parse()
	switch flag.Arg(0) {
	case "pingpong":
		runPingPong()
		return
	case "threads":
		runSleepers()
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	for what := range strings.SplitSeq(*only, ",") {
		do, ok := map[string]func(context.Context, int, time.Duration) error{"pingpong": measureSwitches, "redis": measureRedis, "recorder": measureRecorder}[what]
		if !ok {
			fmt.Fprintln(os.Stderr, "dev/bench/kernel: there is no", what)
			os.Exit(2)
		}
		if err := do(ctx, *pairs, *each); err != nil {
			fmt.Fprintf(os.Stderr, "dev/bench/kernel: %s: %v\n", what, err)
			os.Exit(1)
		}
	}
}

// runPingPong has two threads pass a byte to and fro, and prints the number of rounds every 100
// ms.
func runPingPong() {
	var a, b [2]int
	if err := errors.Join(unix.Pipe(a[:]), unix.Pipe(b[:])); err != nil {
		panic(err)
	}
	var one unix.CPUSet
	if unix.SchedGetaffinity(0, &one) == nil {
		for cpu := runtime.NumCPU() - 1; cpu > 0; cpu-- {
			one.Clear(cpu) // keep one CPU
		}
	}
	var count atomic.Int64
	play := func(from, to int, counts bool) {
		runtime.LockOSThread()
		_ = unix.SchedSetaffinity(0, &one)
		var x [1]byte
		for {
			if _, err := unix.Read(from, x[:]); err != nil && err != unix.EINTR {
				os.Exit(1)
			}
			if counts {
				count.Add(1)
			}
			if _, err := unix.Write(to, x[:]); err != nil {
				os.Exit(1)
			}
		}
	}
	go play(a[0], b[1], true)
	go play(b[0], a[1], false)
	_, _ = unix.Write(a[1], []byte{1})
	for range time.Tick(100 * time.Millisecond) {
		fmt.Println(count.Load())
	}
}

// measureSwitches measures the ping-pong without and with a recording.
func measureSwitches(ctx context.Context, pairs int, each time.Duration) error {
	p, lines, err := startSelf(ctx, "pingpong")
	if err != nil {
		return err
	}
	defer killProcess(p)
	var last atomic.Int64
	go func() {
		for lines.Scan() {
			if n, err := strconv.ParseInt(lines.Text(), 10, 64); err == nil {
				last.Store(n)
			}
		}
	}()
	time.Sleep(time.Second)
	var rate [2][]float64
	err = inPairs(ctx, p.Process.Pid, pairs, func(with int) error {
		from, began := last.Load(), time.Now()
		time.Sleep(each)
		rate[with] = append(rate[with], float64(last.Load()-from)/time.Since(began).Seconds())
		return nil
	})
	if err != nil {
		return err
	}
	fmt.Printf("ping-pong   %.0f switches/s; %d pairs of %v\n", 2*stats.Median(rate[0]), pairs, each)
	printRatio("rounds a second", rate)
	return nil
}

// measureRedis measures a redis-server without and with a recording.
func measureRedis(ctx context.Context, pairs int, each time.Duration) error {
	server, err := exec.LookPath("redis-server")
	bench, err2 := exec.LookPath("redis-benchmark")
	if err := errors.Join(err, err2); err != nil {
		fmt.Printf("redis       not measured: %v\n", err)
		return nil
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	_ = l.Close()
	p := exec.CommandContext(ctx, server, "--bind", "127.0.0.1", "--port", port, "--save", "", "--appendonly", "no")
	if err := p.Start(); err != nil {
		return err
	}
	defer killProcess(p)
	ask := func() (float64, error) {
		out, err := exec.CommandContext(ctx, bench, "-p", port, "-t", "get", "-c", "20", "-n", "200000", "--csv").Output()
		if err != nil {
			return 0, err
		}
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		f := strings.Split(lines[len(lines)-1], ",")
		return strconv.ParseFloat(strings.Trim(f[min(1, len(f)-1)], `"`), 64)
	}
	for deadline := time.Now().Add(10 * time.Second); ; {
		c, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err == nil {
			_ = c.Close()
			break
		}
		if time.Now().After(deadline) {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
	if _, err := ask(); err != nil { // warm
		return err
	}
	var rate [2][]float64
	err = inPairs(ctx, p.Process.Pid, pairs, func(with int) error {
		n, err := ask()
		rate[with] = append(rate[with], n)
		return err
	})
	if err != nil {
		return err
	}
	fmt.Printf("redis       %.0f requests/s; %d pairs\n", stats.Median(rate[0]), pairs)
	printRatio("requests a second", rate)
	return nil
}

// inPairs calls do with and without a recording of a process, in turn.
func inPairs(ctx context.Context, pid, pairs int, do func(with int) error) error {
	found := kernel.Probe.Find(ctx, discover.Target{PID: pid})
	if len(found) != 1 || len(found[0].Lacks) > 0 {
		return fmt.Errorf("it cannot be recorded here: %+v", found)
	}
	for i := range pairs {
		for k := range 2 {
			with := (i + k) % 2
			stop := func() {}
			if with == 1 {
				inner, cancel := context.WithCancel(ctx)
				done := make(chan struct{})
				go func() {
					defer close(done)
					_ = found[0].Record(inner, probe.Plan{For: time.Hour}, nowhere{})
				}()
				stop = func() { cancel(); <-done }
			}
			time.Sleep(settles) // until it has done what it does once at its start
			err := do(with)
			stop()
			if err = errors.Join(err, ctx.Err()); err != nil {
				return err
			}
		}
	}
	return nil
}

// nowhere is a sink that keeps nothing.
type nowhere struct{}

type nothing struct{ io.Writer }

func (nothing) Close() error { return nil }

func (nowhere) Create(capture.Meta) (io.WriteCloser, error) { return nothing{io.Discard}, nil }
func (nowhere) Known([]byte) bool                           { return false }
func (nowhere) Warnf(format string, args ...any)            { fmt.Fprintf(os.Stderr, format+"\n", args...) }
func (nowhere) Lack(l probe.Lack)                           { fmt.Fprintln(os.Stderr, l.What, l.Why) }

// runSleepers runs a process with many threads that mostly sleep.
func runSleepers() {
	for range threads {
		go func() {
			runtime.LockOSThread()
			for {
				t := unix.NsecToTimespec(int64(time.Second))
				_ = unix.Nanosleep(&t, nil)
			}
		}()
	}
	fmt.Println("ready")
	select {}
}

// measureRecorder measures the CPU time and the memory of a recorder in a process of its own.
func measureRecorder(ctx context.Context, _ int, _ time.Duration) error {
	dir, err := os.MkdirTemp("", "unstall-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	bin := filepath.Join(dir, "unstall")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", bin, "./cmd/unstall").CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w: %s", err, out)
	}
	var target int
	for i := range processes {
		p, lines, err := startSelf(ctx, "threads")
		if err != nil {
			return err
		}
		defer killProcess(p)
		if lines.Scan(); i == 0 {
			target = p.Process.Pid
		}
	}
	const lasts = 30 * time.Second
	c := exec.CommandContext(ctx, bin, "record", strconv.Itoa(target), "--kernel", "--for", lasts.String(), "--capture", filepath.Join(dir, "x.unstall"))
	began := time.Now()
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	took := time.Since(began)
	used := c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	usage, _ := c.ProcessState.SysUsage().(*syscall.Rusage)
	share, memory := used.Seconds()/took.Seconds(), float64(usage.Maxrss)/1024
	fmt.Printf("recorder    %d processes of %d threads, %v: %.2f %% of a CPU %s, %.0f MiB %s\n", processes, threads, lasts,
		100*share, formatVerdict(share <= mostCPU, "2 %"), memory, formatVerdict(memory <= mostMemory, "64 MiB"))
	table.Add(table.Row{Work: "Recording the kernel: recorder's CPU", Peer: table.Limit, Got: fmt.Sprintf("%.2f %% of a CPU", 100*share), Goal: "≤ 2 %", Met: share <= mostCPU})
	table.Add(table.Row{Work: "Recording the kernel: recorder's peak", Peer: table.Limit, Got: fmt.Sprintf("%.0f MiB", memory), Goal: fmt.Sprintf("≤ %d MiB", mostMemory), Met: memory <= mostMemory})
	return nil
}

// startSelf starts this program in another role.
func startSelf(ctx context.Context, role string) (*exec.Cmd, *bufio.Scanner, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	c := exec.CommandContext(ctx, self, role)
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	return c, bufio.NewScanner(out), c.Start()
}

func killProcess(c *exec.Cmd) {
	_ = c.Process.Kill()
	_ = c.Wait()
}

func printRatio(what string, v [2][]float64) {
	estimate, iv, ok := stats.RatioInterval(v[1], v[0], .95, 1)
	text := "(no interval from so few pairs)"
	if ok {
		text = fmt.Sprintf("(%.3f to %.3f in 95 of 100)", iv.Low, iv.High)
	}
	fmt.Printf("  %-22s without ÷ recorded %.3f %s %s\n", what, estimate, text, formatVerdict(estimate <= mostSlower, "1.010"))
	table.Add(table.Row{Work: "Recording the kernel: " + what + ", without by recorded", Peer: "not recorded", Got: fmt.Sprintf("%.3f × %s", estimate, text), Goal: fmt.Sprintf("≤ %.2f ×", mostSlower), Met: estimate <= mostSlower})
}

func formatVerdict(met bool, most string) string {
	if met {
		return "(asked: at most " + most + ")"
	}
	return "(MISSED: at most " + most + ")"
}
