// Package redistool reads the measurements of redis-cli: the latency of PING (--latency, --latency-history, --latency-dist),
// how long the host delays a program (--intrinsic-latency), the largest keys (--bigkeys, --memkeys), and its line of
// figures each second (--stat). https://redis.io/docs/latest/develop/tools/cli/
//
//	min: 0, max: 2911, avg: 31.02 (311 samples) -- 15.00 seconds range
//	0 2911 31.02 311                                                        into a file, or with --raw
//	Max latency so far: 21412 microseconds.
//	Biggest   list found '"jobs"' has 21001233 items
//	3461       3.40M    51      0       146425 (+85964)     107             keys, memory, clients, blocked, requests, connections
//
// The marks of --latency-dist show the distribution by their colours. Copied text has no colours, so that only the kind of
// output is known.
//
// Figures of --latency are round trips in ms, including the client's own delays, without a time. Names of keys are kept as far as package redact allows.
package redistool

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/redact"
	"github.com/unstall/unstall/internal/format"
)

// Format reads the output of redis-cli's own measurements.
var Format = format.Format{
	Name:  "redistool",
	About: "redis-cli --latency, --latency-history, --latency-dist, --intrinsic-latency, --bigkeys, --memkeys and --stat",
	Match: matchHead,
	Parse: parseArtifact,
}

const mostRows = 200

type row struct {
	kind string // "latency", "intrinsic", "key", "stat", "dist"
	of   [5]float64
	name string

	soFar bool // of a key: a larger one of its type may follow
}

// distLegend is the line that explains the marks of --latency-dist.
const distLegend = ". - * #          .01 .125 .25 .5 milliseconds"

// parseRow reads a line that a tool prints.
func parseRow(text string) (r row, ok bool) {
	text = strings.TrimSpace(text)
	switch {
	case strings.HasPrefix(text, "min: "):
		var least, most, mean float64
		var n int64
		if c, _ := fmt.Sscanf(text, "min: %f, max: %f, avg: %f (%d samples)", &least, &most, &mean, &n); c == 4 && n > 0 && most >= least && most < 1e9 && mean >= 0 && mean < 1e9 {
			return row{kind: "latency", of: [5]float64{most, mean, float64(n)}}, true
		}
	case strings.HasPrefix(text, "Max latency so far: "):
		var us float64
		if c, _ := fmt.Sscanf(text, "Max latency so far: %f microseconds", &us); c == 1 && us >= 0 && us < 1e12 {
			return row{kind: "intrinsic", of: [5]float64{us}}, true
		}
	case strings.HasPrefix(text, distLegend):
		return row{kind: "dist"}, true
	case text[:min(len(text), 1)] != "" && (text[0] >= '0' && text[0] <= '9'):
		return statLine(text)
	case strings.HasPrefix(text, "Biggest ") || strings.Contains(text, "] Biggest "):
		_, text, _ = strings.Cut(text, "Biggest ")
		kind, rest, _ := strings.Cut(text, " found ")
		soFar := strings.HasPrefix(rest, "so far ")
		rest, _ = strings.CutPrefix(strings.TrimPrefix(rest, "so far "), "'")
		of := "' has "
		if soFar {
			of = "' with "
		}
		key, rest, found := strings.Cut(rest, of)
		words := strings.Fields(rest)
		if !found || len(words) < 2 {
			return r, false
		}
		n, err := strconv.ParseFloat(words[0], 64)
		if err != nil || n < 0 {
			return r, false
		}
		return row{kind: "key", of: [5]float64{n}, soFar: soFar, name: strings.TrimSpace(kind) + " " + string(redact.Line([]byte(key[:min(len(key), 80)]))) + ", " + words[1]}, true
	}
	return r, false
}

// statLine reads a line of --stat, and the line of --latency that redis-cli writes into a file.
func statLine(text string) (r row, ok bool) {
	f := strings.Fields(text)
	switch {
	case len(f) == 4:
		for i := range f {
			v, err := strconv.ParseFloat(f[i], 64)
			if err != nil || v < 0 || v > 1e12 || strings.Contains(f[i], ".") != (i == 2) {
				return r, false
			}
			r.of[i] = v
		}
		least, most, mean, n := r.of[0], r.of[1], r.of[2], r.of[3]
		return row{kind: "latency", of: [5]float64{most, mean, n}}, n > 0 && most >= mean && mean >= least
	case (len(f) == 7 || len(f) == 8) && strings.HasPrefix(f[5], "(+"):
		if len(f) == 8 {
			r.name = f[7] // what a child does: SAVE, AOF
		}
		last := len(f[1]) - 1
		unit := map[byte]float64{'B': 1, 'K': 1 << 10, 'M': 1 << 20, 'G': 1 << 30, 'T': 1 << 40}[f[1][last]]
		if unit == 0 {
			return r, false
		}
		for i, s := range []string{f[1][:last], f[2], f[3], strings.Trim(f[5], "(+)"), f[6]} {
			v, err := strconv.ParseFloat(s, 64)
			if err != nil || v < 0 || v > 1e15 {
				return r, false
			}
			r.of[i] = v
		}
		r.of[0] *= unit
		r.kind = "stat"
		return r, true
	}
	return r, false
}

// statHeading is above the lines of --stat.
var statHeading = []byte("clients blocked requests")

func matchHead(head []byte) format.Confidence {
	stat := bytes.Contains(head, statHeading)
	asked := stat || bytes.Contains(head, []byte("--latency"))
	if !asked && !bytes.Contains(head, []byte("min: ")) && !bytes.Contains(head, []byte("Max latency so far: ")) && !bytes.Contains(head, []byte("Biggest ")) && !bytes.Contains(head, []byte(distLegend)) {
		return format.No
	}
	for l := range bytes.Lines(head) {
		if len(l) > 4 && len(l) < 512 && (l[0] == 'm' || l[0] == 'M' || l[0] == 'B' || l[0] == ' ' || l[0] == '[' || l[0] == '.' || asked && l[0] >= '0' && l[0] <= '9') {
			if r, ok := parseRow(string(l)); ok && (r.kind != "stat" || stat) {
				return format.Sure
			}
		}
	}
	return format.No
}

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	subject := b.Subject(evidence.Subject{Kind: evidence.Process, Runtime: "redis"})
	*b.Clock() = evidence.Clock{Name: "no times", Error: evidence.Unanchored}
	var rows []row
	more, line, asked := 0, int64(0), false
	most := make(map[string]float64)
	err := a.Lines(func(l format.Line) bool {
		if l.Number&0xfff == 0 && ctx.Err() != nil {
			return false
		}
		asked = asked || bytes.Contains(l.Text, statHeading) || bytes.Contains(l.Text, []byte("--latency"))
		r, ok := parseRow(string(l.Text[:min(len(l.Text), 512)]))
		if !ok || !asked && len(l.Text) > 0 && l.Text[0] >= '0' && l.Text[0] <= '9' { // other programs print lines of figures, too
			return true
		}
		if line == 0 {
			line = l.Number
		}
		most[r.kind] = max(most[r.kind], r.of[0])
		if len(rows) == mostRows {
			more++
			return true
		}
		rows = append(rows, r)
		return true
	})
	if err := format.EndReading(ctx, b, err, len(rows) > 0, "the text", "redistool: no figure of redis-cli"); err != nil {
		return err
	}
	latency := evidence.Table{Title: "latency of PING, by redis-cli", Columns: []string{"", "longest ms", "mean ms", "samples"}}
	keys := evidence.Table{Title: "largest keys, by redis-cli", Columns: []string{"key", "size"}}
	stats := evidence.Table{Title: "redis-cli --stat", Columns: []string{"", "memory MiB", "clients", "blocked", "requests since the line before", "connections since the start", "child"}}
	var largest []row // of each type the last that was printed, unless there is a summary
	summary := false
	for _, r := range rows {
		summary = summary || r.kind == "key" && !r.soFar
	}
	for _, r := range rows {
		switch r.kind {
		case "stat":
			stats.Rows = append(stats.Rows, []string{fmt.Sprint(len(stats.Rows) + 1), formatFigure(r.of[0] / (1 << 20)), formatFigure(r.of[1]), formatFigure(r.of[2]), formatFigure(r.of[3]), formatFigure(r.of[4]), r.name})
		case "dist":
			b.Warnf(line, "the marks of --latency-dist tell by their colours, which text has not: run redis-cli --latency-history instead")
		case "latency":
			latency.Rows = append(latency.Rows, []string{fmt.Sprint(len(latency.Rows) + 1), formatFigure(r.of[0]), formatFigure(r.of[1]), formatFigure(r.of[2])})
		case "key":
			if r.soFar == !summary {
				kind, _, _ := strings.Cut(r.name, " ")
				largest = slices.DeleteFunc(largest, func(o row) bool { return strings.HasPrefix(o.name, kind+" ") })
				largest = append(largest, r)
			}
		}
	}
	for _, r := range largest {
		keys.Rows = append(keys.Rows, []string{r.name, formatFigure(r.of[0])})
	}
	for _, t := range []evidence.Table{latency, keys, stats} {
		if len(t.Rows) > 0 {
			b.Table(t)
		}
	}
	if v, ok := most["latency"]; ok {
		b.FactAt(subject, evidence.FactRedisPing, formatFigure(v)+" ms", v*1e6, line)
		b.Warnf(line, "PING took up to %s ms: what kept Redis, or the way to it, tell SLOWLOG GET, INFO twice and LATENCY LATEST of that time", formatFigure(v))
	}
	if v, ok := most["intrinsic"]; ok {
		b.FactAt(subject, evidence.FactIntrinsicLatency, formatFigure(v/1e3)+" ms", v*1e3, line)
		b.Warnf(line, "the host kept a program that only counts from running for up to %s ms, which is no doing of Redis: steal and the CPU quota (mpstat 1, cpu.stat) tell why", formatFigure(v/1e3))
	}
	if more > 0 {
		b.Warnf(0, "lines beyond the first %d, of which only the largest figure is kept: %d", mostRows, more)
	}
	return nil
}

func formatFigure(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
