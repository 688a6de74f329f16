package gctrace

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

var suite = formattest.Suite{Format: Format, Name: "log", Render: render, Match: heads, Certain: true,
	More: func(testing.TB) [][]byte {
		return [][]byte{[]byte(modern), []byte("gc76(1): 2+1+1390+1 us, 1 -> 3 MB, 16397 (1015746-999349) objects\n"),
			[]byte("svc-1  | " + modern + "2026-11-20 22:49:44,123 " + modern + "20/Nov/2026:22:49:44 +0100 \"ts\":1795215384.5 " + modern),
			[]byte("2026-11-20T22:49:44.1Z stderr F " + modern)}
	}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

// render writes everything that was parsed, one item a line.
func render(b *evidence.Bundle, err error) string {
	var w strings.Builder
	if err != nil {
		fmt.Fprintf(&w, "error %v\n", err)
	}
	for _, a := range b.Artifacts {
		fmt.Fprintf(&w, "artifact %v envelopes %v cut %v\n", a.Formats, a.Envelopes, a.Tail)
	}
	for _, c := range b.Clocks {
		if !c.Anchored() {
			fmt.Fprintf(&w, "clock %q unanchored resolution %d\n", c.Name, c.Resolution)
			continue
		}
		fmt.Fprintf(&w, "clock %q offset %s ± %v resolution %d\n", c.Name, time.Unix(0, c.Offset).UTC().Format(time.RFC3339Nano), time.Duration(c.Error), c.Resolution)
	}
	for i, s := range b.Subjects {
		fmt.Fprintf(&w, "subject %d %s %s cpus %d\n", i, s.Kind, s.Runtime, s.CPUs)
	}
	v := &b.Intervals
	for i := range v.Len() {
		fmt.Fprintf(&w, "%s s%d l%d %v..%v", v.Kind[i], v.Subject.At(i), v.Lane.At(i), time.Duration(v.Start[i]), time.Duration(v.End[i]))
		if c := b.Names.Text(v.Cause.At(i)); c != "" {
			fmt.Fprintf(&w, " %s", c)
		}
		for k := range evidence.NumKeys {
			if x, ok := v.Get(i, k); ok {
				fmt.Fprintf(&w, " %s=%s", strings.ReplaceAll(k.String(), " ", "-"), figure(k, x))
			}
		}
		fmt.Fprintf(&w, " @%d\n", v.Origin.At(i).Position())
	}
	for _, c := range b.Coverage {
		fmt.Fprintf(&w, "covered %s s%d %v..%v lost %d @%d\n", c.Kind, c.Subject, time.Duration(c.From), time.Duration(c.Until), c.Lost, c.Origin.Position())
	}
	for _, f := range b.Facts {
		fmt.Fprintf(&w, "fact s%d %s %s @%d\n", f.Subject, f.Key, f.Value, f.Origin.Position())
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

func figure(k evidence.Key, x float64) string {
	switch k {
	case evidence.HeapBefore, evidence.HeapAfter, evidence.HeapLive, evidence.HeapGoal, evidence.StackScan, evidence.GlobalScan:
		return fmt.Sprint(x/(1<<20), "MiB")
	case evidence.AssistTime, evidence.BackgroundTime, evidence.IdleTime, evidence.STWTime, evidence.MarkTime:
		return time.Duration(x).String()
	}
	return fmt.Sprint(x)
}

const corpus = "../../../../shared/corpus/go"

// Every line that begins with "gc " is a cycle, whatever else is in the log.
func TestCorpus(t *testing.T) {
	var files []string
	for _, p := range []string{"*.log", "*.gctrace"} {
		f, _ := filepath.Glob(filepath.Join(corpus, p))
		files = append(files, f...)
	}
	if len(files) == 0 {
		t.Skipf("no recordings in %s", corpus)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		want := bytes.Count(append([]byte("\n"), data...), []byte("\ngc "))
		b, err := suite.Read(data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := len(b.Intervals.Select(evidence.GCCycle, -1)); got != want {
			t.Errorf("%s: %d cycles, want %d", name, got, want)
		}
		if got := len(b.Intervals.Select(evidence.StopTheWorld, -1)); got != 2*want {
			t.Errorf("%s: %d pauses, want %d", name, got, 2*want)
		}
		if len(b.Subjects) != 1 {
			t.Errorf("%s: %d processes, want 1", name, len(b.Subjects))
		}
		// A stamped line places the cycles only if there are some on either side.
		at := bytes.Index(data, []byte("ready"))
		between := at >= 0 && bytes.Contains(data[at:], []byte("\ngc "))
		if c := b.Clocks[0]; between != c.Anchored() {
			t.Errorf("%s: anchored %v, want %v", name, c.Anchored(), between)
		}
	}
}

const modern = `gc 1 @0.007s 18%: 0.10+14+0.024 ms clock, 0.21+0.33/7.5/1.0+0.048 ms cpu, 3->4->4 MB, 4 MB goal, 0 MB stacks, 0 MB globals, 2 P
gc 2 @0.026s 11%: 0.29+24+0.19 ms clock, 0.58+2.6/1.0/12+0.39 ms cpu, 7->9->9 MB, 8 MB goal, 0 MB stacks, 0 MB globals, 2 P
gc 3 @0.069s 25%: 2.6+79+0.10 ms clock, 5.3+28/37/42+0.20 ms cpu, 16->23->22 MB, 19 MB goal, 0 MB stacks, 0 MB globals, 2 P (forced)
`

// A log that is cut anywhere gives the cycles before the cut, and says that it
// was cut; it is never taken for a log without cycles.
func TestCutAnywhere(t *testing.T) {
	wrapped := func(wrap func(line string, i int) string) string {
		var w strings.Builder
		for i, l := range strings.Split(strings.TrimSuffix(modern, "\n"), "\n") {
			w.WriteString(wrap(l, i) + "\n")
		}
		return w.String()
	}
	for name, log := range map[string]string{
		"plain":  modern,
		"prefix": wrapped(func(l string, _ int) string { return "svc-1  | " + l }),
		"docker": wrapped(func(l string, i int) string {
			text, _ := json.Marshal(l + "\n")
			return fmt.Sprintf(`{"log":%s,"stream":"stderr","time":"2026-11-20T22:49:44.%03dZ"}`, text, 21+40*i)
		}),
		"cri": wrapped(func(l string, i int) string {
			return fmt.Sprintf("2026-11-20T22:49:44.%03d000000Z stderr F %s", 21+40*i, l)
		}),
	} {
		t.Run(name, func(t *testing.T) {
			lines := strings.SplitAfter(log, "\n")
			for k := 1; k <= 50; k++ {
				n := len(log) * k / 50
				b, err := suite.Read([]byte(log[:n]))
				whole := strings.Count(log[:n], "\n")
				got := len(b.Intervals.Select(evidence.GCCycle, -1))
				if got < whole || got > whole+1 {
					t.Fatalf("cut at %d: %d cycles, %d whole lines", n, got, whole)
				}
				if got == 0 && err == nil {
					t.Fatalf("cut at %d: no cycle and no error", n)
				}
				in := n // within the line that was cut
				for _, l := range lines[:whole] {
					in -= len(l)
				}
				if err == nil && got == whole && in > strings.Index(lines[whole], "gc ")+1 && strings.Contains(lines[whole], "gc ") && !b.Artifacts[0].Tail {
					t.Fatalf("cut at %d, %q: not said to be cut", n, lines[whole][:in])
				}
			}
		})
	}
}

var heads = map[string]format.Confidence{
	modern:                                 format.Sure,
	"I1120 22:49:44.1 starting\n" + modern: format.Sure,
	modern[:len(modern)/2]:                 format.Sure,
	"gc76(1): 2+1+1390+1 us, 1 -> 3 MB, 16397 (1015746-999349) objects\n": format.Sure,
	"":                          format.No,
	"gc 1 @0.007s 18%: 0.10+14": format.No,
	"mail to root @7 or gc@example.org: gc 5 @home, gc 1(2)\n": format.No,
	strings.Repeat("@ gc(", 1000):                              format.No,
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	b := evidence.NewBundle()
	err := format.Read(ctx, []format.Format{Format}, formattest.Artifact("log", bytes.Repeat([]byte(modern), 5000)), b)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if b.Intervals.Len() != 0 {
		t.Error("rows of a parse that was given up")
	}
}
