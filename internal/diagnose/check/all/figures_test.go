package all_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// corpus is a folder of recorded evidence beside the repository: a folder for each kind.
const corpus = "../../../../../shared/corpus"

// Figures that nobody measured: what becomes of NaN, infinity and numbers out of range in
// print, and in what can be typed sizes that are negative or nothing.
var (
	impossible = regexp.MustCompile(`NaN|[+-]?\bInf\b|9223372036854775|1844674407370955|\d[eE]\+\d`)
	untypable  = regexp.MustCompile(`-Xm[nsx]-|[=:x]-\d|(^|[ =:])-\d|(^|[^.\d])0+(\.0+)? ?([kKmMgGtT]?i?B|[kmgtKMGT])\b|-Xm[nsx]0+\b|=0+(\.0+)?(\s|$)|make\(\[\]byte, 0`)
)

// figured holds that nothing which is said has a figure that nobody measured.
func figured(t *testing.T, d *diagnose.Diagnosis) {
	t.Helper()
	for _, v := range d.Verdicts {
		said := []string{v.Title, v.Summary}
		for _, e := range v.Evidence {
			said = append(said, e.Text)
		}
		for _, n := range v.Needs {
			said = append(said, n.What)
		}
		for _, f := range v.Fix {
			said = append(said, f.Text)
			for _, s := range []string{f.Text, f.Setting, f.Code} {
				if impossible.MatchString(s) || untypable.MatchString(s) {
					t.Errorf("%s advises %q", v.Cause, s)
				}
			}
		}
		for _, s := range said {
			if impossible.MatchString(s) {
				t.Errorf("%s says %q", v.Cause, s)
			}
		}
		for _, e := range v.Evidence {
			identified(t, v.Cause, e)
		}
		within(t, v.Cause, v.Evidence)
		for _, p := range v.Prediction {
			if p.Fix != nil && (*p.Fix < 0 || *p.Fix >= len(v.Fix)) || p.Fix == nil && len(v.Fix) > 0 && p.ID != "heap.full_in_s" {
				t.Errorf("%s predicts %s of fix %v, of %d", v.Cause, p.Metric, p.Fix, len(v.Fix))
			}
			identified(t, v.Cause, check.Evidence{ID: p.ID, Text: p.Metric, Value: p.Now, Unit: p.Unit})
			foretold(t, v.Cause, p)
		}
	}
}

// identified holds that a figure is known by an id of the closed list, which says its unit.
func identified(t *testing.T, by string, e check.Evidence) {
	t.Helper()
	if e.ID == "" && e.Value == nil {
		return
	}
	list, err := os.ReadFile("../../../../docs/figures.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(list), "| `"+e.ID+"` |") {
		t.Errorf("%s has a figure %q with the id %q, which docs/figures.md does not list: go test ./dev/docs -update", by, e.Text, e.ID)
	}
	if want := check.UnitOf(e.ID); e.Unit != want && !(want == "count" && (e.Unit == "1" && ratios[e.ID] || e.Unit == "" || e.Unit == "threads")) {
		t.Errorf("%s has a figure %q with the id %s in %q: by its end it is in %q", by, e.Text, e.ID, e.Unit, want)
	}
}

// ratios are figures of unit 1 whose ids do not end with "_share"; a count below 1 would be printed as per cent.
var ratios = map[string]bool{"heap.goal_by_live": true, "syscall.mean_by_median": true, "requests.own_part": true, "gc.permanent_used": true}

// partOf are figures that are part of another one of the same verdict.
var partOf = map[string]string{"host.other_cpus": "host.others_cpus"}

// within holds that no figure is above the one that it is a part of.
func within(t *testing.T, by string, evidence []check.Evidence) {
	t.Helper()
	values := make(map[string]float64)
	for _, e := range evidence {
		if e.Value != nil {
			values[e.ID] = *e.Value
		}
	}
	for part, whole := range partOf {
		p, ok := values[part]
		if w, both := values[whole]; ok && both && p > w {
			t.Errorf("%s: %s is %v, and all of it, %s, %v", by, part, p, whole, w)
		}
	}
}

// foretold holds that a prediction is of numbers that there can be: no metric is below 0.
func foretold(t *testing.T, id string, p check.Prediction) {
	t.Helper()
	for name, x := range map[string]*float64{"now": p.Now, "then": p.Then, "low": p.Low, "high": p.High} {
		if x != nil && (math.IsNaN(*x) || math.IsInf(*x, 0) || *x < 0 || *x > 1e15) {
			t.Errorf("%s predicts %s of %s: %v", id, name, p.Metric, *x)
		}
	}
	if p.Low != nil && p.High != nil && *p.Low > *p.High {
		t.Errorf("%s predicts %s from %v to %v", id, p.Metric, *p.Low, *p.High)
	}
}

// TestFiguresOfCorpus asks it of what other people's programs wrote.
func TestFiguresOfCorpus(t *testing.T) {
	if _, err := os.Stat(corpus); err != nil {
		t.Skipf("no corpus beside the checkout: %v", err)
	}
	for _, folder := range []string{"gclog", "go", "nettrace", "review"} {
		files, err := os.ReadDir(filepath.Join(corpus, folder))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if f.Name() != "EXPECTED.json" {
				t.Run(f.Name(), func(t *testing.T) { figured(t, diagnosed(t, filepath.Join(corpus, folder, f.Name()))) })
			}
		}
	}
}

// Logs that tell less than a setting needs: of some pauses no young generation, of none how
// many processors there are.
func TestFiguresOfLessThanAll(t *testing.T) {
	const (
		jdk8   = "Java HotSpot(TM) 64-Bit Server VM (25.101-b13) for linux-amd64 JRE (1.8.0_101-b13), built on Jun 22 2016 02:59:44 by \"java_re\" with gcc 4.3.0\n"
		failed = "%d.000: [Full GC (Allocation Failure) %[1]d.000: [CMS (concurrent mode failure): 3800000K->3700000K(4000000K), 5.0000000 secs] 4500000K->3700000K(4600000K), 5.0000000 secs] [Times: user=5.00 sys=0.00, real=5.00 secs]\n"
		young  = "%d.000: [GC (Allocation Failure) %[1]d.000: [ParNew: 540000K->60000K(600000K), 0.0300000 secs] 4000000K->3600000K(4600000K), 0.0300000 secs] [Times: user=0.38 sys=0.00, real=0.03 secs]\n"
		slow   = "%d.000: [GC (Allocation Failure) %[1]d.000: [ParNew: 540000K->60000K(600000K), 0.9000000 secs] 4000000K->3600000K(4600000K), 0.9000000 secs] [Times: user=0.03 sys=0.00, real=0.90 secs]\n"
	)
	for name, c := range map[string]struct {
		lines   []string
		id      string
		setting string // of the first fix that has one
	}{
		"no young generation": {[]string{failed}, "jvm.cms-concurrent-mode-failure", "-Xmx7813m"},
		"of some pauses":      {[]string{young, failed}, "jvm.cms-concurrent-mode-failure", "-Xmx7813m"},
		"no processors":       {[]string{young, slow}, "jvm.gc-cpu-starved", ""},
	} {
		text := jdk8
		for i := range 12 {
			text += fmt.Sprintf(c.lines[i%len(c.lines)], 100+10*i)
		}
		file := filepath.Join(t.TempDir(), "gc.log")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		d := diagnosed(t, file)
		figured(t, d)
		for _, v := range d.Verdicts {
			if v.Cause != c.id {
				continue
			}
			setting := ""
			for _, f := range v.Fix {
				if setting = f.Setting; setting != "" {
					break
				}
			}
			if v.Verdict != check.Supported || setting != c.setting {
				t.Errorf("%s: %s is %s with %q, want %q", name, v.Cause, v.Verdict, setting, c.setting)
			}
		}
	}
}

// What looks like a figure that nobody measured, and what does not.
func TestFigured(t *testing.T) {
	for _, s := range []string{"-Xmx-9223372036854775808m", "-Xmx0m", "-Xmn0g", "-XX:ParallelGCThreads=0", "-XX:ParallelGCThreads=-1", "GOGC=-3", "GOMEMLIMIT=0MiB", "GOMAXPROCS=NaN", "+Inf MiB", "1.2e+10 bytes", "a heap of 0 MiB", "make([]byte, 0<<20)"} {
		if !impossible.MatchString(s) && !untypable.MatchString(s) {
			t.Errorf("%q was let through", s)
		}
	}
	for _, s := range []string{"-Xmx600m -XX:MaxGCPauseMillis=400", "GOGC=100 GOMEMLIMIT=20MiB", "JDK 8 before 8u191", "0.5 MiB", "-XX:-G1UseAdaptiveIHOP", "100 MiB", "10g", "Information"} {
		if impossible.MatchString(s) || untypable.MatchString(s) {
			t.Errorf("%q was not let through", s)
		}
	}
}
