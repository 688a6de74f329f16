package all_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// made is a small input made up in a format's own text, with what is to be said of it and what not.
type made struct {
	files     map[string]string
	supported []string // these causes
	open      []string // these are left open
	ruledOut  []string
	never     []string // these are not supported
	says      []string // some title, summary, fix, need or figure has these words
	silent    []string // nothing that is advised or said of a supported cause has these
}

// hold diagnoses a made-up input.
func (m made) hold(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	var files []string
	for name, text := range m.files {
		files = append(files, filepath.Join(dir, name))
		if err := os.WriteFile(files[len(files)-1], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d := diagnosed(t, files...)
	figured(t, d)
	for _, wrong := range d.Contradictions() {
		t.Error(wrong)
	}
	state, words, advised := make(map[string]string), "", ""
	for _, v := range d.Verdicts {
		state[v.Cause] = v.Verdict
		text := saidOf(v)
		words += text
		if v.Verdict == check.Supported {
			advised += text
		}
	}
	for want, ids := range map[string][]string{check.Supported: m.supported, check.Inconclusive: m.open, check.RuledOut: m.ruledOut} {
		for _, id := range ids {
			if state[id] != want {
				t.Errorf("%s is %q, want %q", id, state[id], want)
			}
		}
	}
	for _, id := range m.never {
		if state[id] == check.Supported {
			t.Errorf("%s is supported", id)
		}
	}
	for _, want := range m.says {
		if !strings.Contains(words, want) {
			t.Errorf("nothing says %q", want)
		}
	}
	for _, not := range m.silent {
		if strings.Contains(advised, not) {
			t.Errorf("a supported cause says %q", not)
		}
	}
	if t.Failed() {
		for _, v := range d.Verdicts {
			t.Logf("%s %s: %s", v.Verdict, v.Cause, v.Summary)
		}
	}
}

// saidOf is all that is said of a verdict.
func saidOf(v diagnose.Verdict) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s: %s\n  %s\n", v.Verdict, v.Cause, v.Title, v.Summary)
	for _, e := range v.Evidence {
		fmt.Fprintf(&b, "  %s\n", e.Text)
	}
	for _, f := range v.Fix {
		fmt.Fprintf(&b, "  fix: %s %s %s\n", f.Text, f.Setting, f.Code)
	}
	for _, n := range v.Needs {
		fmt.Fprintf(&b, "  need: %s %s\n", n.What, n.Command)
	}
	return b.String()
}

func holdAll(t *testing.T, all map[string]made) {
	t.Helper()
	for name, m := range all {
		t.Run(name, m.hold)
	}
}

// TestForcedCyclesHaveAHome wants cycles of Go that the program asks for named, whatever the collector itself does.
func TestForcedCyclesHaveAHome(t *testing.T) {
	holdAll(t, map[string]made{
		"twice a second":       {files: map[string]string{"gctrace.log": forcedLines(100, .5, 4)}, supported: []string{"go.forced-gc"}, never: []string{"go.gc-rate"}, says: []string{"requests a GC cycle"}},
		"once in ten seconds":  {files: map[string]string{"gctrace.log": forcedLines(60, 10, 4)}, ruledOut: []string{"go.forced-gc"}},
		"three cycles":         {files: map[string]string{"gctrace.log": forcedLines(3, .5, 4)}, open: []string{"go.forced-gc"}},
		"none":                 {files: map[string]string{"gctrace.log": strings.ReplaceAll(forcedLines(60, 2, 4), " (forced)", "")}, ruledOut: []string{"go.forced-gc"}},
		"between those of GC":  {files: map[string]string{"gctrace.log": mixedCycles(120)}, supported: []string{"go.forced-gc"}},
		"of a log with prefix": {files: map[string]string{"app.log": prefixed("Nov 27 10:00:00 web-1 app[77]: ", forcedLines(100, .5, 2))}, supported: []string{"go.forced-gc"}},
	})
}

// forcedLines are cycles that the program asks for, of 150 ms.
func forcedLines(n int, step float64, procs int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "gc %d @%.3fs 5%%: 0.08+150+0.01 ms clock, 0.2+0/250/0+0.05 ms cpu, 300->301->300 MB, 600 MB goal, 0 MB stacks, 0 MB globals, %d P (forced)\n", i+40, 100+float64(i)*step, procs)
	}
	return b.String()
}

// mixedCycles are cycles of which two of three are asked for.
func mixedCycles(n int) string {
	lines := strings.SplitAfter(forcedLines(n, .6, 4), "\n")
	for i := range lines {
		if i%3 == 0 {
			lines[i] = strings.ReplaceAll(lines[i], " (forced)", "")
		}
	}
	return strings.Join(lines, "")
}

func prefixed(prefix, text string) string {
	return prefix + strings.TrimSuffix(strings.ReplaceAll(text, "\n", "\n"+prefix), prefix)
}
