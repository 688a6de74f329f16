package loadresult

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/format"
)

var update = flag.Bool("update", false, "rewrite the expected results")

func artifact(name string, content []byte) *format.Artifact {
	return &format.Artifact{Name: name, Size: int64(len(content)), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(content)), nil
	}}
}

func read(name string, content []byte) (*evidence.Bundle, error) {
	b := evidence.NewBundle()
	err := format.Read(context.Background(), []format.Format{Format}, artifact(name, content), b)
	return b, err
}

// TestGolden reads each input of testdata/*.txtar and compares what came of it
// with the file's "want".
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d cases, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if len(a.Files) == 1 {
				a.Files = append(a.Files, txtar.File{Name: "want"})
			}
			b, err := read(a.Files[0].Name, a.Files[0].Data)
			got := render(b, err)
			if *update {
				a.Files[1].Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(a.Files[1].Data), got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func render(b *evidence.Bundle, err error) string {
	var s strings.Builder
	if err != nil {
		fmt.Fprintf(&s, "error: %v\n", err)
	}
	for _, l := range b.Loads {
		fmt.Fprintf(&s, "load %s mode=%q from_send=%v origin=%s\n", l.Tool, l.Mode, l.FromSend, b.OriginText(l.Origin))
		fmt.Fprintf(&s, "  duration=%v offered=%.2f rate=%.2f sent=%d completed=%d errors=%d timeouts=%d connections=%d bytes_s=%.0f\n",
			time.Duration(l.Duration), l.Offered, l.Rate, l.Sent, l.Completed, l.Errors, l.Timeouts, l.Connection, l.BytesPerS)
		fmt.Fprintf(&s, "  mean=%v stdev=%v max=%v codes=%v\n", time.Duration(l.Mean), time.Duration(l.Stdev), time.Duration(l.Max), l.Codes)
		for _, q := range l.Quantiles {
			fmt.Fprintf(&s, "  %g %v\n", q.Q, time.Duration(q.Ns))
		}
	}
	for _, t := range b.Tables {
		fmt.Fprintf(&s, "table %s\n", t.Title)
		for _, r := range t.Rows {
			fmt.Fprintf(&s, "  %-22s %s\n", r[0], r[1])
		}
	}
	for i := range b.Requests.Len() {
		if i == 8 {
			fmt.Fprintf(&s, "… %d requests\n", b.Requests.Len())
			break
		}
		r := b.Requests.Row(i)
		fmt.Fprintf(&s, "request %d %v %q %v %s\n", r.Start, time.Duration(r.Latency()), b.Names.Text(r.Route), r.Outcome, b.OriginText(r.Origin))
	}
	for _, c := range b.Coverage {
		fmt.Fprintf(&s, "covered %s %d…%d lost %d, clock anchored %v\n", c.Kind, c.From, c.Until, c.Lost, b.Clocks[0].Anchored())
	}
	for _, w := range b.Warnings {
		fmt.Fprintf(&s, "warning ×%d %s: %s\n", w.Count, b.OriginText(w.Origin), w.Text)
	}
	for _, a := range b.Artifacts {
		if a.Tail {
			s.WriteString("cut\n")
		}
	}
	return s.String()
}

// TestCut cuts each input at fifty places: never a panic, always a result or an
// error, and nothing that the whole does not say. A cut goes unnoticed only where
// it takes nothing from the figures: tools print no end mark.
func TestCut(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.txtar")
	for _, file := range files {
		a, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		content := bytes.TrimRight(a.Files[0].Data, "\n ")
		whole, err := read("whole", content)
		if err != nil {
			continue
		}
		for i := range 50 {
			name := fmt.Sprintf("%s cut at %d/50", file, i)
			b, err := read("cut", content[:len(content)*i/50])
			if err != nil {
				continue
			}
			if len(b.Loads) == 0 {
				t.Errorf("%s: no result and no error", name)
				continue
			}
			if whole.Requests.Len() > 0 {
				checkRows(t, name, b, whole)
				continue
			}
			for j := range b.Loads {
				checkPart(t, name, b.Loads[j], whole.Loads[j])
			}
			part, all := b.Loads[0], whole.Loads[0]
			if part.Tool == "ab" && len(part.Quantiles) == 0 {
				continue // ab -d prints no more than that
			}
			if !b.Artifacts[0].Tail && len(whole.Loads) == 1 {
				if !slices.Equal(part.Quantiles, all.Quantiles) || part.Mean != all.Mean || part.Max != all.Max || part.Rate != all.Rate || part.Completed != all.Completed {
					t.Errorf("%s: went unnoticed: %+v", name, part)
				}
			}
		}
	}
}

// checkPart: a latency of a part is one of the whole or unknown.
func checkPart(t *testing.T, name string, part, whole evidence.LoadResult) {
	t.Helper()
	for _, q := range part.Quantiles {
		if !slices.Contains(whole.Quantiles, q) {
			t.Errorf("%s: quantile %v is not in the whole", name, q)
		}
	}
	for _, f := range [][2]int64{{part.Mean, whole.Mean}, {part.Max, whole.Max}} {
		if f[0] != 0 && f[0] != f[1] {
			t.Errorf("%s: %v for %v", name, f[0], f[1])
		}
	}
}

// checkRows: the requests of a part are requests of the whole.
func checkRows(t *testing.T, name string, part, whole *evidence.Bundle) {
	t.Helper()
	known := make(map[[2]int64]bool)
	for i := range whole.Requests.Len() {
		known[[2]int64{whole.Requests.Start[i], whole.Requests.End[i]}] = true
	}
	for i := range part.Requests.Len() {
		if !known[[2]int64{part.Requests.Start[i], part.Requests.End[i]}] {
			t.Errorf("%s: request %+v is not in the whole", name, part.Requests.Row(i))
		}
	}
}

func TestForeign(t *testing.T) {
	for _, c := range []string{
		"Summary:\n  Tests: 12 passed\n",
		"gc 1 @0.012s 2%: 0.1+1.2+0.1 ms clock\n",
		`127.0.0.1 - - [20/Nov/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 12` + "\n",
		`{"level":"info","msg":"started","latency":12,"code":200}` + "\n",
		`{"metrics":{"heap":{"value":1}}}` + "\n",
		"1,2,3,4,5,6,7,8\n", "Requests per second are fine\n", "{", "[]", "null\n", "\x00\x01",
	} {
		if got := Format.Match([]byte(c)); got != format.No {
			t.Errorf("%q: confidence %v", c, got)
		}
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	content := bytes.Repeat([]byte(k6Sample+"\n"), 5000)
	if err := format.Read(ctx, []format.Format{Format}, artifact("k6.json", content), evidence.NewBundle()); err == nil {
		t.Error("read on after it was cancelled")
	}
}

func FuzzParse(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.txtar")
	for _, file := range files {
		if a, err := txtar.ParseFile(file); err == nil {
			f.Add(a.Files[0].Data[:min(len(a.Files[0].Data), 4000)])
		}
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		b, err := read("fuzz", content)
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("an error of several lines: %v", err)
		}
		for _, l := range b.Loads {
			if l.Duration < 0 || l.Sent < 0 || l.Completed < 0 || l.Errors < 0 || l.Mean < 0 || l.Max < 0 || !(l.Rate >= 0) || !(l.Offered >= 0) {
				t.Errorf("negative figures: %+v", l)
			}
			for i, q := range l.Quantiles {
				if !(q.Q > 0 && q.Q < 1) || q.Ns < 0 || i > 0 && q.Q <= l.Quantiles[i-1].Q {
					t.Errorf("quantiles out of order: %v", l.Quantiles)
				}
			}
		}
		for i := range b.Requests.Len() {
			if b.Requests.End[i] < b.Requests.Start[i] || i > 0 && b.Requests.End[i] < b.Requests.End[i-1] {
				t.Errorf("request %d: %+v", i, b.Requests.Row(i))
			}
		}
	})
}
