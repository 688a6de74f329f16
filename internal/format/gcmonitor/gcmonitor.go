// Package gcmonitor reads what servers on a JVM write about collections into their own log: Elasticsearch and OpenSearch, in plain
// text or JSON, Cassandra, Hadoop, HBase and others (inspector.go).
//
//	[2018-09-10T16:07:02,914][INFO ][o.e.m.j.JvmGcMonitorService] [node] [gc][old][355204][472] duration [5.2s], collections [1]/[5.5s], total [5.2s]/[1.5m], memory [11.3gb]->[10.3gb]/[11.7gb], all_pools …
//	[2018-09-10T16:06:53,406][WARN ][o.e.m.j.JvmGcMonitorService] [node] [gc][355199] overhead, spent [3.5s] collecting in the last [3.9s]
//
// Source: JvmGcMonitorService
// (https://github.com/elastic/elasticsearch/blob/main/server/src/main/java/org/elasticsearch/monitor/jvm/JvmGcMonitorService.java).
//
// Where the lines mislead:
//   - The service checks once a second and logs long collections only. So a log without lines
//     does not prove that there were no collections, and their rate is unknown.
//   - The JVM's time for CMS's old generation includes concurrent work. The program was
//     stopped only if the check itself came late.
//   - A line about overhead sums up the collections of a check, and repeats those with a line of their own.
package gcmonitor

import (
	"bytes"
	"context"
	"errors"
	"math"
	"strconv"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// Format reads a log of Elasticsearch or OpenSearch with lines about collections.
var Format = format.Format{
	Name:  "gcmonitor",
	About: "lines about long collections in logs of Elasticsearch and OpenSearch (JvmGcMonitorService), Cassandra (GCInspector), Hadoop and HBase (JvmPauseMonitor), Ignite",
	Match: matchHead,
	Parse: parseArtifact,
}

// entry is the content of a line.
type entry struct {
	generation string // "young", "old"; "" of a line about overhead
	look       int64  // the number of the check
	took       int64  // ns
	count      int64
	within     int64 // ns between this check and the one before

	before, after, capacity float64 // bytes of the heap, NaN unknown

	mark   origin
	beside bool // it ran concurrently, as far as the line shows
}

// origin is the writer of a line.
type origin uint8

const (
	fromService   origin = iota // JvmGcMonitorService
	fromInspector               // Cassandra's
	fromMonitor                 // JvmPauseMonitor: a pause, with or without a collection
	fromDetector                // Ignite's: a pause of which nothing else is known
)

var mark = []byte("[gc][")

// parseEntry reads a line about collections.
func parseEntry(line []byte) (e entry, ok bool) {
	if e, ok := parseInspector(line); ok {
		return e, true
	}
	if e, ok := parsePauseMonitor(line); ok {
		return e, true
	}
	i := bytes.Index(line, mark)
	if i < 0 {
		return parseOverhead(line)
	}
	rest := line[i+len(mark)-1:]
	first, rest := cutBracket(rest)
	e.before, e.after, e.capacity = math.NaN(), math.NaN(), math.NaN()
	if n, err := strconv.ParseInt(first, 10, 64); err == nil {
		spent, ok := cutAfter(rest, " overhead, spent ")
		if !ok {
			return e, false
		}
		within, ok := cutAfter(spent, "collecting in the last ")
		e.look, e.took, e.within = n, durationAt(spent), durationAt(within)
		return e, ok && e.took > 0 && e.within > 0
	}
	e.generation = first
	look, rest := cutBracket(rest)
	e.look, _ = strconv.ParseInt(look, 10, 64) // 0 is as good: looks are only compared
	took, ok1 := cutAfter(rest, "duration ")
	count, ok2 := cutAfter(rest, "collections ")
	if !ok1 || !ok2 || e.generation != "young" && e.generation != "old" {
		return e, false
	}
	e.took = durationAt(took)
	n, count := cutBracket(count)
	e.count, _ = strconv.ParseInt(n, 10, 64) // checked below
	e.within = durationAt(bytes.TrimPrefix(count, []byte("/")))
	if memory, ok := cutAfter(rest, "memory "); ok {
		before, memory := cutBracket(memory)
		then, memory := cutBracket(bytes.TrimPrefix(memory, []byte("->")))
		capacity, _ := cutBracket(bytes.TrimPrefix(memory, []byte("/")))
		e.before, e.after, e.capacity = parseSize(before), parseSize(then), parseSize(capacity)
	}
	return e, e.took > 0 && e.within > 0 && e.count > 0 && e.count <= maxCount
}

// unnumbered is what the line about overhead began with before the check had a number.
const unnumbered = "[gc] overhead, spent "

// parseOverhead reads "[gc] overhead, spent [348ms] collecting in the last [1s]".
func parseOverhead(line []byte) (e entry, ok bool) {
	spent, ok := cutAfter(line, unnumbered)
	if !ok {
		return e, false
	}
	within, ok := cutAfter(spent, "collecting in the last ")
	e.before, e.after, e.capacity = math.NaN(), math.NaN(), math.NaN()
	e.took, e.within = durationAt(spent), durationAt(within)
	return e, ok && e.took > 0 && e.within > 0
}

// maxCount bounds the collections of a check.
const maxCount = 10_000

// cutAfter returns the text behind words.
func cutAfter(b []byte, words string) ([]byte, bool) {
	_, rest, ok := bytes.Cut(b, []byte(words))
	return rest, ok
}

// cutBracket reads "[text]" at the beginning; "" if there is none.
func cutBracket(b []byte) (text string, rest []byte) {
	end := bytes.IndexByte(b, ']')
	if len(b) == 0 || b[0] != '[' || end < 0 || end > 64 {
		return "", b
	}
	return string(b[1:end]), b[end+1:]
}

// unit is the unit of a figure.
type unit struct {
	suffix string
	times  float64
}

var (
	times = []unit{{"micros", 1e3}, {"nanos", 1}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}, {"d", 86400e9}}
	sizes = []unit{{"kb", 1 << 10}, {"mb", 1 << 20}, {"gb", 1 << 30}, {"tb", 1 << 40}, {"b", 1}}
)

// parseFigure reads a number with one of some units; NaN for other text.
func parseFigure(s string, units []unit) float64 {
	for _, u := range units {
		n := len(s) - len(u.suffix)
		if n <= 0 || s[n:] != u.suffix {
			continue
		}
		if v, err := strconv.ParseFloat(s[:n], 64); err == nil && v >= 0 && v < 1e9 {
			return v * u.times
		}
	}
	return math.NaN()
}

func parseSize(s string) float64 { return parseFigure(s, sizes) }

// maxDuration is the longest plausible duration: a day.
const maxDuration = 86400e9

// durationAt reads "[5.2s]", ns; 0 for other text.
func durationAt(b []byte) int64 {
	s, _ := cutBracket(b)
	if v := parseFigure(s, times); v > 0 && v <= maxDuration {
		return int64(v)
	}
	return 0
}

// maxHead is the part of a line, in bytes, that may hold its time.
const maxHead = 256

// findTime finds the time of a line, and says whether it has a zone, as in JSON.
func findTime(line []byte) (at int64, zoned, ok bool) {
	const layout = "2006-01-02T15:04:05.000"
	line = line[:min(len(line), maxHead)]
	for i := 0; i+len(layout) <= len(line); i++ {
		if line[i+4] != '-' || line[i+7] != '-' || line[i+13] != ':' || line[i+16] != ':' {
			continue
		}
		text := []byte(string(line[i : i+len(layout)]))
		if text[10] == ' ' {
			text[10] = 'T'
		}
		if text[19] == ',' {
			text[19] = '.'
		}
		t, err := time.Parse(layout, string(text))
		if err != nil || t.Year() < 1990 || t.Year() >= 2200 {
			continue
		}
		zone, _, _ := bytes.Cut(line[i+len(layout):], []byte(`"`))
		if z, err := time.Parse(layout+"Z0700", string(text)+string(bytes.ReplaceAll(zone, []byte(":"), nil))); err == nil {
			return z.UnixNano(), true, true
		}
		return t.UnixNano(), false, true
	}
	return 0, false, false
}

func matchHead(head []byte) format.Confidence {
	for l := range bytes.Lines(head) {
		if _, ok := parseEntry(l); ok {
			return format.Sure
		}
	}
	return format.No
}

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	p := &parser{b: b, subject: b.Subject(evidence.Subject{Kind: evidence.Process, Runtime: "jvm"})}
	long := false
	err := a.Lines(func(l format.Line) bool {
		p.line, long = l.Number, long || l.Long
		p.parseLine(l)
		return l.Number&0xfff != 0 || ctx.Err() == nil
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	p.placeUndated()
	switch {
	case p.lines+p.unexplained == 0 && err != nil:
		return err
	case p.lines+p.unexplained == 0:
		return errors.New("gcmonitor: no line about collections: give the log of a node from when it was slow")
	case err != nil:
		b.Warnf(p.line, "the log is incomplete after this line: %v", err)
	}
	if err != nil || long {
		b.Cut()
	}
	p.emitSummary()
	return nil
}
