package dotnetstack

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

var suite = formattest.Suite{Format: Format, Name: "stacks.txt", Render: render, Match: heads, Hold: grouped}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func BenchmarkParse(b *testing.B) {
	a, err := txtar.ParseFile("testdata/starvation.txtar")
	if err != nil {
		b.Fatal(err)
	}
	var w bytes.Buffer
	for i := range 500 {
		w.WriteString(strings.ReplaceAll(string(a.Files[0].Data), "Thread (0x", fmt.Sprintf("Thread (0x%X", i+1)) + "\n")
	}
	suite.Benchmark(b, w.Bytes())
}

// grouped checks that each thread of a report is in the tree of its threads, once.
func grouped(t testing.TB, b *evidence.Bundle, err error) {
	if (err == nil) != (b.Samples.Len() > 0) {
		t.Errorf("%d threads and error %v", b.Samples.Len(), err)
	}
	x := threads.Of(b, stacks)
	for _, s := range x.Subjects() {
		if sum := x.Summary(s); sum.Threads == 0 || sum.Root.Count != sum.Threads {
			t.Errorf("%d threads, %d in the tree", sum.Threads, sum.Root.Count)
		}
	}
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
	t := threads.Of(b, stacks)
	for i := range x.Len() {
		v := t.View(x.Subject[i], x.Stack[i])
		fmt.Fprintf(&w, "%#x @%d: %d frames, %q %s, owner %q\n", int64(x.Lane[i]), x.Origin[i].Position(), len(b.Stacks.Frames(x.Stack[i])), v.Role, v.Doing(), v.Owner)
	}
	for _, x := range b.Warnings {
		fmt.Fprintf(&w, "warning @%d: %s\n", x.Origin.Position(), x.Text)
	}
	return w.String()
}

var heads = map[string]format.Confidence{
	"Thread (0x1):\n  [Native Frames]\n":                            format.Sure,
	"$ dotnet-stack report -p 1\r\nThread (0x1F):\r\n  A!B.C()\r\n": format.Sure,
	"Thread (0x1):\n\n":         format.No,
	"Thread (0x1):\nnothing\n":  format.No,
	"Thread (12):\n  A!B.C()\n": format.No,
	"\"main\" #1 prio=5 os_prio=0 tid=0x1 nid=0x1 runnable\n   at A.b()": format.No,
}

// A recorded report has the time of its recording; a saved one is undated.
func TestWhen(t *testing.T) {
	at := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC).UnixNano()
	a := suite.Artifact([]byte("Thread (0x1):\n  A!B.C()\n"))
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
	b, err := suite.Read(w.Bytes())
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

// A thread's id is the system's, and never below zero, which stands for all threads.
func TestThreadLine(t *testing.T) {
	for text, want := range map[string]int64{
		"Thread (0x25968):": 0x25968, "Thread (0x-1):": -1, "Thread (0x+1):": -1, "Thread (0xFFFFFFFFFFFFFFFF):": -1, "Thread (0x1)": -1,
	} {
		if got, ok := threadLine([]byte(text)); ok != (want >= 0) || ok && got != want {
			t.Errorf("%s: %d, %v", text, got, ok)
		}
	}
}

// stacks reads those of the tests.
var stacks = threads.Readers{"dotnet": threads.DotnetStacks}
