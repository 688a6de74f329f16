// Package demo compares the diagnosis of the recorded incident with its known answers, and the reports
// in documents with the program's output.
package demo

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/base/goldentest"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/all"
	"github.com/unstall/unstall/internal/present/text"
)

// TestReports compares the reports in documents with the diagnoses of the
// recordings named before them: <!-- report of FOLDER -->.
func TestReports(t *testing.T) {
	for _, name := range []string{"README.md", "docs/report.md"} {
		t.Run(name, func(t *testing.T) { reports(t, filepath.Join("../..", name)) })
	}
}

func reports(t *testing.T, document string) {
	old, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	const marker, fence = "<!-- report of ", "```\n"
	parts := strings.Split(string(old), marker)
	if len(parts) != 2 {
		t.Fatalf("%d reports, want one", len(parts)-1)
	}
	for i, p := range parts[1:] {
		folder, rest, _ := strings.Cut(p, " -->\n")
		_, rest, opened := strings.Cut(rest, fence)
		_, rest, closed := strings.Cut(rest, fence)
		if !opened || !closed {
			t.Fatalf("no report after the name of %s", folder)
		}
		parts[i+1] = folder + " -->\n" + fence + shortened(t, folder) + fence + rest
	}
	now := strings.Join(parts, marker)
	if *goldentest.Update {
		if err := os.WriteFile(document, []byte(now), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := cmp.Diff(strings.Split(string(old), "\n"), strings.Split(now, "\n")); d != "" {
		t.Errorf("%s shows another report than the demo; if the new one is right: %s\n%s", document, goldentest.Command(), d)
	}
}

// TestKnownAnswers checks that the sick recording has this cause and no other, and the fixed one none.
func TestKnownAnswers(t *testing.T) {
	for folder, want := range map[string][]string{"sick": {"go.gc-rate"}, "fixed": nil} {
		var got []string
		for _, v := range diagnosis(t, "lab/go-ballast/recorded/"+folder).Verdicts {
			if v.Verdict == check.Supported {
				got = append(got, v.Cause)
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", folder, d)
		}
	}
}

// diagnosis diagnoses a recording as `make demo` does, from inside its folder and
// without the file that only the recorder knows.
func diagnosis(t *testing.T, folder string) *diagnose.Diagnosis {
	t.Helper()
	folder = filepath.Join("../..", folder)
	files, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	b := incident.NewBundle()
	for _, f := range files {
		if f.Name() == "truth.json" {
			continue
		}
		a := format.File(filepath.Join(folder, f.Name()))
		a.Name = f.Name()
		if err := format.Read(context.Background(), all.Formats, a, b); err != nil {
			t.Fatal(err)
		}
	}
	d, err := diagnose.Run(context.Background(), b, diagnose.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// shortened returns a recording's report up to the first two causes ruled out.
func shortened(t *testing.T, folder string) string {
	t.Helper()
	var out bytes.Buffer
	if err := (text.Options{Width: 80}).Report(&out, diagnosis(t, folder)); err != nil {
		t.Fatal(err)
	}
	before, after, ok := strings.Cut(out.String(), "RULED OUT")
	if !ok {
		return before
	}
	lines := strings.SplitAfterN(after, "\n", 3)
	return before + "RULED OUT" + strings.Join(lines[:2], "") + strings.Repeat(" ", 11) + "…\n"
}
