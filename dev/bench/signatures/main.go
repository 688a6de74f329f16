//go:build linux

// Signatures measures how often a service is assigned to its known class: 33 short runs of the
// loads of unstall calibrate and of Debian's stress, each alone, beside a neighbour that takes all CPUs, and
// beside one that sends packets and writes files.
//
//	go run ./dev/bench/signatures                      all of it, about 4 minutes (as root: with samples)
//	go run ./dev/bench/signatures -only stress -for 3s
//
// What is known of each run stands in the tables below, and was written before the first one ran.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/analyze/workload"
	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe/all"
	"github.com/unstall/unstall/internal/collect/probe/linux"
	"github.com/unstall/unstall/internal/collect/record"
	"github.com/unstall/unstall/internal/operate/calibrate"
	"github.com/unstall/unstall/internal/operate/host"
)

// known is a load and its class.
type known struct {
	load  string // of package calibrate
	args  string // of stress
	class workload.Class
}

var loads = []known{
	{load: "sqrt", class: workload.User},
	{load: "threads", class: workload.Saturation},
	{load: "fsync", class: workload.Sync},
	{load: "malloc", class: workload.PageFault},
	{load: "packets", class: workload.Network},
	{load: "futex", class: workload.Futex},
	{load: "pipe", class: workload.Switch},
	{args: "-c 1", class: workload.User},
	{args: "-i 1", class: workload.Sync},
	{args: "-m 1 --vm-bytes 64M", class: workload.PageFault},
	{args: "-d 1 --hdd-bytes 64M", class: workload.Sync},
}

// neighbours run beside the loads.
var neighbours = []struct {
	name  string
	loads []string
}{
	{"alone", nil},
	{"beside CPUs", []string{"sqrt", "sqrt"}},
	{"beside packets and files", []string{"packets", "write"}},
}

// asked is how many of all runs must be right.
const asked = 30

func main() {
	if len(os.Args) > 1 && os.Args[1] == calibrate.LoadCommand {
		if err := calibrate.Play(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	d := flag.Duration("for", 4*time.Second, "how long each run is recorded")
	only := flag.String("only", "", "only loads with this in their name")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := measureClasses(ctx, *d, *only); err != nil {
		fmt.Fprintln(os.Stderr, "dev/bench/signatures:", err)
		os.Exit(1)
	}
}

func (k known) loadName() string {
	if k.args != "" {
		return "stress " + k.args
	}
	return k.load
}

func measureClasses(ctx context.Context, d time.Duration, only string) error {
	dir, err := os.MkdirTemp("/var/tmp", "unstall-signatures-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	stress, err := exec.Command("dev/tools/stress.sh").Output()
	if err != nil {
		fmt.Println("runs of stress are skipped: dev/tools/stress.sh found none")
	}
	fmt.Printf("%d CPUs, %s each; root: %t\n\n%-28s %-24s %-11s %-11s %-6s %-11s %s\n", runtime.NumCPU(), d, os.Geteuid() == 0, "load", "", "known", "class", "share", "by counts", "")
	table := make(map[workload.Class]map[workload.Class]int)
	var runs, right, counted int
	for _, k := range loads {
		if !strings.Contains(k.loadName(), only) || k.args != "" && len(stress) == 0 {
			continue
		}
		for _, n := range neighbours {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			v, err := measureVector(ctx, dir, strings.TrimSpace(string(stress)), k, n.loads, d)
			if err != nil {
				return fmt.Errorf("%s %s: %w", k.loadName(), n.name, err)
			}
			got, by := v.Classify(), v
			by.Samples = 0
			alone := by.Classify()
			runs++
			word := "WRONG"
			if got.Class == k.class {
				right++
				word = ""
			}
			if alone.Class == k.class {
				counted++
			}
			if table[k.class] == nil {
				table[k.class] = make(map[workload.Class]int)
			}
			table[k.class][got.Class]++
			fmt.Printf("%-28s %-24s %-11s %-11s %4.0f %% %-11s %s\n", k.loadName(), n.name, k.class, got.Class, 100*got.Share, alone.Class, word)
			if word != "" {
				fmt.Printf("    %.2f CPUs, system %.2f, delay %.2f; per CPU second: faults %.0f, waits %.0f, taken %.0f, segments %.0f, dirtied %.0f, read %.0f; %d samples %v\n",
					v.CPU, v.System, v.Delay, v.MinorFaults, v.Voluntary, v.Involuntary, v.Segments, v.Dirtied, v.Read, v.Samples, v.Kernel)
			}
		}
	}
	printConfusion(table)
	verdict := "got"
	if right < asked {
		verdict = "MISSED"
	}
	fmt.Printf("\nright: %d of %d (asked: %d of 33): %s; by counts alone, as a plain user has them: %d\n", right, runs, asked, verdict, counted)
	return nil
}

// printConfusion prints for each known class how often each class was found.
func printConfusion(table map[workload.Class]map[workload.Class]int) {
	fmt.Printf("\n%-12s", "known, found")
	var found []workload.Class
	for _, c := range workload.Classes {
		for _, row := range table {
			if row[c] > 0 && !slices.Contains(found, c) {
				found = append(found, c)
			}
		}
	}
	for _, c := range found {
		fmt.Printf(" %10s", c)
	}
	fmt.Println()
	for _, c := range workload.Classes {
		if table[c] == nil {
			continue
		}
		fmt.Printf("%-12s", c)
		for _, f := range found {
			fmt.Printf(" %10d", table[c][f])
		}
		fmt.Println()
	}
}

// measureVector records a load beside others and returns its vector.
func measureVector(ctx context.Context, dir, stress string, k known, beside []string, d time.Duration) (v workload.Vector, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var ended []func()
	defer func() {
		cancel()
		for _, wait := range ended {
			wait()
		}
	}()
	start := func(name string, args ...string) (*exec.Cmd, error) {
		c := exec.CommandContext(ctx, name, args...)
		in, err := c.StdinPipe()
		if err != nil {
			return nil, err
		}
		c.Dir = dir
		c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		c.Cancel = func() error { // a killed stress leaves its workers and a file behind
			_ = in.Close()
			return syscall.Kill(-c.Process.Pid, syscall.SIGTERM)
		}
		c.WaitDelay = 3 * time.Second
		if err := c.Start(); err != nil {
			return nil, err
		}
		ended = append(ended, func() { _ = c.Wait() })
		return c, nil
	}
	lasts := (d + 10*time.Second).String()
	for _, l := range beside {
		if _, err := start("/proc/self/exe", calibrate.LoadCommand, l, dir, lasts); err != nil {
			return v, err
		}
	}
	var c *exec.Cmd
	if k.args != "" {
		c, err = start(stress, append(strings.Fields(k.args), "-q")...)
	} else {
		c, err = start("/proc/self/exe", calibrate.LoadCommand, k.load, dir, lasts)
	}
	if err != nil {
		return v, err
	}
	time.Sleep(time.Second) // a service has run for a while before it is recorded
	path := filepath.Join(dir, "run.unstall")
	_ = os.Remove(path)
	found := record.Finding{Targets: []discover.Target{{Name: "run"}}, Accesses: all.Host(linux.HostOptions{Every: 500 * time.Millisecond, Of: []int{c.Process.Pid}})}
	if _, err := found.Record(ctx, record.Options{For: d, Path: path, Warn: func(string) {}}); err != nil {
		return v, err
	}
	b := incident.NewBundle()
	x, err := capture.Open(path)
	if err != nil {
		return v, err
	}
	incident.ReadCapture(ctx, x, b)
	b = incident.Normalize(b)
	_, _, processes := host.ServiceOf(b, c.Process.Pid)
	if len(processes) == 0 {
		return v, fmt.Errorf("pid %d is not in the recording", c.Process.Pid)
	}
	return workload.Of(metrics.WorkOf(b, processes, metrics.WatchedTime(b, processes[0])), metrics.MachineOf(b)), nil
}
