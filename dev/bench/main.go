//go:build linux

// Bench measures how fast and in how much memory unstall reads. It needs
// no other program: it records traces of an HTTP server within
// itself and writes its own logs.
//
//	go run ./dev/bench                       all of it, with a trace of 100 MB for memory
//	go run ./dev/bench -large 500            what is asked: 500 MB read within 256 MiB, and GC logs of 1 GB
//	go run ./dev/bench -only traces -page dev/bench/performance.md   one part, and its figures into the page
//	go run ./dev/bench -only events A.nettrace …   streams of .NET only, these too
//	go run ./dev/bench -only peaks -large 500 jfr perfscript   memory that 1 GB takes, of these formats only
//	go run ./dev/bench -only whole -large 0 -before OLD A.unstall …   diagnoses of captures, in turn with another build
//	go run ./dev/bench -profile dev/bench/reading.pgo   the profile that the compiler builds unstall with
//	go run -pgo=dev/bench/reading.pgo ./dev/bench   what unstall built so takes
//
// Its opinion: a figure of one machine means little, and a ratio measured in turn
// on the same machine means much. So compared programs run in turn, every figure is
// a median with the least and the most beside it, ratios are taken within each
// round, and nothing fails: the output has the required figures and the measured ones. On a busy host,
// ratios of CPU time still hold; ratios of wall time do not if one of
// the two has more threads.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
)

func main() {
	large := flag.Int("large", 100, "MB of the trace that memory is measured with, half of a GC log's and of other formats' and a quarter of an access log's; 0: not at all")
	rounds := flag.Int("rounds", 11, "rounds of each measurement")
	only := flag.String("only", "", "traces, logs, gclogs, events, flights, load, memory, whole or peaks; empty: all")
	peak := flag.String("peak", "", "read one trace and print the peak of resident memory (the program calls itself)")
	input := flag.String("peak-of", "", "read a file of a kind and print what it took (the program calls itself)")
	flight := flag.String("flight", "", "read one flight recording and print what it took (the program calls itself)")
	plan := flag.String("send", "", "make a load (JSON) and print what came of it (the program calls itself)")
	tool := flag.String("unstall", "", "the build of unstall that diagnoses; empty: built anew")
	before := flag.String("before", "", "another build of unstall, to diagnose the same with in turn")
	doc := flag.String("page", "", "document to put the figures of each part into that is measured, such as dev/bench/performance.md")
	compiler := flag.String("profile", "", "measure nothing: read files of each kind and write a CPU profile to build unstall with")
	flag.Parse()
	if *compiler != "" {
		if err := writeProfile(*compiler); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	if *plan != "" {
		if err := sendPlan(*plan); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	if *input != "" {
		if err := readInput(*input); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	if *flight != "" {
		if err := readFlight(*flight); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	if err := runBench(*large, *rounds, *peak, *only, *doc, *tool, *before, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// describeBuild says whether this program was built with a profile, as unstall is.
func describeBuild() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "-pgo" {
				return " with " + filepath.Base(s.Value)
			}
		}
	}
	return ""
}

func writeProfile(to string) error {
	dir, err := os.MkdirTemp("", "unstall-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	return profileReading(dir, to)
}

func runBench(large, rounds int, peak, only, doc, tool, before string, recorded []string) error {
	if peak != "" {
		return readPeak(peak)
	}
	dir, err := os.MkdirTemp("", "unstall-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	conditions := fmt.Sprintf("%s%s, %d processors, %d rounds; median (least–most)", runtime.Version(), describeBuild(), runtime.NumCPU(), rounds)
	fmt.Println(conditions)
	p := page{name: doc}
	var captures, formats []string
	switch only {
	case "":
		formats = largeFormats
	case "whole":
		captures = recorded
	case "peaks":
		formats = recorded
	}
	for _, part := range []struct {
		name    string
		measure func() error
	}{
		{"traces", func() error { return measureTraces(dir, rounds) }},
		{"logs", func() error { return measureLogs(dir, rounds, large) }},
		{"gclogs", func() error { return gcLogs(dir, rounds, 2*large) }},
		{"events", func() error { return measureEvents(dir, rounds, recorded) }},
		{"flights", func() error { return measureFlights(dir, rounds, large) }},
		{"load", func() error { return measureLoads(dir, rounds) }},
		{"whole", func() error { return measureDiagnoses(dir, rounds, large, tool, before, captures) }},
		{"peaks", func() error { return measurePeaks(dir, 2*int64(large)*1e6, formats) }},
		{"memory", func() error { return measureMemory(filepath.Join(dir, "large.trace"), large) }},
	} {
		if only != "" && only != part.name || (part.name == "memory" || part.name == "flights" || part.name == "peaks") && large == 0 {
			continue
		}
		p.beginPart(conditions)
		if err := part.measure(); err != nil {
			return err
		}
		if err := p.endPart(part.name); err != nil {
			return err
		}
	}
	return nil
}
