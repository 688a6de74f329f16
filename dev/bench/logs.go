//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"time"

	"github.com/unstall/unstall/dev/bench/inputs"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/accesslog"
	"github.com/unstall/unstall/internal/format/gauges"
	"github.com/unstall/unstall/internal/format/gctrace"
	"github.com/unstall/unstall/internal/format/gopprof"
	"github.com/unstall/unstall/internal/format/loadresult"
	"github.com/unstall/unstall/internal/format/spans"
)

// measureLogs measures the other formats, each with input of its own, and the memory that a large
// access log takes (large is a quarter of its MB, 0: not measured).
func measureLogs(dir string, rounds, large int) error {
	printHeading("Logs, profiles and load results")
	for _, c := range []struct {
		what   string
		format format.Format
		input  func() []byte
		asked  float64 // MB/s, 0: none
	}{
		{"gctrace", gctrace.Format, gcLog, 400},
		{"access log, text", accesslog.Format, accessText, 400},
		{"access log, JSON", accesslog.Format, accessJSON, 400},
		{"spans, Jaeger JSON", spans.Format, inputMaker("spans, Jaeger JSON", 20), 150},
		{"gauges of a pool, CSV", gauges.Format, inputMaker("gauges of a pool, CSV", 3), 150},
		{"CPU profile, as it comes (gzip)", gopprof.Format, cpuProfile, 0},
		{"goroutine dump, text", gopprof.Format, inputMaker("goroutine dump, text", 16), 0},
		{"vegeta results, CSV", loadresult.Format, inputMaker("vegeta results, CSV", 12), 0},
		{"k6 output, JSON lines", loadresult.Format, inputMaker("k6 output, JSON lines", 24), 0},
	} {
		data := c.input()
		a := newArtifact(c.what, data)
		var speed figures
		for range rounds {
			took, err := measureCost(func() error { return readArtifact(a, c.format) })
			if err != nil {
				return err
			}
			speed = append(speed, float64(len(data))/1e6/took.wall)
		}
		asked := ""
		if c.asked > 0 {
			asked = fmt.Sprintf("≥ %.0f", c.asked)
		}
		printRow(c.what, speed.formatMedian("%.0f")+" MB/s", asked, speed.median() >= c.asked)
	}
	if large == 0 {
		return nil
	}
	return accessMemory(filepath.Join(dir, "access.log"), 4*int64(large)*1e6)
}

// accessMemory reads a large access log in a process of its own.
func accessMemory(path string, size int64) error {
	if err := writeAccess(path, size); err != nil {
		return err
	}
	defer os.Remove(path)
	self, err := os.Executable()
	if err != nil {
		return err
	}
	out, err := exec.Command(self, "-peak", path).Output()
	if err != nil {
		return err
	}
	var requests, rows, peak int64
	var seconds float64
	if _, err := fmt.Sscan(string(out), &requests, &rows, &peak, &seconds); err != nil || requests == 0 {
		return fmt.Errorf("reading a large access log said %q: %w", out, err)
	}
	each := float64(peak) / float64(requests)
	printRow(fmt.Sprintf("access log, %d MB: peak by request", size/1e6), fmt.Sprintf("%.0f B of %d, in %.1f s", each, requests, seconds), "≤ 60 B", each <= 60)
	return nil
}

const lines = 100_000

// generateParts returns so many parts of an input.
func generateParts(n int, part func(w *bytes.Buffer, i int)) []byte {
	var w bytes.Buffer
	for i := range n {
		part(&w, i)
	}
	return w.Bytes()
}

func gcLog() []byte      { return generateParts(lines, inputs.GCTrace) }
func accessText() []byte { return generateParts(lines, inputs.AccessLine) }
func accessJSON() []byte { return generateParts(lines, inputs.AccessJSON) }

// inputMaker returns what makes a file of a written input of at least so many MB.
func inputMaker(name string, mb int) func() []byte {
	return func() []byte {
		for _, in := range inputs.Written() {
			if in.Name == name {
				return in.Bytes(mb << 20)
			}
		}
		panic("no input " + name)
	}
}

// cpuProfile returns a CPU profile of this program while it writes logs.
func cpuProfile() []byte {
	var w bytes.Buffer
	if pprof.StartCPUProfile(&w) == nil {
		for until := time.Now().Add(time.Second); time.Now().Before(until); {
			accessText()
			accessJSON()
		}
		pprof.StopCPUProfile()
	}
	return w.Bytes()
}
