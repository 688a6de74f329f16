package accesslog

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/format"
)

var update = flag.Bool("update", false, "rewrite what testdata expects")

// TestGolden reads the first file of each archive and compares what came of it
// with the second.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no test data", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(file)
			if err != nil || len(ar.Files) == 0 {
				t.Fatal("not an archive", err)
			}
			got := describe(t, ar.Files[0].Data)
			if *update {
				ar.Files = []txtar.File{ar.Files[0], {Name: "want", Data: []byte(got)}}
				if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if len(ar.Files) < 2 {
				t.Fatal("nothing is expected: run with -update and read the result")
			}
			if want := string(ar.Files[1].Data); got != want {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

func artifact(name string, data []byte) *format.Artifact {
	return &format.Artifact{Name: name, Size: int64(len(data)), Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }}
}

func read(t testing.TB, data []byte) (*evidence.Bundle, error) {
	t.Helper()
	b := evidence.NewBundle()
	return b, format.Read(t.Context(), []format.Format{Format}, artifact("access.log", data), b)
}

func mustRead(t testing.TB, data []byte) *evidence.Bundle {
	t.Helper()
	b, err := read(t, data)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// describe prints all a log yields.
func describe(t *testing.T, data []byte) string {
	var out strings.Builder
	fmt.Fprintf(&out, "match %s\n", map[format.Confidence]string{format.No: "no", format.Maybe: "maybe", format.Sure: "sure"}[match(data)])
	b, err := read(t, data)
	if err != nil {
		fmt.Fprintf(&out, "error %v\n", err)
		return out.String()
	}
	for _, c := range b.Clocks {
		fmt.Fprintf(&out, "clock %s resolution %v stamp %s\n", c.Name, time.Duration(c.Resolution), stampName(c.Stamp))
	}
	for i := range b.Requests.Len() {
		q := b.Requests.Row(i)
		fmt.Fprintf(&out, "%s + %v %s %q line %d", clock(q.Start), time.Duration(q.End-q.Start), q.Outcome, b.Names.Text(q.Route), q.Origin.Position())
		var sum int64
		for s := range q.Path.All {
			fmt.Fprintf(&out, " · %s %v", s.Kind, time.Duration(s.Dur))
			if s.Cause != 0 {
				fmt.Fprintf(&out, " %s", b.Names.Text(s.Cause))
			}
			sum += s.Dur
		}
		if q.Path != nil && sum != q.End-q.Start {
			t.Errorf("line %d: states sum to %d of %d ns", q.Origin.Position(), sum, q.End-q.Start)
		}
		out.WriteByte('\n')
	}
	for _, c := range b.Coverage {
		fmt.Fprintf(&out, "coverage %s %s to %s lost %d\n", c.Kind, clock(c.From), clock(c.Until), c.Lost)
	}
	for _, s := range b.Series {
		fmt.Fprintf(&out, "series %s %v\n", s.Name, s.V)
	}
	for _, w := range b.Warnings {
		fmt.Fprintf(&out, "warning %s: %s\n", b.OriginText(w.Origin), w.Text)
	}
	for _, a := range b.Artifacts {
		if a.Tail {
			fmt.Fprintf(&out, "cut\n")
		}
	}
	for _, table := range b.Tables {
		fmt.Fprintf(&out, "table %s: %s\n", table.Title, strings.Join(table.Columns, " | "))
		for _, r := range table.Rows {
			fmt.Fprintf(&out, "  %s\n", strings.Join(r, " | "))
		}
	}
	return out.String()
}
