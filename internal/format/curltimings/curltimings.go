// Package curltimings reads what curl -w prints of the phases of a request, one on each line, as people format it, and as %{json}:
//
//	   time_namelookup:  5.513
//	      time_connect:  5.514
//	time_starttransfer:  5.515s
//	        time_total:  5.515
//
// https://curl.se/docs/manpage.html#-w, curl 7 and 8. Each figure is the time since the beginning, s, so that a phase is the difference to the one before. Which host
// was asked is not kept.
package curltimings

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// Format reads such times.
var Format = format.Format{
	Name:  "curl-timings",
	About: "the phases of requests, by curl -w: time_namelookup, time_connect, time_appconnect, time_starttransfer",
	Match: func(head []byte) format.Confidence {
		if !bytes.Contains(head, []byte("time_")) {
			return format.No
		}
		p := parser{}
		for l := range bytes.Lines(head) {
			p.parseLine(string(l[:min(len(l), mostLine)]), 1)
			if len(p.now.at) >= leastTimes {
				return format.Sure
			}
		}
		return format.No
	},
	Parse: parseArtifact,
}

// Bounds of what is kept. A request has two times at least, or a line is prose.
const (
	mostLine     = 1024
	mostRequests = 20_000
	leastTimes   = 2
)

// phases are the times in their order, and what the one before each was spent in.
var phases = [...]struct{ name, in string }{
	{"time_namelookup", evidence.PhaseLookup},
	{"time_connect", evidence.PhaseConnect},
	{"time_appconnect", evidence.PhaseHandshake},
	{"time_pretransfer", ""},
	{"time_starttransfer", evidence.PhaseAnswer},
	{"time_total", evidence.PhaseTransfer},
}

// sum is the requests of which a phase has most of the time; times are s.
type sum struct {
	n, line  int64
	most, of float64
}

// request is the times of a request, s.
type request struct {
	at   map[string]float64
	line int64
}

type parser struct {
	now request
	all []request
}

func (p *parser) parseLine(text string, line int64) {
	name, value, ok := strings.Cut(strings.TrimSpace(text), ":")
	name = strings.ToLower(strings.Trim(name, `"' `))
	value = strings.TrimSuffix(strings.Trim(value, "\"', \t"), "s")
	v, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if !ok || err != nil || !(v >= 0 && v < 1e6) || !strings.HasPrefix(name, "time_") {
		return
	}
	if _, again := p.now.at[name]; again || p.now.at == nil {
		p.endRequest()
		p.now = request{at: make(map[string]float64), line: line}
	}
	for _, x := range phases {
		if x.name == name {
			p.now.at[name] = v
		}
	}
}

func (p *parser) endRequest() {
	if len(p.now.at) >= leastTimes && len(p.all) < mostRequests {
		p.all = append(p.all, p.now)
	}
}

// longestPhase returns the phase with most of the time, −1 if there is none, and the time of all, s.
func (r *request) longestPhase() (in int, took, all float64) {
	before := 0.
	in = -1
	for i, x := range phases {
		v, told := r.at[x.name]
		if !told || v == 0 && x.in != evidence.PhaseLookup { // curl prints 0 where there was no such phase
			continue
		}
		if d := v - before; d > took && x.in != "" {
			in, took = i, d
		}
		before, all = max(before, v), max(all, v)
	}
	return in, took, all
}

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	p := parser{}
	err := a.Lines(func(l format.Line) bool {
		p.parseLine(string(l.Text[:min(len(l.Text), mostLine)]), l.Number)
		return l.Number&0xfff != 0 || ctx.Err() == nil
	})
	p.endRequest()
	if err := format.EndReading(ctx, b, err, len(p.all) > 0, "the times", "curl-timings: no request in it"); err != nil {
		return err
	}
	*b.Clock() = evidence.Clock{Name: "one moment", Error: evidence.Unanchored}
	subject := b.Subject(evidence.Subject{Kind: evidence.Dependency, Name: "what curl asked"})
	var sums [len(phases)]sum
	slowest := -1
	for i := range p.all {
		in, took, all := p.all[i].longestPhase()
		if in < 0 {
			continue
		}
		x := &sums[in]
		if x.n++; took >= x.most {
			x.most, x.of, x.line = took, all, p.all[i].line
		}
		if slowest < 0 || x.most > sums[slowest].most {
			slowest = in
		}
	}
	if slowest < 0 {
		return nil
	}
	t := evidence.Table{Title: "where most time of requests went, by curl", Columns: []string{"", "requests", "longest s", "of s"}}
	for i, x := range sums {
		if x.n > 0 {
			t.Rows = append(t.Rows, strings.Split(fmt.Sprintf("%s|%d|%.4g|%.4g", phases[i].in, x.n, x.most, x.of), "|"))
		}
	}
	b.Table(t)
	x := &sums[slowest]
	b.FactAt(subject, evidence.FactPhaseMost, phases[slowest].in, x.most*1e9, x.line)
	b.FactAt(subject, evidence.FactPhaseOf, "", x.of*1e9, x.line)
	return nil
}
