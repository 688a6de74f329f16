// Package perfmon reads counters of Windows as Performance Monitor (perfmon), typeperf, relog and
// Export-Counter write them as CSV or TSV
// (https://learn.microsoft.com/windows-server/administration/windows-commands/typeperf):
//
//	"(PDH-CSV 4.0) (W. Europe Standard Time)(-60)","\\WEB1\.NET CLR Memory(w3wp)\# Gen 2 Collections","\\WEB1\Process(w3wp)\Private Bytes"
//	"11/21/2026 09:00:01.123","17","845824000"
//
// It reads the counters of .NET Framework's GC, of its locks and exceptions,
// of ASP.NET and of processes, and leaves out others. Stamps are month first in any culture, and
// local time: the header's last parenthesis has the minutes to add for UTC; typeperf omits
// it, and then the stamps count as UTC, with a warning. A blank is no figure. Instances (w3wp, w3wp#1)
// are processes; _Global_ and _Total are sums and left out.
//
// Where the counters mislead: % Time in GC is that of the last collection, over the time since the one
// before, and stays until the next one; "Gen 0 heap size" is generation 0's budget, and not its size; counts of
// collections of a generation include those of older ones.
package perfmon

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// Format reads a file of counters.
var Format = format.Format{
	Name:  "perfmon",
	About: "counters of Windows: perfmon, typeperf, relog, Export-Counter, CSV and TSV; those of .NET Framework, ASP.NET and processes",
	Whole: true,
	Match: func(head []byte) format.Confidence {
		text := bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
		return format.SureIf(bytes.HasPrefix(text, []byte(`"(PDH-CSV 4.0)`)) || bytes.HasPrefix(text, []byte(`"(PDH-TSV 4.0)`)))
	},
	Parse: parseArtifact,
}

// Bounds of what is kept.
const (
	maxColumns = 4096
	maxFigures = 8 << 20
)

// column is a counter of an instance.
type column struct {
	instance string
	counter  counter
	at       []int64
	v        []float64
	line     int64
}

type parser struct {
	b       *evidence.Builder
	columns []*column // by position, nil: unused
	bias    time.Duration
	zoned   bool
	odd     int64 // rows
	figures int
}

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	p := &parser{b: b}
	err := a.Lines(func(l format.Line) bool {
		if l.Number%4096 == 0 && ctx.Err() != nil {
			return false
		}
		text := strings.TrimSuffix(strings.TrimPrefix(string(l.Text), "\ufeff"), "\r")
		switch fields := splitFields(text); {
		case p.columns == nil:
			p.parseHeader(fields)
			return p.columns != nil
		case strings.TrimSpace(text) == "":
		default:
			p.parseRow(fields, l.Number)
		}
		return true
	})
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return err
	}
	return p.emitSeries()
}

// splitFields splits a line at commas or tabs. Fields are quoted, and quotes within them doubled.
func splitFields(line string) (fields []string) {
	for len(line) > 0 && len(fields) < maxColumns {
		if line[0] != '"' {
			n := strings.IndexAny(line, ",\t")
			if n < 0 {
				return append(fields, line)
			}
			fields, line = append(fields, line[:n]), line[n+1:]
			continue
		}
		line = line[1:]
		n := 0
		for n < len(line) && (line[n] != '"' || n+1 < len(line) && line[n+1] == '"') {
			if line[n] == '"' {
				n++
			}
			n++
		}
		fields = append(fields, strings.ReplaceAll(line[:min(n, len(line))], `""`, `"`))
		line = strings.TrimLeft(line[min(n+1, len(line)):], ",\t")
	}
	return fields
}

// parseHeader reads the counter of each column.
func (p *parser) parseHeader(fields []string) {
	if len(fields) == 0 {
		return
	}
	if open := strings.LastIndexByte(fields[0], '('); open >= 0 {
		if minutes, err := strconv.Atoi(strings.TrimSuffix(fields[0][open+1:], ")")); err == nil && minutes > -24*60 && minutes < 24*60 {
			p.bias, p.zoned = time.Duration(minutes)*time.Minute, true
		}
	}
	p.columns = make([]*column, len(fields))
	for i, f := range fields[1:] {
		object, instance, name := splitPath(f)
		c, ok := counters[strings.ToLower(object+`\`+name)]
		if !ok || instance == "_Global_" || instance == "_Total" || instance == "Idle" {
			continue
		}
		p.columns[i+1] = &column{instance: instance, counter: c}
	}
}

// splitPath splits a counter's path: \\HOST\Object(instance)\Counter.
func splitPath(s string) (object, instance, name string) {
	if rest, ok := strings.CutPrefix(s, `\\`); ok {
		_, s, _ = strings.Cut(rest, `\`)
	}
	s = strings.TrimPrefix(s, `\`)
	at := strings.LastIndexByte(s, '\\')
	if at < 0 {
		return s, "", ""
	}
	object, name = s[:at], s[at+1:]
	if open := strings.IndexByte(object, '('); open >= 0 && strings.HasSuffix(object, ")") {
		object, instance = object[:open], object[open+1:len(object)-1]
	}
	return object, instance, name
}

func (p *parser) parseRow(fields []string, line int64) {
	t, err := time.Parse("01/02/2006 15:04:05.999", strings.TrimSpace(fields[0]))
	if err != nil || t.Year() < 1980 || t.Year() > 2200 {
		p.odd++
		return
	}
	at := t.Add(p.bias).UnixNano()
	for i := 1; i < min(len(fields), len(p.columns)); i++ {
		c := p.columns[i]
		text := strings.TrimSpace(fields[i])
		if c == nil || text == "" {
			continue
		}
		v, err := strconv.ParseFloat(strings.Replace(text, ",", ".", 1), 64)
		if err != nil || v-v != 0 || p.figures == maxFigures {
			continue
		}
		if n := len(c.at); n > 0 && at <= c.at[n-1] {
			continue // the clock was set back, or two readings of one moment
		}
		p.figures++
		if c.line == 0 {
			c.line = line
		}
		c.at, c.v = append(c.at, at), append(c.v, v)
	}
}

// errNothing is the error of a file without readable figures.
var errNothing = errors.New("none of its counters is one of .NET, ASP.NET or a process: add \\.NET CLR Memory(*)\\* and \\Process(*)\\*")
