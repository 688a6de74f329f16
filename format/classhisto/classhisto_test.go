package classhisto

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/format"
)

var update = flag.Bool("update", false, "write the golden files")

func artifact(data []byte) *format.Artifact {
	return &format.Artifact{Name: "histo.txt", Size: int64(len(data)), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(data)), nil
	}}
}

func render(data []byte) string {
	var w strings.Builder
	b := evidence.NewBundle()
	if err := format.Read(context.Background(), []format.Format{Format}, artifact(data), b); err != nil {
		fmt.Fprintf(&w, "error %v\n", err)
	}
	for _, c := range b.Coverage {
		fmt.Fprintf(&w, "covered %s at %d @%d\n", c.Kind, c.From, c.Origin.Position())
	}
	x := &b.Samples
	for i := range x.Len() {
		fmt.Fprintf(&w, "@%d %s %s %d %s\n", x.Origin[i].Position(), b.Names.Text(x.Class[i]), b.Names.Text(x.Type[i]), x.Value[i], b.Names.Text(x.Unit[i]))
	}
	for _, t := range b.Tables {
		fmt.Fprintf(&w, "%s %v\n", t.Title, t.Columns)
		for _, r := range t.Rows {
			fmt.Fprintln(&w, r)
		}
	}
	for _, x := range b.Warnings {
		fmt.Fprintf(&w, "warning @%d: %s\n", x.Origin.Position(), x.Text)
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
			got := render(a.Files[0].Data)
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

func TestReadable(t *testing.T) {
	for in, want := range map[string]string{"[B": "byte[]", "[[I": "int[][]", "[Ljava.lang.String;": "java.lang.String[]", "java.lang.Class": "java.lang.Class", "<methodKlass>": "<methodKlass>",
		"shop.Shop$$Lambda/0x000000004e044c30": "shop.Shop$$Lambda", "shop.Shop$$Lambda$14/0x1": "shop.Shop$$Lambda", "[": "[]", "": "", "java.lang.invoke.LambdaForm$MH/0x0001": "java.lang.invoke.LambdaForm$MH"} {
		if got := Readable(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestBounds(t *testing.T) {
	var w bytes.Buffer
	for range maxKept + 1 {
		w.WriteString(" num #instances #bytes class name\n-----\n 1: 5 80 a.B\n")
	}
	for i := range maxClasses {
		fmt.Fprintf(&w, " %d: 1 16 a.C%d\n", i+2, i)
	}
	b := evidence.NewBundle()
	if err := format.Read(context.Background(), []format.Format{Format}, artifact(w.Bytes()), b); err != nil || len(b.Coverage) != maxKept || len(b.Warnings) != 2 {
		t.Errorf("%v, %d histograms, %v", err, len(b.Coverage), b.Warnings)
	}
}

// A recorded histogram is of when it came.
func TestWhen(t *testing.T) {
	a := artifact([]byte(" num #instances #bytes class name\n-----\n 1: 5 80 a.B\nTotal 5 80\n"))
	a.Modified, a.About = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC).UnixNano(), evidence.Subject{PID: 4711}
	b := evidence.NewBundle()
	if err := format.Read(context.Background(), []format.Format{Format}, a, b); err != nil || b.Samples.Time[0] != a.Modified || b.Subjects[0].PID != 4711 || !b.Clocks[0].Anchored() {
		t.Errorf("%v, %v of %v", err, b.Samples.Time, b.Subjects)
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
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "histo.txt"}), "classhisto")
		err := Format.Parse(context.Background(), artifact(data), p)
		p.Close()
		if (err == nil) != (b.Samples.Len() > 0) {
			t.Fatalf("%d samples and error %v", b.Samples.Len(), err)
		}
	})
}
