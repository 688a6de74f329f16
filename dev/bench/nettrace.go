//go:build linux

package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/unstall/unstall/internal/format/nettrace"
	"github.com/unstall/unstall/internal/format/nettrace/eventpipe"
	"github.com/unstall/unstall/internal/format/nettrace/eventpipe/eventpipetest"
)

// timesDotnetdiag is how many times as fast as dotnetdiag's profile a stream is to be read whole.
const timesDotnetdiag = 3

// atLeast is how many bytes are read for one figure: short streams are read several times.
const atLeast = 32 << 20

// measureEvents measures reading .NET's event streams, in turn with dotnetdiag on the same bytes:
// one that this program writes, and recorded ones. The bound is for one processor, so seconds are
// of CPU time, including that of GC.
func measureEvents(dir string, rounds int, recorded []string) error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	other, err := buildDotnetdiag(dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench: not compared with dotnetdiag:", err)
	}
	if err := measureStream(dir, "written by this program", eventpipetest.Recording(64<<20), other, rounds, 150); err != nil {
		return err
	}
	if err := measureStream(dir, "written likewise, of 300 threads with other stacks each", eventpipetest.Crowd(64<<20), other, rounds, 300); err != nil {
		return err
	}
	for _, name := range recorded {
		data, err := readUnpacked(name)
		if err != nil {
			return err
		}
		if err := measureStream(dir, filepath.Base(name), data, other, rounds, 150); err != nil {
			return err
		}
	}
	return nil
}

// measureStream measures one stream, for which asked MB/s are required.
func measureStream(dir, name string, data []byte, other string, rounds int, asked float64) error {
	n, samples, err := nextAll(data)
	if err != nil {
		return err
	}
	printHeading(fmt.Sprintf("EventPipe stream, %s: %.1f MB, %d events, %d of them samples, by processor time", name, float64(len(data))/1e6, n, samples))
	var peer *dotnetdiag
	if other != "" {
		path := filepath.Join(dir, "stream.nettrace")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			return err
		}
		if peer, err = startDotnetdiag(other, path); err != nil {
			return err
		}
		defer peer.stop()
	}
	times := 1 + atLeast/len(data)
	a := newArtifact(name, data)
	if counted, _, err := readLeast(data); err != nil || counted != n {
		return fmt.Errorf("%s: the least reading counts %d of %d events: %w", name, counted, n, err)
	}
	var leasts, decodes, wholes, decodeRatio, wholeRatio, sortedRatio, floor figures
	for range rounds {
		least, err := measureCost(func() error {
			for range times {
				_, saw, err := readLeast(data)
				runtime.KeepAlive(saw) // it is not optimised away
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		decode, err := measureCost(func() error {
			for range times {
				if _, _, err := nextAll(data); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		whole, err := measureCost(func() error {
			for range times {
				if err := readArtifact(a, nettrace.Format); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		mb := float64(len(data)*times) / 1e6
		leasts, decodes, wholes = append(leasts, mb/least.cpu), append(decodes, mb/decode.cpu), append(wholes, mb/whole.cpu)
		if peer == nil {
			continue
		}
		walk, err := peer.measureReads("decode", times)
		if err != nil {
			return err
		}
		profile, err := peer.measureReads("profile", times)
		if err != nil {
			return err
		}
		decodeRatio = append(decodeRatio, walk*float64(times)/decode.cpu)
		wholeRatio = append(wholeRatio, profile*float64(times)/whole.cpu)
		sortedRatio = append(sortedRatio, profile*float64(times)/decode.cpu)
		floor = append(floor, profile*float64(times)/least.cpu)
	}
	printRow("least reading", leasts.formatMedian("%.0f")+" MB/s", "", true)
	printRow("events, sorted", decodes.formatMedian("%.0f")+" MB/s", "", true)
	printRow("read whole", wholes.formatMedian("%.0f")+" MB/s", fmt.Sprintf("≥ %.0f", asked), wholes.median() >= asked)
	if peer != nil {
		printRow("events: × dotnetdiag, unsorted", decodeRatio.formatMedian("%.1f"), "", true)
		printRow("events: × dotnetdiag's profile", sortedRatio.formatMedian("%.1f"), "", true) // as fast as whole could be if events needed no interpretation
		printRow("least: × dotnetdiag's profile", floor.formatMedian("%.1f"), "", true)
		asked := fmt.Sprintf("≥ %d", timesDotnetdiag)
		got := fmt.Sprintf("%s, sorted events %.1f, floor %.1f", wholeRatio.formatMedian("%.1f"), sortedRatio.median(), floor.median())
		printGoal("dotnetdiag", "whole: × dotnetdiag's profile", got, asked, wholeRatio.median() >= timesDotnetdiag)
	}
	return nil
}

// nextAll counts the events of a stream, and how many of them are the sample profiler's.
func nextAll(data []byte) (n, samples int64, err error) {
	r, err := eventpipe.NewReader(bytes.NewReader(data))
	var sampler *eventpipe.Metadata // its only type
	for err == nil {
		var e *eventpipe.Event
		if e, err = r.Next(); err != nil {
			break
		}
		if e.Meta == sampler {
			samples++
		} else if sampler == nil && e.Meta.Provider == "Microsoft-DotNETCore-SampleProfiler" {
			sampler, samples = e.Meta, 1
		}
	}
	if err == io.EOF {
		return r.Delivered(), samples, nil
	}
	return 0, 0, err
}

func readUnpacked(name string) ([]byte, error) {
	data, err := os.ReadFile(name)
	if err != nil || !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return data, err
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return io.ReadAll(z)
}

// buildDotnetdiag builds the program that times github.com/pyroscope-io/dotnetdiag.
func buildDotnetdiag(dir string) (string, error) {
	exe := filepath.Join(dir, "dotnetdiag")
	cmd := exec.Command("go", "build", "-o", exe, ".")
	cmd.Dir = filepath.Join("dev", "bench", "dotnetdiag")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, strings.TrimSpace(string(out)))
	}
	return exe, nil
}

// dotnetdiag is the running program, which reads one stream for each command.
type dotnetdiag struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func startDotnetdiag(exe, path string) (*dotnetdiag, error) {
	d := &dotnetdiag{cmd: exec.Command(exe, path)}
	d.cmd.Stderr = os.Stderr
	in, err := d.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := d.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	d.in, d.out = in, bufio.NewReader(out)
	return d, d.cmd.Start()
}

// measureReads returns the CPU time of one reading, s, as the mean of several.
func (d *dotnetdiag) measureReads(what string, times int) (seconds float64, err error) {
	if _, err := fmt.Fprintln(d.in, what, times); err != nil {
		return 0, err
	}
	if _, err := fmt.Fscanln(d.out, &seconds); err != nil {
		return 0, fmt.Errorf("dotnetdiag said nothing: %w", err)
	}
	return seconds, nil
}

// stop closes the input of the process, which ends it.
func (d *dotnetdiag) stop() {
	d.in.Close()
	_ = d.cmd.Wait()
}
