//go:build linux

package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/unstall/unstall/dev/bench/inputs"
	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/heapgrowth"
	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/all"
	"github.com/unstall/unstall/internal/format/gotrace"
	"github.com/unstall/unstall/internal/format/jfr"
)

// peakOf returns the most resident memory of a process so far, bytes. The kernel's account of a process that has ended does not tell it:
// that begins with the memory of the process which started it.
func peakOf(pid int) (int64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0, fmt.Errorf("/proc/%d/status has no VmHWM", pid)
	}
	kb, err := strconv.ParseInt(fields[0], 10, 64)
	return kb << 10, err
}

// watchPeak asks for the peak of a process until it has ended. The returned function says what it was last.
func watchPeak(pid int) (last func() int64) {
	var most atomic.Int64
	go func() {
		for {
			n, err := peakOf(pid)
			if err != nil { // without memory it has ended
				return
			}
			most.Store(n)
			time.Sleep(betweenLooks)
		}
	}()
	return most.Load
}

const betweenLooks = 5 * time.Millisecond

// peakOfGB is how many MiB reading 1 GB of any format may take.
const peakOfGB = 200

// largeFormats are those whose files get large.
var largeFormats = []string{"accesslog", "gotrace", "hotspotgc", "jfr", "nettrace", "perfscript"}

// measurePeaks reads a file of each format, of so many bytes, in a process of its own: formats whose files get large are written or recorded,
// the others are what their golden tests read, repeated. only are names of formats; none: all.
func measurePeaks(dir string, size int64, only []string) error {
	list, err := inputs.All(".")
	if err != nil {
		return err
	}
	list = append(slices.DeleteFunc(list, func(in inputs.Input) bool { return in.Format == gotrace.Format.Name || in.Format == jfr.Format.Name }),
		inputs.Input{Name: "execution trace of Go", Format: gotrace.Format.Name, Write: func(w *bufio.Writer, size int64) error { return service{pieces: 16}.recordTrace(w, size) }},
		inputs.Input{Name: "flight recording, repeated", Format: jfr.Format.Name, Write: func(w *bufio.Writer, size int64) error { return repeatFlight(dir, w, size) }})
	self, err := os.Executable()
	if err != nil {
		return err
	}
	printHeading(fmt.Sprintf("Peak by format: %.2f GB of each, a tenth of what golden tests read, each reading in a process of its own", float64(size)/1e9))
	path := filepath.Join(dir, "large")
	whole := size
	for _, in := range list {
		if len(only) > 0 && !slices.Contains(only, in.Format) {
			continue
		}
		size := whole
		if in.Recorded {
			size /= 10
		}
		if err := writeInput(&in, path, size); err != nil {
			fmt.Fprintf(os.Stderr, "bench: %s: not measured: %v\n", in.Name, err)
			continue
		}
		cmd := exec.Command(self, "-peak-of", path)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			return fmt.Errorf("%s: %w", in.Name, err)
		}
		var wall, cpu float64
		var peak int64
		if _, err := fmt.Sscan(string(out), &wall, &cpu, &peak); err != nil {
			return fmt.Errorf("%s: reading it said %q: %w", in.Name, out, err)
		}
		written, err := os.Stat(path)
		if err != nil {
			return err
		}
		gb := float64(written.Size()) / 1e9
		printRow(in.Name, fmt.Sprintf("%d MiB of %.2f GB, CPU %.1f s by GB", peak>>20, gb, cpu/gb), fmt.Sprintf("≤ %d MiB", peakOfGB), peak>>20 <= peakOfGB)
	}
	return os.Remove(path)
}

// flightSize is how many MB a flight recording has at least before it is repeated: its chunks follow each other, as in a file of a longer
// recording.
const flightSize = 60

func repeatFlight(dir string, w *bufio.Writer, size int64) error {
	ctx := context.Background()
	home, _, classes, err := findFlightTools(ctx)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, "chunk.jfr")
	if err := recordFlight(ctx, home, classes, path, flightSize); err != nil {
		return err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return inputs.RepeatData(w, data, size)
}

func writeInput(in *inputs.Input, path string, size int64) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return in.WriteTo(f, size)
}

// readInput reads a file as unstall does and prints the wall time and CPU time, s, and the peak of resident memory in bytes. It does not
// matter whether all of it is understood: a recorded document is repeated.
func readInput(path string) error {
	heapgrowth.Spare()
	b := incident.NewBundle()
	began := time.Now()
	_ = format.Read(context.Background(), all.Formats, format.File(path), b)
	wall := time.Since(began).Seconds()
	peak, err := peakOf(os.Getpid())
	fmt.Println(wall, ownCPUSeconds(), peak)
	return err
}

// measureCaptures compares two directories with half of so many captures each.
func measureCaptures(dir, exe string, n int) error {
	before, after := filepath.Join(dir, "before"), filepath.Join(dir, "after")
	for i := range n {
		to := before
		if i%2 == 1 {
			to = after
		}
		if err := os.MkdirAll(to, 0o755); err != nil {
			return err
		}
		if err := writeCapture(filepath.Join(to, fmt.Sprintf("run-%04d.unstall", i/2)), i); err != nil {
			return err
		}
	}
	x, err := runDiagnosis(exe, "compare", before, after)
	if err != nil {
		return err
	}
	printRow(fmt.Sprintf("compare of %d captures", n), fmt.Sprintf("%.1f s, CPU %.1f s, %d MiB", x.wall, x.cpu, x.peak>>20), fmt.Sprintf("≤ %d MiB", peakOfGB), x.peak>>20 <= peakOfGB)
	for _, folder := range []string{before, after} {
		if err := os.RemoveAll(folder); err != nil {
			return err
		}
	}
	return nil
}

// capturedLines is how many requests each capture has.
const capturedLines = 2000

// writeCapture writes a capture of a service's access log.
func writeCapture(path string, number int) error {
	w, err := capture.Create(path, capture.Info{Target: "shop", Start: inputs.Began.Add(time.Duration(number) * time.Hour)})
	if err != nil {
		return err
	}
	a, err := w.Create(capture.Meta{Name: "access.log", About: evidence.Subject{Kind: evidence.Process, Name: "shop"}, Lines: true})
	if err != nil {
		return err
	}
	if _, err := a.Write(generateParts(capturedLines, inputs.AccessLine)); err != nil {
		return err
	}
	if err := a.Close(); err != nil {
		return err
	}
	return w.Close()
}
