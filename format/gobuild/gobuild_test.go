package gobuild

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/format"
)

var update = flag.Bool("update", false, "write the golden files")

func read(data []byte) (*evidence.Bundle, error) {
	b := evidence.NewBundle()
	err := format.Read(context.Background(), []format.Format{Format}, artifact(data), b)
	return b, err
}

func artifact(data []byte) *format.Artifact {
	return &format.Artifact{Name: "build.txt", Size: int64(len(data)), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(data)), nil
	}}
}

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

func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no golden files", err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			got := render(read(a.Files[0].Data))
			if *update {
				a.Files = append(a.Files[:1], txtar.File{Name: "want", Data: []byte(got)})
				if err := os.WriteFile(name, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if len(a.Files) != 2 {
				t.Fatal("no outcome: run with -update")
			}
			if d := cmp.Diff(string(a.Files[1].Data), got); d != "" {
				t.Error(d)
			}
		})
	}
}

// What the go command itself prints of a program is read: of this test.
func TestGoCommand(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "version", "-m", exe).Output()
	if err != nil {
		t.Skip("no go command: ", err)
	}
	b, err := read(out)
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

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		text string
		want format.Confidence
	}{
		{"/usr/bin/gateway: go1.26.8\n\tpath\texample.com/gateway\n", format.Sure},
		{"gateway: devel go1.27-1a2b3c Thu Nov 5 10:00:00 2026 +0000\r\n\tmod\tx\r\n", format.Sure},
		{"a: b: go1.13\n\tdep\tx\tv1\n", format.Sure},
		{"/usr/bin/gateway: go1.26.8\n", format.No},
		{"/usr/bin/gateway: go1.26.8\nlistening on :80\n", format.No},
		{"error: gone\n\tpath\tx\n", format.No},
		{"gc 1 @0.1s 0%: 1+1+1 ms clock\n\tpath\tx\n", format.No},
		{"x: go1.2\n\t=>\tx\n", format.No},
		{": go1.2\n\tpath\tx\n", format.No},
		{"\n", format.No},
	} {
		if got := match([]byte(c.text)); got != c.want {
			t.Errorf("%q: %v", c.text, got)
		}
	}
}

func TestBounds(t *testing.T) {
	var w strings.Builder
	for range maxPrograms + 10 {
		w.WriteString("x: go1.26.8\n")
		for i := range maxSettings + 1 {
			fmt.Fprintf(&w, "\tbuild\tk%d=v\n", i)
		}
	}
	b, err := read([]byte(w.String()))
	if err != nil {
		t.Fatal(err)
	}
	if len(b.Subjects) != maxPrograms || len(b.Facts) != maxPrograms*maxSettings || len(b.Warnings) != 1 {
		t.Errorf("%d subjects, %d facts, warned %v", len(b.Subjects), len(b.Facts), b.Warnings)
	}
}

func FuzzParse(f *testing.F) {
	golden, _ := filepath.Glob("testdata/*.txtar")
	for _, name := range golden {
		if a, err := txtar.ParseFile(name); err == nil {
			f.Add(a.Files[0].Data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		b := evidence.NewBundle()
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "build.txt"}), "gobuild")
		err := Format.Parse(context.Background(), artifact(data), p)
		p.Close()
		if (err == nil) != (len(b.Subjects) > 0) {
			t.Fatalf("%d programs and error %v", len(b.Subjects), err)
		}
		if match(data) == format.Sure && err != nil {
			t.Fatalf("claimed, but %v", err)
		}
		for _, f := range b.Facts {
			if f.Key == "" || len(f.Value) > maxValue {
				t.Fatalf("fact %+v", f)
			}
		}
	})
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
		if _, err := read(data); err != nil {
			b.Fatal(err)
		}
	}
}
