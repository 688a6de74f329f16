package dotnetcounters

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
)

// series is a series to write, by index of stamp.
type series struct {
	name, unit string
	first      int64
	v          map[int32]float64
	raws       int
}

// emitSeries writes the read columns as series.
func (p *parser) emitSeries() {
	b := p.b
	month, certain := monthFirst(p.stamps, b.Modified())
	times := p.spreadTimes(month)
	processors := p.processorCount()
	all := make(map[string]*series)
	var order []*series
	for _, r := range p.order {
		d := parseDisplay(r.display)
		if _, ok := displays[r.provider+"/"+r.display]; ok { // its suffix is no unit
			d = shown{name: r.display}
		}
		m := meaningOf(r.rawKey, d)
		at, v, unit := r.toBaseUnits(m, d, times)
		switch {
		case m.kind == count || len(v) == 0:
			continue
		case m.kind == cpu && processors == 0:
			m.name, m.unit = r.provider+"/"+d.name, ""
		case m.kind == cpu:
			for i := range v {
				v[i] *= 100 / float64(processors)
			}
		}
		if m.unit == "" {
			m.unit = unit
		}
		s := all[m.name]
		if s == nil {
			s = &series{name: m.name, unit: m.unit, first: r.first, v: make(map[int32]float64)}
			all[m.name] = s
			order = append(order, s)
		}
		s.raws++
		for i, n := range at {
			s.v[n] += v[i] // over tags
		}
	}
	subject := b.Subject(evidence.Subject{Runtime: "dotnet", Name: p.process, CPUs: processors})
	zone := p.setClock(times)
	var from, until int64
	table := evidence.Table{Title: "counters", Columns: []string{"", "unit", "first", "least", "mean", "most", "last", "points"}}
	for _, s := range order {
		x := s.buildSeries(times)
		x.Subject, x.Origin = subject, b.Origin(s.first)
		b.Series(x)
		if from == 0 || x.T[0] < from {
			from = x.T[0]
		}
		until = max(until, x.T[len(x.T)-1])
		table.Rows = append(table.Rows, summaryRow(&x))
	}
	b.Table(table)
	if all[evidence.SeriesPoolThreads] != nil {
		b.Cover(evidence.Coverage{Subject: subject, Kind: evidence.CoverThreadPool, From: from, Until: until, Origin: b.Origin(all[evidence.SeriesPoolThreads].first)})
	}
	p.addWarnings(zone, certain)
}

// processorCount returns how many processors the process has, 0 unknown.
func (p *parser) processorCount() int {
	for _, r := range p.order {
		if meaningOf(r.rawKey, parseDisplay(r.display)).kind == count {
			if v := r.v[len(r.v)-1]; v >= 1 && v < 1<<16 {
				return int(v)
			}
		}
	}
	return 0
}

// spreadTimes returns the stamps in ns. It spreads equal stamps over their second: readings a second
// apart sometimes have the same stamp.
func (p *parser) spreadTimes(monthFirst bool) []int64 {
	out := make([]int64, len(p.stamps))
	for i := range p.stamps {
		out[i] = p.stamps[i].unixNano(monthFirst)
	}
	for i := 0; i < len(out); {
		n := i + 1
		for n < len(out) && out[n] == out[i] && !p.stamps[i].fraction {
			n++
		}
		for k := i + 1; k < n; k++ {
			out[k] += int64(k-i) * int64(1e9) / int64(n-i)
		}
		i = n
	}
	return out
}

// toBaseUnits returns a column's figures in base units, and totals per second.
func (r *raw) toBaseUnits(m meaning, s shown, times []int64) (at []int32, v []float64, unit string) {
	unit, scale := baseUnit(s.unit)
	interval := s.seconds
	if interval == 0 {
		interval = 1
	}
	v = make([]float64, 0, len(r.v))
	perSecond := r.rate
	sum := 0.0
	for i, x := range r.v {
		x *= scale
		switch {
		case m.kind == level && r.rate:
			sum += x // the change since the reading before; the first is the level
			x = sum
		case r.rate:
			x /= interval
		case (m.kind == total || m.kind == cpu) && s.seconds > 0:
			x /= interval
			perSecond = true
		case m.kind == total || m.kind == cpu: // a total since the process began
			perSecond = true
			d := 0.0
			if i > 0 {
				d = float64(times[r.at[i]]-times[r.at[i-1]]) / 1e9
			}
			if d <= 0 || x < r.v[i-1]*scale {
				continue
			}
			x = (x - r.v[i-1]*scale) / d
		}
		if x-x == 0 { // finite
			at, v = append(at, r.at[i]), append(v, x)
		}
	}
	if perSecond && m.kind != level {
		unit += "/s"
	}
	return at, v, unit
}

// buildSeries returns the figures in order of time.
func (s *series) buildSeries(times []int64) evidence.Series {
	stamps := make([]int32, 0, len(s.v))
	for n := range s.v {
		stamps = append(stamps, n)
	}
	slices.SortFunc(stamps, func(a, b int32) int { return cmp.Or(cmp.Compare(times[a], times[b]), cmp.Compare(a, b)) })
	x := evidence.Series{Name: s.name, Unit: s.unit}
	for _, n := range stamps {
		if last := len(x.T) - 1; last >= 0 && x.T[last] == times[n] {
			x.V[last] = s.v[n]
			continue
		}
		x.T, x.V = append(x.T, times[n]), append(x.V, s.v[n])
	}
	return x
}

func summaryRow(x *evidence.Series) []string {
	sum := 0.0
	for _, v := range x.V {
		sum += v
	}
	short := func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
	return []string{x.Name, x.Unit, short(x.V[0]), short(slices.Min(x.V)), short(sum / float64(len(x.V))), short(slices.Max(x.V)), short(x.V[len(x.V)-1]), strconv.Itoa(len(x.V))}
}

// setClock says how well the stamps are known, and returns a warning about their zone. Stamps
// without a zone are taken as UTC, unless the file was last written, as it is when the tool ends,
// a whole number of quarters of an hour from its last stamp: then that is the zone's offset.
func (p *parser) setClock(times []int64) (zone string) {
	c := p.b.Clock()
	if p.screened {
		*c = evidence.Clock{Name: "screens, one after the other", Error: evidence.Unanchored, Resolution: 1e9}
		return "a screen has no time: to show whether this lasts, record with dotnet-counters collect -p PID --format csv"
	}
	c.Resolution = 1e9
	if p.stamps[0].fraction {
		c.Resolution = 1
	}
	if slices.ContainsFunc(p.stamps, func(s stamp) bool { return s.zoned }) {
		return ""
	}
	const quarter, farthest, late = int64(15 * time.Minute), int64(14 * time.Hour), int64(5 * time.Second)
	off := p.b.Modified() - slices.Max(times)
	steps := (off + quarter/2) / quarter
	if off < 0 {
		steps = (off - quarter/2) / quarter
	}
	if rest := off - steps*quarter; steps == 0 || p.b.Modified() == 0 || max(off, -off) > farthest || rest < -int64(time.Second) || rest > late {
		return "its times have no time zone and were read as UTC: check them against the other files"
	}
	c.Offset = steps * quarter
	return fmt.Sprintf("its times have no time zone: by the time the file was written, they are %s from UTC", time.Duration(-c.Offset))
}

func (p *parser) addWarnings(zone string, certain bool) {
	b := p.b
	if zone != "" {
		b.Warnf(0, "%s", zone)
	}
	if !certain {
		b.Warnf(0, "its dates may be month/day or day/month: month/day was assumed (%s)", formatDay(p.stamps[0]))
	}
	if p.dropped > 0 {
		b.Warnf(0, "it holds too many readings: %d left out; collect fewer meters", p.dropped)
	}
	if p.strange > 0 {
		b.Warnf(p.first, "readings not understood: %d of %d; the first is reading %d", p.strange, p.rows, p.first)
	}
}

func formatDay(s stamp) string { return fmt.Sprintf("%d-%02d-%02d", s.year, s.a, s.b) }
