package linux_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/diagnose/check/linux"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/all"
	"github.com/unstall/unstall/internal/format/procfs"
)

// The recorded hosts: what is supported of them, with and without their /proc.
func TestRecorded(t *testing.T) {
	const seen, measured = "trace.out.gz", "procfs.txtar.gz"
	for _, c := range []struct {
		dir   string
		files []string
		want  map[string]string
	}{
		{"linux.cpu-saturation/sick", []string{seen}, map[string]string{linux.CPUSaturation.ID: check.Supported, linux.NoisyNeighbour.ID: check.Inconclusive}},
		{"linux.cpu-saturation/sick", []string{seen, measured}, map[string]string{linux.CPUSaturation.ID: check.Supported, linux.NoisyNeighbour.ID: check.Supported, linux.PageFaults.ID: check.RuledOut}},
		{"linux.cpu-saturation/healthy", []string{measured, seen}, map[string]string{linux.CPUSaturation.ID: check.RuledOut, linux.NoisyNeighbour.ID: check.RuledOut, linux.PageFaults.ID: check.RuledOut}},
		{"linux.noisy-neighbour/sick", []string{measured, seen}, map[string]string{linux.CPUSaturation.ID: check.Supported, linux.NoisyNeighbour.ID: check.Supported}},
		{"linux.noisy-neighbour/healthy", []string{seen, measured}, map[string]string{linux.CPUSaturation.ID: check.RuledOut, linux.NoisyNeighbour.ID: check.RuledOut}},
		{"linux.cpu-throttled/sick", []string{seen, measured}, map[string]string{linux.CPUThrottled.ID: check.Supported, linux.CPUSaturation.ID: check.RuledOut, linux.NoisyNeighbour.ID: check.RuledOut}},
		{"linux.cpu-throttled/healthy", []string{seen, measured}, map[string]string{linux.CPUThrottled.ID: check.RuledOut, linux.CPUSaturation.ID: check.RuledOut, linux.NoisyNeighbour.ID: check.RuledOut}},
		{"linux.page-faults/sick", []string{seen, measured}, map[string]string{linux.CPUSaturation.ID: check.RuledOut, linux.PageFaults.ID: check.Supported}},
		{"linux.page-faults/healthy", []string{seen, measured}, map[string]string{linux.CPUSaturation.ID: check.RuledOut, linux.PageFaults.ID: check.RuledOut}},
	} {
		t.Run(c.dir+" "+strings.Join(c.files, " "), func(t *testing.T) {
			b := incident.NewBundle()
			for _, f := range c.files {
				name := filepath.Join("../testdata", c.dir, f)
				if err := format.Read(context.Background(), all.Formats, format.File(name), b); err != nil {
					t.Fatal(err)
				}
			}
			d, err := diagnose.Run(context.Background(), b, diagnose.Options{})
			if err != nil {
				t.Fatal(err)
			}
			processes := 0
			for _, x := range d.Targets {
				if x.Kind == "process" {
					processes++
				}
			}
			if processes != 1 {
				t.Errorf("targets are %+v", d.Targets)
			}
			for _, v := range d.Verdicts {
				if want, ok := c.want[v.Cause]; ok && v.Verdict != want {
					t.Errorf("%s is %s (%s), want %s", v.Cause, v.Verdict, v.Summary, want)
				}
				if v.Verdict == check.Supported && c.want[v.Cause] != check.Supported {
					t.Errorf("%s is supported", v.Cause)
				}
			}
			if len(d.Warnings) > 0 {
				t.Errorf("warned %v", d.Warnings)
			}
		})
	}
}

// What users are told to run writes what is read.
func TestRecordRuns(t *testing.T) {
	if _, err := os.Stat("/proc/stat"); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	script := strings.NewReplacer("PID", fmt.Sprint(os.Getpid()), "seq 40", "seq 3", ".25", ".05", "/proc/[0-9]*/stat", "/proc/1/stat").Replace(linux.Record)
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	b := incident.NewBundle()
	a := format.File(filepath.Join(dir, "host.txt"))
	if err := format.Read(context.Background(), []format.Format{procfs.Format}, a, b); err != nil {
		r, _ := a.Reader()
		text, _ := io.ReadAll(r)
		t.Fatalf("%v: %.500s", err, text)
	}
	if b.SeriesOf(-1, "host.cpu.busy") == nil || b.SeriesOf(1, "process.cpu") == nil || b.Subjects[1].PID != os.Getpid() {
		t.Errorf("read %+v", b.Subjects)
	}
	for _, w := range b.Warnings {
		t.Errorf("warned %+v", w)
	}
}
