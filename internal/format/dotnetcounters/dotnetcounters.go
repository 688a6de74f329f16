// Package dotnetcounters reads the files that `dotnet-counters collect` writes of a .NET
// process, as CSV and as JSON, and what `dotnet-counters monitor` shows (screen.go)
// (https://github.com/dotnet/diagnostics/tree/main/src/Tools/dotnet-counters/Exporters).
//
//	Timestamp,Provider,Counter Name,Counter Type,Mean/Increment
//	11/21/2026 09:00:01,System.Runtime,CPU Usage (%),Metric,12.5
//	11/21/2026 09:00:01,System.Runtime,ThreadPool Completed Work Item Count (Count / 1 sec),Rate,2
//	11/21/2026 09:00:01,System.Runtime,dotnet.gc.collections ({collection})[gc.heap.generation=gen0],Metric,7
//
//	{ "TargetProcess": "Shop", "StartTime": "2026-11-21T09:00:00.1234567+01:00", "Events": [
//	{ "timestamp": "…", "provider": "System.Runtime", "name": "…", "tags": "…", "counterType": "Metric", "value": 12.5 }, …]}
//
// Where the formats mislead, by version:
//
//   - CSV: stamps are in the culture of the user who ran the tool, without a zone; until 6.0
//     UTC, since then local time. Whether day or month comes first is found from the
//     file as a whole.
//   - JSON: until 6.0 stamps are like the CSV's; then they end in Z and are local time all
//     the same (DateTime.Now.ToString("u")); since 8.0 they have an offset.
//   - Until 5.0 values have the culture's decimal comma, in CSV an additional column.
//   - A rate is per as many seconds as its name says, not per second.
//   - Of the meters of .NET 8 and later, tools until 9.0 write every counter as a rate, also
//     those that are levels (thread_pool.thread.count): what it changed by. Newer ones
//     write counters as the total since the process began.
//   - Sizes "(MB)" are 10^6 bytes.
//
// Series have the names and units of package evidence, for both the old counters and
// the new meters; others are named PROVIDER/NAME, with tags in brackets.
package dotnetcounters

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// Format reads a file of dotnet-counters collect.
var Format = format.Format{
	Name:  "dotnetcounters",
	About: "counters of .NET processes: dotnet-counters collect, CSV and JSON, and the screens of dotnet-counters monitor",
	Whole: true,
	Match: matchHead,
	Parse: parseArtifact,
}

const csvHeader = "timestamp,provider,counter name,counter type,mean/increment"

func matchHead(head []byte) format.Confidence {
	return format.SureIf(isCSV(head) || isJSON(head) || isScreen(head))
}

func trimStart(head []byte) []byte {
	return bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")
}

func isCSV(head []byte) bool {
	line, _, _ := bytes.Cut(trimStart(head), []byte("\n"))
	text := stripQuoteMarks(string(line[:min(len(line), 1<<10)]))
	return strings.EqualFold(text, csvHeader) || strings.EqualFold(text, semicolonHeader) || isRow(text)
}

func isJSON(head []byte) bool {
	head = trimStart(head)
	begin, events, ok := bytes.Cut(head[:min(len(head), 8<<10)], []byte(`"Events"`))
	return ok && len(begin) > 0 && begin[0] == '{' && bytes.HasPrefix(bytes.TrimLeft(events, ": "), []byte("[")) &&
		(bytes.Contains(begin, []byte(`"TargetProcess"`)) || bytes.Contains(begin, []byte(`"Target Process"`)))
}

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	p := &parser{b: b, at: make(map[string]int32), raw: make(map[rawKey]*raw)}
	r, err := a.Reader()
	if err != nil {
		return err
	}
	head := make([]byte, 64<<10)
	n, _ := io.ReadFull(r, head) // what fails here fails below
	_ = r.Close()
	switch head = head[:n]; {
	case bytes.HasPrefix(trimStart(head), []byte("{")):
		err = p.parseJSON(ctx, a)
	case !isCSV(head) && isScreen(head):
		p.screened = true
		err = p.parseScreens(ctx, a)
	default:
		err = p.parseCSV(ctx, a)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case len(p.order) == 0 && err != nil && !errors.Is(err, format.ErrCut):
		return err
	case len(p.order) == 0:
		return errors.New("dotnet-counters: it holds no counter: let dotnet-counters collect run for some seconds and end it with q")
	case err != nil:
		b.Warnf(p.rows, "the file is incomplete: %v", err)
		b.Cut()
	}
	p.emitSeries()
	return nil
}

// Bounds of what is kept.
const (
	maxSeries = 5000 // tags can be anything
	maxPoints = 8 << 20
	maxStamps = 2 << 20
	maxText   = 400 // bytes of a name
)

// rawKey is a column of figures as named in the file.
type rawKey struct {
	provider, display, tags string
	rate                    bool
}

type raw struct {
	rawKey
	at    []int32 // of stamps
	v     []float64
	first int64 // row
}

type parser struct {
	b       *evidence.Builder
	stamps  []stamp
	at      map[string]int32 // stamps by text
	raw     map[rawKey]*raw
	order   []*raw
	points  int
	rows    int64
	strange int64
	first   int64 // row of the first strange one
	dropped int64
	process string

	semicolons bool // between fields, as where a comma is the decimal sign
	screened   bool // screens, which have no time
}

// addRow adds one reading with the text of its stamp.
func (p *parser) addRow(when, provider, display, tags string, rate bool, v float64) {
	at, ok := p.at[when]
	if !ok {
		s, good := parseStamp(when)
		if !good {
			p.countUnparsed()
			return
		}
		if len(p.stamps) == maxStamps {
			p.dropped++
			return
		}
		at = int32(len(p.stamps))
		p.stamps = append(p.stamps, s)
		if len(p.at) >= 4096 { // stamps come in order, so only the latest repeat
			clear(p.at)
		}
		p.at[strings.Clone(when)] = at
	}
	k := rawKey{provider, display, tags, rate}
	r := p.raw[k]
	if r == nil {
		if len(p.order) == maxSeries {
			p.dropped++
			return
		}
		k = rawKey{clipText(provider), clipText(display), clipText(tags), rate}
		r = &raw{rawKey: k, first: p.rows}
		p.raw[k] = r
		p.order = append(p.order, r)
	}
	p.addPoint(r, at, when, v)
}

// addReading adds a figure at a known stamp.
func (p *parser) addReading(at int32, k rawKey, v float64) {
	k = rawKey{clipText(k.provider), clipText(k.display), clipText(k.tags), k.rate}
	r := p.raw[k]
	if r == nil {
		if len(p.order) == maxSeries {
			p.dropped++
			return
		}
		r = &raw{rawKey: k, first: p.rows}
		p.raw[k] = r
		p.order = append(p.order, r)
	}
	if p.points == maxPoints {
		p.dropped++
		return
	}
	p.points++
	r.at, r.v = append(r.at, at), append(r.v, v)
}

// addPoint adds a figure of a row to its column. If the column already has a figure at this stamp,
// it adds a new stamp.
func (p *parser) addPoint(r *raw, at int32, when string, v float64) {
	if p.points == maxPoints {
		p.dropped++
		return
	}
	if n := len(r.at); n > 0 && r.at[n-1] == at { // the next reading of all counters, within one second
		if len(p.stamps) == maxStamps {
			p.dropped++
			return
		}
		p.stamps = append(p.stamps, p.stamps[at])
		at = int32(len(p.stamps) - 1)
		p.at[strings.Clone(when)] = at
	}
	p.points++
	r.at, r.v = append(r.at, at), append(r.v, v)
}

func clipText(s string) string {
	return strings.ToValidUTF8(strings.Clone(s[:min(len(s), maxText)]), "?")
}

func (p *parser) countUnparsed() {
	if p.strange++; p.first == 0 {
		p.first = p.rows
	}
}
