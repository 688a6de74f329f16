// Package contentionz reads how long threads of a C++ program waited for its mutexes, as the page /contentionz of Google's servers, gperftools and
// Abseil print it:
//
//	--- contentionz 1 ---
//	cycles/second = 3201000000
//	sampling period = 100
//	ms since reset = 16502830
//	discarded samples = 0
//	  19490304       27 @ 0xbccc97 0xc61202 0x42ed5f
//
// A row is a stack: the cycles and the waits that were sampled, one of so many. The stacks are addresses, which only the program itself names
// (github.com/google/pprof, profile/legacy_profile.go). Its page of the heap and others are not read.
package contentionz

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/format"
)

// Format reads such a page.
var Format = format.Format{
	Name:  "contentionz",
	About: "waits for mutexes of a C++ program: the page /contentionz of gperftools and Abseil",
	Match: func(head []byte) format.Confidence {
		for l := range bytes.Lines(head) {
			if isHeader(bytes.TrimSpace(l)) {
				return format.Sure
			}
		}
		return format.No
	},
	Parse: parseArtifact,
}

const (
	mostRows  = 100_000
	mostShown = 20
	mostLine  = 1 << 16
)

func isHeader(line []byte) bool {
	rest, ok := bytes.CutPrefix(line, []byte("--- contentionz "))
	number, ok2 := bytes.CutSuffix(rest, []byte(" ---"))
	_, digits := format.ParseDigits(number)
	return ok && ok2 && digits
}

// page is what stands above the stacks; 0 is unknown.
type page struct {
	perSecond, period, ms, discarded float64
	line                             int64
}

// row is a stack.
type row struct {
	cycles, waits float64
	at            string // its first addresses, innermost first
}

func (p *page) readFigure(text string) {
	name, value, ok := strings.Cut(text, "=")
	v, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if !ok || err != nil || !(v >= 0 && v < 1e15) {
		return
	}
	switch strings.TrimSpace(name) {
	case "cycles/second":
		p.perSecond = v
	case "sampling period":
		p.period = v
	case "ms since reset":
		p.ms = v
	case "discarded samples":
		p.discarded = v
	}
}

func rowOf(text string) (r row, ok bool) {
	figures, stack, ok := strings.Cut(text, "@")
	f := strings.Fields(figures)
	if !ok || len(f) != 2 {
		return r, false
	}
	for i, to := range []*float64{&r.cycles, &r.waits} {
		v, err := strconv.ParseFloat(f[i], 64)
		if err != nil || !(v >= 0 && v < 1e18) {
			return r, false
		}
		*to = v
	}
	addresses := strings.Fields(stack)
	for _, x := range addresses {
		if !strings.HasPrefix(x, "0x") {
			return r, false
		}
	}
	r.at = strings.ToValidUTF8(strings.Join(addresses[:min(len(addresses), 3)], " "), "?")
	return r, len(addresses) > 0 && len(r.at) < 100
}

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	var p page
	var rows []row
	var omitted int64
	err := a.Lines(func(l format.Line) bool {
		text := strings.TrimSpace(string(l.Text[:min(len(l.Text), mostLine)]))
		switch r, ok := rowOf(text); {
		case isHeader([]byte(text)) && p.line > 0:
			return false // another page, of another time
		case isHeader([]byte(text)):
			p.line = l.Number
		case ok && p.line > 0 && len(rows) < mostRows:
			rows = append(rows, r)
		case ok && p.line > 0:
			omitted++
		case p.line > 0 && len(rows) == 0:
			p.readFigure(text)
		}
		return l.Number&0xfff != 0 || ctx.Err() == nil
	})
	if err := format.EndReading(ctx, b, err, p.line > 0 && p.perSecond > 0, "the page", "contentionz: nothing says how many cycles a second has"); err != nil {
		return err
	}
	*b.Clock() = evidence.Clock{Name: "one page", Error: evidence.Unanchored}
	if omitted > 0 {
		b.Warnf(p.line, "it has more than %d stacks: %d left out", mostRows, omitted)
	}
	of := max(p.period, 1) / p.perSecond // s that a sampled cycle stands for
	var cycles, waits float64
	for _, r := range rows {
		cycles, waits = cycles+r.cycles, waits+r.waits
	}
	sums := evidence.Table{Title: "waits for mutexes of a C++ program", Columns: []string{"", "figure"}}
	add := func(name, figure string) { sums.Rows = append(sums.Rows, []string{name, figure}) }
	add("waits", fmt.Sprintf("%.0f", waits*max(p.period, 1)))
	add("waited in total", fmt.Sprintf("%.4g s", cycles*of))
	if p.ms > 0 {
		add("since", fmt.Sprintf("%.0f s", p.ms/1e3))
		add("threads that waited, on average", fmt.Sprintf("%.3f", cycles*of/(p.ms/1e3)))
	}
	if p.discarded > 0 {
		add("samples that it discarded", fmt.Sprintf("%.0f", p.discarded))
	}
	b.Table(sums)
	sorting.Short(rows, func(x, y row) int {
		return cmp.Or(cmp.Compare(y.cycles, x.cycles), cmp.Compare(y.waits, x.waits), cmp.Compare(x.at, y.at))
	})
	stacks := evidence.Table{Title: "stacks with most of it, as addresses (pprof PROGRAM FILE names them)", Columns: []string{"innermost", "waited s", "waits"}}
	for _, r := range rows[:min(len(rows), mostShown)] {
		stacks.Rows = append(stacks.Rows, []string{r.at, fmt.Sprintf("%.4g", r.cycles*of), fmt.Sprintf("%.0f", r.waits*max(p.period, 1))})
	}
	if len(stacks.Rows) > 0 {
		b.Table(stacks)
	}
	return nil
}
