// Collections measures the collections for .NET in remedy/dotnet against the standard
// ones, on each installed runtime, and prints ratios beside the required ones and
// those of the article. It exits with 1 if a requirement is missed.
//
//	go run ./dev/bench/collections                       3.1 and 9, about 4 minutes
//	go run ./dev/bench/collections -on 9 -- --only=sort  some, on one
//
// The C# program remedy/dotnet/bench measures, in one process for each
// runtime, in which compared collections take turns.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"

	"github.com/unstall/unstall/lab/build"
	"github.com/unstall/unstall/remedy/dotnet"
)

func main() {
	on := flag.String("on", "3.1,9", "runtimes: the SDK's own, and .NET 9")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := runBenchmarks(ctx, strings.Split(*on, ","), flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "dev/bench/collections:", err)
		os.Exit(1)
	}
}

// runBenchmarks runs the benchmarks on one runtime after the other, and fails if a bound is missed
// on one of them.
func runBenchmarks(ctx context.Context, on, args []string) error {
	say := func(text string) { fmt.Fprintln(os.Stderr, text) }
	sdk, err := build.FindDotnet(ctx, false, say)
	if err != nil {
		return err
	}
	assembly, err := build.Dotnet(ctx, sdk, "remedy-dotnet-bench", build.Project{Sources: dotnet.Sources, File: dotnet.Benchmarks}, say)
	if err != nil {
		return err
	}
	var missed error
	for _, version := range on {
		runs := sdk
		if version == "9" {
			if runs, err = build.FindDotnet9(ctx, false, say); err != nil {
				return err
			}
		}
		cmd := exec.CommandContext(ctx, runs, slices.Concat([]string{assembly}, args)...)
		cmd.Env, cmd.Stdout, cmd.Stderr = build.DotnetEnv(), os.Stdout, os.Stderr
		if err := cmd.Run(); err != nil {
			missed = errors.Join(missed, fmt.Errorf("on %s: %w", version, err))
		}
		fmt.Println()
	}
	return missed
}
