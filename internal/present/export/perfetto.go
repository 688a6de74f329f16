package export

import (
	"cmp"
	"container/heap"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/diagnose/timeline"
)

// preparePerfetto returns the writer of a trace for https://ui.perfetto.dev in Perfetto's own
// protobuf form (https://perfetto.dev/docs/reference/synthetic-track-event), which is smaller than
// the JSON form and exact to the nanosecond. Each process has its requests, the slow ones first,
// with their states inside; what its processors did; the collector's cycles; stopped worlds;
// figures over time.
//
// Requests that overlap have a track each, and there are as few tracks as there were requests at
// once; the viewer merges tracks of one name.
func preparePerfetto(s *Source, _ string) (Writer, error) {
	b := s.Bundle
	if b.Requests.Len() == 0 && b.Intervals.Len() == 0 && len(b.Series) == 0 && len(b.Processors) == 0 {
		return nil, &Missing{"no events with a time", "a profile shows where time went, not when: unstall record TARGET also records traces, GC and the host"}
	}
	return func(w io.Writer) error {
		from, _ := b.Window()
		p := &viewed{s: s, t: newTrackWriter(w), dated: from != 0}
		p.t.writeClocks(from)
		for i := range b.Subjects {
			p.writeProcess(evidence.SubjectID(i))
		}
		return p.t.flushAll()
	}, nil
}

// viewed is a trace for Perfetto being written.
type viewed struct {
	s     *Source
	t     *trackWriter
	dated bool // times of day are known; evidence without them is left out
}

// isPlaced says whether times of a clock have a place on the trace's timeline; if not, it notes
// the artifact of the origin as omitted.
func (p *viewed) isPlaced(c evidence.ClockID, o evidence.Origin) bool {
	if !p.dated || p.s.isAnchored(c) {
		return true
	}
	p.s.addOmitted(fmt.Sprintf("omitted %s: its time is unknown", p.s.artifactName(o)))
	return false
}

// writeProcess writes all tracks of a subject, if there are any.
func (p *viewed) writeProcess(id evidence.SubjectID) {
	b := p.s.Bundle
	groups := p.groupRequests(id)
	bands := make([][]int, len(lasting))
	some := len(groups) > 0
	for i, x := range lasting {
		bands[i] = slices.DeleteFunc(b.Intervals.Select(x.kind, id), func(row int) bool { return !p.isPlaced(b.Intervals.Clock.At(row), b.Intervals.Origin.At(row)) })
		some = some || len(bands[i]) > 0
	}
	of := func(x evidence.SubjectID, c evidence.ClockID, o evidence.Origin) bool {
		return x == id && p.isPlaced(c, o)
	}
	some = some || slices.ContainsFunc(b.Series, func(x evidence.Series) bool { return of(x.Subject, x.Clock, x.Origin) }) ||
		slices.ContainsFunc(b.Processors, func(x evidence.Occupancy) bool { return of(x.Subject, x.Clock, x.Origin) })
	if !some {
		return
	}
	name := p.s.subjectTitle(id)
	root := p.t.addProcess(b.Subjects[id].PID, name)
	rank := 0
	for _, g := range groups {
		p.writeRequests(root, rank, g)
		rank++
	}
	for i := range b.Processors {
		if x := &b.Processors[i]; of(x.Subject, x.Clock, x.Origin) {
			p.writeProcessors(root, rank, x)
			rank++
		}
	}
	for i, x := range lasting {
		p.writeIntervals(root, rank, x.title, bands[i])
		rank++
	}
	for i := range b.Series {
		x := &b.Series[i]
		if !of(x.Subject, x.Clock, x.Origin) {
			continue
		}
		if x.Name == timeline.ThrottledPeriods {
			p.writeThrottling(root, rank, x)
			rank++
		}
		p.writeCounter(root, rank, x)
		rank++
	}
}

// group is requests that are shown together.
type group struct {
	title string
	l     *ledger.Ledger // nil: what their time went into is not known
	rows  []int          // in order of when they began
}

// groupRequests returns the slow requests, the other requests of the same source, and those of
// other sources, each as a group.
func (p *viewed) groupRequests(id evidence.SubjectID) (out []group) {
	r := &p.s.Bundle.Requests
	slow := evidence.NewRows(r.Len())
	var charged []*group
	for _, l := range p.s.Ledgers {
		if l.Subject != id {
			continue
		}
		for _, row := range l.Slow {
			slow.Add(row)
		}
		charged = append(charged, &group{title: "slow requests, over " + formatShortDuration(l.Threshold), l: l}, &group{title: "requests", l: l})
	}
	others := make(map[evidence.ArtifactID]*group)
	var order []*group
	for row := range r.Len() {
		if r.Subject.At(row) != id || !r.Timed(row) || !p.isPlaced(r.Clock.At(row), r.Origin.At(row)) {
			continue
		}
		if l := p.s.ledgerOf(row); l != nil {
			n := slices.IndexFunc(charged, func(g *group) bool { return g.l == l })
			if !slow.Has(row) {
				n++
			}
			charged[n].rows = append(charged[n].rows, row)
			continue
		}
		a, _ := r.Origin.At(row).Artifact()
		g := others[a]
		if g == nil {
			g = &group{title: "requests in " + filepath.Base(p.s.artifactName(r.Origin.At(row)))}
			others[a] = g
			order = append(order, g)
		}
		g.rows = append(g.rows, row)
	}
	for _, g := range append(charged, order...) {
		if len(g.rows) == 0 {
			continue
		}
		sorting.Short(g.rows, func(i, j int) int {
			return cmp.Or(cmp.Compare(r.End.At(i)-r.Latency(i), r.End.At(j)-r.Latency(j)), cmp.Compare(i, j))
		})
		out = append(out, *g)
	}
	return out
}

// writeRequests writes a group: each request in the track that has been free longest, in a new one
// if none is free.
func (p *viewed) writeRequests(root uint64, rank int, g group) {
	r := &p.s.Bundle.Requests
	var busy slots
	for _, row := range g.rows {
		if p.t.err != nil {
			return
		}
		began := r.End.At(row) - r.Latency(row)
		var x slot
		if len(busy) > 0 && busy[0].until <= began {
			x = heap.Pop(&busy).(slot)
		} else {
			x.track = p.t.addTrack(track{parent: root, name: g.title, rank: rank})
		}
		x.until = r.End.At(row)
		heap.Push(&busy, x)
		p.writeRequest(x.track, row, g.l)
	}
}

// slot is a track of requests and when its last one ends.
type slot struct {
	until int64
	track uint64
}

type slots []slot

func (s slots) Len() int { return len(s) }
func (s slots) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(s[i].until, s[j].until), cmp.Compare(s[i].track, s[j].track)) < 0
}
func (s slots) Swap(i, j int) { s[i], s[j] = s[j], s[i] }
func (s *slots) Push(x any)   { *s = append(*s, x.(slot)) }
func (s *slots) Pop() any {
	old := *s
	x := old[len(old)-1]
	*s = old[:len(old)-1]
	return x
}

// writeRequest writes a request and, inside it, its states.
func (p *viewed) writeRequest(on uint64, row int, l *ledger.Ledger) {
	b := p.s.Bundle
	q := b.Requests.Row(row)
	name := b.Names.Text(q.Route)
	if name == "" {
		name = "request"
	}
	p.t.noteString("outcome", q.Outcome.String())
	p.t.noteOnce("origin", b.OriginText(q.Origin))
	if q.Lane > 0 {
		p.t.noteNumber("goroutine", int64(q.Lane))
	}
	p.t.beginSlice(on, q.Began(), name)
	if l != nil && l.Traced {
		l.Walk(row, func(at int64, seg evidence.Segment, c *ledger.Charges) {
			st := stateOf(seg, c)
			p.noteState(&st, c)
			p.t.beginSlice(on, at, st.formatTitle(b))
			p.t.endSlice(on, at+seg.Dur)
		})
	}
	p.t.endSlice(on, q.End)
}

// noteState notes what is known of a state.
func (p *viewed) noteState(st *state, c *ledger.Charges) {
	names := p.s.Bundle.Names
	p.t.noteString("mechanism", st.mechanism.String())
	p.t.noteString("state", st.Kind.String())
	if what := names.Text(st.Cause); what != "" {
		p.t.noteString("for", what)
	}
	if st.Holder != 0 {
		p.t.noteNumber("holder", int64(st.Holder))
	}
	if st.HolderKind != evidence.KindUnknown {
		p.t.noteString("holder did", st.HolderKind.String())
	}
	if st.several {
		for m, ns := range c {
			if ns > 0 {
				p.t.noteNumber(ledger.Mechanism(m).String()+" ns", ns)
			}
		}
	}
	if where := p.formatStack(st.Stack); where != "" {
		p.t.noteString("stack", where)
	}
}

// formatStack returns a stack in a few lines, innermost first.
func (p *viewed) formatStack(id evidence.StackID) string {
	const most = 12
	names := p.s.Bundle.Names
	var w strings.Builder
	for i, f := range p.s.Bundle.Stacks.Frames(id) {
		if i == most {
			w.WriteString("\n…")
			break
		}
		if i > 0 {
			w.WriteByte('\n')
		}
		w.WriteString(names.Text(f.Func))
	}
	return w.String()
}

// writeProcessors writes a track for each processor of a trace.
func (p *viewed) writeProcessors(root uint64, rank int, o *evidence.Occupancy) {
	b := p.s.Bundle
	title := "processors"
	if len(b.Processors) > 1 {
		title += " in " + filepath.Base(p.s.artifactName(o.Origin))
	}
	parent := p.t.addTrack(track{parent: root, name: title, rank: rank, ordered: true})
	a, _ := o.Origin.Artifact()
	serving := b.Serving(a)
	for lane := range o.Lanes {
		on := p.t.addTrack(track{parent: parent, name: fmt.Sprintf("P%d", o.Lanes[lane].Number), rank: lane})
		for x := range o.Spans(lane) {
			if fn := b.Names.Text(x.Name); fn != "" {
				p.t.noteString("function", fn)
			}
			if x.Lane > 0 {
				p.t.noteNumber("goroutine", int64(x.Lane))
			}
			if id := serving.At(x.Serves, x.From, x.To); x.Serves != 0 && id != evidence.NoRequest {
				p.t.noteOnce("request", b.OriginText(b.Requests.Origin.At(int(id-1))))
				if route := b.Names.Text(b.Requests.Route.At(int(id - 1))); route != "" {
					p.t.noteString("route", route)
				}
			}
			if x.Number > 1 {
				p.t.noteNumber("spans joined", x.Number)
				for w, ns := range x.Each {
					p.t.noteNumber(w.String()+" ns", ns)
				}
			}
			p.t.beginSlice(on, x.From, x.Work.String())
			p.t.endSlice(on, x.To)
		}
	}
}

// writeCounter writes a figure over time.
func (p *viewed) writeCounter(root uint64, rank int, x *evidence.Series) {
	name := x.Name
	if title, ok := counters[name]; ok {
		name = title
	}
	on := p.t.addTrack(track{parent: root, name: name, rank: rank, counter: true, unit: x.Unit})
	for n, at := range x.T {
		p.t.writeCount(on, at, x.V[n])
	}
}

// counters maps the runtime's metrics to names that read better in a list.
var counters = map[string]string{
	evidence.SeriesGoHeap:      "heap",
	evidence.SeriesGoGoal:      "heap goal",
	evidence.SeriesGoAllocated: "allocated",
	evidence.SeriesGoCycles:    "GC cycles so far",
	evidence.SeriesGoProcs:     "GOMAXPROCS",
}
