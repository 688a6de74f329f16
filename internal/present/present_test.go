package present

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/unstall/unstall/internal/base/goldentest"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/present/text"
)

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *goldentest.Update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s differs; if the new one is right: %s, then look at README.md and docs/gallery (internal/present/README.md)\n%s", path, goldentest.Command(), d)
	}
}

func TestGolden(t *testing.T) {
	forms := map[string]Reporter{
		".txt":       text.Options{}.Report,
		".ascii.txt": text.Options{Width: 60, ASCII: true}.Report,
		".color.txt": text.Options{Color: true}.Report,
		".json":      Forms[1].Report,
		".md":        Forms[2].Report,
		".sarif":     Forms[4].Report,
		".xml":       Forms[5].Report,
	}
	for name, diagnosis := range diagnoses {
		for extension, report := range forms {
			if (extension == ".color.txt" || extension == ".sarif" || extension == ".xml") && name != "two-causes" {
				continue
			}
			t.Run(name+extension, func(t *testing.T) {
				d := diagnosis()
				var b bytes.Buffer
				if err := report(&b, d); err != nil {
					t.Fatal(err)
				}
				golden(t, name+extension, b.Bytes())
				if diff := cmp.Diff(diagnosis(), d, cmp.Comparer(sameFloat), cmpopts.IgnoreUnexported(diagnose.Diagnosis{}, diagnose.Verdict{})); diff != "" {
					t.Errorf("the report changed the diagnosis:\n%s", diff)
				}
			})
		}
	}
}

func sameFloat(a, b float64) bool { return a == b || a != a && b != b }

// What was logged must not reach the terminal as a command, and lines fit.
func TestTextIsSafe(t *testing.T) {
	for name, diagnosis := range diagnoses {
		for _, o := range []text.Options{{}, {ASCII: true}, {Width: 40}, {Width: 110}} {
			var b bytes.Buffer
			if err := o.Report(&b, diagnosis()); err != nil {
				t.Fatal(err)
			}
			if strings.ContainsAny(b.String(), "\x1b\t\r") {
				t.Errorf("%s: control characters in %q", name, b.String())
			}
			for line := range strings.Lines(b.String()) {
				line = strings.TrimSuffix(line, "\n")
				if o.ASCII && utf8.RuneCountInString(line) != len(line) {
					t.Errorf("%s: not ASCII: %q", name, line)
				}
				if o.Width == 0 && utf8.RuneCountInString(line) > 80 && !strings.Contains(line, "-XX:") && !strings.Contains(line, "curl") {
					t.Errorf("%s: %d columns: %q", name, utf8.RuneCountInString(line), line)
				}
			}
		}
	}
}

// The JSON form reads back as the same diagnosis, has every key of the struct,
// and no list in it is null.
func TestJSON(t *testing.T) {
	for name, diagnosis := range diagnoses {
		var b bytes.Buffer
		if err := Forms[1].Report(&b, diagnosis()); err != nil {
			t.Fatal(err)
		}
		for _, list := range []string{"targets", "coverage", "ledger", "verdicts", "warnings", "sources", "evidence", "needs", "fix", "prediction", "formats", "envelopes"} {
			if strings.Contains(b.String(), `"`+list+`": null`) {
				t.Errorf("%s: %s is null", name, list)
			}
		}
		var got diagnose.Diagnosis
		if err := json.Unmarshal(b.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		var again bytes.Buffer
		if err := Forms[1].Report(&again, &got); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(b.String(), again.String()); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func TestChoose(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"", "", "text"}, {"json", "", "json"}, {"json", "x.md", "json"}, {"", "x.md", "markdown"}, {"", "dir.d/report", "text"},
		{"", "x.JSON", "json"}, {"", "x.txt", "text"}, {"", "x.html", "html"}, {"html", "x.md", "html"}, {"yaml", "", ""}, {"", "x.pdf", ""},
	} {
		f, err := Choose(c.name, c.file, Look{})
		if f.Name != c.want || (err == nil) != (c.want != "") {
			t.Errorf("--format %q -o %q: %q, %v; want %q", c.name, c.file, f.Name, err, c.want)
		}
	}
}

func TestColor(t *testing.T) {
	for color, want := range map[string]bool{"auto": false, "always": true, "never": false} {
		f, err := Choose("text", "", Look{Color: color})
		if err != nil {
			t.Fatal(err)
		}
		var diagnosis, artifacts bytes.Buffer
		if err := errors.Join(f.Report(&diagnosis, sick()), f.Inspect(&artifacts, inspected())); err != nil {
			t.Fatal(err)
		}
		for _, b := range []*bytes.Buffer{&diagnosis, &artifacts} {
			if strings.Contains(b.String(), "\x1b[") != want {
				t.Errorf("--color %s: colours are %v: %q", color, !want, b)
			}
		}
	}
}
