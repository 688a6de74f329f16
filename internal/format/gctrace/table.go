package gctrace

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
)

// maxProcessRows caps the table of processes.
const maxProcessRows = 20

// emitTables writes the tables that inspect shows.
func (p *parser) emitTables() {
	if p.old.cycles > 0 {
		p.b.Table(p.oldTable())
	}
	if p.cycles.n > 0 {
		p.b.Table(p.cyclesTable())
	}
	if len(p.runs) > 1 {
		p.b.Table(p.processTable())
	}
}

// sums is what the cycles table is made of.
type sums struct {
	pauses                   []int64 // sorted
	stopped                  int64
	mark                     int64
	assist, background, idle int64
	lives, goals             []int64 // MiB, sorted
	forced, timed, unlimited int64
	span                     int64   // ns from first to last, over all processes
	missing                  int64   // cycles that their numbers skip
	procTime                 float64 // span × P, without the time of missing cycles
	allocated, allocTime     int64   // MiB, ns
	util                     int32
}

func (p *parser) sumCycles() (s sums) {
	s.util = -1
	last := make([]*cycle, len(p.runs))
	s.pauses = make([]int64, 0, 2*p.cycles.n)
	s.lives = make([]int64, 0, p.cycles.n)
	s.goals = make([]int64, 0, p.cycles.n)
	for i := range p.cycles.n {
		c := p.cycles.at(i)
		s.pauses = append(s.pauses, c.sweepTerm, c.markTerm)
		s.stopped += c.sweepTerm + c.markTerm
		s.mark += c.mark
		s.assist += max(0, c.assist)
		s.background += max(0, c.background)
		s.idle += max(0, c.idle)
		s.lives = append(s.lives, c.live)
		if c.goal >= 0 {
			s.goals = append(s.goals, c.goal)
		} else {
			s.unlimited++
		}
		switch {
		case c.forced:
			s.forced++
		case c.timer:
			s.timed++
		}
		from := p.runs[c.run].watchedFrom()
		if l := last[c.run]; l != nil {
			from = l.end()
			if d := c.end() - l.end(); c.number == l.number+1 && d > 0 {
				s.allocated += max(0, c.after-l.live)
				s.allocTime += d
			}
		}
		if d := c.end() - from; d > 0 {
			s.span += d
			watched := float64(d)
			if l := last[c.run]; l != nil && c.number > l.number+1 {
				s.missing += c.number - l.number - 1
				watched /= float64(c.number - l.number)
			}
			s.procTime += watched * float64(c.procs)
		}
		last[c.run] = c
		s.util = c.util
	}
	slices.Sort(s.pauses)
	slices.Sort(s.lives)
	slices.Sort(s.goals)
	return s
}

func (p *parser) cyclesTable() evidence.Table {
	s := p.sumCycles()
	n := int64(p.cycles.n)
	t := evidence.Table{Title: "GC cycles", Columns: []string{"", "value"}}
	row := func(name, format string, args ...any) {
		t.Rows = append(t.Rows, []string{name, fmt.Sprintf(format, args...)})
	}
	row("cycles", "%d", n)
	row("forced", "%d by runtime.GC, %d after 2 min without", s.forced, s.timed)
	row("span", "%s s", formatSeconds(s.span))
	if n > 1 && s.span > 0 {
		row("rate", "%s /s", formatShort(float64(n+s.missing)/float64(s.span)*1e9))
	}
	pauseRow(row, s.pauses, s.stopped)
	row("concurrent mark", "%s ms", formatMs(s.mark))
	for _, v := range []struct {
		name string
		ns   int64
	}{{"mark assist", s.assist}, {"background workers", s.background}, {"idle workers", s.idle}} {
		if s.procTime > 0 {
			row(v.name, "%s ms on a P, %.1f %% of all P time", formatMs(v.ns), 100*float64(v.ns)/s.procTime)
		} else {
			row(v.name, "%s ms on a P", formatMs(v.ns))
		}
	}
	if s.util >= 0 {
		row("GC's share of CPU at the end", "%d %%", s.util)
	}
	row("live heap", "%s", formatSpread(s.lives))
	switch {
	case len(s.goals) == 0:
		row("goal", "none: GOGC=off without a memory limit")
	case s.unlimited > 0:
		row("goal", "%s; %d cycles without", formatSpread(s.goals), s.unlimited)
	default:
		row("goal", "%s", formatSpread(s.goals))
	}
	if s.allocTime > 0 {
		row("allocation", "%s MiB/s", formatShort(float64(s.allocated)/float64(s.allocTime)*1e9))
	}
	row("lines", "%s", p.lineCounts(n+p.twice+p.dropped))
	return t
}

func (p *parser) oldTable() evidence.Table {
	t := evidence.Table{Title: "GC cycles (Go 1.4 and before)", Columns: []string{"", "value"}}
	row := func(name, format string, args ...any) {
		t.Rows = append(t.Rows, []string{name, fmt.Sprintf(format, args...)})
	}
	row("cycles", "%d", p.old.cycles)
	total := int64(0)
	for _, v := range p.old.pauses {
		total += v
	}
	slices.Sort(p.old.pauses)
	pauseRow(row, p.old.pauses, total)
	row("lines", "%s", p.lineCounts(p.old.cycles))
	return t
}

func pauseRow(row func(name, format string, args ...any), sorted []int64, total int64) {
	n := int64(len(sorted))
	if n == 0 {
		return
	}
	row("stop-the-world", "%d pauses, %s ms", n, formatMs(total))
	row("each", "mean %s ms, p99 %s ms, max %s ms", formatMs(total/n), formatMs(stats.Quantile(sorted, 0.99)), formatMs(sorted[n-1]))
}

func (p *parser) lineCounts(gc int64) string {
	return fmt.Sprintf("%d gc, %d of other traces, %d not understood, of %d", gc, p.ignored, p.damaged, p.lines)
}

func (p *parser) processTable() evidence.Table {
	t := evidence.Table{Title: "GC processes", Columns: []string{"process", "lines", "cycles", "first", "last", "from s", "until s", "P"}}
	for i, r := range p.runs {
		if i == maxProcessRows {
			t.Rows = append(t.Rows, []string{fmt.Sprintf("%d more", len(p.runs)-i), "", "", "", "", "", "", ""})
			break
		}
		name := strconv.Itoa(i + 1)
		if r.label != "" {
			name += " " + r.label
		}
		t.Rows = append(t.Rows, []string{name, fmt.Sprintf("%d–%d", r.first.line, r.latest.line), strconv.FormatInt(r.cycles, 10),
			strconv.FormatInt(r.first.number, 10), strconv.FormatInt(r.latest.number, 10), formatSeconds(r.first.start), formatSeconds(r.lastEnd), strconv.Itoa(int(r.latest.procs))})
	}
	return t
}

func formatSpread(sorted []int64) string {
	n := len(sorted)
	return fmt.Sprintf("min %d MiB, median %d MiB, max %d MiB", sorted[0], stats.Quantile(sorted, 0.5), sorted[n-1])
}

func formatMs(ns int64) string      { return formatShort(float64(ns) / 1e6) }
func formatSeconds(ns int64) string { return strconv.FormatFloat(float64(ns)/1e9, 'f', 3, 64) }

// formatShort formats a number with three digits, and with more only before the point.
func formatShort(v float64) string {
	decimals := 0
	switch {
	case v < 1:
		decimals = 3
	case v < 10:
		decimals = 2
	case v < 100:
		decimals = 1
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}
