package threaddump

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
	"github.com/unstall/unstall/internal/format/java"
)

var suite = formattest.Suite{Format: Format, Name: "threads.txt", Render: render, Match: heads, Hold: grouped}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func BenchmarkParse(b *testing.B) {
	a, err := txtar.ParseFile("testdata/jdk17.txtar")
	if err != nil {
		b.Fatal(err)
	}
	suite.Benchmark(b, bytes.Repeat(a.Files[0].Data, 100))
}

// grouped: each thread of a dump is in the tree of its threads, once.
func grouped(t testing.TB, b *evidence.Bundle, err error) {
	_, circle := b.Fact(-1, evidence.FactDeadlock) // which may be all that was copied
	if (err == nil) != (b.Samples.Len() > 0 || circle) {
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
	b.Align()
	for _, s := range b.Subjects {
		fmt.Fprintf(&w, "subject %q %s %s pid %d instance %s\n", s.Name, s.Runtime, s.Version, s.PID, s.Instance)
	}
	day := func(ns int64) string {
		if ns == 0 {
			return "?"
		}
		return time.Unix(0, ns).UTC().Format(time.RFC3339Nano)
	}
	for i, c := range b.Coverage {
		fmt.Fprintf(&w, "covered %s %s..%s every %v @%d, clock %q anchored %v\n", c.Kind, day(c.From), day(c.Until), time.Duration(c.Sampled), c.Origin.Position(), b.Clocks[i].Name, b.Clocks[i].Anchored())
	}
	x := &b.Samples
	t := threads.Of(b, stacks)
	cpu := make(map[evidence.Origin]int64) // by the thread's line
	for i := range x.Len() {
		if b.Names.Text(x.Type[i]) == evidence.SampleThreadCPU {
			cpu[x.Origin[i]] = x.Value[i]
		}
	}
	for i := range x.Len() {
		if b.Names.Text(x.Type[i]) == evidence.SampleThreadCPU {
			continue
		}
		v := t.View(x.Subject[i], x.Stack[i])
		frames := b.Stacks.Frames(x.Stack[i])
		first, last := "", ""
		if len(frames) > 0 {
			first, last = b.Names.Text(frames[0].Func), b.Names.Text(frames[len(frames)-1].Func)
		}
		fmt.Fprintf(&w, "%s %#x @%d: %d frames %s … %s, {%s}; %q %s, owner %q, request %v", day(x.Time[i]), int64(x.Lane[i]), x.Origin[i].Position(), len(frames), first, last, b.Stacks.Info(x.Stack[i]), v.Role, v.Doing(), v.Owner, v.Request)
		if used, told := cpu[x.Origin[i]]; told {
			fmt.Fprintf(&w, ", used %v", time.Duration(used))
		}
		w.WriteByte('\n')
	}
	v := &b.Intervals
	for i := range v.Len() {
		fmt.Fprintf(&w, "%s: %#x waits for %s of %#x @%d\n", v.Kind[i], int64(v.Lane.At(i)), b.Names.Text(v.Cause.At(i)), int64(v.Holder.At(i)), v.Origin.At(i).Position())
	}
	for _, f := range b.Facts {
		fmt.Fprintf(&w, "fact %s %s @%d\n", f.Key, f.Value, f.Origin.Position())
	}
	for _, t := range b.Tables {
		fmt.Fprintf(&w, "table %s %v\n", t.Title, t.Rows)
	}
	for _, x := range b.Warnings {
		fmt.Fprintf(&w, "warning @%d: %s\n", x.Origin.Position(), x.Text)
	}
	return w.String()
}

var heads = map[string]format.Confidence{
	"2026-11-21 13:40:43\nFull thread dump OpenJDK 64-Bit Server VM (17.0.15+6 mixed mode):\n\n\"main\" #1 prio=5 tid=0x1 nid=0x2 runnable\n": format.Sure,
	"\"main\" prio=5 tid=0x1 nid=0x2 runnable\n   java.lang.Thread.State: RUNNABLE\n":                                                         format.Sure,
	"\"exec-1\" - Thread t@22\r\n   java.lang.Thread.State: WAITING\r\n":                                                                      format.Sure,
	"17\n2026-11-21T13:40:13.15Z\n25.0.3+9-LTS\n\n#3 \"main\" RUNNABLE 2026-11-21T13:40:13.16Z\n":                                             format.Sure,
	"{\n \"threadDump\": {\n":                       format.Sure,
	"we take a Full thread dump now\n":              format.No,
	"\"main\" #1 prio=5 tid=0x1 nid=0x2 runnable\n": format.No,
	"\"GET / HTTP/1.1\" 200 #1\n":                   format.No,
	"Thread (0x1):\n  [Native Frames]\n":            format.No,
	"{\"threadName\": 1}":                           format.No,
	"17\n2026-11-21T13:40:13.15Z\n\n":               format.No,
}

// A recorded dump is of when it came, whatever the zone of the host is that wrote it.
func TestWhen(t *testing.T) {
	at := time.Date(2026, 11, 21, 12, 40, 43, 5e8, time.UTC).UnixNano()
	a := suite.Artifact([]byte("4711:\n2026-11-21 13:40:43\nFull thread dump OpenJDK 64-Bit Server VM (17.0.15+6 mixed mode):\n\n\"main\" #1 prio=5 tid=0x1 nid=0x2 runnable\n   java.lang.Thread.State: RUNNABLE\n\tat shop.Shop.main(Shop.java:3)\n"))
	a.Modified, a.About = at, evidence.Subject{PID: 4711, Name: "java", Runtime: "jvm", Version: "17.0.15"}
	b := evidence.NewBundle()
	if err := format.Read(context.Background(), []format.Format{Format}, a, b); err != nil {
		t.Fatal(err)
	}
	b.Align()
	if b.Samples.Time[0] != at || b.Coverage[0].From != at || b.Subjects[0].Name != "java" || !b.Clocks[0].Anchored() || len(b.Warnings) > 0 {
		t.Errorf("time %d of %v, anchored %v, %v", b.Samples.Time[0], b.Subjects[0], b.Clocks[0].Anchored(), b.Warnings)
	}
}

func TestUnify(t *testing.T) {
	b := evidence.NewBundle()
	for range 2 {
		data := []byte("Full thread dump OpenJDK 64-Bit Server VM (25.144-b01 mixed mode):\n\n\"VM Thread\" os_prio=0 tid=0x00007f27 nid=0x3 runnable\n\n\"x\" #9 prio=5 tid=0x1 nid=0x2 runnable\n")
		if err := format.Read(context.Background(), []format.Format{Format}, suite.Artifact(data), b); err != nil {
			t.Fatal(err)
		}
	}
	b.Unify()
	if b.Samples.Subject[0] != b.Samples.Subject[3] || b.Subjects[b.Samples.Subject[0]].Version != "1.8.0_144" {
		t.Errorf("two dumps of one JVM are of %v, %v", b.Samples.Subject, b.Subjects)
	}
}

func TestStable(t *testing.T) {
	for in, want := range map[string]string{
		"java.base/java.lang.Thread.run":                        "java.lang.Thread.run",
		"app//shop.Shop.main":                                   "shop.Shop.main",
		"shop.Shop$$Lambda/0x000000004e044c30.run":              "shop.Shop$$Lambda.run",
		"shop.Shop$$Lambda$14/0x0000000800066840.run":           "shop.Shop$$Lambda.run",
		"java.lang.invoke.LambdaForm$MH/0x1.invoke":             "java.lang.invoke.LambdaForm$MH.invoke",
		"jdk.internal.reflect.GeneratedMethodAccessor12.invoke": "jdk.internal.reflect.GeneratedMethodAccessor.invoke",
		"shop.Shop.<init>":                                      "shop.Shop.<init>", "main": "main", "": "", "/": "", "a/b": "b", "$$/x.y": "$$.y",
	} {
		if got := java.Stable(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{"http-nio-8080-exec-12": "http-nio-8080-exec", "pool-3-thread-7": "pool-3-thread", "GC Thread#0": "GC Thread", "main": "main",
		"XNIO-1 task-3": "XNIO-1 task", "123": "123", "": "", "a\xff1": "a?"} {
		if got := java.Pool(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestBounds(t *testing.T) {
	var w bytes.Buffer
	fmt.Fprintf(&w, "Full thread dump of a VM:\n\n\"a\" #1 prio=5 tid=0x1 nid=0x2 runnable\n%s\n", strings.Repeat("\tat a.B.c(B.java:1)\n", maxFrames+1))
	for i := range maxThreads {
		fmt.Fprintf(&w, "\"b\" #%d nid=%d\n", i+2, i+3)
	}
	b, err := suite.Read(w.Bytes())
	if err != nil || b.Samples.Len() != maxThreads || len(b.Warnings) != 2 {
		t.Errorf("%v, %d threads, %v", err, b.Samples.Len(), b.Warnings)
	}
}

// stacks reads those of the tests.
var stacks = threads.Readers{"jvm": threads.JVMStacks}

func TestPoolWithoutHashes(t *testing.T) {
	for name, want := range map[string]string{
		"qtp1883919084-35":            "qtp",
		"QueuedThreadPool@1b2c3d4-12": "QueuedThreadPool",
		"qtp1883919084-31-acceptor-0@5e91993f-ServerConnector@1ab3f{HTTP/1.1}": "qtp-31-acceptor-0-ServerConnector{HTTP/1.1}",
		"http-nio-8080-exec-7": "http-nio-8080-exec", "worker2-20261122": "worker2", "a@b.example-1": "a@b.example",
	} {
		if got := java.Pool(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
