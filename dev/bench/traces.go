//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"

	"golang.org/x/exp/trace"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/accesslog"
	"github.com/unstall/unstall/internal/format/gotrace"
	"github.com/unstall/unstall/internal/format/hotspotgc"
)

// measureTraces compares reading a trace whole with the loop that only decodes it.
func measureTraces(dir string, rounds int) error {
	for _, s := range []service{
		{name: "plain handlers", pieces: 0},
		{name: "handlers that allocate 0.4 MB", pieces: 100},
	} {
		var data bytes.Buffer
		if err := s.recordTrace(&data, 6<<20); err != nil {
			return err
		}
		if err := compareReaders(s.name, data.Bytes(), rounds); err != nil {
			return err
		}
	}
	var data bytes.Buffer
	if err := (service{}).recordTrace(&data, 30<<20); err != nil {
		return err
	}
	return measureScaling("plain handlers, several generations", data.Bytes(), rounds)
}

func compareReaders(name string, data []byte, rounds int) error {
	events, metrics, err := countEvents(data)
	if err != nil {
		return err
	}
	printHeading(fmt.Sprintf("Execution trace, %s: %.1f MB, %d events, %.0f %% of them metrics", name, float64(len(data))/1e6, events, 100*float64(metrics)/float64(events)))
	var bare, decoded, whole, decodes, wall, cpu, speed figures
	for range rounds {
		a, err := measureCost(func() error { return readAllEvents(data) })
		if err != nil {
			return err
		}
		b, err := measureCost(func() error { return readArtifact(newArtifact("trace", data), gotrace.Format) })
		if err != nil {
			return err
		}
		d, err := measureCost(func() error { return decodeOnly(data) })
		if err != nil {
			return err
		}
		bare, decoded, whole = append(bare, a.wall*1000), append(decoded, d.wall*1000), append(whole, b.wall*1000)
		decodes, wall, cpu = append(decodes, a.cpu/d.cpu), append(wall, a.wall/b.wall), append(cpu, a.cpu/b.cpu)
		speed = append(speed, float64(len(data))/1e6/b.wall)
	}
	printRow("loop over ReadEvent of x/exp/trace", bare.formatMedian("%.0f")+" ms", "", true)
	printRow("loop over our own decoder", decoded.formatMedian("%.0f")+" ms", "", true)
	printRow("read whole", whole.formatMedian("%.0f")+" ms", "", true)
	printRow("", speed.formatMedian("%.0f")+" MB/s", "", true)
	printRow("decoder faster, CPU time", decodes.formatMedian("%.2f")+" ×", "", true)
	printGoal("loop of x/exp/trace", "whole faster than loop, wall time", wall.formatMedian("%.2f")+" ×", "≥ 2", wall.median() >= 2)
	printGoal("loop of x/exp/trace", "whole faster than loop, CPU time", cpu.formatMedian("%.2f")+" ×", "≥ 1.3", cpu.median() >= 1.3)
	return nil
}

// decodeOnly runs the decoder that reading uses and nothing else.
func decodeOnly(data []byte) error { return decodeAll(bytes.NewReader(data)) }

// readAllEvents reads a trace with x/exp/trace, which is the least that any reader of a trace
// does.
func readAllEvents(data []byte) error {
	r, err := trace.NewReader(bytes.NewReader(data))
	for err == nil {
		_, err = r.ReadEvent()
	}
	if err == io.EOF {
		return nil
	}
	return err
}

func countEvents(data []byte) (events, metrics int, err error) {
	r, err := trace.NewReader(bytes.NewReader(data))
	for err == nil {
		var ev trace.Event
		if ev, err = r.ReadEvent(); err == nil {
			events++
			if ev.Kind() == trace.EventMetric {
				metrics++
			}
		}
	}
	if err == io.EOF {
		err = nil
	}
	return events, metrics, err
}

func newArtifact(name string, data []byte) *format.Artifact {
	return &format.Artifact{Name: name, Size: int64(len(data)), Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }}
}

func readArtifact(a *format.Artifact, f format.Format) error {
	return format.Read(context.Background(), []format.Format{f}, a, incident.NewBundle())
}

// measureMemory measures reading a large trace in a process of its own.
func measureMemory(path string, mb int) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := (service{pieces: 16}).recordTrace(f, int64(mb)*1e6); err != nil {
		return err
	}
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, "-peak", path)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("the process that reads %s: %w", path, err)
	}
	var requests, events, peak int64
	var seconds float64
	if _, err := fmt.Sscan(string(out), &requests, &events, &peak, &seconds); err != nil {
		return fmt.Errorf("the process that reads %s said %q: %w", path, out, err)
	}
	size := float64(fi.Size()) / 1e6
	printHeading(fmt.Sprintf("Memory: a trace of %.0f MB with %d requests, read in %.1f s", size, requests, seconds))
	printRow("peak of resident memory", fmt.Sprintf("%d MiB", peak>>20), "≤ 256 MiB for 500 MB", float64(peak>>20) <= 256)
	return nil
}

// readPeak reads one trace or log and prints its requests and events, the peak of this
// process's resident memory in bytes, and the time taken in s.
func readPeak(path string) error {
	b := incident.NewBundle()
	c, err := measureCost(func() error {
		return format.Read(context.Background(), []format.Format{gotrace.Format, hotspotgc.Format, accesslog.Format}, format.File(path), b)
	})
	if err != nil {
		return err
	}
	peak, err := peakOf(os.Getpid())
	fmt.Println(b.Requests.Len(), b.Intervals.Len(), peak, c.wall)
	return err
}
