//go:build linux

package lab

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/format"
)

const fakeService = `package main

import (
	"flag"
	"net/http"

	"github.com/unstall/unstall/lab/service"
)

func main() {
	s := service.New()
	garbage := flag.Int("garbage", 0, "")
	flag.Parse()
	s.Handle("/", func(w http.ResponseWriter, r *http.Request) {
		p := make([]byte, *garbage+1)
		w.Write(p[:1])
	})
	s.Run()
}
`

// TestRun runs a whole lab, with a service that is built outside of the repository.
func TestRun(t *testing.T) {
	outside(t)
	sizes := Sizes{Blocks: 6, Record: time.Second, Load: Storm{Peak: 200, Spike: 20, Base: 50 * time.Millisecond, For: 300 * time.Millisecond,
		SLO: time.Second, Warm: 100 * time.Millisecond, Hold: 100 * time.Millisecond}}
	l := &Lab{
		Name: "fake", Path: "/", Quick: sizes, Sick: "sick", Fixed: "fixed",
		Headers: []string{"Authorization: Bearer x"},
		Runtime: Go{Sources: fstest.MapFS{"program/main.go": {Data: []byte(fakeService)}}},
		Variants: []Variant{
			{Name: "sick", Program: "program", Args: []string{"-garbage=100000"}, Compared: true, Expected: Expected{NoneOf: []string{"go.gc-rate"}}},
			{Name: "fixed", Program: "program", Compared: true, Expected: Expected{First: "go.gc-rate"}},
			{Name: "advised", Program: "program", Env: []string{setting}, Predicted: true},
		},
	}
	var said []string
	keep := t.TempDir()
	o, err := Run(t.Context(), l, Options{Quick: true, Keep: keep, Progress: func(text string) { said = append(said, text) }})
	if err != nil {
		t.Fatalf("%v, after:\n%s", err, strings.Join(said, "\n"))
	}
	if len(o.Variants) != 2 || o.Variants[0].Diagnosis == nil || o.Variants[1].OK || o.Pass {
		t.Errorf("variants: %+v, pass %v: want two that were diagnosed, and the second not as expected", o.Variants, o.Pass)
	}
	if len(o.Runs) != 2*sizes.Blocks {
		t.Errorf("%d runs, want %d", len(o.Runs), 2*sizes.Blocks)
	}
	for _, r := range o.Runs {
		if r.Metrics["p99_ms"] <= 0 || r.Metrics["cpu_cores"] < 0 || r.Achieved <= 0 || r.Start.IsZero() {
			t.Errorf("run: %+v", r)
		}
	}
	if len(o.Comparisons) != 1 || o.Comparisons[0].Before != "sick" || o.Comparisons[0].After != "fixed" || o.Comparisons[0].Pairs != sizes.Blocks {
		t.Errorf("comparisons: %+v", o.Comparisons)
	}
	if len(o.Warnings) == 0 || !strings.Contains(strings.Join(o.Warnings, "\n"), "advised no setting") {
		t.Errorf("warnings %q: nothing says why advised was not measured", o.Warnings)
	}
	for _, v := range o.Variants {
		if info, err := os.Stat(v.Capture); err != nil || info.Size() == 0 || filepath.Dir(v.Capture) != keep {
			t.Errorf("%s: capture %q: %v", v.Name, v.Capture, err)
		}
	}
}

// outside lets services be built in a cache that ends with the test.
func outside(t *testing.T) {
	t.Helper()
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Skip("there is no Go toolchain on PATH to build the service with")
	}
	t.Setenv("GOCACHE", strings.TrimSpace(string(cache)))
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
}

// TestRunRising runs a rising load: one variant uses the service of another at part of its rate, and one is
// started for its diagnosis alone, with a dependency that has a monitor.
func TestRunRising(t *testing.T) {
	outside(t)
	sizes := Sizes{Blocks: 1, Record: 1200 * time.Millisecond, Load: Rising{Base: 20, Peak: 100, Warm: 50 * time.Millisecond, Before: 50 * time.Millisecond,
		Ramp: 50 * time.Millisecond, For: 200 * time.Millisecond, SLO: time.Second, Patience: 2 * time.Second}}
	l := &Lab{
		Name: "rising", Path: "/", Quick: sizes, Sick: "sick", Fixed: "fixed",
		Runtime: Go{Sources: fstest.MapFS{"program/main.go": {Data: []byte(fakeService)}}},
		Variants: []Variant{
			{Name: "sick", Program: "program", Compared: true},
			{Name: "half", Program: "program", Of: "sick", Part: .5},
			{Name: "fixed", Program: "program", Compared: true},
			{Name: "alone", Program: "program", Rate: 50, Dependency: []string{"-monitor={monitor}"}},
			{Name: "long", Program: "program", Long: true},
		},
	}
	keep := t.TempDir()
	o, err := Run(t.Context(), l, Options{Quick: true, Keep: keep, Progress: func(text string) { t.Log(text) }})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, v := range o.Variants {
		names = append(names, v.Name)
		if v.Served == nil || v.Served.Sent == 0 || v.Served.Slow == nil || v.Served.P99Ms <= 0 {
			t.Errorf("%s: what clients got: %+v", v.Name, v.Served)
		}
	}
	if got := strings.Join(names, " "); got != "sick half fixed alone" {
		t.Errorf("diagnosed %s", got)
	}
	if sick, half := o.Result("sick"), o.Result("half"); sick.Served.Sent < half.Served.Sent {
		t.Errorf("%d requests for all, %d for the half", sick.Served.Sent, half.Served.Sent)
	}
	if len(o.Runs) != 2 || o.Runs[0].Metrics["mean_ms"] <= 0 {
		t.Errorf("runs: %+v", o.Runs)
	}
	c, err := capture.Open(filepath.Join(keep, "rising-alone.unstall"))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(c.Artifacts(), func(a *format.Artifact) bool { return a.Name == "alone.dependency.csv" }) {
		t.Errorf("its capture lacks what the dependency's monitor says: %v", c.Artifacts())
	}
}
