//go:build linux

package main

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/jfr"
	"github.com/unstall/unstall/lab/build"
)

//go:embed jfr/*.java
var flightSources embed.FS

// flown is the cost of reading one flight recording.
type flown struct {
	Events  int64   `json:"events"`
	Seconds float64 `json:"seconds"` // wall time, without the program's start
	Peak    int64   `json:"peak_kb"`
	cpu     float64 // s of the whole program
}

// measureFlights measures reading a flight recording of at least so many MB, with all of its
// evidence, in turn with the parser of JDK Mission Control, which reads its events: each in a
// process of its own, by wall time and peak memory.
func measureFlights(dir string, rounds, large int) error {
	ctx := context.Background()
	home, jars, classes, err := findFlightTools(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench: flight recordings not measured:", err)
		return nil
	}
	path := filepath.Join(dir, "flight.jfr")
	if err := recordFlight(ctx, home, classes, path, large); err != nil {
		return err
	}
	st, err := os.Stat(path)
	if err != nil {
		return err
	}
	printHeading(fmt.Sprintf("Flight recording of JDK 21: %.0f MB, each reading in a process of its own", float64(st.Size())/1e6))
	self, err := os.Executable()
	if err != nil {
		return err
	}
	var speed, other, wall, cpu, memory, peak figures
	for range rounds {
		ours, err := runReader(exec.Command(self, "-flight", path))
		if err != nil {
			return err
		}
		theirs, err := runReader(exec.Command(filepath.Join(home, "bin", "java"), "-Xmx6g", "-cp", strings.Join(append(jars, classes), ":"), "Jmc", path))
		if err != nil {
			return err
		}
		speed, other = append(speed, float64(st.Size())/1e6/ours.Seconds), append(other, float64(st.Size())/1e6/theirs.Seconds)
		wall, cpu = append(wall, theirs.Seconds/ours.Seconds), append(cpu, theirs.cpu/ours.cpu)
		memory, peak = append(memory, float64(theirs.Peak)/float64(ours.Peak)), append(peak, float64(ours.Peak)/1024)
		if d := ours.Events - theirs.Events; d < 0 || d > int64(float64(ours.Events)*1e-3) { // events that Mission Control keeps internal are not counted
			fmt.Fprintf(os.Stderr, "bench: %d events, Mission Control says %d\n", ours.Events, theirs.Events)
		}
	}
	printRow("unstall", speed.formatMedian("%.0f")+" MB/s", "", true)
	printRow("Mission Control 9.1.1", other.formatMedian("%.0f")+" MB/s", "", true)
	printGoal("Mission Control", "wall time, times as fast", wall.formatMedian("%.1f"), "≥ 3", wall.median() >= 3)
	printRow("CPU time, times as little", cpu.formatMedian("%.1f"), "", true)
	printRow("peak memory", peak.formatMedian("%.0f")+" MiB", "", true)
	printGoal("Mission Control", "peak memory, times as little", memory.formatMedian("%.1f"), "≥ 3", memory.median() >= 3)
	return nil
}

// findFlightTools returns the home of a JDK 21, the parser of Mission Control, and the classes of the program that is recorded and of the one
// that reads by that parser.
func findFlightTools(ctx context.Context) (home string, jars []string, classes string, err error) {
	say := func(text string) { fmt.Fprintln(os.Stderr, text) }
	if home, err = build.FindJDK(ctx, 21, false, say); err != nil {
		return "", nil, "", err
	}
	jmc, err := build.FindJMC(ctx, true, say)
	if err != nil {
		return "", nil, "", err
	}
	if jars, err = build.Jars(jmc); err != nil {
		return "", nil, "", err
	}
	javac, err := build.FindJavac(ctx, false, say)
	if err != nil {
		return "", nil, "", err
	}
	classes, err = build.Java(ctx, javac, "bench-jfr", flightSources, jars, 11, say)
	return home, jars, classes, err
}

// recordFlight makes a flight recording of at least that many MB with a program that causes all recorded
// events: it runs longer each time until the recording is large enough.
func recordFlight(ctx context.Context, home, classes, path string, large int) error {
	for seconds := 10; ; seconds *= 2 {
		cmd := exec.CommandContext(ctx, filepath.Join(home, "bin", "java"), "-Xmx256m", "-Xlog:jfr*=off", "-XX:StartFlightRecording=settings=profile,maxsize=4g,jdk.ObjectAllocationInNewTLAB#enabled=true,jdk.ObjectAllocationOutsideTLAB#enabled=true,jdk.JavaExceptionThrow#enabled=true,jdk.JavaMonitorEnter#threshold=1ms,filename="+path,
			"-cp", classes, "Busy", strconv.Itoa(seconds))
		if said, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("java: %w: %s", err, said)
		}
		st, err := os.Stat(path)
		if err != nil || st.Size() >= int64(large)*1e6 {
			return err
		}
	}
}

// runReader runs a program that reads a recording and returns its cost.
func runReader(cmd *exec.Cmd) (f flown, err error) {
	cmd.Stderr = os.Stderr
	said, err := cmd.Output()
	if err != nil {
		return f, fmt.Errorf("%s: %w", cmd.Path, err)
	}
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		f.cpu = float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
	}
	return f, json.Unmarshal(said, &f)
}

// readFlight reads one recording and prints the cost (the program calls itself).
func readFlight(path string) error {
	began := time.Now()
	b := incident.NewBundle()
	if err := format.Read(context.Background(), []format.Format{jfr.Format}, format.File(path), b); err != nil {
		return err
	}
	f := flown{Seconds: time.Since(began).Seconds()}
	for _, t := range b.Tables {
		if t.Title == "Flight recording" {
			f.Events, _ = strconv.ParseInt(t.Rows[0][3], 10, 64)
		}
	}
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return err
	}
	f.Peak = u.Maxrss
	return json.NewEncoder(os.Stdout).Encode(f)
}
