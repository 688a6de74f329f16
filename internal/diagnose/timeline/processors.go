package timeline

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/base/units"
)

// works maps the evidence's kinds of work to the drawn ones.
var works = [evidence.NumWorks]Work{
	evidence.WorkIdle:             Idle,
	evidence.WorkRequest:          ForRequest,
	evidence.WorkRequestAssist:    Assist,
	evidence.WorkBackground:       Background,
	evidence.WorkBackgroundAssist: Assist,
	evidence.WorkRuntime:          Runtime,
	evidence.WorkDedicated:        Collector,
	evidence.WorkFractional:       Collector,
	evidence.WorkIdleMark:         Collector,
	evidence.WorkStopped:          Stopped,
}

// addProcessors lays out what each processor did in each trace. Where there are too many spans,
// those around the slowest requests are kept as they are, and others are drawn together, short
// ones first.
func (l *layout) addProcessors() {
	var traces []*occupancy
	for i := range l.b.Processors {
		if p := &l.b.Processors[i]; p.Subject == l.subject && p.Until > p.From {
			traces = append(traces, l.newOccupancy(p))
		}
	}
	if len(traces) == 0 {
		return
	}
	// The trace with the charged requests comes first and gets half of the spans.
	sorting.Short(traces, func(a, b *occupancy) int {
		return cmp.Or(cmp.Compare(l.chargedRank(b), l.chargedRank(a)), cmp.Compare(a.p.From, b.p.From))
	})
	left := MaxSpans
	if len(traces) > 1 && l.chargedRank(traces[0]) > 0 {
		traces[0].room = min(traces[0].count, MaxSpans/2)
		left -= traces[0].room
		splitSpans(traces[1:], left)
	} else {
		splitSpans(traces, left)
	}
	for _, o := range traces {
		l.t.Processors = append(l.t.Processors, o.drawProcessors())
	}
}

// occupancy is the work of one trace's processors while it is drawn.
type occupancy struct {
	l       *layout
	p       *evidence.Occupancy
	a       evidence.ArtifactID
	serving *evidence.Serving
	count   int // spans
	room    int // spans that can be kept

	width int64 // ns: of a slot
	slots []int // spans that begin in each
	full  evidence.Rows
}

// mostSlots is the number of slots of time in which a trace's spans are counted.
const mostSlots = 1 << 16

func (l *layout) newOccupancy(p *evidence.Occupancy) *occupancy {
	o := &occupancy{l: l, p: p, width: (p.Until-p.From)/mostSlots + 1}
	o.a, _ = p.Origin.Artifact()
	o.slots = make([]int, o.slotAt(p.Until)+1)
	o.full = evidence.NewRows(len(o.slots))
	for lane := range p.Lanes {
		for s := range p.Spans(lane) {
			o.slots[o.slotAt(s.From)]++
			o.count++
		}
	}
	return o
}

func (o *occupancy) slotAt(t int64) int { return int((t - o.p.From) / o.width) }

func (l *layout) chargedRank(o *occupancy) int {
	if l.ledger != nil && (o.a == l.ledger.Source || l.ledger.TracedBy(o.a)) {
		return 1
	}
	return 0
}

// splitSpans divides the spans among traces; what one does not need goes to the others.
func splitSpans(traces []*occupancy, room int) {
	order := slices.Clone(traces)
	sorting.Short(order, func(a, b *occupancy) int { return cmp.Compare(a.count, b.count) })
	for n, o := range order {
		o.room = min(o.count, room/(len(order)-n))
		room -= o.room
	}
}

// drawProcessors lays out the trace.
func (o *occupancy) drawProcessors() Processors {
	x := Processors{Source: o.l.b.Artifacts[o.a].Name, From: o.p.From, To: o.p.Until, Apart: !o.l.placed[o.p.Clock]}
	o.serving = o.l.b.Serving(o.a)
	short := int64(0)
	if o.count > o.room {
		around := o.keepAroundSlowest(o.room / 2)
		// Of what is drawn together at most one in four is long, one full, one ends at
		// a long one or where all is kept, and one at a time in which nothing ran.
		rest := max(1, o.room-around-8*len(o.p.Lanes))
		short = 4*(o.p.Until-o.p.From)*int64(len(o.p.Lanes))/int64(rest) + 1
		o.l.noteOmitted("%s spans of the processors in %s one by one: those shorter than %s are drawn together, except around the slowest requests", units.Count(o.count-o.room), x.Source, formatDuration(short))
	}
	for i := range o.p.Lanes {
		d := drawer{o: o, short: short}
		for s := range o.p.Spans(i) {
			d.addSpan(&s)
		}
		d.closeSpan()
		x.Lanes = append(x.Lanes, Lane{Name: fmt.Sprintf("P%d", o.p.Lanes[i].Number), Spans: d.spans})
	}
	if o.p.Quantum > 0 {
		o.l.noteOmitted("spans of the processors in %s shorter than %s one by one: there were too many to keep", x.Source, formatDuration(o.p.Quantum))
	}
	if o.p.Omitted > 0 {
		o.l.noteOmitted("%d more processors of %s", o.p.Omitted, x.Source)
	}
	return x
}

// keepAroundSlowest marks the slots around the slowest requests, as many as there is room for, and
// returns how many spans they hold.
func (o *occupancy) keepAroundSlowest(room int) (kept int) {
	r := &o.l.b.Requests
	for _, row := range o.l.shown.slow {
		if a, _ := r.Origin.At(int(row)).Artifact(); a != o.a {
			continue
		}
		lat := r.Latency(int(row))
		from, to := o.slotAt(max(o.p.From, r.End.At(int(row))-lat-lat/4)), o.slotAt(min(o.p.Until, r.End.At(int(row))+lat/4))
		more := 0
		for i := from; i <= to && i < len(o.slots); i++ {
			if !o.full.Has(i) {
				more += o.slots[i]
			}
		}
		if kept+more > room {
			continue
		}
		kept += more
		for i := from; i <= to && i < len(o.slots); i++ {
			o.full.Add(i)
		}
	}
	return kept
}

// slowRequestOf returns the place, plus one, of the request a span worked for among the requests
// whose states are shown; 0 if it is none of those.
func (o *occupancy) slowRequestOf(s *evidence.ProcessorSpan) int32 {
	if s.Serves == 0 {
		return 0
	}
	id := o.serving.At(s.Serves, s.From, s.To)
	if id == evidence.NoRequest {
		return 0
	}
	return o.l.shown.detail[int32(id-1)]
}

// drawer joins short spans of one processor.
type drawer struct {
	o     *occupancy
	short int64 // ns; 0: nothing is drawn together
	spans []Span

	open     bool
	from, to int64
	number   int
	name     string
	mix      [NumWorks]int64
	requests map[int32]int64 // ns by request
}

func (d *drawer) addSpan(s *evidence.ProcessorSpan) {
	name := d.o.l.b.Names.Text(s.Name)
	request := d.o.slowRequestOf(s)
	if s.To-s.From >= d.short || d.o.full.Has(d.o.slotAt(s.From)) {
		d.closeSpan()
		d.beginSpan(s.From, name)
		d.extendSpan(s, request)
		d.closeSpan()
		return
	}
	if d.open && (s.From-d.to >= d.short || s.To-d.from >= 2*d.short) {
		d.closeSpan()
	}
	if !d.open {
		d.beginSpan(s.From, name)
	}
	if d.name != name {
		d.name = ""
	}
	d.extendSpan(s, request)
	if d.to-d.from >= d.short {
		d.closeSpan()
	}
}

func (d *drawer) beginSpan(from int64, name string) {
	d.open, d.from, d.to, d.number, d.name, d.mix = true, from, from, 0, name, [NumWorks]int64{}
	clear(d.requests)
}

func (d *drawer) extendSpan(s *evidence.ProcessorSpan, request int32) {
	for w, v := range s.Each {
		d.mix[works[w]] += v
	}
	d.to = s.To
	d.number++
	if request != 0 {
		if d.requests == nil {
			d.requests = make(map[int32]int64)
		}
		d.requests[request] += s.To - s.From
	}
}

// closeSpan ends a span. Time in which nothing ran is in none of its shares.
func (d *drawer) closeSpan() {
	if !d.open {
		return
	}
	d.open = false
	dur := d.to - d.from
	x := Span{From: d.from, To: d.to, Name: d.name}
	kinds := 0
	for w, v := range d.mix {
		if v > 0 && Work(w) != Idle {
			kinds++
			if x.Work == Idle || v > d.mix[x.Work] {
				x.Work = Work(w)
			}
		}
	}
	if kinds > 1 || d.mix[x.Work] < dur {
		for w, v := range d.mix {
			if v > 0 && Work(w) != Idle {
				x.Shares = append(x.Shares, Share{Work(w), float64(v) / float64(dur)})
			}
		}
	}
	for _, r := range sortedKeys(d.requests) {
		if v := d.requests[r]; 2*v >= dur {
			x.Request = r
			break
		}
	}
	d.spans = append(d.spans, x)
}

func sortedKeys(m map[int32]int64) []int32 {
	out := make([]int32, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
