//go:build linux

// Watch measures what watching three services costs, and what happens when one of them
// becomes sick: two gateways of lab/go-ballast and a Redis server, under a light load. Then one gateway
// gets so much load that it collects garbage all the time. At the end the watcher is killed, and the files
// that it left are read.
//
//	go run ./dev/bench/watch              3 minutes of quiet, then the fault
//	go run ./dev/bench/watch -for 30m     what the project promises: 2 % of a core, 64 MiB, no alarm
//	go run ./dev/bench/watch -twins -for 30m   healthy twins of all incidents, 30 minutes: no alarm, and the same of three of them;
//	                                      then the clock is set, the disk is full, a target and the watcher are killed (as root)
//	go run ./dev/bench/watch -labs all    each incident's lab beside its healthy twin: is the alarm soon, and its capture
//	                                      diagnosed to the right cause? (5 minutes each; -labs go-ballast,jvm-parnew)
//
// It exits with 1 if a promise is broken.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/unstall/unstall/internal/collect/load"
	"github.com/unstall/unstall/internal/operate/experiment"
	"github.com/unstall/unstall/internal/operate/watch"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == experiment.GuardCommand { // a lab that changes settings of the host starts this program again
		if err := experiment.Guard(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	d := flag.Duration("for", 3*time.Minute, "how long to watch while all is well")
	quiet := flag.Float64("rate", 60, "requests per second to each gateway meanwhile")
	storm := flag.Float64("storm", 700, "requests per second to the one that becomes sick; 0: none does")
	of := flag.String("labs", "", "labs to watch instead, by name, or all")
	healthy := flag.Bool("twins", false, "watch healthy twins of all labs instead")
	keep := flag.String("keep", "", "folder for the captures of alarms")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := runBench(ctx, *d, *quiet, *storm, *of, *keep, *healthy); err != nil {
		fmt.Fprintln(os.Stderr, "dev/bench/watch:", err)
		os.Exit(1)
	}
}

// The project's promises for a watcher of three services.
const (
	mostCPU = 2.  // % of a core
	mostRSS = 64. // MiB
	mostOf  = 256 // MiB of the ring
)

func runBench(ctx context.Context, d time.Duration, quiet, storm float64, of, keep string, healthy bool) error {
	dir, err := os.MkdirTemp("", "unstall-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	ctx, end := context.WithCancel(ctx)
	defer end()
	unstall, err := buildProgram(ctx, dir, "./cmd/unstall")
	if err != nil {
		return err
	}
	if of != "" {
		return underWatch(ctx, unstall, strings.Split(of, ","), keep)
	}
	if healthy {
		return quietTwins(ctx, unstall, dir, d)
	}
	gateway, err := buildProgram(ctx, dir, "./lab/go-ballast/gateway")
	if err != nil {
		return err
	}
	var wrong []error
	miss := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(format, args...)) }
	var urls, targets []string
	for i := range 2 {
		url, pid, done, err := startGateway(gateway, "-live=46", "-control", "-access-log", filepath.Join(dir, fmt.Sprintf("access%d.log", i)))
		if err != nil {
			return err
		}
		defer done()
		urls, targets = append(urls, url), append(targets, pid)
	}
	redis, done, err := startRedis(dir)
	if err != nil {
		return err
	}
	defer done()
	targets = append(targets, redis)
	var loads sync.WaitGroup
	defer loads.Wait()
	defer end()
	for _, url := range urls {
		loads.Go(func() { sendRequests(ctx, url, quiet, 24*time.Hour) })
	}

	fmt.Printf("%s, %d CPUs: 2 gateways with %g requests/s each, 1 Redis\n", runtime.Version(), runtime.NumCPU(), quiet)
	w, err := watchTargets(unstall, dir, targets)
	if err != nil {
		return err
	}
	defer w.kill()
	began := time.Now()
	w.measureFor(ctx, d)
	cpu, rss, ring := w.costFigures()
	fmt.Printf("quiet for %s: %.2f %% of a core, %.1f MiB at most, ring %.1f MiB at most, %d alarms\n", time.Since(began).Round(time.Second), cpu, rss, ring, w.countEvents(watch.EventAlarm))
	if cpu > mostCPU || rss > mostRSS || ring > mostOf {
		miss("more than %g %% of a core, %g MiB, or a ring of %d MiB", mostCPU, mostRSS, mostOf)
	}
	if n := w.countEvents(watch.EventAlarm); n > 0 {
		miss("%d alarms while all was well", n)
	}
	if storm > 0 && ctx.Err() == nil {
		began := time.Now()
		loads.Go(func() { sendRequests(ctx, urls[0], storm, 2*time.Minute) })
		alarm, err := w.waitForLine(ctx, began, 2*time.Minute, func(l watch.Line) bool { return l.Event == watch.EventAlarm && l.Service == "gateway" })
		if err != nil {
			return err
		}
		fmt.Printf("alarm %.0f s after the load rose to %g/s: %s: %s\n", alarm.Time.Sub(began).Seconds(), storm, alarm.Rule, alarm.Text)
		said, err := w.waitForLine(ctx, alarm.Time, 3*time.Minute, func(l watch.Line) bool { return l.Event == watch.EventDiagnosis && l.PID == alarm.PID })
		if err != nil {
			return err
		}
		fmt.Printf("diagnosis %.0f s after that, with %.0f s from before the alarm: %s %s\n  %s\n", said.Time.Sub(alarm.Time).Seconds(), said.Before, said.Cause, strings.Join(said.Supported, ","), said.Text)
		if said.Cause != "go.gc-rate" || said.Before < earlier.Seconds() || alarm.Time.Sub(began) > within {
			miss("the fault: want an alarm within %s, %s before it, and go.gc-rate", within, earlier)
		}
		if keep != "" {
			if err := w.copyCaptures(keep); err != nil {
				return err
			}
		}
	}
	w.kill()
	whole, empty, torn := countReadable(filepath.Join(dir, "state"))
	fmt.Printf("killed: %d captures can be read, %d hold nothing, %d cannot be read\n", whole, empty, torn)
	if torn > 0 || whole == 0 {
		miss("captures of a watcher that was killed cannot be read")
	}
	return errors.Join(wrong...)
}

// startGateway starts a gateway.
func startGateway(path string, args ...string) (url, pid string, done func(), err error) {
	c := exec.Command(path, args...)
	in, err := c.StdinPipe()
	if err != nil {
		return "", "", nil, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return "", "", nil, err
	}
	if err := c.Start(); err != nil {
		return "", "", nil, err
	}
	done = func() { _ = in.Close(); _ = c.Wait() }
	var says struct {
		Serving string
		PID     int
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &says)
	}
	if err != nil {
		done()
		return "", "", nil, fmt.Errorf("the gateway does not say where it serves: %w", err)
	}
	return "http://" + says.Serving + "/v1/feed", strconv.Itoa(says.PID), done, nil
}

// startRedis starts a Redis server.
func startRedis(dir string) (pid string, done func(), err error) {
	out, err := exec.Command("dev/tools/redis.sh").Output()
	if err != nil {
		return "", nil, errors.New("no Redis: dev/tools/redis.sh")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	_ = l.Close()
	c := exec.Command(strings.TrimSpace(string(out)), "--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", dir)
	if err := c.Start(); err != nil {
		return "", nil, err
	}
	return strconv.Itoa(c.Process.Pid), func() { _ = c.Process.Kill(); _ = c.Wait() }, nil
}

// sendRequests sends requests at a rate for d.
func sendRequests(ctx context.Context, url string, rate float64, d time.Duration) {
	p := load.Plan{URL: url, Duration: d, Rate: rate, Header: http.Header{"Authorization": {"Bearer t{n%5000:7}"}}}
	if _, err := load.Run(ctx, p, nil); err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "load:", err)
	}
}

// watcher is a running unstall watch.
type watcher struct {
	*exec.Cmd
	dir   string
	began time.Time

	mu       sync.Mutex
	lines    []watch.Line
	came     chan struct{}
	from, to float64 // s of CPU time
	over     time.Duration
	rss      float64 // MiB
	ring     float64
}

func watchTargets(path, dir string, targets []string, more ...string) (*watcher, error) {
	args := append([]string{"watch", "--dir", filepath.Join(dir, "state"), "--sample", "0s", "--metrics", "127.0.0.1:0"}, more...)
	return startWatcher(path, dir, append(args, targets...))
}

// startWatcher starts a watcher and reads what it prints.
func startWatcher(path, dir string, args []string) (*watcher, error) {
	w := &watcher{Cmd: exec.Command(path, args...), dir: dir, began: time.Now(), came: make(chan struct{}, 1)}
	w.Stderr = os.Stderr
	out, err := w.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := w.Start(); err != nil {
		return nil, err
	}
	go func() {
		for s := bufio.NewScanner(out); s.Scan(); {
			var l watch.Line
			if json.Unmarshal(s.Bytes(), &l) != nil {
				continue
			}
			if l.Event != watch.EventFound && l.Event != watch.EventStarted {
				fmt.Println("  " + l.Event + ": " + l.Text)
			}
			w.mu.Lock()
			w.lines = append(w.lines, l)
			w.mu.Unlock()
			select {
			case w.came <- struct{}{}:
			default:
			}
		}
	}()
	return w, nil
}

// measureFor measures the watcher's cost for a time, without its first seconds.
func (w *watcher) measureFor(ctx context.Context, d time.Duration) {
	settle := min(10*time.Second, d/4)
	sleepContext(ctx, settle)
	w.from = w.cpuSeconds()
	began := time.Now()
	for time.Since(began) < d-settle && ctx.Err() == nil {
		sleepContext(ctx, time.Second)
		w.rss = max(w.rss, w.residentMiB())
		sum := 0.
		_ = filepath.WalkDir(filepath.Join(w.dir, "state", "ring"), func(_ string, e fs.DirEntry, err error) error {
			if err == nil {
				if fi, err := e.Info(); err == nil && fi.Mode().IsRegular() {
					sum += float64(fi.Size()) / (1 << 20)
				}
			}
			return nil
		})
		w.ring = max(w.ring, sum)
	}
	w.to, w.over = w.cpuSeconds(), time.Since(began)
}

func (w *watcher) costFigures() (cpu, rss, ring float64) {
	return 100 * (w.to - w.from) / w.over.Seconds(), w.rss, w.ring
}

// cpuSeconds returns the CPU time of the watcher itself, s, without the processes that it starts
// to diagnose.
func (w *watcher) cpuSeconds() float64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", w.Process.Pid))
	f := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	user, _ := strconv.ParseFloat(f[11], 64)
	system, _ := strconv.ParseFloat(f[12], 64)
	return (user + system) / 100
}

func (w *watcher) residentMiB() float64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/statm", w.Process.Pid))
	f := strings.Fields(string(text))
	pages, _ := strconv.ParseFloat(f[1], 64)
	return pages * float64(os.Getpagesize()) / (1 << 20)
}

func (w *watcher) countEvents(event string) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, l := range w.lines {
		if l.Event == event {
			n++
		}
	}
	return n
}

// waitForLine waits for a line about an event after a time.
func (w *watcher) waitForLine(ctx context.Context, since time.Time, most time.Duration, match func(watch.Line) bool) (watch.Line, error) {
	late := time.After(most)
	for at := 0; ; {
		w.mu.Lock()
		for ; at < len(w.lines); at++ {
			if l := w.lines[at]; l.Time.After(since) && match(l) {
				w.mu.Unlock()
				return l, nil
			}
		}
		w.mu.Unlock()
		select {
		case <-w.came:
		case <-late:
			return watch.Line{}, fmt.Errorf("nothing of the kind within %s", most)
		case <-ctx.Done():
			return watch.Line{}, ctx.Err()
		}
	}
}

func (w *watcher) kill() { _ = w.Process.Kill(); _ = w.Wait() }

func sleepContext(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
