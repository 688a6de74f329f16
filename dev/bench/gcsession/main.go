//go:build linux

// Gcsession measures what listening to a .NET process's collector costs: a session of the GC
// keyword at level 4 without names, which is all that a diagnosis of GC needs. The
// service is the sick one of lab/dotnet-loh, which allocates hundreds of MB a second, under a few
// closed-loop clients.
//
//	go run ./dev/bench/gcsession                    3.1 and 9, about 6 minutes
//	go run ./dev/bench/gcsession -on 9 -pairs 6     a look
//
// Its opinion: the session is switched on and off in one process, in pairs of alternating order, as two
// processes differ by more than the required bound. The CPU time for each request stands beside the
// throughput, as it scatters less.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/collect/load"
	"github.com/unstall/unstall/internal/collect/probe/dotnet/ipc"
	"github.com/unstall/unstall/lab"
	"github.com/unstall/unstall/lab/build"
	dotnetloh "github.com/unstall/unstall/lab/dotnet-loh"
	"github.com/unstall/unstall/lab/process"
)

func main() {
	on := flag.String("on", "3.1,9", "runtimes")
	pairs := flag.Int("pairs", 20, "pairs of runs, without and with the session")
	each := flag.Duration("for", 4*time.Second, "how long each run is")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := measureRuntimes(ctx, strings.Split(*on, ","), *pairs, *each); err != nil {
		fmt.Fprintln(os.Stderr, "dev/bench/gcsession:", err)
		os.Exit(1)
	}
}

func measureRuntimes(ctx context.Context, runtimes []string, pairs int, each time.Duration) error {
	dir, err := os.MkdirTemp("", "unstall-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	say := func(text string) { fmt.Fprintln(os.Stderr, text) }
	sdk, err := build.FindDotnet(ctx, true, say)
	if err != nil {
		return err
	}
	assembly, err := build.Dotnet(ctx, sdk, dotnetloh.Lab.Name, dotnetloh.Lab.Runtime.(lab.Dotnet).Project, say)
	if err != nil {
		return err
	}
	for _, name := range runtimes {
		dotnet := sdk
		if name == "9" {
			if dotnet, err = build.FindDotnet9(ctx, true, say); err != nil {
				return err
			}
		}
		if err := measureRuntime(ctx, name, dotnet, assembly, dir, pairs, each); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func measureRuntime(ctx context.Context, name, dotnet, assembly, dir string, pairs int, each time.Duration) error {
	var said struct{ Serving string }
	p, err := process.Start(ctx, dotnet, []string{assembly, "--control=true", "--tasks=2000000"}, build.DotnetEnv(), filepath.Join(dir, "stderr"), &said)
	if err != nil {
		return err
	}
	defer p.Stop()
	client, err := ipc.Find(p.PID)
	if err != nil {
		return err
	}
	plan := load.Plan{URL: "http://" + said.Serving + "/", Paths: dotnetloh.Lab.Paths, Mode: load.Closed, Connections: 4, Duration: 2 * each}
	if _, err := load.Run(ctx, plan, nil); err != nil { // warm
		return err
	}
	plan.Duration = each
	var rate, cpu [2][]float64 // without, with
	for i := range pairs {
		for k := range 2 {
			with := (i + k) % 2
			r, used, err := measureOnce(ctx, plan, client, p.PID, with == 1)
			if err != nil {
				return err
			}
			rate[with] = append(rate[with], float64(r.Completed)/r.Duration)
			cpu[with] = append(cpu[with], used/float64(r.Completed))
		}
	}
	fmt.Printf(".NET %s   %.0f requests/s, %.1f ms CPU each; %d pairs of %v\n", name, stats.Median(rate[0]), 1e3*stats.Median(cpu[0]), pairs, each)
	printRatio("throughput", rate)
	printRatio("CPU for each request", cpu)
	return nil
}

// measureOnce makes load for a while, with a session of GC events if with is true.
func measureOnce(ctx context.Context, plan load.Plan, client *ipc.Client, pid int, with bool) (*load.Result, float64, error) {
	if with {
		s, err := client.Start(ctx, ipc.Config{BufferMB: 64, Providers: []ipc.Provider{{Name: "Microsoft-Windows-DotNETRuntime", Keywords: 1, Level: 4}}})
		if err != nil {
			return nil, 0, err
		}
		defer s.Close()
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = io.Copy(io.Discard, s)
		}()
		defer func() {
			if s.Stop(ctx, 10*time.Second) == nil {
				<-done
			}
		}()
	}
	before := lab.CPUSeconds(pid)
	r, err := load.Run(ctx, plan, nil)
	if err != nil {
		return nil, 0, err
	}
	if r.Errors > 0 || r.Completed == 0 {
		return nil, 0, fmt.Errorf("%d of %d requests failed", r.Errors, r.Sent)
	}
	return r, lab.CPUSeconds(pid) - before, nil
}

func printRatio(what string, v [2][]float64) {
	estimate, iv, ok := stats.RatioInterval(v[0], v[1], .95, 1)
	text := "(no interval from so few pairs)"
	if ok {
		text = fmt.Sprintf("(%.3f to %.3f in 95 of 100)", iv.Low, iv.High)
	}
	fmt.Printf("  %-22s with the session ÷ without %.3f %s\n", what, estimate, text)
}
