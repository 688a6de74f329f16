package all_test

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/diagnose/check/all"
	"github.com/unstall/unstall/internal/present"
	"github.com/unstall/unstall/internal/present/text"
)

// One more cause is its file and its line in Causes: whatever it says, all reports show, and
// what it rules out stands where its step says.
func TestOneMoreCause(t *testing.T) {
	another := check.Check{ID: "service.moon-phase", Title: "the moon is full", Step: check.StepTraffic,
		Applies: func(*check.Case) bool { return true },
		Judge: func(c *check.Case) check.Verdict {
			return check.Verdict{Rule: check.Matters, Weight: 1e9, Title: "The moon is full.",
				Evidence: []check.Evidence{check.FigureOfOption("test.illuminated_share", "illuminated", .99, "1", "--moon")},
				Needs:    []check.Need{{What: "a look out of the window", Command: "unstall record PID --window"}},
				Fix:      []check.Fix{{Text: "wait", Setting: "MOON=new"}}}
		}}
	known := all.Causes
	defer func() { all.Causes = known }()
	all.Causes = append(slices.Clone(known), another)
	d := diagnosis(t, filepath.Join(fixtures, "go.gc-rate", "healthy"))
	for _, form := range present.Forms {
		var b bytes.Buffer
		if err := form.Report(&b, d); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"service.moon-phase", "The moon is full", "illuminated", "--moon", "MOON=new"} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s does not say %q", form.Name, want)
			}
		}
	}
	another.Judge = func(*check.Case) check.Verdict { return check.Verdict{Rule: check.TooLittle, Summary: "new moon"} }
	all.Causes = append(slices.Clone(known), another)
	var b bytes.Buffer
	if err := (text.Options{Verbose: true}).Report(&b, diagnosis(t, filepath.Join(fixtures, "go.gc-rate", "healthy"))); err != nil {
		t.Fatal(err)
	}
	said := b.String()
	// After the first answer about locks, before a second one about processors.
	at := strings.Index(said, "service.moon-phase")
	if at < strings.Index(said, "go.lock-contention") || at > strings.Index(said, "linux.cpu-throttled") {
		t.Errorf("it stands where nobody asks for it:\n%s", said)
	}
}
