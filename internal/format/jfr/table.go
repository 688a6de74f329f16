package jfr

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
)

// emitTables emits the tables that show what the recording holds.
func (p *parser) emitTables() {
	p.b.Table(evidence.Table{Title: "Flight recording", Columns: []string{"version", "chunks", "bytes", "events", "from", "until"}, Rows: [][]string{{
		fmt.Sprintf("%d.%d", p.major, p.minor), strconv.Itoa(p.chunks), strconv.FormatInt(p.bytes, 10), strconv.FormatInt(p.events, 10), formatTime(p.from), formatTime(p.until)}}})
	p.eventTable()
}

func formatTime(ns int64) string { return time.Unix(0, ns).UTC().Format("2006-01-02T15:04:05.000Z") }

// maxEventTypes bounds the rows: the JDK has 180 types.
const maxEventTypes = 400

// eventTable counts events of each type, including metadata and checkpoints, as jfr summary does.
func (p *parser) eventTable() {
	t := evidence.Table{Title: "Events", Columns: []string{"event", "count"}}
	names := slices.SortedFunc(maps.Keys(p.counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(p.counts[b], p.counts[a]), cmp.Compare(a, b))
	})
	for i, name := range names {
		if i == maxEventTypes {
			t.Rows = append(t.Rows, []string{fmt.Sprintf("%d more types", len(names)-i), ""})
			break
		}
		t.Rows = append(t.Rows, []string{cleanText(name), strconv.FormatInt(p.counts[name], 10)})
	}
	if n := len(p.nameless); n > 0 {
		var events int64
		for _, k := range p.nameless {
			events += k
		}
		t.Rows = append(t.Rows, []string{fmt.Sprintf("of %d unknown types", n), strconv.FormatInt(events, 10)})
	}
	p.b.Table(t)
}

// cleanText replaces what may not stand in a table, such as control characters, by question marks.
func cleanText(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '�' {
			return '?'
		}
		return r
	}, s)
}
