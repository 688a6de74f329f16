//go:build linux

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/unstall/unstall/dev/bench/inputs"
	"github.com/unstall/unstall/internal/format/hotspotgc"
)

// gcLogSize is the least size of a log whose reading speed is measured.
const gcLogSize = 40 << 20

// gcLogs measures reading GC logs of HotSpot: CPU time on one processor, in turn with wc -l and with
// gctoolkit on the same file, wall time on two processors, and the memory of reading a large log
// (large is in MB, 0: not measured).
func gcLogs(dir string, rounds, large int) error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	other, err := buildGCToolkit(dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench: not compared with gctoolkit:", err)
	}
	for _, l := range []struct {
		name  string
		event func(w *bytes.Buffer, i int)
	}{
		{"G1 unified", inputs.G1Collection},
		{"CMS legacy", inputs.CMSCollection},
	} {
		path := filepath.Join(dir, "gc.log")
		if _, err := writeGCLog(path, gcLogSize, l.event); err != nil {
			return err
		}
		if err := gcLogSpeed(l.name, path, other, rounds); err != nil {
			return err
		}
		if large > 0 {
			if err := gcLogMemory(l.name, path, int64(large)<<20, l.event); err != nil {
				return err
			}
		}
	}
	return nil
}

func gcLogSpeed(name, path string, other []string, rounds int) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	printHeading(fmt.Sprintf("GC log, %s: %.1f MB, by processor time", name, float64(len(data))/1e6))
	a := newArtifact(name, data)
	var peer *gctoolkit
	if other != nil {
		if peer, err = startGCToolkit(other, path); err != nil {
			return err
		}
		defer peer.stop()
		if _, err := peer.measureRead(); err != nil { // its compilers have not finished yet
			return err
		}
		if err := peer.suspendProcess(); err != nil {
			return err
		}
	}
	var speed, counted, waited, ratio figures
	for n := range rounds {
		took, err := measureCost(func() error { return readArtifact(a, hotspotgc.Format) })
		if err != nil {
			return err
		}
		speed = append(speed, float64(len(data))/1e6/took.cpu)
		one := runtime.GOMAXPROCS(2)
		together, err := measureCost(func() error { return readArtifact(a, hotspotgc.Format) })
		runtime.GOMAXPROCS(one)
		if err != nil {
			return err
		}
		wc, err := countLines(path)
		if err != nil {
			return err
		}
		counted, waited = append(counted, took.cpu/wc), append(waited, together.wall/wc)
		if peer != nil && n < 5 { // each reading takes some seconds
			seconds, err := peer.measureRead()
			if err != nil {
				return err
			}
			if err := peer.suspendProcess(); err != nil {
				return err
			}
			ratio = append(ratio, seconds/took.cpu)
		}
	}
	printRow("read whole", speed.formatMedian("%.0f")+" MB/s", "", true)
	printGoal("wc -l", "CPU time: × wc -l", counted.formatMedian("%.1f"), "≤ 20", counted.median() <= 20)
	printGoal("wc -l", "wall time on two: × wc -l", waited.formatMedian("%.1f"), "≤ 10", waited.median() <= 10)
	if peer != nil {
		printGoal("gctoolkit", "speed: × gctoolkit", ratio.formatMedian("%.0f"), "≥ 50", ratio.median() >= 50)
	}
	return nil
}

// countLines returns the CPU time (s) of wc -l. One figure sums several runs, as the
// kernel counts in ticks.
func countLines(path string) (float64, error) {
	const runs = 20
	var sum time.Duration
	for range runs {
		cmd := exec.Command("wc", "-l", path)
		if err := cmd.Run(); err != nil {
			return 0, err
		}
		sum += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	return sum.Seconds() / runs, nil
}

// gcLogMemory reads a large log in a process of its own.
func gcLogMemory(name, path string, size int64, event func(*bytes.Buffer, int)) error {
	if _, err := writeGCLog(path, size, event); err != nil {
		return err
	}
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
	if _, err := fmt.Sscan(string(out), &requests, &rows, &peak, &seconds); err != nil {
		return fmt.Errorf("reading a large log said %q: %w", out, err)
	}
	asked := 64<<20 + 160*rows
	printRow(fmt.Sprintf("%d MB, %d events: peak", size>>20, rows), fmt.Sprintf("%.0f MiB in %.1f s", float64(peak)/(1<<20), seconds),
		fmt.Sprintf("≤ %.0f MiB", float64(asked)/(1<<20)), peak <= asked)
	return nil
}

func writeGCLog(path string, size int64, event func(*bytes.Buffer, int)) (events int, err error) {
	f, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	block := new(bytes.Buffer)
	for written := int64(0); written < size; events++ {
		block.Reset()
		event(block, events)
		n, err := w.Write(block.Bytes())
		if err != nil {
			return 0, err
		}
		written += int64(n)
	}
	return events, w.Flush()
}

// buildGCToolkit builds the program that times com.microsoft.gctoolkit, with Maven and a
// JDK of 17 or later, and returns its command without the file.
func buildGCToolkit(dir string) ([]string, error) {
	source, jars := filepath.Join("dev", "bench", "gctoolkit"), filepath.Join(dir, "classpath")
	if err := runQuietly("mvn", "-q", "-B", "-f", source, "dependency:build-classpath", "-Dmdep.outputFile="+jars); err != nil {
		return nil, err
	}
	list, err := os.ReadFile(jars)
	if err != nil {
		return nil, err
	}
	classpath, classes := strings.TrimSpace(string(list)), filepath.Join(dir, "gctoolkit")
	if err := runQuietly("javac", "-d", classes, "-cp", classpath, filepath.Join(source, "Main.java")); err != nil {
		return nil, err
	}
	return []string{"java", "-cp", classes + ":" + classpath, "bench.Main"}, nil
}

// runQuietly runs a command and shows its output only if it fails.
func runQuietly(name string, args ...string) error {
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, strings.TrimSpace(string(out)))
	}
	return nil
}

// gctoolkit is the running program, which reads one log for each command.
type gctoolkit struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func startGCToolkit(command []string, path string) (*gctoolkit, error) {
	g := &gctoolkit{cmd: exec.Command(command[0], append(command[1:], path)...)}
	in, err := g.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := g.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	g.in, g.out = in, bufio.NewReader(out)
	return g, g.cmd.Start()
}

// suspendProcess stops the process until the next measurement: its compilers and collectors go on
// after its answer, on a CPU that is being measured.
func (g *gctoolkit) suspendProcess() error { return g.cmd.Process.Signal(syscall.SIGSTOP) }

// measureRead returns the CPU time of one reading, s.
func (g *gctoolkit) measureRead() (seconds float64, err error) {
	if err := g.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		return 0, err
	}
	if _, err := fmt.Fprintln(g.in); err != nil {
		return 0, err
	}
	for {
		line, err := g.out.ReadString('\n')
		if err != nil {
			return 0, fmt.Errorf("gctoolkit said nothing: %w", err)
		}
		var wall, sum float64
		var pauses int
		if n, _ := fmt.Sscan(line, &seconds, &wall, &pauses, &sum); n != 4 {
			continue
		}
		if pauses == 0 {
			return 0, fmt.Errorf("gctoolkit found no pause")
		}
		return seconds, nil
	}
}

func (g *gctoolkit) stop() {
	g.in.Close()
	_ = g.cmd.Process.Signal(syscall.SIGCONT)
	_ = g.cmd.Wait()
}
