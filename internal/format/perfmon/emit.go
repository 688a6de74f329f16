package perfmon

import (
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
)

// counter is the meaning of a column's figures.
type counter struct {
	series, unit string
	scale        float64
	total        bool // it only grows: the series is the growth per second
	clr          bool // only .NET processes have it
	shared       bool // of the host: it is given to the only .NET process, if there is one
}

// counters by their path in small letters.
var counters = map[string]counter{
	`.net clr memory\# gen 0 collections`:                {series: evidence.SeriesGen0Collections, unit: "count/s", total: true, clr: true},
	`.net clr memory\# gen 1 collections`:                {series: evidence.SeriesGen1Collections, unit: "count/s", total: true, clr: true},
	`.net clr memory\# gen 2 collections`:                {series: evidence.SeriesGen2Collections, unit: "count/s", total: true, clr: true},
	`.net clr memory\# induced gc`:                       {series: evidence.SeriesInduced, unit: "count/s", total: true, clr: true},
	`.net clr memory\% time in gc`:                       {series: evidence.SeriesGCTime, unit: "percent", clr: true},
	`.net clr memory\gen 1 heap size`:                    {series: evidence.SeriesGen1Size, unit: "bytes", clr: true},
	`.net clr memory\gen 2 heap size`:                    {series: evidence.SeriesGen2Size, unit: "bytes", clr: true},
	`.net clr memory\large object heap size`:             {series: evidence.SeriesLOHSize, unit: "bytes", clr: true},
	`.net clr memory\# bytes in all heaps`:               {series: evidence.SeriesManagedHeap, unit: "bytes", clr: true},
	`.net clr memory\allocated bytes/sec`:                {series: evidence.SeriesAllocation, unit: "bytes/s", clr: true},
	`.net clr locksandthreads\contention rate / sec`:     {series: evidence.SeriesContentions, unit: "count/s", clr: true},
	`.net clr exceptions\# of exceps thrown / sec`:       {series: evidence.SeriesExceptions, unit: "count/s", clr: true},
	`process\private bytes`:                              {series: evidence.SeriesProcessPrivate, unit: "bytes"},
	`process\working set`:                                {series: evidence.SeriesWorkingSet, unit: "bytes"},
	`process\% processor time`:                           {series: evidence.SeriesProcessCPU, unit: "cores", scale: .01},
	`process\thread count`:                               {series: evidence.SeriesProcessThreads, unit: "count"},
	`asp.net\requests queued`:                            {series: evidence.SeriesRequestQueue, unit: "count", shared: true},
	`asp.net\requests current`:                           {series: evidence.SeriesRequestsInFlight, unit: "count", shared: true},
	`asp.net applications\requests/sec`:                  {series: evidence.SeriesRequestRate, unit: "count/s", shared: true},
	`asp.net applications\requests executing`:            {series: evidence.SeriesRequestsInFlight, unit: "count", shared: true},
	`asp.net applications\requests in application queue`: {series: evidence.SeriesRequestQueue, unit: "count", shared: true},
}

// emitSeries writes the series of each process; if there are .NET processes, only theirs.
func (p *parser) emitSeries() error {
	var instances []string // in order
	clr := make(map[string]bool)
	for _, c := range p.columns {
		if c == nil || len(c.at) == 0 || c.counter.shared {
			continue
		}
		if !slices.Contains(instances, c.instance) {
			instances = append(instances, c.instance)
		}
		clr[c.instance] = clr[c.instance] || c.counter.clr
	}
	if slices.ContainsFunc(instances, func(s string) bool { return clr[s] }) {
		instances = slices.DeleteFunc(instances, func(s string) bool { return !clr[s] })
	}
	if len(instances) == 0 {
		return errNothing
	}
	*p.b.Clock() = evidence.Clock{Name: "unix", Error: 1e9, Resolution: 1e6}
	table := evidence.Table{Title: "counters", Columns: []string{"process", "counter", "unit", "first", "mean", "most", "last", "points"}}
	for _, name := range instances {
		runtime := ""
		if clr[name] {
			runtime = "dotnet"
		}
		subject := p.b.Subject(evidence.Subject{Runtime: runtime, Name: strings.ReplaceAll(name, "#", "-")})
		told := make(map[string]bool)
		for _, c := range p.columns {
			if c == nil || len(c.at) == 0 || told[c.counter.series] || c.instance != name && !(c.counter.shared && len(instances) == 1) {
				continue
			}
			if s := c.toSeries(); len(s.T) > 0 {
				told[s.Name] = true
				s.Subject, s.Origin = subject, p.b.Origin(c.line)
				p.b.Series(s)
				table.Rows = append(table.Rows, summaryRow(name, &s))
			}
		}
	}
	p.b.Table(table)
	if !p.zoned {
		p.b.Warnf(0, "the counters' times have no zone and are taken as UTC")
	}
	if p.odd > 0 {
		p.b.Warnf(0, "rows without a time, left out: %d", p.odd)
	}
	if p.figures == maxFigures {
		p.b.Warnf(0, "more than %d figures: later ones left out", maxFigures)
	}
	return nil
}

// toSeries returns the figures of a column as a series.
func (c *column) toSeries() evidence.Series {
	s := evidence.Series{Name: c.counter.series, Unit: c.counter.unit}
	scale := c.counter.scale
	if scale == 0 {
		scale = 1
	}
	for i, v := range c.v {
		if !c.counter.total {
			s.T, s.V = append(s.T, c.at[i]), append(s.V, v*scale)
			continue
		}
		if i == 0 {
			continue
		}
		grown := v - c.v[i-1]
		if grown < 0 { // another process has the instance's name
			grown = v
		}
		s.T, s.V = append(s.T, c.at[i-1]), append(s.V, grown/(float64(c.at[i]-c.at[i-1])/1e9))
	}
	if n := len(s.T); c.counter.total && n > 0 { // the last one holds to the end
		s.T, s.V = append(s.T, c.at[len(c.at)-1]), append(s.V, s.V[n-1])
	}
	return s
}

func summaryRow(process string, s *evidence.Series) []string {
	n := len(s.V)
	mean, watched := s.Mean(s.T[0], s.T[n-1])
	if watched == 0 {
		mean = s.V[0]
	}
	return []string{process, s.Name, s.Unit, units.Num(s.V[0]), units.Num(mean), units.Num(slices.Max(s.V)), units.Num(s.V[n-1]), units.Count(n)}
}
