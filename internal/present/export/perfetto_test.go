package export

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/timeline"
)

// tracksRead is a trace as a viewer has it.
type tracksRead struct {
	t      *testing.T
	tracks map[uint64]*trackRead
	order  []uint64
	tables map[protowire.Number]map[uint64]string // InternedData
	clocks map[uint64]uint64
	from   uint64
}

type trackRead struct {
	parent  uint64
	name    string
	pid     uint64
	rank    uint64
	counter bool
	unit    string
	slices  []*sliceRead // those that are not inside others
	open    []*sliceRead
	last    uint64
	points  []pointRead
}

type sliceRead struct {
	from, to uint64
	name     string
	notes    []string
	inside   []*sliceRead
}

type pointRead struct {
	at uint64
	v  float64
}

// fields yields the fields of a message.
func fields(t *testing.T, m []byte, yield func(n protowire.Number, v uint64, b []byte)) {
	t.Helper()
	for len(m) > 0 {
		n, typ, size := protowire.ConsumeTag(m)
		if size < 0 {
			t.Fatalf("not protobuf: %v", protowire.ParseError(size))
		}
		m = m[size:]
		var v uint64
		var b []byte
		switch typ {
		case protowire.VarintType:
			v, size = protowire.ConsumeVarint(m)
		case protowire.Fixed64Type:
			v, size = protowire.ConsumeFixed64(m)
		case protowire.BytesType:
			b, size = protowire.ConsumeBytes(m)
		default:
			t.Fatalf("wire type %d", typ)
		}
		if size < 0 {
			t.Fatalf("not protobuf: %v", protowire.ParseError(size))
		}
		yield(n, v, b)
		m = m[size:]
	}
}

// decodeTracks reads a trace and demands what the viewer does: tracks described
// before they are used, names given before their numbers, slices in order and closed.
func decodeTracks(t *testing.T, data []byte) *tracksRead {
	t.Helper()
	r := &tracksRead{t: t, tracks: make(map[uint64]*trackRead), tables: make(map[protowire.Number]map[uint64]string), clocks: make(map[uint64]uint64)}
	packets := 0
	fields(t, data, func(n protowire.Number, _ uint64, b []byte) {
		if n != tracePacket {
			t.Fatalf("field %d of the trace", n)
		}
		r.packet(b)
		packets++
	})
	if packets == 0 {
		t.Fatal("the trace is empty")
	}
	for id, x := range r.tracks {
		if len(x.open) > 0 {
			t.Fatalf("track %d, %s: %d slices are not closed", id, x.name, len(x.open))
		}
	}
	return r
}

func (r *tracksRead) packet(m []byte) {
	t := r.t
	var at, flags, sequence uint64
	var event, interned, descriptor, snapshot []byte
	fields(t, m, func(n protowire.Number, v uint64, b []byte) {
		switch n {
		case packetTimestamp:
			at = v
		case packetFlags:
			flags = v
		case packetSequence:
			sequence = v
		case packetTrackEvent:
			event = b
		case packetInterned:
			interned = b
		case packetTrack:
			descriptor = b
		case packetClockSnapshot:
			snapshot = b
		default:
			t.Fatalf("field %d of a packet", n)
		}
	})
	if sequence != 1 {
		t.Fatalf("sequence %d", sequence)
	}
	fields(t, snapshot, func(_ protowire.Number, _ uint64, b []byte) {
		var id, at uint64
		fields(t, b, func(n protowire.Number, v uint64, _ []byte) {
			if n == clockID {
				id = v
			} else {
				at = v
			}
		})
		r.clocks[id] = at
	})
	fields(t, interned, func(table protowire.Number, _ uint64, b []byte) {
		var id uint64
		var s string
		fields(t, b, func(n protowire.Number, v uint64, b []byte) {
			if n == internedID {
				id = v
			} else {
				s = string(b)
			}
		})
		if r.tables[table] == nil {
			r.tables[table] = make(map[uint64]string)
			if len(r.tables) == 1 && flags&stateCleared == 0 {
				t.Fatal("names are given before their numbers were cleared")
			}
		}
		r.tables[table][id] = r.valid(s)
	})
	if descriptor != nil {
		r.describe(descriptor)
	}
	if event != nil {
		r.event(at, event)
	}
}

func (r *tracksRead) valid(s string) string {
	if !utf8.ValidString(s) {
		r.t.Fatalf("%q is not UTF-8", s)
	}
	return s
}

func (r *tracksRead) describe(m []byte) {
	x := &trackRead{}
	var id uint64
	fields(r.t, m, func(n protowire.Number, v uint64, b []byte) {
		switch n {
		case trackUUID:
			id = v
		case trackName:
			x.name = r.valid(string(b))
		case trackParent:
			x.parent = v
			if r.tracks[v] == nil {
				r.t.Fatalf("track %d is below %d, which is not there", id, v)
			}
		case trackRank:
			x.rank = v
		case trackCounter:
			x.counter = true
			fields(r.t, b, func(n protowire.Number, v uint64, b []byte) {
				x.unit = r.valid(string(b))
				if n == counterUnit {
					x.unit = fmt.Sprint("unit ", v)
				}
			})
		case trackProcess:
			fields(r.t, b, func(n protowire.Number, v uint64, b []byte) {
				if n == processPID {
					x.pid = v
				} else {
					x.name = r.valid(string(b))
				}
			})
		}
	})
	if id == 0 || r.tracks[id] != nil || x.name == "" {
		r.t.Fatalf("track %d, %q, is described twice, or badly", id, x.name)
	}
	r.tracks[id] = x
	r.order = append(r.order, id)
}

func (r *tracksRead) text(table protowire.Number, id uint64) string {
	s, ok := r.tables[table][id]
	if !ok {
		r.t.Fatalf("number %d of table %d was not given", id, table)
	}
	return s
}

func (r *tracksRead) event(at uint64, m []byte) {
	var typ, on, value uint64
	var name string
	var notes []string
	fields(r.t, m, func(n protowire.Number, v uint64, b []byte) {
		switch n {
		case eventType:
			typ = v
		case eventTrack:
			on = v
		case eventNameID:
			name = r.text(internedNames, v)
		case eventName:
			name = r.valid(string(b))
		case eventCounter:
			value = v
		case eventNotes:
			notes = append(notes, r.note(b))
		}
	})
	x := r.tracks[on]
	if x == nil || at == 0 {
		r.t.Fatalf("an event at %d on track %d", at, on)
	}
	if r.from == 0 || at < r.from {
		r.from = at
	}
	if typ == countEvent {
		if !x.counter {
			r.t.Fatalf("%s is not a counter", x.name)
		}
		x.points = append(x.points, pointRead{at, math.Float64frombits(value)})
		return
	}
	if at < x.last {
		r.t.Fatalf("%s: an event at %d after one at %d", x.name, at, x.last)
	}
	x.last = at
	switch typ {
	case sliceBegin:
		s := &sliceRead{from: at, name: name, notes: notes}
		if n := len(x.open); n > 0 {
			x.open[n-1].inside = append(x.open[n-1].inside, s)
		} else {
			x.slices = append(x.slices, s)
		}
		x.open = append(x.open, s)
	case sliceEnd:
		n := len(x.open)
		if n == 0 {
			r.t.Fatalf("%s: nothing is open at %d", x.name, at)
		}
		x.open[n-1].to = at
		x.open = x.open[:n-1]
	default:
		r.t.Fatalf("event type %d", typ)
	}
}

func (r *tracksRead) note(m []byte) string {
	var name, value string
	fields(r.t, m, func(n protowire.Number, v uint64, b []byte) {
		switch n {
		case noteNameID:
			name = r.text(internedNoteNames, v)
		case noteName:
			name = r.valid(string(b))
		case noteInt:
			value = fmt.Sprint(int64(v))
		case noteDouble:
			value = fmt.Sprint(math.Float64frombits(v))
		case noteText:
			value = r.valid(string(b))
		case noteTextID:
			value = r.text(internedTexts, v)
		}
	})
	if name == "" {
		r.t.Fatal("a note without a name")
	}
	return name + "=" + value
}

// String returns the trace in readable form, times in ns since its beginning.
func (r *tracksRead) String() string {
	var w strings.Builder
	for _, id := range r.order {
		x := r.tracks[id]
		fmt.Fprintf(&w, "track %d below %d, rank %d: %q", id, x.parent, x.rank, x.name)
		if x.pid != 0 {
			fmt.Fprintf(&w, ", pid %d", x.pid)
		}
		if x.counter {
			fmt.Fprintf(&w, ", counter %s", x.unit)
		}
		w.WriteByte('\n')
		for _, p := range x.points {
			fmt.Fprintf(&w, "  %d %v\n", p.at-r.from, p.v)
		}
		r.write(&w, "  ", x.slices)
	}
	return w.String()
}

func (r *tracksRead) write(w *strings.Builder, indent string, slices []*sliceRead) {
	for _, s := range slices {
		fmt.Fprintf(w, "%s%d +%d %s %q\n", indent, s.from-r.from, s.to-s.from, s.name, s.notes)
		r.write(w, indent+"  ", s.inside)
	}
}

// named returns the tracks of a name.
func (r *tracksRead) named(name string) (out []*trackRead) {
	for _, id := range r.order {
		if r.tracks[id].name == name {
			out = append(out, r.tracks[id])
		}
	}
	return out
}

func TestPerfetto(t *testing.T) {
	s := recorded(t, Options{})
	l := s.tracedLedgers()[0]
	r := decodeTracks(t, exported(t, s, "perfetto", ""))
	from, _ := s.Bundle.Window()
	if r.clocks[realtime] != uint64(from) || r.clocks[boottime] != uint64(from) {
		t.Errorf("clocks %v, the evidence is from %d", r.clocks, from)
	}
	count := func(name string) (n int, ns int64) {
		for _, x := range r.named(name) {
			n += len(x.slices)
			for i, q := range x.slices {
				ns += int64(q.to - q.from)
				if i > 0 && q.from < x.slices[i-1].to {
					t.Fatalf("%s: requests overlap in one track", name)
				}
				at := q.from
				for _, st := range q.inside {
					if st.from != at {
						t.Fatalf("%s: a gap before the state at %d", name, st.from)
					}
					at = st.to
				}
				if len(q.inside) > 0 && at != q.to {
					t.Fatalf("%s: the states of a request end at %d, it ends at %d", name, at, q.to)
				}
			}
		}
		return n, ns
	}
	if n, ns := count("slow requests, over " + formatShortDuration(l.Threshold)); n != len(l.Slow) || ns != l.Total {
		t.Errorf("%d slow requests of %d ns, the ledger has %d of %d", n, ns, len(l.Slow), l.Total)
	}
	if n, _ := count("requests"); n != len(l.Rows)-len(l.Slow) {
		t.Errorf("%d other requests of %d", n, len(l.Rows)-len(l.Slow))
	}
	if n, _ := count("requests in trace.out.gz"); n+len(l.Rows) != s.Bundle.Requests.Len() {
		t.Errorf("%d requests of the trace", n)
	}
	if n, _ := count("GC cycles"); n != len(s.Bundle.Intervals.Select(evidence.GCCycle, -1)) || n == 0 {
		t.Errorf("%d cycles", n)
	}
	if n, _ := count("stop-the-world"); n != len(s.Bundle.Intervals.Select(evidence.StopTheWorld, -1)) || n == 0 {
		t.Errorf("%d pauses", n)
	}
	o := &s.Bundle.Processors[0]
	for i := range o.Lanes {
		var spans int
		for range o.Spans(i) {
			spans++
		}
		if n, _ := count(fmt.Sprintf("P%d", o.Lanes[i].Number)); n != spans || n == 0 {
			t.Errorf("P%d: %d spans of %d", o.Lanes[i].Number, n, spans)
		}
	}
	for i := range s.Bundle.Series {
		x := &s.Bundle.Series[i]
		name := x.Name
		if title, ok := counters[name]; ok {
			name = title
		}
		got := r.named(name)
		if len(got) != 1 || len(got[0].points) != len(x.T) || got[0].points[0] != (pointRead{uint64(x.T[0]), x.V[0]}) {
			t.Errorf("%s: %d tracks", x.Name, len(got))
		}
	}
}

// TestThrottled exports throttling by a quota, which counters record and no interval, also away from requests.
func TestThrottled(t *testing.T) {
	const dir = "../../diagnose/check/testdata/linux.cpu-throttled/sick/"
	s := read(t, Options{}, dir+"access.log.gz", dir+"procfs.txtar.gz", dir+"trace.out.gz")
	want := 0
	for _, x := range s.Bundle.Series {
		if x.Name == timeline.ThrottledPeriods {
			for _, v := range x.V[:len(x.V)-1] {
				if v > 0 {
					want++
				}
			}
		}
	}
	r := decodeTracks(t, exported(t, s, "perfetto", ""))
	stops := r.named(timeline.ThrottledTitle)
	if len(stops) != 1 || len(stops[0].slices) != want || want == 0 {
		t.Fatalf("%d tracks of a quota's stops, %d readings have any", len(stops), want)
	}
	if s := stops[0].slices[0]; s.to <= s.from || !strings.Contains(s.name, " of ") {
		t.Errorf("a stop from %d to %d, %q", s.from, s.to, s.name)
	}
}

// TestUnplaced leaves out evidence without times of day beside evidence that has them.
func TestUnplaced(t *testing.T) {
	s := read(t, Options{}, sick+"/trace.out.gz", "testdata/gctrace.log")
	r := decodeTracks(t, exported(t, s, "perfetto", ""))
	from, _ := s.Bundle.Window()
	if r.from < uint64(from) {
		t.Errorf("an event at %d, the evidence is from %d", r.from, from)
	}
	if len(s.Omitted) != 1 || s.Omitted[0] != "omitted gctrace.log: its time is unknown" {
		t.Errorf("omitted: %q", s.Omitted)
	}
	alone := read(t, Options{}, "testdata/gctrace.log")
	r = decodeTracks(t, exported(t, alone, "perfetto", ""))
	if len(r.named("GC cycles")) != 1 || len(r.clocks) != 0 || len(alone.Omitted) != 0 {
		t.Errorf("alone: %d tracks of cycles, clocks %v, omitted %q", len(r.named("GC cycles")), r.clocks, alone.Omitted)
	}
}

// TestHolderIsNoted checks that a lock's holder and what it did are separate notes, each only if it is known.
func TestHolderIsNoted(t *testing.T) {
	r := decodeTracks(t, exported(t, strange(), "perfetto", ""))
	tracks := r.named("slow requests, over 5 ms")
	if len(tracks) == 0 {
		t.Fatal("no slow requests")
	}
	states := tracks[0].slices[0].inside
	if len(states) != 2 || strings.Contains(fmt.Sprint(states[0].notes), "holder") {
		t.Fatalf("%d states, the first with %q", len(states), states[0].notes)
	}
	if notes := fmt.Sprint(states[1].notes); !strings.Contains(notes, "holder=71") || !strings.Contains(notes, "holder did="+evidence.GCAssist.String()) {
		t.Errorf("notes %s", notes)
	}
}

func TestHostilePerfetto(t *testing.T) {
	r := decodeTracks(t, exported(t, strange(), "perfetto", ""))
	found := make(map[string]bool)
	for _, id := range r.order {
		for _, s := range r.tracks[id].slices {
			found[s.name] = true
		}
	}
	for _, name := range hostile {
		if !found[strings.ToValidUTF8(name, "\uFFFD")] {
			t.Errorf("%q is not a slice", name)
		}
	}
}

// TestInternedBound checks that names beyond the bound of the interning table are written out.
func TestInternedBound(t *testing.T) {
	var w strings.Builder
	x := newTrackWriter(&w)
	on := x.addTrack(track{name: "t"})
	for i := range maxInterned + 10 {
		x.beginSlice(on, int64(i+1), fmt.Sprint("name ", i))
		x.endSlice(on, int64(i+1))
	}
	if err := x.flushAll(); err != nil {
		t.Fatal(err)
	}
	if len(x.names) != maxInterned {
		t.Errorf("%d names are remembered", len(x.names))
	}
	r := decodeTracks(t, []byte(w.String()))
	slices := r.named("t")[0].slices
	if len(slices) != maxInterned+10 || slices[maxInterned+9].name != fmt.Sprint("name ", maxInterned+9) {
		t.Errorf("%d slices", len(slices))
	}
}
