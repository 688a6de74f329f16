package procfs

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/redact"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/format"
)

// tracks are the figures of one subject over time, in the order of the archive.
type tracks struct {
	list   []*track
	byName map[string]*track
}

// track is one figure: a gauge, or a counter that becomes a rate.
type track struct {
	name, unit string
	counter    bool
	line       int64
	t          []int64
	v          []float64
}

func (s *tracks) get(name string) *track { return s.byName[name] }

func (s *tracks) drop(name string) {
	delete(s.byName, name)
	s.list = slices.DeleteFunc(s.list, func(t *track) bool { return t.name == name })
}

// parseCounter reads the value of a counter of events.
func (p *parser) parseCounter(value []byte, s *tracks, name, unit string) bool {
	n, ok := format.ParseDigits(value)
	if ok {
		p.addCounter(s, name, unit, float64(n))
	}
	return ok
}

func (p *parser) parseGauge(value []byte, s *tracks, name, unit string) bool {
	n, ok := format.ParseDigits(value)
	if ok {
		p.addReading(s, name, unit, false, float64(n))
	}
	return ok
}

func (p *parser) addCounter(s *tracks, name, unit string, v float64) {
	p.addReading(s, name, unit, true, v)
}

// addReading adds a reading. It leaves out and counts one that is older than the last, or a counter below
// it.
func (p *parser) addReading(s *tracks, name, unit string, counter bool, v float64) {
	t := s.byName[name]
	if t == nil {
		if s.byName == nil {
			s.byName = make(map[string]*track)
		}
		t = &track{name: name, unit: unit, counter: counter, line: p.number}
		s.byName[name] = t
		s.list = append(s.list, t)
	}
	if n := len(t.t); n > 0 {
		switch {
		case p.now == t.t[n-1]:
			return // named twice in a round
		case p.now < t.t[n-1]:
			if p.lastBack != p.sections {
				p.backwards++
				p.lastBack = p.sections
			}
			if p.firstBack == 0 {
				p.firstBack = p.number
			}
			return
		case counter && v < t.v[n-1]:
			if name == evidence.SeriesHostCPUIowait {
				return // known to
			}
			p.shrunk++
			if p.firstFall == 0 {
				p.firstFall = p.number
			}
			return
		}
	}
	if p.points >= maxPoints {
		p.dropped++
		return
	}
	p.points++
	t.t = append(t.t, p.now)
	t.v = append(t.v, v)
}

// toRates turns a counter's readings into rates in place; false if there are fewer than two
// readings.
func (t *track) toRates() bool {
	last := len(t.t) - 1
	if last < 1 {
		return false
	}
	for i := range last {
		t.v[i] = (t.v[i+1] - t.v[i]) / (float64(t.t[i+1]-t.t[i]) / 1e9)
	}
	t.v[last] = t.v[last-1]
	return true
}

// mean returns the mean of a rate over the whole recording, NaN if there are fewer than two
// readings.
func (t *track) mean() float64 {
	if t == nil || len(t.t) < 2 {
		return math.NaN()
	}
	var sum float64
	for i := range len(t.t) - 1 {
		sum += t.v[i] * float64(t.t[i+1]-t.t[i])
	}
	return sum / float64(t.t[len(t.t)-1]-t.t[0])
}

func (p *parser) emitAll() {
	for _, q := range p.processes {
		if q.scheduled.open {
			p.endScheduled(q)
		}
		if q.switched.open {
			p.endSwitched(q)
		}
		p.dropDelays(q)
	}
	*p.b.Clock() = p.placeReadings()
	host := p.b.Subject(evidence.Subject{Kind: evidence.Host, Name: p.name, CPUs: p.cpus})
	p.emitSeries(host, &p.host)
	if p.memory.value > 0 {
		p.b.Fact(evidence.Fact{Subject: host, Key: evidence.FactHostMemory, Value: sizeOf(p.memory.value), Number: p.memory.value, Origin: p.b.Origin(p.memory.line)})
	}
	p.settings.emitFacts(p, host)
	p.emitStrained(host)
	p.emitCoverage(host, evidence.CoverHostCPU, p.host.get(evidence.SeriesHostCPUBusy))
	p.emitCoverage(host, evidence.CoverHostMemory, p.host.get(evidence.SeriesHostFaults))
	p.emitCoverage(host, evidence.CoverDisks, p.host.get(evidence.SeriesHostDiskRequests))
	p.coverEntrance(host, &p.host)
	p.emitCoverage(host, evidence.CoverSoftirqs, p.host.get(evidence.SeriesHostSoftirqsNetRX))
	var faults track // from the first to the last time any process's were read
	for i, q := range p.processes {
		s := evidence.Subject{Kind: evidence.Process, Name: q.name, PID: q.pid, Service: q.service}
		if p.btime > 0 && q.known && p.btime < 1<<33 && q.started < 1<<40 {
			s.StartTime = p.btime*1e9 + q.started*(1e9/hz)
		}
		id := p.b.Subject(s)
		p.emitSeries(id, &q.tracks)
		if f := q.get(evidence.SeriesProcessMinorFaults); f != nil && len(f.t) > 1 {
			if len(faults.t) == 0 {
				faults = track{t: []int64{f.t[0], f.t[len(f.t)-1]}, line: f.line}
			}
			faults.t[0], faults.t[1] = min(faults.t[0], f.t[0]), max(faults.t[1], f.t[len(f.t)-1])
		}
		p.coverEntrance(id, &q.tracks)
		p.emitLimits(id, q)
		p.emitFacts(id, q)
		p.emitService(id, q)
		if i == 0 {
			p.emitWorkers(id)
		}
	}
	p.emitCoverage(host, evidence.CoverFaults, &faults)
	p.addPressureTable()
	p.addTables()
	p.addWarnings()
}

// dropDelays drops times of waiting for disks if the kernel does not measure them: since 5.14
// it needs kernel.task_delayacct, and counts nothing without.
func (p *parser) dropDelays(q *process) {
	t := q.get(evidence.SeriesProcessBlocked)
	if t == nil || t.v[len(t.v)-1] > 0 {
		return
	}
	if x := p.settings.last["kernel.task_delayacct"]; x == nil || x.number != 1 {
		q.drop(t.name)
	}
}

func (p *parser) emitSeries(id evidence.SubjectID, s *tracks) {
	for _, t := range s.list {
		if len(t.t) == 0 || t.counter && !t.toRates() {
			continue
		}
		p.b.Series(evidence.Series{Subject: id, Name: t.name, Unit: t.unit, T: t.t, V: t.v, Origin: p.b.Origin(t.line)})
	}
}

// emitFacts writes the facts of a process's environment and command line.
func (p *parser) emitFacts(id evidence.SubjectID, q *process) {
	p.addDefaults(q)
	if q.thp.line > 0 && (q == p.processes[0] || len(q.cgroups) > 0) { // neighbours have only figures
		value := "off"
		if q.thp.value == 1 {
			value = "on"
		}
		p.b.Fact(evidence.Fact{Subject: id, Key: evidence.FactTHPProcess, Value: value, Number: q.thp.value, Origin: p.b.Origin(q.thp.line)})
	}
	for _, f := range q.facts {
		if f.Key == evidence.FactCommand {
			f.Value = strings.Join(redact.Command(q.args), " ")
		}
		f.Subject = id
		p.b.Fact(f)
	}
}

// emitLimits writes the cgroups of a process and the limits above them.
// Processes may share a cgroup.
func (p *parser) emitLimits(id evidence.SubjectID, q *process) {
	var memory, high, swap, quota, throttled *cgroup
	for _, own := range q.cgroups {
		for at := own; ; at = path.Dir(at) {
			if g := p.cgroups[at]; g != nil {
				if g.memory.value > 0 && (memory == nil || g.memory.value < memory.memory.value) {
					memory = g
				}
				if g.high.value > 0 && (high == nil || g.high.value < high.high.value) {
					high = g
				}
				if g.swap.line > 0 && (swap == nil || g.swap.value < swap.swap.value) {
					swap = g
				}
				if g.quotaCPUs() > 0 && (quota == nil || g.quotaCPUs() < quota.quotaCPUs()) {
					quota = g
				}
				if throttled == nil && (g.get(evidence.SeriesCgroupCPUPeriods) != nil || g.get(evidence.SeriesCgroupCPUThrottledPeriods) != nil) {
					throttled = g
				}
			}
			if at == "/" {
				break
			}
		}
	}
	if quota != nil && quota.get(evidence.SeriesCgroupCPUPeriods) != nil {
		throttled = quota
	}
	for _, own := range q.cgroups {
		if g := p.cgroups[own]; g != nil && g != throttled {
			p.groupSeries(id, g, func(name string) bool { return !throttling[name] })
		}
	}
	if throttled != nil {
		own := slices.Contains(q.cgroups, throttled.path)
		p.addQuotaTable(throttled)
		p.groupSeries(id, throttled, func(name string) bool { return own || throttling[name] })
		p.emitCoverage(id, evidence.CoverThrottling, throttled.get(evidence.SeriesCgroupCPUPeriods))
		p.emitTotals(id, throttled)
	}
	limit := func(key string, v reading) {
		p.b.Fact(evidence.Fact{Subject: id, Key: key, Value: sizeOf(v.value), Number: v.value, Origin: p.b.Origin(v.line)})
	}
	if memory != nil {
		limit(evidence.FactContainerLimit, memory.memory)
	}
	if high != nil {
		limit(evidence.FactContainerHigh, high.high)
	}
	if swap != nil {
		limit(evidence.FactContainerSwap, swap.swap)
	}
	if quota != nil {
		p.b.Fact(evidence.Fact{Subject: id, Key: evidence.FactContainerCPU, Value: fmt.Sprintf("%.4g CPUs", quota.quotaCPUs()), Number: quota.quotaCPUs(), Origin: p.b.Origin(quota.quota.line)})
	}
}

// addQuotaTable writes what a quota did between the first and the last reading, or since its group was created. It comes before the counters are made rates.
func (p *parser) addQuotaTable(g *cgroup) {
	if p.quotaShown[g.path] {
		return
	}
	t := evidence.Table{Title: "CPU quota, from the first to the last reading", Columns: []string{"", "value"}}
	for _, r := range []struct {
		name, series string
		text         func(float64) string
	}{
		{"periods", evidence.SeriesCgroupCPUPeriods, units.Num},
		{"throttled periods", evidence.SeriesCgroupCPUThrottledPeriods, units.Num},
		{"throttled for, all threads together", evidence.SeriesCgroupCPUThrottled, func(v float64) string { return units.Time(1e9 * v) }},
	} {
		k := g.get(r.series)
		if k == nil || len(k.v) == 0 {
			continue
		}
		v := k.v[len(k.v)-1]
		if len(k.v) > 1 {
			v -= k.v[0]
		} else {
			t.Title = "CPU quota, since the control group was created"
		}
		if v >= 0 {
			t.Rows = append(t.Rows, []string{r.name, r.text(v)})
		}
	}
	if len(t.Rows) > 0 && len(p.quotaShown) < mostShownGroups {
		if p.quotaShown == nil {
			p.quotaShown = make(map[string]bool)
		}
		p.quotaShown[g.path] = true
		p.b.Table(t)
	}
}

// mostShownGroups is the number of control groups whose quota has a table.
const mostShownGroups = 8

// emitTotals writes a quota's effect since its group was created, if that was read only once: then
// there are no rates. What grep took out of its file may lack the periods.
func (p *parser) emitTotals(id evidence.SubjectID, g *cgroup) {
	periods, stopped := g.get(evidence.SeriesCgroupCPUPeriods), g.get(evidence.SeriesCgroupCPUThrottledPeriods)
	if stopped == nil || len(stopped.t) != 1 || periods != nil && len(periods.t) != 1 {
		return
	}
	if periods != nil {
		p.b.Fact(evidence.Fact{Subject: id, Key: evidence.FactQuotaPeriods, Number: periods.v[0], Origin: p.b.Origin(periods.line)})
	}
	p.b.Fact(evidence.Fact{Subject: id, Key: evidence.FactQuotaThrottled, Number: stopped.v[0], Origin: p.b.Origin(stopped.line)})
	if took := g.get(evidence.SeriesCgroupCPUThrottled); took != nil && len(took.t) == 1 && periods == nil {
		p.b.Fact(evidence.Fact{Subject: id, Key: evidence.FactQuotaStopped, Number: took.v[0] * 1e9, Origin: p.b.Origin(took.line)})
	}
}

// throttling are the series that count where the quota is.
var throttling = map[string]bool{evidence.SeriesCgroupCPUPeriods: true, evidence.SeriesCgroupCPUThrottledPeriods: true, evidence.SeriesCgroupCPUThrottled: true}

func (p *parser) groupSeries(id evidence.SubjectID, g *cgroup, wanted func(string) bool) {
	for _, t := range g.list {
		c := track{name: t.name, unit: t.unit, line: t.line, t: slices.Clone(t.t), v: slices.Clone(t.v)}
		if wanted(t.name) && (!t.counter || c.toRates()) {
			p.b.Series(evidence.Series{Subject: id, Name: c.name, Unit: c.unit, T: c.t, V: c.v, Origin: p.b.Origin(c.line)})
		}
	}
}

func (p *parser) emitCoverage(id evidence.SubjectID, kind string, t *track) {
	if t != nil && len(t.t) > 1 {
		p.b.Cover(evidence.Coverage{Subject: id, Kind: kind, From: t.t[0], Until: t.t[len(t.t)-1], Origin: p.b.Origin(t.line)})
	}
}

func (p *parser) addTables() {
	t := evidence.Table{Title: "host, mean over the recording", Columns: []string{"figure", "value", "unit"}}
	for _, x := range p.host.list {
		v := x.mean()
		if !math.IsNaN(v) {
			t.Rows = append(t.Rows, []string{x.name, formatFigure(v), x.unit})
		}
	}
	t.Rows = append(t.Rows,
		[]string{"lines recognized but not used", strconv.FormatInt(p.ignored, 10), "1"},
		[]string{"lines not understood", strconv.FormatInt(p.damaged, 10), "1"})
	p.b.Table(t)
	if len(p.processes) == 0 {
		return
	}
	busy := slices.Clone(p.processes)
	slices.SortStableFunc(busy, func(a, b *process) int {
		return -cmp.Compare(stats.ZeroIfNaN(a.get(evidence.SeriesProcessCPU).mean()), stats.ZeroIfNaN(b.get(evidence.SeriesProcessCPU).mean()))
	})
	const most = 20
	title := "processes"
	if len(busy) > most {
		title = fmt.Sprintf("processes, the %d of %d that used most CPU", most, len(busy))
		busy = busy[:most]
	}
	t = evidence.Table{Title: title, Columns: []string{"process", "pid", "cores", "of it system", "minor faults/s", "RSS MiB", "threads waiting for CPU", "CPUs"}}
	for _, q := range busy {
		t.Rows = append(t.Rows, []string{q.name, strconv.Itoa(q.pid), formatFigure(q.get(evidence.SeriesProcessCPU).mean()), formatFigure(q.get(evidence.SeriesProcessCPUSystem).mean()),
			formatFigure(q.get(evidence.SeriesProcessMinorFaults).mean()), formatFigure(q.get(evidence.SeriesProcessRSS).mean() / (1 << 20)), formatFigure(q.get(evidence.SeriesProcessRunDelay).mean()), q.allowed})
	}
	p.b.Table(t)
}

func formatFigure(v float64) string {
	switch {
	case math.IsNaN(v):
		return ""
	case v >= 1000:
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

func (p *parser) addWarnings() {
	b := p.b
	if p.damaged > 0 {
		b.Warnf(p.firstBad, "%s not understood", format.Count(p.damaged, "line of /proc files was", "lines of /proc files were"))
	}
	if p.early {
		b.Warnf(0, "what stands before the first time was left out: it has none")
	}
	if p.backwards > 0 {
		b.Warnf(p.firstBack, "%s older than the previous one and left out: the clock was set back, or recordings were joined in the wrong order", format.Count(p.backwards, "file is", "files are"))
	}
	if p.shrunk > 0 {
		b.Warnf(p.firstFall, "%s below the previous one and left out: counters only grow", format.Count(p.shrunk, "reading of a counter is", "readings of counters are"))
	}
	if p.dropped > 0 {
		b.Warnf(0, "%s not kept: more than %d processes or %d readings; record fewer of them", format.Count(p.dropped, "reading was", "readings were"), maxProcesses, maxPoints)
	}
	switch busy := p.host.get(evidence.SeriesHostCPUBusy); {
	case busy != nil && len(busy.t) < 2:
		b.Warnf(busy.line, "/proc/stat was read only once: CPU time needs two readings")
	case len(p.host.list) > 0 && !slices.ContainsFunc(p.host.list, func(t *track) bool { return len(t.t) > 1 }):
		b.Warnf(p.host.list[0].line, "its files were read only once: what the kernel counts needs two readings")
	}
	for _, g := range p.cgroups {
		if !slices.ContainsFunc(p.processes, func(q *process) bool { return slices.ContainsFunc(q.cgroups, g.isAbove) }) {
			b.Warnf(0, "some cgroups belong to no recorded process: record /proc/PID/cgroup as well")
		}
	}
}
