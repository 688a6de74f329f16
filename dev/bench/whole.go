//go:build linux

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// recordedIncident is a recorded incident whose diagnosis is measured: a trace, a profile, a log of cycles and one of requests.
const recordedIncident = "lab/go-ballast/recorded/sick"

// measureDiagnoses measures diagnoses, from start to exit: of a recorded incident in turn with
// another build of unstall, if there is one (before), and of large files (large is the MB of a
// trace; 0: not measured).
func measureDiagnoses(dir string, rounds, large int, before string) error {
	exe := filepath.Join(dir, "unstall")
	if err := runQuietly("go", "build", "-o", exe, "./cmd/unstall"); err != nil {
		return err
	}
	printHeading("Diagnosis of " + recordedIncident + ", from start to exit")
	var now, wall, peak, ratio figures
	for range rounds {
		x, err := runDiagnosis(exe, recordedIncident)
		if err != nil {
			return err
		}
		now, wall, peak = append(now, x.cpu*1000), append(wall, x.wall*1000), append(peak, float64(x.peak)/(1<<20))
		if before == "" {
			continue
		}
		y, err := runDiagnosis(before, recordedIncident)
		if err != nil {
			return err
		}
		ratio = append(ratio, x.cpu/y.cpu)
	}
	printRow("CPU time", now.formatMedian("%.0f")+" ms", "", true)
	printRow("wall time", wall.formatMedian("%.0f")+" ms", "", true)
	printRow("peak of resident memory", peak.formatMedian("%.0f")+" MiB", "", true)
	if before != "" {
		printRow("CPU time by that of the build before", ratio.formatMedian("%.2f"), "≤ 0.5", ratio.median() <= .5)
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
		{"GC log", "gc.log", func(path string) error { _, err := writeGCLog(path, 2*int64(large)<<20, g1Event); return err }},
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
		printRow(fmt.Sprintf("%s of %.0f MB", f.what, float64(size.Size())/1e6), fmt.Sprintf("%.1f s, CPU %.1f s, %d MiB", x.wall, x.cpu, x.peak>>20), "", true)
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
	return nil
}

// took is what one run of unstall cost: s, and bytes of resident memory at most.
type took struct {
	wall, cpu float64
	peak      int64
}

func runDiagnosis(exe, what string) (t took, err error) {
	cmd := exec.Command(exe, what)
	began := time.Now()
	err = cmd.Run()
	t.wall = time.Since(began).Seconds()
	if ended := new(exec.ExitError); err != nil && !errors.As(err, &ended) {
		return t, err
	}
	s := cmd.ProcessState
	t.cpu = (s.UserTime() + s.SystemTime()).Seconds()
	if u, ok := s.SysUsage().(*syscall.Rusage); ok {
		t.peak = u.Maxrss << 10
	}
	if code := s.ExitCode(); code > 1 {
		return t, fmt.Errorf("%s %s ended with %d", exe, what, code)
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
	for i, n := 0, int64(0); n < size; i++ {
		k, err := accessLine(w, i)
		if err != nil {
			return err
		}
		n += int64(k)
	}
	return w.Flush()
}

func accessLine(w io.Writer, i int) (int, error) {
	return fmt.Fprintf(w, "198.51.100.%d - - [%s] \"GET /play/%d?token=abc HTTP/1.1\" 200 %d \"-\" \"Mozilla/5.0 (X11; Linux x86_64)\" 0.%03d 0.%03d\n",
		i%250, timeOfLine(i).Format("02/Jan/2006:15:04:05 -0700"), i*37%5000, 500+i%900, 20+i*7%900, 10+i*7%900)
}
