//go:build linux

// Bench measures how fast and in how much memory unstall reads, in one run that
// needs nothing but this program: it records traces of an HTTP server within
// itself and writes its own logs.
//
//	go run ./bench              all of it, with a trace of 100 MB for memory
//	go run ./bench -large 500   what is asked: 500 MB read within 500 MiB
//
// Its opinion: a figure of one machine means little and a ratio measured in turn
// on the same machine much. So what is compared is run in turn, every figure is
// a median with the least and the most beside it, ratios are taken within each
// round, and nothing fails: it reports what was asked and what came out.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

func main() {
	large := flag.Int("large", 100, "MB of the trace that memory is measured with; 0: not at all")
	rounds := flag.Int("rounds", 11, "rounds of each measurement")
	peak := flag.String("peak", "", "read one trace and print the peak of resident memory (the program calls itself)")
	flag.Parse()
	if err := run(*large, *rounds, *peak); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(large, rounds int, peak string) error {
	if peak != "" {
		return readPeak(peak)
	}
	dir, err := os.MkdirTemp("", "unstall-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fmt.Printf("%s, %d processors, %d rounds; median (least–most)\n", runtime.Version(), runtime.NumCPU(), rounds)
	if err := traces(dir, rounds); err != nil {
		return err
	}
	if err := logs(rounds); err != nil {
		return err
	}
	if large > 0 {
		return memory(filepath.Join(dir, "large.trace"), large)
	}
	return nil
}
