package gauges

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
)

// dependency is the monitor's view of one dependency.
type dependency struct {
	name       string
	line       int64
	at         []response
	statements []statement
}

// response is one reading, ns and calls; NaN is unknown.
type response struct {
	t                       int64
	count, rate, mean, high float64
}

// statement is all executions of a statement since the monitor was reset.
type statement struct {
	query             string
	calls, total, max float64 // ns
}

// maxStatements bounds the statements of one dependency.
const maxStatements = 100_000

func (p *parser) ensureDependency(name string, line int64) *dependency {
	if name == "" {
		name = "database"
	}
	d := p.dependencies[name]
	if d == nil {
		d = p.dependencies[clipName(name)]
	}
	if d == nil {
		if len(p.dependencies) == maxSubjects {
			return nil
		}
		d = &dependency{name: clipName(name), line: line}
		p.dependencies[d.name] = d
	}
	return d
}

func (p *parser) addResponse(x *values, line int64) {
	d := p.ensureDependency(x.name, line)
	if math.IsNaN(x.v[mean]) {
		if c := x.v[count]; c != 0 { // there were no calls then
			p.countUnparsed(line)
		}
		return
	}
	if d == nil || p.readings == maxReadings {
		p.dropped++
		return
	}
	p.readings++
	d.at = append(d.at, response{x.at, x.v[count], x.v[rate], x.v[mean], x.v[high]})
}

func (p *parser) addStatement(x *values, line int64) {
	n := x.v[calls]
	if math.IsNaN(n) {
		n = x.v[count]
	}
	sum := x.v[totalTime]
	one := x.v[meanTime]
	if math.IsNaN(one) {
		one = x.v[mean]
	}
	if math.IsNaN(sum) {
		sum = n * one
	}
	d := p.ensureDependency("", line)
	switch {
	case math.IsNaN(sum) || math.IsNaN(n):
		p.countUnparsed(line)
	case d == nil || len(d.statements) == maxStatements:
		p.dropped++
	case n > 0:
		d.statements = append(d.statements, statement{clipName(x.query), n, sum, x.v[maxTime]})
	}
}

func (p *parser) emitDependencies() {
	for _, name := range sortedKeys(p.dependencies) {
		if d := p.dependencies[name]; len(d.at)+len(d.statements) > 0 {
			d.emitEvidence(p.b)
		}
	}
}

func (d *dependency) emitEvidence(b *evidence.Builder) {
	subject := b.Subject(evidence.Subject{Kind: evidence.Dependency, Name: d.name})
	origin := b.Origin(d.line)
	fact := func(key, value string, v float64, from, until int64) {
		if !math.IsNaN(v) {
			b.Fact(evidence.Fact{Subject: subject, Key: key, Value: value, Number: v, From: from, Until: until, Origin: origin})
		}
	}
	if len(d.statements) > 0 {
		n, sum, slowest := 0.0, 0.0, math.NaN()
		sorting.Short(d.statements, func(x, y statement) int { return cmp.Or(cmp.Compare(y.total, x.total), cmp.Compare(x.query, y.query)) })
		table := evidence.Table{Title: "statements", Columns: []string{"", "calls", "total s", "mean ms", "max ms"}}
		for i, s := range d.statements {
			n, sum = n+s.calls, sum+s.total
			if !(s.max <= slowest) {
				slowest = s.max
			}
			if i < 20 {
				table.Rows = append(table.Rows, []string{oneLine(s.query), formatFigure(s.calls), formatFigure(s.total / 1e9), formatFigure(s.total / s.calls / 1e6), formatFigure(s.max / 1e6)})
			}
		}
		b.Table(table)
		fact(evidence.FactDependencyMean, "since its statistics were reset", sum/n, 0, 0)
		fact(evidence.FactDependencyMax, "the slowest call", slowest, 0, 0)
		fact(evidence.FactDependencyCalls, "since its statistics were reset", n, 0, 0)
		return
	}
	sorting.Short(d.at, func(x, y response) int { return cmp.Compare(x.t, y.t) })
	n, sum, plain := 0.0, 0.0, 0.0
	slowest := 0.0
	gap := d.medianGap()
	mean := evidence.Series{Subject: subject, Name: evidence.SeriesDependencyMean, Unit: "ns", Origin: origin}
	high := evidence.Series{Subject: subject, Name: evidence.SeriesDependencyP99, Unit: "ns", Origin: origin}
	asked := evidence.Series{Subject: subject, Name: evidence.SeriesDependencyCalls, Unit: "1/s", Origin: origin}
	for i, r := range d.at {
		c := r.count
		switch {
		case math.IsNaN(c):
			c = r.rate * gap / 1e9
		case math.IsNaN(r.rate) && gap > 0:
			r.rate = c / (gap / 1e9)
		}
		if !math.IsNaN(c) {
			n, sum = n+c, sum+c*r.mean
		}
		plain += r.mean / float64(len(d.at))
		slowest = max(slowest, r.mean)
		if r.t == 0 || i > 0 && r.t == d.at[i-1].t {
			continue
		}
		mean.T, mean.V = append(mean.T, r.t), append(mean.V, r.mean)
		if !math.IsNaN(r.high) {
			high.T, high.V = append(high.T, r.t), append(high.V, r.high)
		}
		if !math.IsNaN(r.rate) {
			asked.T, asked.V = append(asked.T, r.t), append(asked.V, r.rate)
		}
	}
	table := evidence.Table{Title: "response times of " + d.name + ", by its own monitor", Columns: []string{"", "readings", "calls", "mean ms", "highest mean ms", "highest p99 ms"}}
	if n > 0 {
		plain = sum / n
	} else {
		n = math.NaN()
	}
	p99, _ := maxAndMean(&high)
	table.Rows = append(table.Rows, []string{d.name, fmt.Sprint(len(d.at)), formatFigure(n), formatFigure(plain / 1e6), formatFigure(slowest / 1e6), formatFigure(p99 / 1e6)})
	b.Table(table)
	for _, s := range []evidence.Series{mean, high, asked} {
		if len(s.T) > 0 {
			b.Series(s)
		}
	}
	from, until := d.at[0].t, d.at[len(d.at)-1].t+int64(gap)
	fact(evidence.FactDependencyMean, "in its readings", plain, from, until)
	fact(evidence.FactDependencyMax, "the highest mean of a reading", slowest, from, until)
	fact(evidence.FactDependencyCalls, "in its readings", n, from, until)
}

// medianGap returns the median time between two readings, ns.
func (d *dependency) medianGap() float64 {
	var gaps []int64
	for i := 1; i < len(d.at); i++ {
		if g := d.at[i].t - d.at[i-1].t; g > 0 {
			gaps = append(gaps, g)
		}
	}
	if len(gaps) == 0 {
		return 0
	}
	slices.Sort(gaps)
	return float64(gaps[len(gaps)/2])
}

// oneLine returns the beginning of a statement.
func oneLine(s string) string {
	out := make([]rune, 0, 60)
	space := false
	for _, c := range s {
		if c <= ' ' {
			space = len(out) > 0
			continue
		}
		if space {
			out = append(out, ' ')
			space = false
		}
		out = append(out, c)
		if len(out) >= 60 {
			return string(out) + "…"
		}
	}
	return string(out)
}
