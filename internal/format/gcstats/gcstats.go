// Package gcstats reads the rollup of PerfView's GCStats and its rows of collections (events.go), as people copy it out of the page or print it with UserCommand GCStats: collections
// by generation, with the longest pause and the sum of all (https://github.com/microsoft/perfview, src/TraceEvent/Computers/TraceManagedProcess.cs
// and src/PerfView/GCStats).
//
//	GC Rollup By Generation
//	All times are in msec.
//	Gen	Count	Max Pause	Max Peak MB	Max Alloc MB/sec	Total Pause	Total Alloc MB	Alloc MB/MSec GC	Survived MB/MSec GC	Mean Pause	Induced
//	ALL	412	2120.3	4120.1	812.0	41203.1	9120.3	0.2	0.1	100.0	0
//
// Cells are separated by tabs, bars, commas or several blanks. The rollup has no times of collections.
package gcstats

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// Format reads the rollup and the rows.
var Format = format.Format{
	Name:  "gcstats",
	About: "PerfView's GCStats: collections of .NET, by generation or one by one",
	Match: matchHead,
	Parse: parseArtifact,
}

const mostLine = 2048

func matchHead(head []byte) format.Confidence {
	if !bytes.Contains(head, []byte("Rollup By Generation")) && !bytes.Contains(head, []byte("Survived MB/MSec")) && !bytes.Contains(head, []byte("MSec GC")) &&
		!bytes.Contains(head, []byte("Pause Start")) && !bytes.Contains(head, []byte("GC#")) {
		return format.No
	}
	p := parser{}
	for l := range bytes.Lines(head) {
		if p.parseLine(string(l[:min(len(l), mostLine)]), 1); len(p.rows) > 0 || len(p.events) > 0 {
			return format.Sure
		}
	}
	return format.No
}

// row is a generation.
type row struct {
	name                       string
	count, most, total, mean   float64 // ms
	induced                    float64
	hasMost, hasTotal, counted bool
	line                       int64
}

type parser struct {
	columns []string // in the order of the heading
	rows    []row

	each   []string // the columns of the rows of collections, nil before their heading
	events []event
	more   int
}

// headings are the columns to read.
var headings = []string{"Gen", "Count", "Max Pause", "Max Peak MB", "Max Alloc MB/sec", "Total Pause", "Total Alloc MB", "Alloc MB/MSec GC", "Survived MB/MSec GC", "Mean Pause", "Induced"}

// parseHeading returns the columns of a heading in their order, nil for other lines.
func parseHeading(text string) []string {
	text = strings.Join(strings.Fields(strings.NewReplacer("|", " ", ",", " ", "\t", " ").Replace(text)), " ")
	if !strings.HasPrefix(text, "Gen Count ") || !strings.Contains(text, "Max Pause") || !strings.Contains(text, "Mean Pause") {
		return nil
	}
	var out []string
	for text != "" {
		found := ""
		for _, h := range headings {
			if strings.HasPrefix(text, h) && len(h) > len(found) {
				found = h
			}
		}
		if found == "" {
			word, rest, _ := strings.Cut(text, " ")
			found, text = word, rest
		} else {
			text = strings.TrimLeft(text[len(found):], " ")
		}
		out = append(out, found)
	}
	return out
}

func (p *parser) parseLine(text string, line int64) {
	if h := parseHeading(text); h != nil {
		p.columns, p.each = h, nil
		return
	}
	if h := eventColumns([]byte(text)); h != nil {
		p.each, p.columns = h, nil
		return
	}
	if p.each != nil {
		cells := splitRow([]byte(text))
		e, ok := readEvent(p.each, cells)
		switch e.line = line; {
		case !ok:
		case e.start < 0:
			p.addUntimed(&e)
		case len(p.events) == mostEvents:
			p.more++
		default:
			p.events = append(p.events, e)
		}
		return
	}
	if p.columns == nil || len(p.rows) == 16 {
		return
	}
	f := strings.Fields(strings.NewReplacer("|", " ", "\t", " ", ",", "").Replace(text))
	if len(f) < 3 || f[0] != "ALL" && f[0] != "0" && f[0] != "1" && f[0] != "2" {
		return
	}
	r := row{name: f[0], line: line}
	for i, name := range p.columns {
		if i >= len(f) {
			break
		}
		v, err := strconv.ParseFloat(f[i], 64)
		if err != nil || !(v >= 0 && v < 1e12) {
			continue
		}
		switch name {
		case "Count":
			r.count, r.counted = v, true
		case "Max Pause":
			r.most, r.hasMost = v, true
		case "Total Pause":
			r.total, r.hasTotal = v, true
		case "Mean Pause":
			r.mean = v
		case "Induced":
			r.induced = v
		}
	}
	if r.counted && r.hasMost {
		p.rows = append(p.rows, r)
	}
}

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	p := parser{}
	err := a.Lines(func(l format.Line) bool {
		p.parseLine(string(l.Text[:min(len(l.Text), mostLine)]), l.Number)
		return l.Number&0xfff != 0 || ctx.Err() == nil
	})
	if err := format.EndReading(ctx, b, err, len(p.rows)+len(p.events) > 0, "the text", "gcstats: no row of a generation below the heading"); err != nil {
		return err
	}
	*b.Clock() = evidence.Clock{Name: "sums of a trace", Error: evidence.Unanchored}
	subject := b.Subject(evidence.Subject{Kind: evidence.Process, Runtime: "dotnet"})
	if p.emitEvents(b, subject); len(p.rows) == 0 {
		b.Clock().Name, b.Clock().Resolution = "since the trace began", 1e3
		return nil
	}
	t := evidence.Table{Title: "collections by generation", Columns: []string{"generation", "count", "longest pause ms", "mean ms", "total ms", "induced"}}
	for _, r := range p.rows {
		t.Rows = append(t.Rows, []string{strings.ToLower(r.name), formatFigure(r.count), formatFigure(r.most), formatFigure(r.mean), formatFigure(r.total), formatFigure(r.induced)})
		if r.name != "2" || r.count == 0 {
			continue
		}
		b.FactAt(subject, evidence.FactGen2Most, formatFigure(r.most)+" ms", r.most*1e6, r.line)
		b.FactAt(subject, evidence.FactGen2Count, formatFigure(r.count), r.count-min(r.induced, r.count), r.line)
	}
	b.Table(t)
	return nil
}

func formatFigure(v float64) string { return fmt.Sprintf("%.6g", v) }
