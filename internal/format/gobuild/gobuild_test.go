package gobuild

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

var suite = formattest.Suite{Format: Format, Name: "build.txt", Render: render, Match: heads, Certain: true,
	Hold: func(t testing.TB, b *evidence.Bundle, err error) {
		if (err == nil) != (len(b.Subjects) > 0) {
			t.Errorf("%d programs and error %v", len(b.Subjects), err)
		}
		for _, f := range b.Facts {
			if len(f.Value) > maxValue {
				t.Errorf("fact %+v", f)
			}
		}
	}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func render(b *evidence.Bundle, err error) string {
	var w strings.Builder
	if err != nil {
		fmt.Fprintf(&w, "error %v\n", err)
	}
	for i, s := range b.Subjects {
		fmt.Fprintf(&w, "subject %d %q runtime %s version %s\n", i, s.Name, s.Runtime, s.Version)
	}
	for _, f := range b.Facts {
		fmt.Fprintf(&w, "fact s%d %s %q %g @%d\n", f.Subject, f.Key, f.Value, f.Number, f.Origin.Position())
	}
	for _, t := range b.Tables {
		fmt.Fprintf(&w, "table %s: %s\n", t.Title, strings.Join(t.Columns, " | "))
		for _, r := range t.Rows {
			fmt.Fprintf(&w, "  %s\n", strings.Join(r, " | "))
		}
	}
	for _, x := range b.Warnings {
		fmt.Fprintf(&w, "warning @%d ×%d: %s\n", x.Origin.Position(), x.Count, x.Text)
	}
	return w.String()
}

// TestGoCommand reads what the go command prints of this test.
func TestGoCommand(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "version", "-m", exe).Output()
	if err != nil {
		t.Skip("no go command: ", err)
	}
	b, err := suite.Read(out)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if len(b.Subjects) != 1 || !strings.HasPrefix(string(out), exe+": "+b.Subjects[0].Version) || b.Subjects[0].Name != filepath.Base(exe) {
		t.Errorf("%+v of\n%s", b.Subjects, out)
	}
	if f, ok := b.Fact(0, "GOARCH"); !ok || f.Value == "" {
		t.Errorf("no GOARCH in\n%s", out)
	}
	if len(b.Warnings) > 0 {
		t.Error(b.Warnings)
	}
}

var heads = map[string]format.Confidence{
	"/usr/bin/gateway: go1.26.8\n\tpath\texample.com/gateway\n":                  format.Sure,
	"gateway: devel go1.27-1a2b3c Thu Nov 5 10:00:00 2026 +0000\r\n\tmod\tx\r\n": format.Sure,
	"a: b: go1.13\n\tdep\tx\tv1\n":                                               format.Sure,
	"/usr/bin/gateway: go1.26.8\n":                                               format.No,
	"/usr/bin/gateway: go1.26.8\nlistening on :80\n":                             format.No,
	"error: gone\n\tpath\tx\n":                                                   format.No,
	"gc 1 @0.1s 0%: 1+1+1 ms clock\n\tpath\tx\n":                                 format.No,
	"x: go1.2\n\t=>\tx\n":                                                        format.No,
	": go1.2\n\tpath\tx\n":                                                       format.No,
	"\n":                                                                         format.No,
}

func TestBounds(t *testing.T) {
	var w strings.Builder
	for range maxPrograms + 10 {
		w.WriteString("x: go1.26.8\n")
		for i := range maxSettings + 1 {
			fmt.Fprintf(&w, "\tbuild\tk%d=v\n", i)
		}
	}
	b, err := suite.Read([]byte(w.String()))
	if err != nil {
		t.Fatal(err)
	}
	if len(b.Subjects) != maxPrograms || len(b.Facts) != maxPrograms*maxSettings || len(b.Warnings) != 1 {
		t.Errorf("%d subjects, %d facts, warned %v", len(b.Subjects), len(b.Facts), b.Warnings)
	}
}

func BenchmarkParse(b *testing.B) {
	var w strings.Builder
	w.WriteString("/usr/bin/x: go1.26.8\n\tpath\tx\n")
	for i := range 1000 {
		fmt.Fprintf(&w, "\tdep\texample.com/m%d\tv1.2.3\th1:SVDGt7EsoRrdhB9mlBQSYkW84TtDoCRqMyzsXPWyjD4=\n", i)
	}
	data := []byte(w.String())
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := suite.Read(data); err != nil {
			b.Fatal(err)
		}
	}
}
