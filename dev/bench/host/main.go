//go:build linux

// Host measures what recording a whole host costs: unstall host runs as a user runs it, beside 100 processes of 50
// threads, of which every tenth uses a twentieth of a CPU.
//
//	go run ./dev/bench/host              about 40 s
//	go run ./dev/bench/host -processes 20 -for 10s
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

func main() {
	processes := flag.Int("processes", 100, "how many processes")
	threads := flag.Int("threads", 50, "of how many threads each")
	d := flag.Duration("for", 10*time.Second, "how long to record")
	rounds := flag.Int("rounds", 3, "how often")
	child := flag.Bool("child", false, "be one of the processes (the program calls itself)")
	busy := flag.Bool("busy", false, "be one that uses CPU time")
	flag.Parse()
	if *child {
		runThreads(*threads, *busy)
		return
	}
	if err := measureHost(*processes, *threads, *rounds, *d); err != nil {
		fmt.Fprintln(os.Stderr, "dev/bench/host:", err)
		os.Exit(1)
	}
}

// runThreads keeps kernel threads that mostly sleep, until its standard input ends.
func runThreads(threads int, busy bool) {
	for i := range threads {
		go func() {
			runtime.LockOSThread()
			for {
				ts := syscall.NsecToTimespec(int64(200+i) * 1e6)
				_ = syscall.Nanosleep(&ts, nil)
				for until := time.Now().Add(200 * time.Microsecond); busy && time.Now().Before(until); {
				}
			}
		}()
	}
	_, _ = os.Stdin.Read(make([]byte, 1))
}

func measureHost(processes, threads, rounds int, d time.Duration) error {
	dir, err := os.MkdirTemp("", "unstall-bench-host-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	unstall := filepath.Join(dir, "unstall")
	if text, err := exec.Command("go", "build", "-o", unstall, "./cmd/unstall").CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, text)
	}
	for i := range processes {
		c := exec.Command("/proc/self/exe", "-child", fmt.Sprintf("-threads=%d", threads), fmt.Sprintf("-busy=%t", i%10 == 0))
		in, err := c.StdinPipe()
		if err != nil {
			return err
		}
		if err := c.Start(); err != nil {
			return err
		}
		defer func() { _ = in.Close(); _ = c.Wait() }()
	}
	time.Sleep(3 * time.Second) // until all of them have begun
	fmt.Printf("%s, %d processors, %d processes of %d threads, root: %t\n", runtime.Version(), runtime.NumCPU(), processes, threads, os.Geteuid() == 0)
	for n := range rounds {
		path := filepath.Join(dir, fmt.Sprintf("%d.unstall", n))
		// Another process makes the report after the recording has ended, so its cost does not count.
		c := exec.Command(unstall, "host", "--for", d.String(), "--capture", path, "-o", filepath.Join(dir, "report.txt"))
		began := time.Now()
		if text, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, text)
		}
		wall := time.Since(began)
		used := c.ProcessState.SysUsage().(*syscall.Rusage)
		fi, err := os.Stat(path)
		if err != nil {
			return err
		}
		again := exec.Command(unstall, "host", path, "-o", filepath.Join(dir, "again.txt"))
		if text, err := again.CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, text)
		}
		cpu := func(c *exec.Cmd) time.Duration { return c.ProcessState.UserTime() + c.ProcessState.SystemTime() }
		recording := cpu(c) - cpu(again)
		share, peak := 100*recording.Seconds()/d.Seconds(), used.Maxrss>>10
		verdict := "got"
		if share > 2 || peak > 64 {
			verdict = "MISSED"
		}
		fmt.Printf("recording %.2f %% of a core, %d MiB at most with its report (asked: 2 %%, 64 MiB): %s; the report %s; %s in all; capture %d kB\n",
			share, peak, verdict, cpu(again).Round(time.Millisecond), wall.Round(100*time.Millisecond), fi.Size()>>10)
	}
	return nil
}
