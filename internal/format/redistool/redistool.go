// Package redistool reads what redis-cli measures: how long PING takes as seen by it (--latency, --latency-history, --latency-dist without
// its colours), how long the host itself keeps a program from running (--intrinsic-latency), and the largest keys (--bigkeys,
// --memkeys). https://redis.io/docs/latest/develop/tools/cli/
//
//	min: 0, max: 2911, avg: 31.02 (311 samples) -- 15.00 seconds range
//	Max latency so far: 21412 microseconds.
//	Biggest   list found '"jobs"' has 21001233 items
//
// Figures of --latency are ms. They have no time, and are of the way there and back, the client's own delays
// included. Names of keys are kept as far as package redact lets them.
package redistool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/redact"
	"github.com/unstall/unstall/internal/format"
)

// Format is the output of redis-cli's own measurements.
var Format = format.Format{
	Name:  "redistool",
	About: "redis-cli --latency, --latency-history, --intrinsic-latency, --bigkeys and --memkeys",
	Match: match,
	Parse: parse,
}

const mostRows = 200

type row struct {
	kind string // "latency", "intrinsic", "key"
	of   [3]float64
	name string
}

// read understands a line.
func read(text string) (r row, ok bool) {
	text = strings.TrimSpace(text)
	switch {
	case strings.HasPrefix(text, "min: "):
		var least, most, mean float64
		var n int64
		if c, _ := fmt.Sscanf(text, "min: %f, max: %f, avg: %f (%d samples)", &least, &most, &mean, &n); c == 4 && n > 0 && most >= least && most < 1e9 && mean >= 0 && mean < 1e9 {
			return row{kind: "latency", of: [3]float64{most, mean, float64(n)}}, true
		}
	case strings.HasPrefix(text, "Max latency so far: "):
		var us float64
		if c, _ := fmt.Sscanf(text, "Max latency so far: %f microseconds", &us); c == 1 && us >= 0 && us < 1e12 {
			return row{kind: "intrinsic", of: [3]float64{us}}, true
		}
	case strings.HasPrefix(text, "Biggest ") && strings.Contains(text, " found '"):
		kind, rest, _ := strings.Cut(text, " found '")
		key, rest, found := strings.Cut(rest, "' has ")
		words := strings.Fields(rest)
		if !found || len(words) < 2 {
			return r, false
		}
		n, err := strconv.ParseFloat(words[0], 64)
		if err != nil || n < 0 {
			return r, false
		}
		return row{kind: "key", of: [3]float64{n}, name: strings.TrimSpace(strings.TrimPrefix(kind, "Biggest ")) + " " + string(redact.Line([]byte(key[:min(len(key), 80)]))) + ", " + words[1]}, true
	}
	return r, false
}

func match(head []byte) format.Confidence {
	if !bytes.Contains(head, []byte("min: ")) && !bytes.Contains(head, []byte("Max latency so far: ")) && !bytes.Contains(head, []byte("Biggest ")) {
		return format.No
	}
	for l := range bytes.Lines(head) {
		if len(l) > 4 && (l[0] == 'm' || l[0] == 'M' || l[0] == 'B' || l[0] == ' ') && len(l) < 512 {
			if _, ok := read(string(l)); ok {
				return format.Sure
			}
		}
	}
	return format.No
}

func parse(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	subject := b.Subject(evidence.Subject{Kind: evidence.Process, Runtime: "redis"})
	*b.Clock() = evidence.Clock{Name: "no times", Error: evidence.Unanchored}
	var rows []row
	more, line := 0, int64(0)
	most := make(map[string]float64)
	err := a.Lines(func(l format.Line) bool {
		if l.Number&0xfff == 0 && ctx.Err() != nil {
			return false
		}
		r, ok := read(string(l.Text[:min(len(l.Text), 512)]))
		if !ok {
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
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case len(rows) == 0 && err != nil:
		return err
	case len(rows) == 0:
		return errors.New("redistool: no figure of redis-cli")
	case err != nil:
		b.Warnf(0, "the text is incomplete: %v", err)
		b.Cut()
	}
	latency := evidence.Table{Title: "latency of PING, by redis-cli", Columns: []string{"", "longest ms", "mean ms", "samples"}}
	keys := evidence.Table{Title: "largest keys, by redis-cli", Columns: []string{"key", "size"}}
	for _, r := range rows {
		switch r.kind {
		case "latency":
			latency.Rows = append(latency.Rows, []string{fmt.Sprint(len(latency.Rows) + 1), short(r.of[0]), short(r.of[1]), short(r.of[2])})
		case "key":
			keys.Rows = append(keys.Rows, []string{r.name, short(r.of[0])})
		}
	}
	for _, t := range []evidence.Table{latency, keys} {
		if len(t.Rows) > 0 {
			b.Table(t)
		}
	}
	if v, ok := most["latency"]; ok {
		b.Fact(evidence.Fact{Subject: subject, Key: evidence.FactRedisPing, Value: short(v) + " ms", Number: v * 1e6, Origin: b.Origin(line)})
		b.Warnf(line, "PING took up to %s ms: what kept Redis, or the way to it, tell SLOWLOG GET, INFO twice and LATENCY LATEST of that time", short(v))
	}
	if v, ok := most["intrinsic"]; ok {
		b.Fact(evidence.Fact{Subject: subject, Key: evidence.FactIntrinsicLatency, Value: short(v/1e3) + " ms", Number: v * 1e3, Origin: b.Origin(line)})
		b.Warnf(line, "the host kept a program that only counts from running for up to %s ms, which is no doing of Redis: steal and the CPU quota (mpstat 1, cpu.stat) tell why", short(v/1e3))
	}
	if more > 0 {
		b.Warnf(0, "lines beyond the first %d, of which only the largest figure is kept: %d", mostRows, more)
	}
	return nil
}

func short(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
