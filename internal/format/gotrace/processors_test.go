package gotrace

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/exp/trace"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

// spent is time (ns) by processor, goroutine and what it was spent on.
type spent map[spentOn]int64

type spentOn struct {
	proc int
	lane evidence.LaneID
	on   string
}

// TestProcessorsTile requires of every trace there is that the spans of each
// processor are in order, and that they hold for each goroutine exactly the time
// that a naive reading of the events finds: running, marking, stopping the world.
func TestProcessorsTile(t *testing.T) {
	for _, f := range recordedTraces(t) {
		t.Run(strings.ReplaceAll(strings.TrimPrefix(f, "../../"), "/", " "), func(t *testing.T) {
			t.Parallel()
			b := readFile(t, f)
			if len(b.Processors) != 1 {
				t.Fatalf("%d are described", len(b.Processors))
			}
			got := spentBy(t, &b.Processors[0])
			if d := cmp.Diff(naively(t, f), got); d != "" {
				t.Error(d)
			}
		})
	}
}

// recordedTraces are the files of all traces that are kept.
func recordedTraces(t *testing.T) (files []string) {
	for _, pattern := range []string{"testdata/http/*.trace.gz", "../../diagnose/check/testdata/*/*/trace*", "../../../lab/*/recorded/*/trace*", corpus + "/*.trace.gz"} {
		found, _ := filepath.Glob(pattern)
		if len(found) == 0 {
			t.Logf("%s: none beside this checkout, left out", pattern)
		}
		files = append(files, found...)
	}
	if len(files) < 60 {
		t.Fatalf("only %d traces", len(files))
	}
	return files
}

func spentBy(t testing.TB, p *evidence.Occupancy) spent {
	got := make(spent)
	if p.Quantum != 0 || p.Omitted != 0 {
		t.Errorf("joined below %d ns, %d processors omitted", p.Quantum, p.Omitted)
	}
	for i, l := range p.Lanes {
		at := p.From
		for s := range p.Spans(i) {
			if s.From < at || s.To <= s.From || s.To > p.Until || s.Number != 1 {
				t.Fatalf("P%d: after %d follows %+v", l.Number, at, s)
			}
			at = s.To
			got[spentOn{l.Number, s.Lane, class(s.Work)}] += s.To - s.From
		}
	}
	return got
}

func class(w evidence.Work) string {
	switch w {
	case evidence.WorkRequestAssist, evidence.WorkBackgroundAssist:
		return "assist"
	case evidence.WorkDedicated:
		return "GC (dedicated)"
	case evidence.WorkFractional:
		return "GC (fractional)"
	case evidence.WorkIdleMark:
		return "GC (idle)"
	case evidence.WorkStopped:
		return "stop"
	}
	return "run"
}

// naively adds up a trace's events with nothing but a map of who is on which
// processor: what the reader says must agree with it.
func naively(t *testing.T, path string) spent {
	a := format.File(path)
	s, err := a.Reader()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r, err := trace.NewReader(s)
	if err != nil {
		t.Fatal(err)
	}
	type on struct {
		g     trace.GoID
		since trace.Time
	}
	const nobody = trace.NoGoroutine
	var (
		out          = make(spent)
		procs        = make(map[trace.ProcID]*on)
		touched      = make(map[trace.ProcID]bool)
		at           = make(map[trace.GoID]trace.ProcID)
		assist, stop = make(map[trace.GoID]bool), make(map[trace.GoID]bool)
		label        = make(map[trace.GoID]string)
		stops        int
		first, now   trace.Time
		begun        bool
	)
	// seen is from when on something is known of a processor not heard of before:
	// it was idle, unless nothing may run.
	seen := func() trace.Time {
		if stops > 0 {
			return now
		}
		return first
	}
	// upto spends the time of a processor until now.
	upto := func(id trace.ProcID) *on {
		p := procs[id]
		if p == nil {
			p = &on{nobody, seen()}
			procs[id] = p
		}
		what := ""
		switch {
		case p.g == nobody && stops > 0, stop[p.g]:
			what = "stop"
		case p.g == nobody:
		case label[p.g] != "":
			what = label[p.g]
		case assist[p.g]:
			what = "assist"
		default:
			what = "run"
		}
		if d := int64(now - p.since); d > 0 && what != "" {
			k := spentOn{int(id), evidence.LaneID(p.g), what}
			if p.g == nobody {
				k.lane = 0
			}
			out[k] += d
		}
		p.since = now
		return p
	}
	leaves := func(g trace.GoID) {
		if id, ok := at[g]; ok {
			upto(id).g = nobody
			delete(at, g)
		}
	}
	ranges := func(ev *trace.Event) {
		x, begin := ev.Range(), ev.Kind() != trace.EventRangeEnd
		g := ev.Goroutine()
		if x.Scope.Kind == trace.ResourceGoroutine {
			g = x.Scope.Goroutine()
		}
		if g == nobody && x.Scope.Kind == trace.ResourceProc && procs[x.Scope.Proc()] != nil {
			g = procs[x.Scope.Proc()].g
		}
		switch {
		case x.Name == "GC mark assist":
			if id, ok := at[g]; ok {
				upto(id)
			}
			assist[g] = begin
		case strings.HasPrefix(x.Name, "stop-the-world"):
			for id := range procs {
				upto(id)
			}
			if begin {
				stops++
			} else {
				stops = max(0, stops-1)
			}
			if g != nobody {
				stop[g] = begin
			}
		}
	}
	for {
		ev, err := r.ReadEvent()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		now = ev.Time()
		if !begun {
			first, begun = now, true
		}
		switch ev.Kind() {
		case trace.EventRangeBegin, trace.EventRangeActive, trace.EventRangeEnd:
			ranges(&ev)
		case trace.EventLabel:
			if l := ev.Label(); l.Resource.Kind == trace.ResourceGoroutine && strings.HasPrefix(l.Label, "GC (") {
				label[l.Resource.Goroutine()] = l.Label // of all of the stretch it is in: it follows at once
			}
		case trace.EventStateTransition:
			st := ev.StateTransition()
			switch st.Resource.Kind {
			case trace.ResourceProc:
				id := st.Resource.Proc()
				from, to := st.Proc()
				if from == to {
					break
				}
				if procs[id] == nil {
					procs[id] = &on{nobody, seen()}
				}
				if to != trace.ProcRunning && procs[id].g != nobody {
					leaves(procs[id].g)
				}
				touched[id] = touched[id] || from != trace.ProcUndetermined
			case trace.ResourceGoroutine:
				g, id := st.Resource.Goroutine(), ev.Proc()
				from, to := st.Goroutine()
				_, keeps := at[g]
				switch {
				case from == to, to == trace.GoSyscall, from == trace.GoSyscall && to == trace.GoRunning && keeps:
				case to == trace.GoRunning && id != trace.NoProc:
					if procs[id] != nil && procs[id].g != nobody {
						leaves(procs[id].g)
					}
					if from == trace.GoUndetermined && !touched[id] {
						// It was there when the trace began; so nothing is spent before.
						since := seen()
						if p := procs[id]; p != nil {
							since = p.since
						}
						procs[id] = &on{g, since}
					} else {
						upto(id).g = g
					}
					at[g], touched[id] = id, true
				default:
					leaves(g)
				}
			}
		}
	}
	for id := range procs {
		upto(id)
	}
	return out
}

// TestProcessorsGolden shows a few milliseconds of a trace in which a cycle
// begins while requests are served, and then what all of it was spent on.
func TestProcessorsGolden(t *testing.T) {
	const name = "go1.26.8-tcpdep-middle"
	b := readFile(t, "testdata/http/"+name+".trace.gz")
	b.Unify()
	b.Align()
	p := &b.Processors[0]
	var s strings.Builder
	from := p.From
	fmt.Fprintf(&s, "%d processors during %d µs\n", len(p.Lanes), (p.Until-p.From)/1000)
	serving := b.Serving(0)
	share := func(lane int) evidence.Works {
		var sum evidence.Works
		for x := range p.Spans(lane) {
			for w, d := range x.Each {
				sum[w] += d
			}
		}
		return sum
	}
	for i, l := range p.Lanes {
		sum := share(i)
		sum[evidence.WorkIdle] = p.Until - p.From - sum.Sum()
		for w, d := range sum {
			if d > 0 {
				fmt.Fprintf(&s, "P%d %s: %d µs\n", l.Number, evidence.Work(w), d/1000)
			}
		}
	}
	for i, l := range p.Lanes {
		fmt.Fprintf(&s, "\nP%d\n", l.Number)
		for x := range p.Spans(i) {
			if x.To < from+11_700_000 || x.From > from+14_400_000 {
				continue
			}
			request := ""
			if x.Serves != 0 {
				request = "no request"
				if id := serving.At(x.Serves, x.From, x.To); id != evidence.NoRequest {
					request = fmt.Sprintf("request of g%d", x.Serves)
				}
			}
			line := fmt.Sprintf("%9.1f %8.1f µs  %-24s g%-5d %-30s %s", float64(x.From-from)/1e3, float64(x.To-x.From)/1e3, x.Work, x.Lane, b.Names.Text(x.Name), request)
			fmt.Fprintln(&s, strings.TrimRight(line, " "))
		}
	}
	formattest.Golden(t, "testdata/"+name+".processors.golden", s.String())
}
