//go:build linux

// Dotnetdiag times github.com/pyroscope-io/dotnetdiag for bench, which controls it:
// for each line that it reads, "decode" or "profile" and a number, it reads the given
// stream that many times and prints the CPU time in s of one reading.
//
//	dotnetdiag FILE
//
// It is a module of its own so that unstall does not depend on a parser that it is only compared
// with.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"runtime"
	"syscall"

	"github.com/pyroscope-io/dotnetdiag/nettrace"
	"github.com/pyroscope-io/dotnetdiag/nettrace/profiler"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "dev/bench/dotnetdiag:", err)
		os.Exit(1)
	}
}

func run() error {
	runtime.GOMAXPROCS(1)
	data, err := os.ReadFile(os.Args[1])
	if err != nil {
		return err
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var what string
		var times int
		if _, err := fmt.Sscan(lines.Text(), &what, &times); err != nil {
			return err
		}
		runtime.GC()
		began := processor()
		for range times {
			if err := read(data, what == "profile"); err != nil {
				return err
			}
		}
		fmt.Println((processor() - began) / float64(times))
	}
	return nil
}

// processor returns the CPU time of this process, of all threads, in s.
func processor() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// read reads all events and stacks, into a profile or into nothing.
func read(data []byte, profile bool) error {
	s := nettrace.NewStream(bytes.NewReader(data))
	trace, err := s.Open()
	if err != nil {
		return err
	}
	s.EventHandler = func(*nettrace.Blob) error { return nil }
	s.MetadataHandler = func(*nettrace.Metadata) error { return nil }
	s.StackBlockHandler = func(*nettrace.StackBlock) error { return nil }
	s.SequencePointBlockHandler = func(*nettrace.SequencePointBlock) error { return nil }
	if profile {
		p := profiler.NewSampleProfiler(trace)
		s.EventHandler, s.MetadataHandler = p.EventHandler, p.MetadataHandler
		s.StackBlockHandler, s.SequencePointBlockHandler = p.StackBlockHandler, p.SequencePointBlockHandler
		defer p.Samples()
	}
	for err == nil {
		err = s.Next()
	}
	if err == io.EOF {
		return nil
	}
	return err
}
