// Package bpfhistogram reads latencies that tools of bcc and bpftrace print: listings of events (slower.go), and histograms (biolatency, runqlat, funclatency, ext4dist, …):
//
//	usecs               : count     distribution                                    bcc
//	  256 -> 511        : 7373     |***********************                 |
//	  512 -> 1023       : 12327    |****************************************|
//
//	@usecs:                                                                         bpftrace
//	[256, 512)          7373 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@                     |
//	[512, 1K)          12327 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
//
// https://github.com/iovisor/bcc/blob/master/docs/tutorial.md, 0.1 to 0.35; https://github.com/bpftrace/bpftrace/blob/master/man/adoc/bpftrace.adoc, 0.9 to 0.23. What is measured
// stands in prose above, or nowhere: the quantiles are shown, by the upper ends of their ranges. Only the waits of runqlat are judged, which it announces itself: how long
// tasks that were ready waited for a CPU.
package bpfhistogram

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// Format reads such histograms.
var Format = format.Format{
	Name:  "bpf-histogram",
	About: "latencies of tools of bcc and bpftrace: histograms (biolatency, runqlat, funclatency, …) and events (runqslower, ext4slower, biosnoop, …)",
	Match: func(head []byte) format.Confidence {
		if isListing(head) {
			return format.Sure
		}
		if !bytes.Contains(head, []byte("distribution")) && !bytes.Contains(head, []byte("@usecs")) && !bytes.Contains(head, []byte("@nsecs")) && !bytes.Contains(head, []byte("@msecs")) {
			return format.No
		}
		for l := range bytes.Lines(head) {
			if unitOf(string(l[:min(len(l), mostLine)])) > 0 {
				return format.Sure
			}
		}
		return format.No
	},
	Parse: parseArtifact,
}

const (
	mostLine       = 1024
	mostHistograms = 1000
	mostRanges     = 100
	longestMs      = 366 * 86400e3 // of a latency: a longer one is a counter that ran below zero
)

// unitsInMs are the units of the tools' ranges.
var unitsInMs = map[string]float64{"nsecs": 1e-6, "usecs": 1e-3, "msecs": 1}

// unitOf reads the line above the ranges: their unit in ms, 0 for other lines. bpftrace writes the name of a map there, which its tools call after its unit.
func unitOf(text string) float64 {
	f := strings.Fields(text)
	if len(f) == 1 && strings.HasPrefix(f[0], "@") && strings.HasSuffix(f[0], ":") {
		name, _, _ := strings.Cut(strings.Trim(f[0], "@:"), "[")
		return unitsInMs[name]
	}
	if len(f) != 4 || f[1] != ":" || f[2] != "count" || f[3] != "distribution" {
		return 0
	}
	return unitsInMs[f[0]]
}

// announcesRunQueue says whether a line is runqlat's own, or a command that begins it: what follows are waits for a CPU.
func announcesRunQueue(text string) bool {
	return strings.Contains(text, "Tracing run queue latency") || strings.Contains(text, "Tracing CPU scheduler") || strings.Contains(text, "runqlat") && strings.ContainsAny(text[:strings.Index(text, "runqlat")], "#$/")
}

// announcesOther says whether a line begins another tool's output.
func announcesOther(text string) bool {
	return strings.HasPrefix(strings.TrimSpace(text), "Tracing ") && !announcesRunQueue(text)
}

// span is how many latencies were in a range, from least up to most.
type span struct{ least, most, n float64 }

// spanOf reads a range, of bcc or of bpftrace. A page may have lost the bars beside the stars.
func spanOf(text string) (s span, ok bool) {
	if from, rest, ok := strings.Cut(strings.TrimSpace(text), ", "); ok && strings.HasPrefix(from, "[") {
		to, count, ok := strings.Cut(rest, ")")
		count, _, _ = strings.Cut(count, "|")
		least, ok2 := parsePower(from[1:])
		most, ok3 := parsePower(to)
		n, err := strconv.ParseUint(strings.TrimSpace(count), 10, 50)
		return span{least, most, float64(n)}, ok && ok2 && ok3 && least < most && err == nil
	}
	if one, count, ok := strings.Cut(strings.TrimSpace(text), "]"); ok && strings.HasPrefix(one, "[") { // "[1]      3 |@@@", of a single value
		count, _, _ = strings.Cut(count, "|")
		v, ok := parsePower(one[1:])
		n, err := strconv.ParseUint(strings.TrimSpace(count), 10, 50)
		return span{v, v, float64(n)}, ok && err == nil
	}
	before, after, ok := strings.Cut(text, " : ")
	from, to, ok2 := strings.Cut(before, "->")
	if bar := strings.IndexAny(after, "|*"); bar >= 0 {
		after = after[:bar]
	}
	least, err := strconv.ParseUint(strings.TrimSpace(from), 10, 63)
	most, err2 := strconv.ParseUint(strings.TrimSpace(to), 10, 63)
	n, err3 := strconv.ParseUint(strings.TrimSpace(after), 10, 50)
	return span{float64(least), float64(most), float64(n)}, ok && ok2 && err == nil && err2 == nil && err3 == nil
}

// parsePower reads an end of bpftrace's ranges: "512", "1K" is 1024, "2M".
func parsePower(text string) (float64, bool) {
	scale := 1.
	for i, suffix := range []string{"K", "M", "G", "T"} {
		if digits, ok := strings.CutSuffix(text, suffix); ok {
			text = digits
			for range i + 1 {
				scale *= 1024
			}
			break
		}
	}
	v, err := strconv.ParseUint(text, 10, 50)
	return float64(v) * scale, err == nil
}

// quantileOf returns the range in which a quantile of what was counted lies.
func quantileOf(spans []span, all, q float64) (s span) {
	below := 0.
	for _, s := range spans {
		if below += s.n; below >= q*all {
			return s
		}
	}
	return span{}
}

// readies are the waits for a CPU of all histograms of runqlat in an artifact.
type readies struct {
	spans map[[2]float64]float64 // by range, ms
	line  int64
}

// addSpans keeps a histogram's waits.
func (r *readies) addSpans(spans []span, unit float64, line int64) {
	if r.spans == nil {
		r.spans, r.line = make(map[[2]float64]float64), line
	}
	for _, s := range spans {
		if k := [2]float64{s.least * unit, s.most * unit}; len(r.spans) < mostRanges || r.spans[k] > 0 {
			r.spans[k] += s.n
		}
	}
}

// emitDelays writes what the waits show of the host: how many, and the least that the longest tenth of them took.
func (r *readies) emitDelays(b *evidence.Builder, subject evidence.SubjectID) {
	var spans []span
	all, most := 0., 0.
	for k, n := range r.spans {
		spans = append(spans, span{k[0], k[1], n})
		all += n
		if n > 0 {
			most = max(most, k[1])
		}
	}
	if all == 0 {
		return
	}
	slices.SortFunc(spans, func(x, y span) int { return cmp.Compare(x.least, y.least) })
	b.FactAt(subject, evidence.FactReadyDelays, "", all, r.line)
	b.FactAt(subject, evidence.FactReadyDelayTenth, "", quantileOf(spans, all, .9).least*1e6, r.line)
	b.FactAt(subject, evidence.FactReadyDelayMost, "", most*1e6, r.line)
}

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	t := evidence.Table{Title: "latencies, by the upper ends of their ranges", Columns: []string{"", "count", "p50 ms", "p99 ms", "longest ms"}}
	var spans []span
	unit, seen, line := 0., 0, int64(0)
	var waits readies
	runQueue := false
	impossible, impossibleAt := 0., int64(0)
	end := func() {
		spans = slices.DeleteFunc(spans, func(s span) bool {
			if unit == 0 || s.least*unit <= longestMs {
				return false
			}
			impossible += s.n
			impossibleAt = cmp.Or(impossibleAt, line)
			return true
		})
		all := 0.
		for _, s := range spans {
			all += s.n
		}
		if unit > 0 && all > 0 && len(t.Rows) < mostHistograms {
			at := func(q float64) string { return fmt.Sprintf("%.4g", quantileOf(spans, all, q).most*unit) }
			if runQueue {
				waits.addSpans(spans, unit, line)
			}
			t.Rows = append(t.Rows, []string{"histogram " + strconv.Itoa(seen), fmt.Sprintf("%.0f", all), at(.5), at(.99), at(1)})
		}
		spans, unit = nil, 0
	}
	var listed listings
	err := a.Lines(func(l format.Line) bool {
		text := string(l.Text[:min(len(l.Text), mostLine)])
		if next := announcesRunQueue(text); next || announcesOther(text) {
			end()
			runQueue = next
		}
		if u := unitOf(text); u > 0 {
			end()
			unit, line = u, l.Number
			seen++
			listed.open = false
			return l.Number&0xfff != 0 || ctx.Err() == nil
		}
		if s, ok := spanOf(text); ok && unit > 0 && len(spans) < mostRanges {
			spans = append(spans, s)
			return true
		}
		listed.readLine([]byte(text), l.Number)
		return l.Number&0xfff != 0 || ctx.Err() == nil
	})
	end()
	if err := format.EndReading(ctx, b, err, seen > 0 || listed.countEvents() > 0, "the text", "bpf-histogram: no histogram and no event in it"); err != nil {
		return err
	}
	if impossible > 0 {
		b.Warnf(impossibleAt, "latencies of more than a year, which cannot be (a difference that ran below zero) and were left out: %.0f", impossible)
	}
	listed.emitTable(b)
	*b.Clock() = evidence.Clock{Name: "one histogram", Error: evidence.Unanchored}
	listed.emitDisk(b)
	waits.emitDelays(b, b.Subject(evidence.Subject{Kind: evidence.Host}))
	if len(t.Rows) > 0 {
		b.Table(t)
	}
	return nil
}
