package main

import (
	"bytes"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unstall/unstall/load"
	"github.com/unstall/unstall/predict"
)

var update = flag.Bool("update", false, "write the golden files anew")

// testdata/rows holds rows of real runs, of some settings.
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
			return forecast{cycles: 8.5, collector: .42, peak: 135 << 20, rss: 154 << 20, p99: predict.Exactly(21)}
		case s.Times == 1.2:
			return forecast{math.NaN(), math.NaN(), math.NaN(), math.NaN(), predict.Unknown, "too little memory"}
		}
		return forecast{cycles: 2, collector: .1, peak: 300 << 20, rss: 350 << 20, p99: predict.Exactly(6)}
	}
	g := compareAll(rows[0].Rate, settings, rows, said)
	var got bytes.Buffer
	p := Plan{Start: time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC), Host: "Linux 6.1, 2 processors, amd64", Go: "go1.26.8", Processors: 2, Seed: 7}
	if err := render(&got, p, []grid{g}); err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "table.md")
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got.String()); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

func TestSummaryTellsTheWorst(t *testing.T) {
	one := func(name string, said, was float64) compared {
		return compared{setting: Setting{Name: name}, said: forecast{cycles: said}, cycles: was}
	}
	g := grid{settings: []compared{one(calibration, 50, 1), one("a", 1.1, 1), one("b", .6, 1), one("c", 1.2, 1), one("d", math.NaN(), 1)}}
	median, worst, where, n := metrics[0].summary(g)
	if math.Abs(median-.2) > 1e-9 || math.Abs(worst+.4) > 1e-9 || where != "b" || n != 3 {
		t.Errorf("median %g, worst %g at %s, of %d", median, worst, where, n)
	}
}

func TestRunsOnASlowHostAreLeftOut(t *testing.T) {
	run := func(cpu, p99 float64) Row {
		return Row{CPU: cpu, Achieved: 1000, Offered: 1000, Cycles: 1, Stretches: []float64{p99, p99}}
	}
	c := measured(Setting{}, []Row{run(1, 5), run(1.5, 50), run(1.1, 7)}, forecast{})
	if c.runs != 2 || c.left != 1 || c.p99 != 6 || c.behind {
		t.Errorf("%+v", c)
	}
	late := run(1, 900)
	late.Achieved = 900
	if c := measured(Setting{}, []Row{late}, forecast{p99: predict.Exactly(20)}); !c.behind || !math.IsNaN(metrics[4].off(c)) {
		t.Errorf("%+v", c)
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
		if d := cmp.Diff(tt.want, stretches(rows, 0, 8*time.Second, tt.cycles)); d != "" {
			t.Errorf("%g cycles/s: %s", tt.cycles, d)
		}
	}
}

func TestSettings(t *testing.T) {
	const mib = 1 << 20
	all := settings(70*mib, 15*mib)
	if len(all) != 14 || all[0].Name != calibration {
		t.Fatalf("%d settings, the first is %v", len(all), all[0])
	}
	// 2 × 70 + 15 = 155 MiB, of which the runtime keeps 3 % back.
	if got := limit(70*mib, 15*mib, 2); got != 160 {
		t.Errorf("limit %d MiB", got)
	}
	seen := map[string]bool{}
	for _, s := range all {
		if seen[s.Name] {
			t.Errorf("two are called %s", s.Name)
		}
		seen[s.Name] = true
		env := strings.Join(s.env(), " ")
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
		err := command(t.Context(), strings.Fields(args))
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
