package gauges

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"math"
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
	return &format.Artifact{Name: "gauges", Size: int64(len(data)), Modified: 1_700_000_000e9, Open: func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(data)), nil
	}}
}

func read(data []byte) (*evidence.Bundle, error) {
	b := evidence.NewBundle()
	err := format.Read(context.Background(), []format.Format{Format, Log}, artifact(data), b)
	return b, err
}

func render(b *evidence.Bundle, err error) string {
	var w strings.Builder
	if err != nil {
		fmt.Fprintf(&w, "error %v\n", err)
	}
	for _, a := range b.Artifacts {
		fmt.Fprintf(&w, "artifact %v cut %v\n", a.Formats, a.Tail)
	}
	for i, s := range b.Subjects {
		fmt.Fprintf(&w, "subject %d %s %q %s cpus %d\n", i, s.Kind, s.Name, s.Runtime, s.CPUs)
	}
	for _, s := range b.Series {
		fmt.Fprintf(&w, "%d %s %s @%d:", s.Subject, s.Name, s.Unit, s.Origin.Position())
		for i := range s.T {
			fmt.Fprintf(&w, " %.6g@%s", s.V[i], time.Unix(0, s.T[i]).UTC().Format("15:04:05.999"))
		}
		w.WriteString("\n")
	}
	for _, f := range b.Facts {
		fmt.Fprintf(&w, "%d fact %s %.6g (%s)\n", f.Subject, f.Key, f.Number, f.Value)
	}
	for _, c := range b.Coverage {
		fmt.Fprintf(&w, "covered %s %v, every %v\n", c.Kind, time.Duration(c.Until-c.From), time.Duration(c.Sampled))
	}
	for _, t := range b.Tables {
		fmt.Fprintf(&w, "table %s: %s\n", t.Title, strings.Join(t.Columns, " | "))
		for _, r := range t.Rows {
			fmt.Fprintf(&w, "  %s\n", strings.Join(r, " | "))
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

func TestMatch(t *testing.T) {
	for text, want := range map[string]bool{
		"time,active,max,waiting\n":                                                  true,
		"Timestamp;Pool Name;Num Active;Num Idle;Max Total\r\n":                      true,
		`{"ts":1700000000,"active":7,"max":10}`:                                      true,
		`[{"time":"2026-11-21T14:02:00Z","dependency":"db","count":3,"avg_ms":0.3}]`: true,
		"# HELP x\nhikaricp_connections_active{pool=\"db\"} 7\n":                     true,
		"time,count,mean_ms\n":                                                       true,
		"time,path,count,mean_ms,status\n":                                           false,
		`{"time":"x","active":true,"max":1,"msg":"a log line"}`:                      false,
		"go_goroutines 7\n":                                                          false,
		"active\n":                                                                   false,
		"":                                                                           false,
		`{"time":1,"active":7,"max":`:                                                false,
	} {
		if got := Format.Match([]byte(text)) == format.Sure; got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestInstant(t *testing.T) {
	want := time.Date(2026, 11, 21, 14, 2, 0, 0, time.UTC).UnixNano()
	for _, text := range []string{"2026-11-21T14:02:00Z", "2026-11-21 14:02:00", "2026-11-21 15:02:00.000+01", "2026-11-21T14:02:00.000+0000", "2026/11/21 14:02:00", "2026-11-21 14:02:00,000",
		fmt.Sprint(want / 1e9), fmt.Sprint(want / 1e6), fmt.Sprint(want / 1e3), fmt.Sprint(want), fmt.Sprintf("%d.000", want/1e9), "Sat, 21 Nov 2026 14:02:00 GMT", "2026-11-21 14:02"} {
		if got, _, ok := instant(text); !ok || got != want {
			t.Errorf("%q: %v %v", text, time.Unix(0, got).UTC(), ok)
		}
	}
	for _, text := range []string{"", "7", "yesterday", "2026-13-21T14:02:00Z", "-1700000000", "NaN", "9e99"} {
		if got, _, ok := instant(text); ok {
			t.Errorf("%q: %v", text, got)
		}
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
		for _, x := range []format.Format{Format, Log} {
			b := evidence.NewBundle()
			p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "gauges"}), x.Name)
			err := x.Parse(context.Background(), artifact(data), p)
			p.Close()
			if err != nil && len(b.Series) > 0 {
				t.Fatalf("series and an error: %v", err)
			}
			for _, s := range b.Series {
				if len(s.T) != len(s.V) || len(s.T) == 0 {
					t.Fatalf("%q has %d times and %d values", s.Name, len(s.T), len(s.V))
				}
				for i, v := range s.V {
					if math.IsNaN(v) || math.IsInf(v, 0) {
						t.Fatalf("%s is %v", s.Name, v)
					}
					if i > 0 && s.T[i] <= s.T[i-1] {
						t.Fatalf("%s runs backwards", s.Name)
					}
				}
			}
			b.Unify()
			b.Align()
		}
	})
}

func BenchmarkParse(b *testing.B) {
	var w bytes.Buffer
	w.WriteString("time,pool,active,idle,pending,total,max\n")
	for i := range 100_000 {
		fmt.Fprintf(&w, "%d,db,%d,%d,0,10,10\n", 1_700_000_000+i, i%8, 10-i%8)
	}
	b.SetBytes(int64(w.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := read(w.Bytes()); err != nil {
			b.Fatal(err)
		}
	}
}
