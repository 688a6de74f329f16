package threads_test

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
	"github.com/unstall/unstall/internal/base/threadstack/stacktest"
)

// The functions of a language take the place of the interpreter's and of what is beyond, by the nearest look at the thread; what is further inside stays.
func TestNameInterpreted(t *testing.T) {
	const ms = int64(1e6)
	at := int64(1763689985e9)
	b := evidence.NewBundle()
	b.Subjects = []evidence.Subject{{Name: "gunicorn", PID: 4711}}
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "x"}), "x")
	stack := func(text string) evidence.StackID { // "file: function|…"
		var frames []evidence.Frame
		for f := range strings.SplitSeq(text, "|") {
			file, name, _ := strings.Cut(f, ": ")
			frames = append(frames, evidence.Frame{Func: p.Name(name), File: p.Name(file)})
		}
		return p.Stack(frames)
	}
	python := func(tid evidence.LaneID, from, until int64, class, text string) {
		p.Sample(evidence.Sample{Time: at + from, Lane: tid, Stack: stack(text), Type: p.Name(evidence.SampleInterpreted), Class: p.Name(class), Value: until - from, Origin: p.Origin(1)})
	}
	sums, prices := "/srv/views.py: month_sums (srv/views.py)", "/srv/views.py: read_prices (srv/views.py)"
	python(1, 0, 40*ms, evidence.InterpreterHeld, sums)
	python(1, 50*ms, 900*ms, evidence.InterpreterLeft, prices)
	python(2, 0, 900*ms, evidence.InterpreterLeft, "/usr/lib/python3.11/queue.py: Queue.get (lib/python3.11/queue.py)")
	p.FactAt(0, evidence.FactInterpreterFile, "python3.11", 1, 1)
	type row struct {
		typ  string
		tid  evidence.LaneID
		at   int64
		text string
		want string
	}
	eval := "python3.11: _PyEval_EvalFrameDefault|: an unknown function"
	rows := []row{
		{evidence.SampleOnCPU, 1, 20 * ms, eval, "month_sums (srv/views.py)"},
		{evidence.SampleOnCPU, 1, 48 * ms, eval, "month_sums (srv/views.py)"}, // the look after it is nearer, but of one that waits
		{evidence.SampleOnCPU, 1, 20 * ms, "[kernel]: exc_page_fault|libc.so.6: memmove|_speedups.so: scan|python3.11: call_function|x: never", "exc_page_fault < memmove (libc.so.6) < scan (_speedups.so) < month_sums (srv/views.py)"},
		{evidence.SampleOnCPU, 3, 20 * ms, eval, "_PyEval_EvalFrameDefault < an unknown function"},                        // no thread of Python
		{evidence.SampleOnCPU, 1, 2000 * ms, eval, "_PyEval_EvalFrameDefault < an unknown function"},                      // no look near
		{evidence.SampleOffCPU, 1, 140 * ms, "[kernel]: tcp_recvmsg|" + eval, "tcp_recvmsg < read_prices (srv/views.py)"}, // it is dated by its end
		{evidence.SampleOffCPU, 1, 140 * ms, "libc.so.6: pthread_cond_timedwait|python3.11: take_gil|" + eval, "pthread_cond_timedwait (libc.so.6) < take_gil < read_prices (srv/views.py)"},
		{"other", 1, 20 * ms, eval, "_PyEval_EvalFrameDefault < an unknown function"},
	}
	first := b.Samples.Len()
	for _, r := range rows {
		x := evidence.Sample{Time: at + r.at, Lane: r.tid, Stack: stack(r.text), Type: p.Name(r.typ), Value: 1, Origin: p.Origin(1)}
		if r.typ == evidence.SampleOffCPU {
			x.Value = 60 * ms
		}
		p.Sample(x)
	}
	looks := b.Samples.Len()
	call := evidence.Sample{Time: at + 100*ms, Lane: 1, Type: p.Name(evidence.SampleSyscall), Stack: stacktest.Intern(p, stacktest.Kernel("recvfrom", "- of peer 10.0.0.7:5432", "recv (libc.so.6)", "sock_recv", "an unknown function")), Value: 1, Origin: p.Origin(1)}
	p.Sample(call)
	for tid := range evidence.LaneID(3) {
		p.Interval(evidence.Interval{Lane: tid, Kind: evidence.Call, Start: at + 60*ms, End: at + 400*ms, Origin: p.Origin(1)})
	}
	p.Interval(evidence.Interval{Lane: 1, Kind: evidence.Call, Start: at, End: at + 60*ms, Origin: p.Origin(1)}) // it ran in the middle of it
	p.Interval(evidence.Interval{Lane: 1, Kind: evidence.InKernel, Start: at + 60*ms, End: at + 400*ms, Stack: stack(eval), Origin: p.Origin(1)})
	p.Close()
	was := b.Samples.Stack
	threads.NameInterpreted(b)
	text := func(id evidence.StackID) string { return strings.Join(threadstack.Of(b, id).Frames, " < ") }
	for i, r := range rows {
		if got := text(b.Samples.Stack[first+i]); got != r.want {
			t.Errorf("%s of %d at %d: %s, want %s", r.typ, r.tid, r.at, got, r.want)
		}
	}
	seen := threadstack.Of(b, b.Samples.Stack[looks])
	if got := strings.Join(seen.Frames, " < "); got != "recv (libc.so.6) < read_prices (srv/views.py)" || seen.Call != "recvfrom" {
		t.Errorf("look: %s in %s", got, seen.Call)
	}
	if v := threads.Native(seen, ""); v.Owner != "read_prices (srv/views.py)" || v.Library {
		t.Errorf("look: owner %s", v.Owner)
	}
	for i, want := range []string{"", "read_prices (srv/views.py)", "", "", "read_prices (srv/views.py)"} {
		if got := text(b.Intervals.Stack.At(i)); got != want {
			t.Errorf("interval %d: %q, want %q", i, got, want)
		}
	}
	if len(was) == 0 || was[first] == b.Samples.Stack[first] {
		t.Error("the rows that were read are changed")
	}
}
