package wire

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/exp/trace"
)

// same holds the events of a trace against those of x/exp/trace: one for one, in the same order,
// equal in all that either tells. Where one breaks off, the other must, after the same events. It returns
// how many there were.
func same(t testing.TB, data []byte) (events int) {
	t.Helper()
	theirs, err := trace.NewReader(bytes.NewReader(data))
	ours, err2 := NewReader(bytes.NewReader(data))
	if err != nil || err2 != nil {
		if err == nil || err2 == nil {
			t.Fatalf("header: %v, %v", err, err2)
		}
		return 0
	}
	b := NewBatch()
	next := 0
	var known stacks
	for {
		ev, err := readEvent(theirs)
		if next == len(b.Events) {
			if err2 = ours.Read(b); err2 != nil {
				b.Events = b.Events[:0]
			} else if len(b.Events) == 0 {
				t.Fatal("a batch without events")
			}
			next = 0
		}
		if err != nil || len(b.Events) == 0 {
			if (err == nil) != (err2 == nil) || (err == io.EOF) != (err2 == io.EOF) {
				t.Fatalf("after %d events x/exp/trace says %v, and this %v", events, oneLine(err), err2)
			}
			if again := ours.Read(b); again != err2 {
				t.Fatalf("asked again: %v after %v", again, err2)
			}
			return events
		}
		e := &b.Events[next]
		next++
		if err := known.compare(b, e, &ev); err != nil {
			t.Fatalf("event %d, %s at %d: %v\nx/exp/trace: %v", events, e.Type.Name(), e.Time, err, ev)
		}
		events++
	}
}

func oneLine(err error) string {
	s, _, _ := strings.Cut(fmt.Sprint(err), "\n")
	return s
}

// readEvent turns a panic of x/exp/trace's into an error.
func readEvent(r *trace.Reader) (ev trace.Event, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panics: %v", p)
		}
	}()
	return r.ReadEvent()
}

// stacks remembers which stacks were compared.
type stacks struct {
	generation *Generation
	equal      map[uint32]trace.Stack
}

func (k *stacks) stack(g *Generation, ours uint32, theirs trace.Stack) error {
	if g == nil {
		return nil
	}
	if k.generation != g {
		k.generation, k.equal = g, make(map[uint32]trace.Stack)
	}
	if s, ok := k.equal[ours]; ok && s == theirs {
		return nil
	}
	var want, got []trace.StackFrame
	for f := range theirs.Frames() {
		want = append(want, f)
	}
	for _, i := range g.Stack(ours) {
		f := g.Frame(i)
		got = append(got, trace.StackFrame{PC: f.PC, Func: g.Text(f.Func), File: g.Text(f.File), Line: f.Line})
	}
	if !slices.Equal(want, got) {
		return fmt.Errorf("stack %v, want %v", got, want)
	}
	k.equal[ours] = theirs
	return nil
}

func (k *stacks) compare(b *Batch, e *Event, ev *trace.Event) (err error) {
	var text, text2 string
	if b.Generation != nil {
		text, text2 = b.Text(e.Text), b.Text(e.Text2)
	}
	g := b.Generation
	check := func(what string, got, want any) {
		if err == nil && got != want {
			err = fmt.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	check("time", e.Time, int64(ev.Time()))
	check("goroutine", e.Goroutine, int64(ev.Goroutine()))
	check("thread", e.Thread, int64(ev.Thread()))
	check("processor", int64(e.Proc), int64(ev.Proc()))
	mine := e.Stack
	kind := ev.Kind()
	if err != nil {
		return err
	}
	switch kind {
	case trace.EventSync:
		s := ev.Sync()
		check("type", e.Type, EvSync)
		check("count", int(e.Value), s.N)
		check("anchored", g != nil && g.Anchored, s.ClockSnapshot != nil)
		if c := s.ClockSnapshot; c != nil && err == nil {
			check("clock", g.Trace, int64(c.Trace))
			check("wall clock", g.Wall, c.Wall.UnixNano())
		}
		n := 0
		for _, b := range s.ExperimentalBatches {
			n += len(b)
		}
		if g != nil {
			check("experimental batches", g.Skipped, n)
		}
	case trace.EventMetric:
		m := ev.Metric()
		check("metric", map[Type]string{EvProcsChange: "/sched/gomaxprocs:threads", EvHeapAlloc: "/memory/classes/heap/objects:bytes", EvHeapGoal: "/gc/heap/goal:bytes"}[e.Type], m.Name)
		check("value", e.Value, m.Value.Uint64())
	case trace.EventLabel:
		check("type", e.Type, EvGoLabel)
		check("label", text, ev.Label().Label)
		check("of", e.On, int64(ev.Label().Resource.Goroutine()))
	case trace.EventRangeBegin, trace.EventRangeActive, trace.EventRangeEnd:
		r := ev.Range()
		type of struct {
			kind trace.EventKind
			name string
		}
		check("range", map[Type]of{
			EvSTWBegin: {trace.EventRangeBegin, "stop-the-world (" + text + ")"}, EvSTWEnd: {trace.EventRangeEnd, "stop-the-world (" + text + ")"},
			EvGCBegin: {trace.EventRangeBegin, "GC concurrent mark phase"}, EvGCActive: {trace.EventRangeActive, "GC concurrent mark phase"}, EvGCEnd: {trace.EventRangeEnd, "GC concurrent mark phase"},
			EvGCSweepBegin: {trace.EventRangeBegin, "GC incremental sweep"}, EvGCSweepActive: {trace.EventRangeActive, "GC incremental sweep"}, EvGCSweepEnd: {trace.EventRangeEnd, "GC incremental sweep"},
			EvGCMarkAssistBegin: {trace.EventRangeBegin, "GC mark assist"}, EvGCMarkAssistActive: {trace.EventRangeActive, "GC mark assist"}, EvGCMarkAssistEnd: {trace.EventRangeEnd, "GC mark assist"},
		}[e.Type], of{kind, r.Name})
		switch r.Scope.Kind {
		case trace.ResourceGoroutine:
			check("scope", e.On, int64(r.Scope.Goroutine()))
		case trace.ResourceProc:
			on := int64(e.Proc)
			if e.Type == EvGCSweepActive {
				on = e.On
			}
			check("scope", on, int64(r.Scope.Proc()))
		}
		if kind == trace.EventRangeEnd {
			for i, a := range ev.RangeAttributes() {
				check(a.Name, [2]uint64{e.Value, uint64(e.On)}[i], a.Value.Uint64())
			}
		}
	case trace.EventTaskBegin, trace.EventTaskEnd:
		task := ev.Task()
		check("type", e.Type, map[trace.EventKind]Type{trace.EventTaskBegin: EvUserTaskBegin, trace.EventTaskEnd: EvUserTaskEnd}[kind])
		check("task", trace.Task{ID: trace.TaskID(e.Value), Parent: trace.TaskID(e.On), Type: text}, task)
	case trace.EventRegionBegin, trace.EventRegionEnd:
		check("type", e.Type, map[trace.EventKind]Type{trace.EventRegionBegin: EvUserRegionBegin, trace.EventRegionEnd: EvUserRegionEnd}[kind])
		check("region", trace.Region{Task: trace.TaskID(e.Value), Type: text}, ev.Region())
	case trace.EventLog:
		check("type", e.Type, EvUserLog)
		check("log", trace.Log{Task: trace.TaskID(e.Value), Category: text, Message: text2}, ev.Log())
	case trace.EventStackSample:
		check("type", e.Type, EvCPUSample)
	case trace.EventExperimental:
		check("type", e.Type.Name(), ev.Experimental().Name)
	case trace.EventStateTransition:
		st := ev.StateTransition()
		check("reason", text, st.Reason)
		switch st.Resource.Kind {
		case trace.ResourceGoroutine:
			from, to := st.Goroutine()
			check("of goroutines", e.Type.OfGoroutine(), true)
			check("of", e.On, int64(st.Resource.Goroutine()))
			check("from", trace.GoState(e.From), from)
			check("to", trace.GoState(e.To), to)
			if err == nil {
				err = k.stack(g, e.Stack, st.Stack)
			}
			if from == trace.GoNotExist || from == trace.GoWaiting && to == trace.GoRunnable {
				mine = e.By
			}
		case trace.ResourceProc:
			from, to := st.Proc()
			check("of processors", e.Type.OfProc(), true)
			check("of", e.On, int64(st.Resource.Proc()))
			check("from", trace.ProcState(e.From), from)
			check("to", trace.ProcState(e.To), to)
		}
	default:
		return fmt.Errorf("kind %s", kind)
	}
	if err == nil {
		err = k.stack(g, mine, ev.Stack())
	}
	return err
}

// recorded are the traces in the repository and, where it is, of the corpus beside it.
func recorded(t testing.TB) (files []string) {
	for _, p := range []string{"../testdata/http/*.trace.gz", "../../../cause/testdata/*/*/trace*", "../../../lab/*/recorded/*/trace*", "../../../lab/*/*/recorded/*/trace*",
		"../../../../../shared/corpus/go/*.trace.gz", "/work/shared/corpus/go/*.trace.gz"} {
		m, err := filepath.Glob(p)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, m...)
	}
	return files
}

// content is a file without its compression.
func content(t testing.TB, name string) []byte {
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = f
	switch {
	case strings.HasSuffix(name, ".gz"):
		if r, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	case strings.HasSuffix(name, ".zst"):
		z, err := zstd.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		defer z.Close()
		r = z
	}
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func version(data []byte) (minor int) {
	fmt.Sscanf(string(data[:min(len(data), HeaderSize)]), "go 1.%d trace", &minor)
	return minor
}

func TestSameAsRecorded(t *testing.T) {
	compared := map[int]int{}
	for _, name := range recorded(t) {
		t.Run(filepath.Base(filepath.Dir(name))+"/"+filepath.Base(name), func(t *testing.T) {
			data := content(t, name)
			v := version(data)
			if !Supported(v) {
				t.Skip("of Go 1.", v)
			}
			compared[v]++
			if n := same(t, data); n < 100 {
				t.Errorf("%d events", n)
			}
		})
	}
	for _, v := range []int{22, 23, 25, 26} {
		if compared[v] == 0 {
			t.Errorf("no trace of the version of Go 1.%d", v)
		}
	}
	t.Log("traces by version: ", compared)
}

// TestSameAsTheirs reads the test data of x/exp/trace, where the module is with its source.
func TestSameAsTheirs(t *testing.T) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "golang.org/x/exp").Output()
	if err != nil || len(bytes.TrimSpace(dir)) == 0 {
		t.Skip("golang.org/x/exp is not here with its test data: ", err)
	}
	files, _ := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "trace/testdata/tests/*.test"))
	if len(files) == 0 {
		t.Skip("golang.org/x/exp is here without its test data")
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) { same(t, written(t, name)) })
	}
}
