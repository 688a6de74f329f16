//go:build linux

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/unstall/unstall/dev/bench/inputs"
)

// recordedIncident is a recorded incident whose diagnosis is measured: a trace, a profile, a log of cycles and one of requests.
const recordedIncident = "lab/go-ballast/recorded/sick"

// measureDiagnoses measures diagnoses, from start to exit: of a recorded incident and of captures in
// turn with another build of unstall, if there is one (before), and of large files (large is the MB of a
// trace; 0: not measured). exe is the build that is measured; empty: a new one, as released.
func measureDiagnoses(dir string, rounds, large int, exe, before string, captures []string) error {
	if exe == "" {
		exe = filepath.Join(dir, "unstall")
		if err := runQuietly("go", "build", "-pgo=dev/bench/reading.pgo", "-o", exe, "./cmd/unstall"); err != nil {
			return err
		}
	}
	for _, what := range append([]string{recordedIncident}, captures...) {
		if err := measureDiagnosis(exe, before, what, rounds); err != nil {
			return err
		}
	}
	if large == 0 {
		return nil
	}
	for _, f := range []struct {
		what  string
		name  string
		write func(path string) error
	}{
		{"execution trace", "trace.out", func(path string) error { return recordTo(path, int64(large)*1e6) }},
		{"GC log", "gc.log", func(path string) error {
			_, err := writeGCLog(path, 2*int64(large)<<20, inputs.G1Collection)
			return err
		}},
		{"access log", "access.log", func(path string) error { return writeAccess(path, 4*int64(large)*1e6) }},
	} {
		path := filepath.Join(dir, f.name)
		if err := f.write(path); err != nil {
			return err
		}
		size, err := os.Stat(path)
		if err != nil {
			return err
		}
		x, err := runDiagnosis(exe, path)
		if err != nil {
			return err
		}
		gb := float64(size.Size()) / 1e9
		printRow(fmt.Sprintf("%s of %.0f MB", f.what, gb*1e3), fmt.Sprintf("%.1f s, CPU %.1f s, %d MiB", x.wall, x.cpu, x.peak>>20), "", true)
		printRow("  by GB", fmt.Sprintf("%.1f s, CPU %.1f s, %.0f MiB", x.wall/gb, x.cpu/gb, float64(x.peak>>20)/max(1, gb)), fmt.Sprintf("≤ %d MiB", peakOfGB), float64(x.peak>>20)/max(1, gb) <= peakOfGB)
		if before != "" {
			if x, err = runDiagnosis(before, path); err != nil {
				return err
			}
			printRow("  by the build before", fmt.Sprintf("%.1f s, CPU %.1f s, %d MiB", x.wall, x.cpu, x.peak>>20), "", true)
		}
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return measureCaptures(dir, exe, 2*large)
}

// measureDiagnosis measures the diagnosis of a recording.
func measureDiagnosis(exe, before, what string, rounds int) error {
	printHeading("Diagnosis of " + strings.TrimSuffix(what, ".unstall") + ", from start to exit")
	var now, wall, peak, ratio, wallRatio figures
	for range rounds {
		x, err := runDiagnosis(exe, what)
		if err != nil {
			return err
		}
		now, wall, peak = append(now, x.cpu*1000), append(wall, x.wall*1000), append(peak, float64(x.peak)/(1<<20))
		if before == "" {
			continue
		}
		y, err := runDiagnosis(before, what)
		if err != nil {
			return err
		}
		ratio, wallRatio = append(ratio, x.cpu/y.cpu), append(wallRatio, x.wall/y.wall)
	}
	printRow("CPU time", now.formatMedian("%.0f")+" ms", "", true)
	printRow("wall time", wall.formatMedian("%.0f")+" ms", "", true)
	printRow("peak of resident memory", peak.formatMedian("%.0f")+" MiB", "", true)
	if before != "" {
		printGoal("build before", "CPU time by that of the build before", ratio.formatMedian("%.2f"), "≤ 0.5", ratio.median() <= .5)
		printGoal("build before", "wall time by that of the build before", wallRatio.formatMedian("%.2f"), "≤ 0.5", wallRatio.median() <= .5)
	}
	return nil
}

// took is what one run of unstall cost: s, and bytes of resident memory at most.
type took struct {
	wall, cpu float64
	peak      int64
}

func runDiagnosis(exe string, what ...string) (t took, err error) {
	cmd := exec.Command(exe, what...)
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return t, err
	}
	peak := watchPeak(cmd.Process.Pid)
	err = cmd.Wait()
	t.peak = peak()
	t.wall = time.Since(began).Seconds()
	if ended := new(exec.ExitError); err != nil && !errors.As(err, &ended) {
		return t, err
	}
	s := cmd.ProcessState
	t.cpu = (s.UserTime() + s.SystemTime()).Seconds()
	if code := s.ExitCode(); code > 1 {
		return t, fmt.Errorf("%s %v ended with %d", exe, what, code)
	}
	return t, nil
}

func recordTo(path string, size int64) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return service{pieces: 16}.recordTrace(f, size)
}

// writeAccess writes the lines of accessText until there are so many bytes.
func writeAccess(path string, size int64) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	var line bytes.Buffer
	for i, n := 0, int64(0); n < size; i++ {
		line.Reset()
		inputs.AccessLine(&line, i)
		if _, err := w.Write(line.Bytes()); err != nil {
			return err
		}
		n += int64(line.Len())
	}
	return w.Flush()
}
