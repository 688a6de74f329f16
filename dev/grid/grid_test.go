package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unstall/unstall/internal/analyze/model"
	"github.com/unstall/unstall/internal/analyze/model/goheap"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/goldentest"
	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/collect/load"
)

// TestTable uses rows of real runs of some settings, in testdata/rows.
func TestTable(t *testing.T) {
	rows, err := readRows(filepath.Join("testdata", "rows"))
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) < 9 {
		t.Fatalf("%d rows", len(rows))
	}
	var settings []Setting
	for _, r := range rows {
		if r.Repetition == 1 && r.Rate == rows[0].Rate {
			settings = append(settings, r.Setting)
		}
	}
	said := func(s Setting) forecast {
		switch {
		case s.Name == calibration:
			return forecast{cycles: model.Exactly(8.5), collector: model.Exactly(.42), process: model.Exactly(1.2), peak: model.Exactly(135 << 20), rss: model.Exactly(154 << 20), p99: model.Exactly(21)}
		case s.Times == 1.2:
			return noForecast("too little memory")
		}
		return forecast{cycles: model.Between(2, 1.8, 2.2), collector: model.Exactly(.1), process: model.Between(.6, .5, .7), peak: model.Exactly(300 << 20), rss: model.Between(350<<20, 340<<20, 360<<20), p99: model.Between(6, 4, 9)}
	}
	g := compareAll(rows[0].Rate, settings, rows, said)
	var got bytes.Buffer
	p := Plan{Start: time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC), Host: "Linux 6.1, 2 processors, amd64", Go: "go1.26.8", Processors: 2, Seed: 7}
	if err := writePage(&got, p, []grid{g}); err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "table.md")
	if *goldentest.Update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got.String()); d != "" {
		t.Errorf("%s differs; if the new one is right: %s\n%s", golden, goldentest.Command(), d)
	}
}

func TestSummaryTellsTheWorst(t *testing.T) {
	one := func(name string, said, was float64) compared {
		return compared{setting: Setting{Name: name}, said: forecast{cycles: model.Exactly(said)}, cycles: was}
	}
	g := grid{settings: []compared{one(calibration, 50, 1), one("a", 1.1, 1), one("b", .6, 1), one("c", 1.2, 1), one("d", math.NaN(), 1)}}
	median, worst, where, n := g.summarizeErrors(gridMetrics[0].relativeError)
	if math.Abs(median-.2) > 1e-9 || math.Abs(worst+.4) > 1e-9 || where != "b" || n != 3 {
		t.Errorf("median %g, worst %g at %s, of %d", median, worst, where, n)
	}
	// Now is 50 where it was 1: a is said to become 1.1/50 of it.
	if got := gridMetrics[0].changeError(g.settings[1], g.calibrationRow()); math.Abs(got-(1.1/50-1)) > 1e-9 {
		t.Errorf("the change is %g off", got)
	}
}

func TestRangesAreCounted(t *testing.T) {
	one := func(low, high, was float64) compared {
		return compared{setting: Setting{Name: "a"}, said: forecast{p99: model.Between(5, low, high)}, p99: was}
	}
	nan := math.NaN()
	fell := one(4, 6, 5)
	fell.behind = true
	in, all := p99.countRanges([]compared{one(4, 6, 5), one(4, 6, 7), one(nan, 6, 5), one(nan, 6, 7), one(4, nan, 5), one(nan, nan, 5), fell, {setting: Setting{Name: calibration}, said: forecast{p99: model.Between(1, 1, 1)}, p99: 1}})
	if in != 3 || all != 6 {
		t.Errorf("%d of %d ranges hold, want 3 of 6", in, all)
	}
	for want, c := range map[string]compared{"4.0–6.0": one(4, 6, 5), "4.0–6.0 (missed)": one(4, 6, 7), "≤ 6.0": one(nan, 6, 5), "≥ 4.0": one(4, nan, 9), "–": one(nan, nan, 5)} {
		if got := p99.rangeOf(c); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestOnlyOthersOnTheHostLeaveARunOut(t *testing.T) {
	run := func(others, p99 float64) Row {
		return Row{CPU: p99, Others: others, Achieved: 1000, Offered: 1000, Cycles: 1, Stretches: []float64{p99, p99}}
	}
	for _, tt := range []struct {
		name       string
		runs       []Row
		runs2, out int
		p99        float64
	}{
		{"a slow one counts", []Row{run(0, 5), run(.05, 50), run(0, 7)}, 3, 0, 7},
		{"a disturbed one of three does not", []Row{run(0, 5), run(.2, 50), run(0, 7)}, 2, 1, 6},
		{"the less disturbed one of two stays with the good one", []Row{run(.3, 50), run(.2, 9), run(0, 7)}, 2, 1, 8},
		{"two are not fewer", []Row{run(.3, 9), run(.2, 7)}, 2, 0, 8},
	} {
		c := compareRuns(Setting{}, tt.runs, forecast{})
		if c.runs != tt.runs2 || c.left != tt.out || c.p99 != tt.p99 || c.behind {
			t.Errorf("%s: %+v", tt.name, c)
		}
	}
	late := run(0, 900)
	late.Achieved = 900
	if c := compareRuns(Setting{}, []Row{late}, forecast{p99: model.Exactly(20)}); !c.behind || !math.IsNaN(p99.relativeError(c)) {
		t.Errorf("%+v", c)
	}
	few := run(0, 3)
	few.Cycles = 0
	if c := compareRuns(Setting{}, []Row{few}, forecast{}); !math.IsNaN(c.cycles) || c.p99 != 3 {
		t.Errorf("a run without two cycles: %+v", c)
	}
}

func TestJobs(t *testing.T) {
	m := &measurer{options: options{dir: t.TempDir(), rates: []float64{100, 50}, reps: 3, lasts: 5 * time.Second, most: 12 * time.Second},
		plan: Plan{Live: 50 << 20, Alloc: 1 << 20, Settings: gridSettings(50<<20, 10<<20), Seed: 4}}
	jobs := m.allJobs()
	seen := map[job]bool{}
	for _, j := range jobs {
		seen[j] = true
	}
	if len(jobs) != 3*2*15 || len(seen) != len(jobs) {
		t.Fatalf("%d jobs, %d of them different", len(jobs), len(seen))
	}
	for i, j := range jobs {
		if want := 1 + i/30; j.rep != want {
			t.Fatalf("run %d belongs to repetition %d, want %d: all loads have to take turns", i, j.rep, want)
		}
	}
	if again := m.allJobs(); !slices.Equal(again, jobs) {
		t.Error("another order, so that a cut measurement cannot go on")
	}
	// 50 MiB of headroom at 50 MiB/s are a second, a ballast of 1 GiB takes twenty.
	for name, want := range map[string]time.Duration{"GOGC=50": 5 * time.Second, "GOGC=400": 12 * time.Second, "ballast 1024 MiB": 12 * time.Second} {
		i := slices.IndexFunc(m.plan.Settings, func(s Setting) bool { return s.Name == name })
		if got := m.runLength(job{50, 1, i}); got != want {
			t.Errorf("%s lasts %v, want %v", name, got, want)
		}
	}
	for _, j := range jobs[:40] {
		if err := os.WriteFile(m.jobFile(j), []byte("{}"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if todo, all := m.missingJobs(); all != 90 || !slices.Equal(todo, jobs[40:]) {
		t.Errorf("%d of %d are to be made", len(todo), all)
	}
	m.reps = 1
	if todo, _ := m.missingJobs(); len(todo) != 0 {
		t.Errorf("%d are to be made of a repetition that is complete", len(todo))
	}
}

func TestTheUsualRecordingComesFirst(t *testing.T) {
	of := func(p99 int64) *calibrated {
		k := &calibrated{latencies: &goheap.Latencies{}}
		k.latencies.Fit.P99.Observed = p99
		return k
	}
	refused := &calibrated{unused: "no"}
	models := []*calibrated{refused, of(9), of(5), of(7)}
	putMedianFirst(models)
	if got := models[0].latencies; got == nil || got.Fit.P99.Observed != 7 || models[3] != refused {
		t.Errorf("%+v", models)
	}
	putMedianFirst(models[3:])
}

func TestChoose(t *testing.T) {
	all := gridSettings(50<<20, 10<<20)
	got, err := chooseSettings(all, []string{"GOGC=400"})
	if err != nil || len(got) != 2 || got[0].Name != calibration || got[1].Name != "GOGC=400" {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := chooseSettings(all, []string{"GOGC=401"}); err == nil || !strings.Contains(err.Error(), `no "GOGC=401", there are GOGC=100,`) {
		t.Errorf("%v", err)
	}
}

func TestStretches(t *testing.T) {
	var rows []load.Row
	for i := range 8000 { // 1 ms apart; of each second the last twentieth takes its number in ms
		latency := int64(1e5)
		if i%1000 >= 950 {
			latency = int64(i/1000+1) * 1e6
		}
		rows = append(rows, load.Row{Intended: int64(i) * 1e6, End: int64(i)*1e6 + latency})
	}
	for _, tt := range []struct {
		cycles float64
		want   []float64
	}{{8, []float64{1, 2, 3, 4, 5, 6, 7, 8}}, {1, []float64{4, 8}}, {.1, []float64{7}}, {0, []float64{1, 2, 3, 4, 5, 6, 7, 8}}} {
		if d := cmp.Diff(tt.want, stretchP99s(rows, 0, 8*time.Second, tt.cycles)); d != "" {
			t.Errorf("%g cycles/s: %s", tt.cycles, d)
		}
	}
}

func TestSettings(t *testing.T) {
	const mib = 1 << 20
	all := gridSettings(70*mib, 15*mib)
	if len(all) != 14 || all[0].Name != calibration {
		t.Fatalf("%d settings, the first is %v", len(all), all[0])
	}
	// 2 × 70 + 15 = 155 MiB, of which the runtime keeps 3 % back.
	if got := memoryLimit(70*mib, 15*mib, 2); got != 160 {
		t.Errorf("limit %d MiB", got)
	}
	seen := map[string]bool{}
	for _, s := range all {
		if seen[s.Name] {
			t.Errorf("two are called %s", s.Name)
		}
		seen[s.Name] = true
		env := strings.Join(s.processEnv(), " ")
		if (s.Limit > 0) != strings.Contains(env, "GOGC=off") || s.Limit == 0 && !strings.Contains(env, "GOMEMLIMIT=off") {
			t.Errorf("%s: %s", s.Name, env)
		}
	}
}

func TestNonheap(t *testing.T) {
	got, err := nonheapOf(strings.NewReader("heap profile: 1: 2 [3: 4] @ heap/1048576\n# runtime.MemStats\n# Alloc = 5\n# Sys = 100\n# HeapAlloc = 50\n# HeapIdle = 20\n# PauseNs = [1 2 3]\n"))
	if err != nil || got != 30 {
		t.Errorf("%g, %v", got, err)
	}
	if _, err := nonheapOf(strings.NewReader("# Sys = 100\n")); err == nil {
		t.Error("figures of nothing")
	}
}

func TestCommandSaysWhatIsWrong(t *testing.T) {
	for args, want := range map[string]string{
		"":                            "give measure or table",
		"draw":                        "give measure or table",
		"measure -rates fast":         `"fast" is no rate`,
		"table -dir testdata/nothing": "measure first",
	} {
		err := runCommand(t.Context(), strings.Fields(args))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", args, err, want)
		}
	}
}

func TestCyclesAreWholeOnes(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	const line = " 0%: 0.05+40+0.05 ms clock, 0.1+10/20/30+0.1 ms cpu, 120->135->70 MB, 140 MB goal, 0 MB stacks, 0 MB globals, 2 P\n"
	var text strings.Builder
	for n, at := range []string{"1.000", "1.500", "2.000", "3.000"} {
		text.WriteString("gc " + string(rune('1'+n)) + " @" + at + "s" + line)
	}
	if err := os.WriteFile(log, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	var r Row
	if err := r.readCycles(t.Context(), log); err != nil {
		t.Fatal(err)
	}
	near := func(got, want float64) bool { return math.Abs(got-want) < 1e-6*want }
	if r.Counted != 4 || !near(r.Cycles, 1.5) || !near(r.Assist, .015) || !near(r.Background, .03) || !near(r.Idle, .045) || r.Peak != 135<<20 || r.Live != 70<<20 {
		t.Errorf("%+v", r)
	}
}

// TestCalibrateOnACapture reads a recording as a diagnosis does, and predicts everything from it.
func TestCalibrateOnACapture(t *testing.T) {
	packed, err := os.Open("../../internal/diagnose/check/testdata/go.gc-rate/sick/trace.out.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	trace, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "rate1-rep1.unstall")
	w, err := capture.Create(file, capture.Info{})
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.Open("../../internal/diagnose/check/testdata/go.gc-rate/sick/gctrace.log")
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	for _, name := range []string{"gctrace.log", "trace.out"} {
		from := io.Reader(log)
		if name == "trace.out" {
			from = trace
		}
		a, err := w.Create(capture.Meta{Name: name, About: evidence.Subject{Kind: evidence.Process, PID: 7}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(a, from); err != nil {
			t.Fatal(err)
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	k, err := calibrateModels(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	if k.latencies == nil {
		t.Fatal(k.unused)
	}
	if f := k.forecastSetting(Setting{GOGC: 400}); !f.p99.Ranged() || !f.cycles.Ranged() || f.p99.Value >= float64(k.latencies.Fit.P99.Observed)/1e6 {
		t.Errorf("%+v", f)
	}
}
