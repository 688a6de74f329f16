// Package bpfhistogram reads latencies that tools of bcc print: listings of events (slower.go), and histograms (biolatency, runqlat, funclatency, ext4dist, …):
//
//	usecs               : count     distribution
//	  256 -> 511        : 7373     |***********************                 |
//	  512 -> 1023       : 12327    |****************************************|
//
// https://github.com/iovisor/bcc/blob/master/docs/tutorial.md, 0.1 to 0.35. What is measured stands in prose above, or nowhere: the quantiles are shown, by the upper
// ends of their ranges, and there is no verdict.
package bpfhistogram

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// Format reads such histograms.
var Format = format.Format{
	Name:  "bpf-histogram",
	About: "latencies of bcc's tools: histograms (biolatency, runqlat, funclatency, …) and events (runqslower, ext4slower, biosnoop, …)",
	Match: func(head []byte) format.Confidence {
		if isListing(head) {
			return format.Sure
		}
		if bytes.Contains(head, []byte("distribution")) {
			for l := range bytes.Lines(head) {
				if unitOf(string(l[:min(len(l), mostLine)])) > 0 {
					return format.Sure
				}
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
)

// unitOf reads the line above the ranges: their unit in ms, 0 for other lines.
func unitOf(text string) float64 {
	f := strings.Fields(text)
	if len(f) != 4 || f[1] != ":" || f[2] != "count" || f[3] != "distribution" {
		return 0
	}
	return map[string]float64{"nsecs": 1e-6, "usecs": 1e-3, "msecs": 1}[f[0]]
}

// span is how many latencies were in a range, up to most.
type span struct{ most, n float64 }

func spanOf(text string) (s span, ok bool) {
	before, after, ok := strings.Cut(text, " : ")
	from, to, ok2 := strings.Cut(before, "->")
	count, _, _ := strings.Cut(after, "|")
	_, err := strconv.ParseUint(strings.TrimSpace(from), 10, 63)
	most, err2 := strconv.ParseUint(strings.TrimSpace(to), 10, 63)
	n, err3 := strconv.ParseUint(strings.TrimSpace(count), 10, 50)
	return span{float64(most), float64(n)}, ok && ok2 && err == nil && err2 == nil && err3 == nil
}

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	t := evidence.Table{Title: "latencies, by the upper ends of their ranges", Columns: []string{"", "count", "p50 ms", "p99 ms", "longest ms"}}
	var spans []span
	unit, seen := 0., 0
	end := func() {
		all := 0.
		for _, s := range spans {
			all += s.n
		}
		if unit > 0 && all > 0 && len(t.Rows) < mostHistograms {
			at := func(q float64) string {
				below := 0.
				for _, s := range spans {
					if below += s.n; below >= q*all {
						return fmt.Sprintf("%.4g", s.most*unit)
					}
				}
				return ""
			}
			t.Rows = append(t.Rows, []string{"histogram " + strconv.Itoa(seen), fmt.Sprintf("%.0f", all), at(.5), at(.99), at(1)})
		}
		spans, unit = nil, 0
	}
	var listed listings
	err := a.Lines(func(l format.Line) bool {
		text := string(l.Text[:min(len(l.Text), mostLine)])
		if u := unitOf(text); u > 0 {
			end()
			unit = u
			seen++
			listed.open = false
			return l.Number&0xfff != 0 || ctx.Err() == nil
		}
		if s, ok := spanOf(text); ok && unit > 0 && len(spans) < mostRanges {
			spans = append(spans, s)
			return true
		}
		listed.readLine([]byte(text))
		return l.Number&0xfff != 0 || ctx.Err() == nil
	})
	end()
	if err := format.EndReading(ctx, b, err, seen > 0 || listed.countEvents() > 0, "the text", "bpf-histogram: no histogram and no event in it"); err != nil {
		return err
	}
	listed.emitTable(b)
	*b.Clock() = evidence.Clock{Name: "one histogram", Error: evidence.Unanchored}
	b.Subject(evidence.Subject{Kind: evidence.Host})
	if len(t.Rows) > 0 {
		b.Table(t)
	}
	return nil
}
