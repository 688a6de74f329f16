package all_test

import (
	"bytes"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/present/html"
	"github.com/unstall/unstall/internal/present/markdown"
	"github.com/unstall/unstall/internal/present/reporttest"
	"github.com/unstall/unstall/internal/present/text"
)

// screen is how many lines a report has at most on a terminal of 80 columns.
const screen = 45

// TestReportsOfFixtures holds what is said of every recording to the rules by which it is written, and to a screen.
func TestReportsOfFixtures(t *testing.T) {
	dirs, err := filepath.Glob(filepath.Join(fixtures, "*", "*"))
	if err != nil || len(dirs) == 0 {
		t.Fatalf("%d fixtures: %v", len(dirs), err)
	}
	labs, err := filepath.Glob("../../../../lab/*/recorded/*")
	if err != nil || len(labs) == 0 {
		t.Fatalf("%d recordings of labs: %v", len(labs), err)
	}
	for _, dir := range append(dirs, labs...) {
		t.Run(filepath.Base(filepath.Dir(dir))+"/"+filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			d := diagnosis(t, dir)
			for _, w := range written(t, d) {
				t.Error(w)
			}
			short := terminal(t, d, text.Options{})
			if n := strings.Count(short, "\n"); n > screen {
				t.Errorf("%d lines, at most %d fit a screen:\n%s", n, screen, short)
			}
			holds(t, d, short)
		})
	}
}

// written is what is wrong with a diagnosis in all forms for people.
func written(t *testing.T, d *diagnose.Diagnosis) []string {
	t.Helper()
	wrong := append(append(reporttest.Sentences(d), reporttest.Twice(d)...), reporttest.Shares(d)...)
	for _, o := range []text.Options{{}, {Verbose: true}} {
		screen := terminal(t, d, o)
		wrong = append(append(wrong, reporttest.Terminal(screen)...), reporttest.Alike(screen)...)
	}
	var md, page bytes.Buffer
	if err := markdown.Report(&md, d); err != nil {
		t.Fatal(err)
	}
	if err := html.Report(&page, d); err != nil {
		t.Fatal(err)
	}
	wrong = append(wrong, reporttest.Markdown(md.String())...)
	return append(wrong, reporttest.HTML(page.String())...)
}

func terminal(t *testing.T, d *diagnose.Diagnosis, o text.Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := o.Report(&b, d); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// ofSlow is the share of slow time that a title ends its first sentence with.
var ofSlow = regexp.MustCompile(`: (\d[\d.]* %) of slow time(?:\.|$| passes | is own work\.?)`)

// module is the assembly before a function's name, which a headline leaves out.
var module = regexp.MustCompile(`[\w.-]+!`)

// holds demands what no report leaves out, however short: which causes there are, the proof of the first, what to change
// and what that does, and the routes.
func holds(t *testing.T, d *diagnose.Diagnosis, short string) {
	t.Helper()
	words := strings.Join(strings.Fields(short), " ")
	want := func(what, s string) {
		s = strings.Join(strings.Fields(s), " ")
		if !strings.Contains(words, s) && !strings.Contains(words, module.ReplaceAllString(s, "")) {
			t.Errorf("%s is missing: %q", what, s)
		}
	}
	first := true
	for _, v := range d.Verdicts {
		if v.Verdict != check.Supported {
			continue
		}
		want("a cause", v.Cause)
		if !first {
			continue
		}
		first = false
		for part := range strings.SplitSeq(strings.TrimSuffix(ofSlow.ReplaceAllString(v.Title, ".\n"), "."), "\n") { // the share is told before it
			want("what is wrong", strings.Trim(part, ". "))
		}
		if share := ofSlow.FindStringSubmatch(v.Title); share != nil && !strings.Contains(words, share[0]) { // the title has it where what it saves is not known
			want("its share", " of the slow time") // of two shares that are alike the one that mending it saves
		}
		if len(v.Evidence) > 0 {
			want("the proof", "WHY")
		}
		if len(v.Fix) > 0 {
			want("the fix", v.Fix[0].Setting)
			want("the fix", v.Fix[0].Text)
		}
		for _, p := range v.Prediction {
			if p.Fix == nil || *p.Fix == 0 {
				want("what the fix does", p.Metric+" ")
			}
		}
	}
	if len(d.Routes) > 1 {
		want("the routes", "ROUTES")
	}
}
