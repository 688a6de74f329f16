package dotnetstack

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
	"github.com/unstall/unstall/threads"
)

var update = flag.Bool("update", false, "write the golden files")

func artifact(data []byte) *format.Artifact {
	return &format.Artifact{Name: "stacks.txt", Size: int64(len(data)), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(data)), nil
	}}
}

func read(data []byte) (*evidence.Bundle, error) {
	b := evidence.NewBundle()
	err := format.Read(context.Background(), []format.Format{Format}, artifact(data), b)
	return b, err
}

func render(b *evidence.Bundle, err error) string {
	var w strings.Builder
	if err != nil {
		fmt.Fprintf(&w, "error %v\n", err)
	}
	for _, s := range b.Subjects {
		fmt.Fprintf(&w, "subject %q %s\n", s.Name, s.Runtime)
	}
	for i, c := range b.Coverage {
		fmt.Fprintf(&w, "covered %s %d..%d @%d, clock %q anchored %v\n", c.Kind, c.From, c.Until, c.Origin.Position(), b.Clocks[i].Name, b.Clocks[i].Anchored())
	}
	x := &b.Samples
	t := threads.Of(b)
	for i := range x.Len() {
		v := t.View(x.Subject[i], x.Stack[i])
		fmt.Fprintf(&w, "%#x @%d: %d frames, %q %s, owner %q\n", int64(x.Lane[i]), x.Origin[i].Position(), len(b.Stacks.Frames(x.Stack[i])), v.Role, v.Doing(), v.Owner)
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
	for text, want := range map[string]format.Confidence{
		"Thread (0x1):\n  [Native Frames]\n":                            format.Sure,
		"$ dotnet-stack report -p 1\r\nThread (0x1F):\r\n  A!B.C()\r\n": format.Sure,
		"Thread (0x1):\n\n":         format.No,
		"Thread (0x1):\nnothing\n":  format.No,
		"Thread (12):\n  A!B.C()\n": format.No,
		"\"main\" #1 prio=5 os_prio=0 tid=0x1 nid=0x1 runnable\n   at A.b()": format.No,
	} {
		if got := match([]byte(text)); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// A recorded report is of when it was recorded; one that somebody saved is undated.
func TestWhen(t *testing.T) {
	at := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC).UnixNano()
	a := artifact([]byte("Thread (0x1):\n  A!B.C()\n"))
	a.Modified, a.About = at, evidence.Subject{PID: 4711}
	b := evidence.NewBundle()
	if err := format.Read(context.Background(), []format.Format{Format}, a, b); err != nil {
		t.Fatal(err)
	}
	if b.Samples.Time[0] != at || b.Subjects[0].PID != 4711 || !b.Clocks[0].Anchored() {
		t.Errorf("time %d of %v, anchored %v", b.Samples.Time[0], b.Subjects[0], b.Clocks[0].Anchored())
	}
}

func TestBounds(t *testing.T) {
	var w bytes.Buffer
	fmt.Fprintf(&w, "Thread (0x1):\n%s\n", strings.Repeat("  A!B.C()\n", maxFrames+1))
	for i := range maxThreads {
		fmt.Fprintf(&w, "Thread (0x%X):\n  A!B.C()\n\n", i+2)
	}
	b, err := read(w.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if n := b.Samples.Len(); n != maxThreads {
		t.Errorf("%d threads", n)
	}
	if len(b.Warnings) != 2 || len(b.Stacks.Frames(b.Samples.Stack[0])) != maxFrames {
		t.Errorf("warned %v, %d frames", b.Warnings, len(b.Stacks.Frames(b.Samples.Stack[0])))
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
		id := b.AddArtifact(evidence.Artifact{Name: "stacks.txt"})
		p := b.Builder(id, "dotnetstack")
		err := Format.Parse(context.Background(), artifact(data), p)
		p.Close()
		if (err == nil) != (b.Samples.Len() > 0) {
			t.Fatalf("%d threads and error %v", b.Samples.Len(), err)
		}
		b.Unify()
		b.Align()
		x := threads.Of(b)
		for _, s := range x.Subjects() {
			if sum := x.Summary(s); sum.Threads == 0 || sum.Root.Count != sum.Threads {
				t.Fatalf("%d threads, %d in the tree", sum.Threads, sum.Root.Count)
			}
		}
	})
}

func BenchmarkParse(b *testing.B) {
	a, err := txtar.ParseFile("testdata/starvation.txtar")
	if err != nil {
		b.Fatal(err)
	}
	var w bytes.Buffer
	for i := range 500 {
		text := strings.ReplaceAll(string(a.Files[0].Data), "Thread (0x", fmt.Sprintf("Thread (0x%X", i+1))
		w.WriteString(text)
		w.WriteByte('\n')
	}
	b.SetBytes(int64(w.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := read(w.Bytes()); err != nil {
			b.Fatal(err)
		}
	}
}

// A thread's id is one of the system's: none is below zero, which stands for all of them.
func TestThreadLine(t *testing.T) {
	for text, want := range map[string]int64{
		"Thread (0x25968):": 0x25968, "Thread (0x-1):": -1, "Thread (0x+1):": -1, "Thread (0xFFFFFFFFFFFFFFFF):": -1, "Thread (0x1)": -1,
	} {
		if got, ok := threadLine([]byte(text)); ok != (want >= 0) || ok && got != want {
			t.Errorf("%s: %d, %v", text, got, ok)
		}
	}
}
