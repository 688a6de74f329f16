package present

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/diagnose/check/all"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/present/reporttest"
	"github.com/unstall/unstall/internal/present/text"
)

// recorded are the recordings of causes, sick and healthy.
const recorded = "../diagnose/check/testdata"

func diagnosed(t *testing.T, dir string) *diagnose.Diagnosis {
	t.Helper()
	files, err := os.ReadDir(filepath.Join(recorded, dir))
	if err != nil {
		t.Fatal(err)
	}
	b := incident.NewBundle()
	for _, f := range files {
		if f.Name() == "truth.json" {
			continue
		}
		if err := incident.Read(t.Context(), format.File(filepath.Join(recorded, dir, f.Name())), b); err != nil {
			t.Fatal(err)
		}
	}
	d, err := diagnose.Run(context.Background(), b, diagnose.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestWhy shows decisions of each outcome as a terminal of 80 columns does.
func TestWhy(t *testing.T) {
	for _, x := range []struct{ golden, dir, cause, outcome string }{
		{"why-supported.txt", "go.gc-rate/sick", "go.gc-rate", check.Supported},
		{"why-ruled-out.txt", "go.gc-rate/healthy", "go.gc-rate", check.RuledOut},
		{"why-explained.txt", "linux.cpu-throttled/sick", "linux.cpu-saturation", check.RuledOut},
		{"why-left-open.txt", "go.memory-limit-thrash/healthy", "service.waiting", check.Inconclusive},
		{"why-not-asked.txt", "go.gc-rate/sick", "jvm.full-gc", ""},
	} {
		d := diagnosed(t, x.dir)
		for _, v := range d.Verdicts {
			if v.Cause == x.cause && v.Verdict != x.outcome {
				t.Errorf("%s: %s is %s", x.dir, x.cause, v.Verdict)
			}
		}
		var out bytes.Buffer
		if err := (text.Options{Width: 80}).Why(&out, d, x.cause); err != nil {
			t.Fatal(err)
		}
		golden(t, x.golden, out.Bytes())
		for line := range strings.Lines(out.String()) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 {
				t.Errorf("%s: a line of %d columns: %s", x.golden, n, line)
			}
		}
		for _, wrong := range reporttest.Text(out.String()) {
			t.Errorf("%s: %s", x.golden, wrong)
		}
	}
}

// TestEveryDecisionIsShown checks that each verdict of the recordings names the question that decided, and that the page shows it.
func TestEveryDecisionIsShown(t *testing.T) {
	for _, k := range all.Causes {
		sick, _ := filepath.Glob(filepath.Join(recorded, k.ID, "sick*"))
		if len(sick) == 0 {
			t.Fatalf("%s has no recording", k.ID)
		}
		d := diagnosed(t, filepath.Join(k.ID, filepath.Base(sick[0])))
		for i := range d.Verdicts {
			v := &d.Verdicts[i]
			if v.Decision == nil || v.Decision.Deciding() == "" {
				t.Errorf("%s: nothing says how %s was decided", k.ID, v.Cause)
				continue
			}
			for _, r := range check.Policy {
				if r.Answer == v.Decision.Answer && r.State != v.Verdict {
					t.Errorf("%s: %s is %s, and the policy says %s for %q", k.ID, v.Cause, v.Verdict, r.State, r.Answer)
				}
			}
		}
	}
}
