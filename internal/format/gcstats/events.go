package gcstats

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// The view has a row for each collection, too ("GC Events by Time"), of which people copy the rows that matter:
//
//	GC Index | Pause Start | Trigger Reason | Gen | Suspend Msec | Pause MSec | % GC | … | Peak MB | After MB | …
//	9 | 9,317.806 | Induced | 2NI | 0.214 | 22,706.185 | 97.6 | … | 1,389.952 | 1,301.867 | …
//
// Gen is the generation, N (blocking), B (background) or F (during a background one), and I (induced) or i (induced, not forced). The pause of a background
// collection is the sum of two. Times are ms since the trace began. GCRealTimeMon (https://github.com/Maoni0/realmon) prints collections as they come, without
// when:
//
//	GC#     index |            type |   gen | pause (ms) |                reason | gen0 alloc (mb) | …
//	GC#      2278 | NonConcurrentGC |     0 |      26.29 |            AllocSmall |         378.853 | …
//
// Of these the sums by generation are told.

// mostEvents bounds the rows that are kept.
const mostEvents = 200_000

// event is a collection.
type event struct {
	number                int64
	start, pause, suspend float64 // ms
	after                 float64 // MB, -1 unknown
	generation            int
	kind                  evidence.Collection
	induced               bool
	reason                string
	line                  int64
}

// reasons of the runtime by the names of the view, in the words of its events (GCReason of TraceEvent).
var reasons = map[string]string{"AllocSmall": "small allocations", "Induced": "induced", "LowMemory": "low memory", "Empty": "empty", "AllocLarge": "large allocations",
	"OutOfSpaceSOH": "out of space for small objects", "OutOfSpaceLOH": "out of space for large objects", "InducedNotForced": "induced, not forced", "Internal": "internal",
	"InducedLowMemory": "induced by low memory", "InducedCompacting": "induced, compacting", "LowMemoryHost": "low memory of the host",
	"PMFullGC": "full collection of provisional mode", "LowMemoryHostBlocking": "low memory of the host, blocking"}

// splitRow splits a row of the view: at bars, tabs or, in a file with commas, quoted cells; nil if there are none.
func splitRow(text []byte) []string {
	var cells []string
	switch {
	case bytes.Count(text, []byte("|")) >= 4:
		cells = strings.Split(strings.Trim(strings.TrimSpace(string(text)), "|"), "|")
	case bytes.Count(text, []byte("\t")) >= 4:
		cells = strings.Split(string(text), "\t")
	case bytes.Count(text, []byte(`","`)) >= 4:
		cells = strings.Split(strings.Trim(strings.TrimSpace(string(text)), `"`), `","`)
	default:
		return nil
	}
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	return cells
}

// eventColumns returns the names of the columns of a heading, without units and blanks; nil for other lines.
func eventColumns(text []byte) []string {
	if lower := bytes.ToLower(text); !bytes.Contains(lower, []byte("pause")) || !bytes.Contains(lower, []byte("gen")) || !bytes.Contains(lower, []byte("reason")) {
		return nil
	}
	cells := splitRow(text)
	index, start, pause := false, false, false
	for i, c := range cells {
		c, _, _ = strings.Cut(c, "(")
		switch c = strings.ToLower(strings.ReplaceAll(strings.TrimSpace(c), " ", "")); {
		case c == "gc#index":
			c = "gcindex"
		case c == "pause" && strings.Contains(cells[i], "(ms)"):
			c = "pausemsec"
		}
		index, start, pause = index || c == "gcindex", start || c == "pausestart", pause || c == "pausemsec"
		cells[i] = c
	}
	if !index || !pause || !start && !slices.Contains(cells, "type") {
		return nil
	}
	return cells
}

// readEvent reads a row of a collection below a heading.
func readEvent(columns, cells []string) (e event, ok bool) {
	e = event{number: -1, start: -1, pause: -1, after: -1, generation: -1}
	for i, name := range columns {
		if i >= len(cells) {
			break
		}
		text := strings.TrimSpace(strings.TrimPrefix(cells[i], "GC#"))
		v, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
		if err != nil || !(v >= 0 && v < 1e12) {
			v = -1
		}
		switch name {
		case "gcindex":
			e.number = int64(v)
		case "pausestart":
			e.start = v
		case "pausemsec":
			e.pause = v
		case "suspendmsec":
			e.suspend = max(v, 0)
		case "aftermb":
			e.after = v
		case "triggerreason", "reason":
			e.reason = reasons[text]
		case "gen":
			if len(text) == 0 || text[0] < '0' || text[0] > '2' {
				return e, false
			}
			e.generation = int(text[0] - '0')
			switch {
			case strings.Contains(text, "B"):
				e.kind = evidence.CollectionBackground
			case strings.Contains(text, "F"):
				e.kind = evidence.CollectionForeground
			}
			e.induced = strings.ContainsAny(text, "Ii")
		}
	}
	if !e.induced {
		e.induced = strings.HasPrefix(e.reason, "induced")
	}
	return e, e.number >= 0 && (e.start >= 0 || !slices.Contains(columns, "pausestart")) && e.pause >= 0 && e.generation >= 0
}

// addUntimed adds a collection of which nothing says when it was: to those of its generation, and to all.
func (p *parser) addUntimed(e *event) {
	for _, name := range []string{"ALL", strconv.Itoa(e.generation)} {
		i := slices.IndexFunc(p.rows, func(r row) bool { return r.name == name })
		if i < 0 {
			i, p.rows = len(p.rows), append(p.rows, row{name: name, hasMost: true, counted: true, line: e.line})
		}
		r := &p.rows[i]
		r.count, r.most, r.total = r.count+1, max(r.most, e.pause), r.total+e.pause
		if r.mean = r.total / r.count; e.induced {
			r.induced++
		}
	}
}

// emitEvents writes the collections and their pauses.
func (p *parser) emitEvents(b *evidence.Builder, subject evidence.SubjectID) {
	if len(p.events) == 0 {
		return
	}
	const origin = 1_000_000_000 // ns: what begins at 0 has a time
	ns := func(ms float64) int64 { return int64(ms * 1e6) }
	first, last := int64(0), int64(0)
	for i := range p.events {
		e := &p.events[i]
		from := origin + ns(e.start)
		until := from + ns(e.pause)
		if i == 0 || from < first {
			first = from
		}
		last = max(last, until)
		what := "gen " + strconv.Itoa(e.generation)
		if e.kind != evidence.CollectionBlocking {
			what += " " + e.kind.String()
		}
		cause := what
		if e.reason != "" {
			cause += ", " + e.reason
		}
		x := []evidence.Extra{{Key: evidence.Generation, Value: float64(e.generation)}, {Key: evidence.CycleNumber, Value: float64(e.number)}, {Key: evidence.CollectionKind, Value: float64(e.kind)},
			{Key: evidence.PauseTime, Value: float64(until - from)}}
		if e.after >= 0 {
			x = append(x, evidence.Extra{Key: evidence.HeapAfter, Value: e.after * 1e6})
		}
		if e.induced {
			x = append(x, evidence.Extra{Key: evidence.Forced, Value: 1})
		}
		if e.reason != "" {
			x = append(x, evidence.Extra{Key: evidence.Trigger, Value: float64(b.Name(e.reason))})
		}
		if e.suspend > 0 {
			x = append(x, evidence.Extra{Key: evidence.ToSafepoint, Value: e.suspend * 1e6})
		}
		at := b.Origin(e.line)
		b.Interval(evidence.Interval{Subject: subject, Kind: evidence.GCCycle, Start: from, End: until, Cause: b.Name(cause), Extra: x, Origin: at})
		b.Interval(evidence.Interval{Subject: subject, Lane: evidence.AllLanes, Kind: evidence.StopTheWorld, Start: from, End: until, Cause: b.Name(what),
			Extra: []evidence.Extra{{Key: evidence.CycleNumber, Value: float64(e.number)}}, Origin: at})
	}
	b.Cover(evidence.Coverage{Subject: subject, Kind: evidence.CoverGC, From: first, Until: max(last, first+1), Origin: b.Origin(p.events[0].line)})
	t := evidence.Table{Title: "longest collections", Columns: []string{"number", "generation", "reason", "pause ms"}}
	for _, e := range longestOf(p.events) {
		t.Rows = append(t.Rows, []string{strconv.FormatInt(e.number, 10), strconv.Itoa(e.generation), e.reason, formatFigure(e.pause)})
	}
	b.Table(t)
	if p.more > 0 {
		b.Warnf(0, "more than %d collections: %s left out", mostEvents, format.Count(p.more, "was", "were"))
	}
}

// longestOf returns the collections with the longest pauses, the longest first.
func longestOf(all []event) (out []event) {
	const most = 10
	for _, e := range all {
		i, _ := slices.BinarySearchFunc(out, e.pause, func(x event, pause float64) int { return cmp.Compare(pause, x.pause) })
		if i == most {
			continue
		}
		if out = slices.Insert(out, i, e); len(out) > most {
			out = out[:most]
		}
	}
	return out
}
