package sysstat

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/format"
)

// tracks are the figures of one subject over time, in the order they came.
type tracks struct {
	list   []*track
	byName map[string]*track
}

// track is one figure: a gauge, or the mean since the row before.
type track struct {
	name, unit string
	gauge      bool
	boot       bool  // its first value may be since boot
	always     bool  // of a disk that is always busy
	kind       int   // of its heading
	from       int64 // beginning of its first value's time, 0 unknown
	line       int64
	t          []int64
	v          []float64
}

func (s *tracks) get(name string) *track { return s.byName[name] }

// addValue adds a value of this moment.
func (p *parser) addValue(s *tracks, name, unit string, v float64, gauge bool) {
	if v < 0 || v > 1e18 {
		return
	}
	t := s.byName[name]
	if t == nil {
		if s.byName == nil {
			s.byName = make(map[string]*track)
		}
		t = &track{name: name, unit: unit, gauge: gauge, line: p.number, boot: !gauge && p.h != nil && p.h.timed == none && p.boot[p.h.kind] == 1 && !p.notation.later}
		if p.h != nil && p.h.timed == tod && p.clock.day > 0 {
			t.from = p.clock.now - (p.clock.last-p.h.begins+daily)%daily
		}
		if p.h != nil {
			t.kind = p.h.kind
		}
		s.byName[name] = t
		s.list = append(s.list, t)
	}
	if n := len(t.t); n > 0 && p.clock.now <= t.t[n-1] {
		return // told twice, or the clock was set back
	}
	if p.points >= mostPoints {
		p.dropped++
		return
	}
	p.points++
	t.t = append(t.t, p.clock.now)
	t.v = append(t.v, v)
}

// sum is a figure summed over several rows of a moment.
type sum struct {
	of         *tracks
	name, unit string
	v          float64
	kind       *heading
	line       int64 // the first of them
}

func (p *parser) ensureSum(s *tracks, name, unit string) *sum {
	for i := range p.sums {
		if x := &p.sums[i]; x.of == s && x.name == name {
			return x
		}
	}
	p.sums = append(p.sums, sum{of: s, name: name, unit: unit, kind: p.h, line: p.number})
	return &p.sums[len(p.sums)-1]
}

// addToSum adds to the sum of several rows.
func (p *parser) addToSum(s *tracks, name, unit string, v float64) { p.ensureSum(s, name, unit).v += v }

// keepMax keeps the largest value of several rows.
func (p *parser) keepMax(s *tracks, name, unit string, v float64) {
	x := p.ensureSum(s, name, unit)
	x.v = max(x.v, v)
}

// flushSums adds the sums over several rows of a moment, at that moment.
func (p *parser) flushSums() {
	if len(p.sums) == 0 {
		return
	}
	clock, h, number := p.clock, p.h, p.number
	p.clock.now, p.clock.last = p.sumsAt, p.sumsAt-p.clock.day
	for _, x := range p.sums {
		p.h, p.number = x.kind, x.line
		p.addValue(x.of, x.name, x.unit, x.v, false)
	}
	p.clock, p.h, p.number = clock, h, number
	p.sums = p.sums[:0]
}

// toUntilNext turns values of the time since the previous row into values of the time until the
// next; gauges stay as they are. It returns false if there is no value.
func (t *track) toUntilNext(pasted bool) bool {
	if t.boot && !(pasted && len(t.t) == 1) {
		t.t, t.v = t.t[1:], t.v[1:]
	}
	n := len(t.t)
	switch {
	case n == 0:
		return false
	case t.gauge:
		return true
	}
	from := t.t[0] - int64(1e9)
	switch {
	case t.from > 0 && t.from < t.t[0]:
		from = t.from
	case n > 1:
		from = 2*t.t[0] - t.t[1]
	}
	at := make([]int64, 0, n+1)
	at = append(append(at, max(1, from)), t.t...)
	if at[0] >= at[1] {
		return false
	}
	t.t, t.v = at, append(t.v, t.v[n-1])
	return true
}

// emitAll writes what was read.
func (p *parser) emitAll() error {
	b := p.b
	clock := b.Clock()
	switch {
	case !p.clock.timed:
		*clock = evidence.Clock{Name: "reports, one after the other", Error: evidence.Unanchored}
		b.Warnf(0, "its reports have no time and are taken for 1 s apart: vmstat -t and iostat -t print one")
	case p.clock.undate:
		*clock = evidence.Clock{Name: "time of day", Error: evidence.Unanchored}
		b.Warnf(0, "its times have no date, which stands in the first line that the tool prints: keep it")
	default:
		*clock = evidence.Clock{Name: "unix", Error: 1e9, Resolution: 1e9}
		if !p.clock.zoned {
			b.Warnf(0, "its times have no time zone and were read as UTC: check them against the other files")
		}
	}
	p.countCPUs()
	host := b.Subject(evidence.Subject{Kind: evidence.Host, Name: p.name, CPUs: p.cpus})
	if p.seen != "" {
		b.FactAt(host, evidence.FactKernel, p.seen, math.NaN(), 1)
	}
	if p.freeTotal > 0 {
		b.FactAt(host, evidence.FactHostMemory, strconv.FormatFloat(p.freeTotal/(1<<20), 'f', 0, 64)+" MiB", p.freeTotal, p.freeTotalLine)
	}
	p.dropUnused()
	emitted := p.emitSeries(host, &p.host)
	p.emitCoverage(host, evidence.CoverHostCPU, p.host.get(evidence.SeriesHostCPUBusy))
	p.emitCoverage(host, evidence.CoverHostCPU, p.host.get(evidence.ShareOf(evidence.SeriesHostCPUBusy)))
	p.emitCoverage(host, evidence.CoverHostMemory, p.host.get(evidence.SeriesHostFaults))
	disks := p.host.get(evidence.SeriesHostDiskRequests)
	for _, x := range p.host.list { // disks made of others have no sum
		if disks == nil && strings.HasPrefix(x.name, evidence.SeriesDiskBusy+":") {
			disks = x
		}
	}
	p.emitCoverage(host, evidence.CoverDisks, disks)
	sorting.Short(p.processes, func(x, y *process) int {
		return cmp.Compare(y.get(evidence.SeriesProcessCPU).sumOfRows(), x.get(evidence.SeriesProcessCPU).sumOfRows())
	})
	var faults *track
	about := host // the subject of page faults
	for _, q := range p.processes {
		id := b.Subject(evidence.Subject{Kind: evidence.Process, Name: q.name, PID: q.pid})
		emitted += p.emitSeries(id, &q.tracks)
		if f := q.get(evidence.SeriesProcessMinorFaults); f != nil && (faults == nil || len(f.t) > len(faults.t)) {
			faults = f
		}
		if len(p.processes) == 1 { // pidstat -p: the process was selected; in other recordings of a host processes merely ran
			about = id
		}
	}
	p.emitCoverage(about, evidence.CoverFaults, faults)
	if emitted == 0 {
		b.Warnf(0, "it holds one report, which is of all the time since boot: give the tool an interval, as in vmstat -t 1 30")
	}
	if p.sinceBoot {
		b.Warnf(0, "its only report is of all the time since boot: it is used for disks that were busy nearly all of that time, or waited for most of it")
	}
	p.addTables()
	if p.odd > 0 {
		b.Warnf(p.firstOdd, "%s not understood", format.Count(p.odd, "line was", "lines were"))
	}
	if p.dropped > 0 {
		b.Warnf(0, "%s not kept: more than %d processes, %d disks or %d figures", format.Count(p.dropped, "row was", "rows were"), mostProcesses, mostNames, mostPoints)
	}
	return nil
}

// countCPUs finds how many CPUs there are by their rows, where nothing else tells: then shares of all of them become cores.
func (p *parser) countCPUs() {
	n := len(p.cpuRows)
	if p.cpus > 0 || n == 0 || !p.cpuRows[n-1] || p.host.get(evidence.ShareOf(evidence.SeriesHostCPUBusy)) == nil {
		return
	}
	for i := range n {
		if !p.cpuRows[i] {
			return
		}
	}
	p.cpus = n
	for _, t := range p.host.list {
		name, ok := strings.CutSuffix(t.name, evidence.ShareOf(""))
		if !ok {
			continue
		}
		delete(p.host.byName, t.name)
		t.name, t.unit = name, "cores"
		p.host.byName[name] = t
		for i := range t.v {
			t.v[i] *= float64(n)
		}
	}
}

// dropUnused drops network interfaces that no packet passed.
func (p *parser) dropUnused() {
	p.host.list = slices.DeleteFunc(p.host.list, func(t *track) bool {
		_, name, ok := strings.Cut(t.name, ":")
		if !ok || !strings.HasPrefix(t.name, networkPrefix) {
			return false
		}
		for _, of := range []string{evidence.SeriesNetPacketsReceived, evidence.SeriesNetPacketsSent} {
			if x := p.host.get(of + ":" + name); x != nil && slices.Max(x.v) > 0 {
				return false
			}
		}
		return true
	})
}

var networkPrefix = strings.TrimSuffix(evidence.SeriesNetReceived, "received")

// alwaysBusy is the share of the time since boot in which a disk was busy, from which on it is busy now, too.
const alwaysBusy = .9

// isAlwaysBusy says whether a figure is of a disk that was busy nearly all the time since boot, in the only report of it.
func (s *tracks) isAlwaysBusy(t *track) bool {
	if t.kind != disk {
		return false
	}
	_, name, _ := strings.Cut(t.name, ":")
	busy := s.get(evidence.SeriesDiskBusy + ":" + name)
	return busy != nil && (busy.always || busy.boot && len(busy.t) == 1 && busy.v[0] >= alwaysBusy)
}

// mostlyWaiting is the share of the time since boot in which CPUs were idle while a disk was waited for, from which on a host waits now, too.
const mostlyWaiting = .5

// isMostlyWaiting says whether vmstat's only report is of a host that waited for disks most of the time since boot.
func (s *tracks) isMostlyWaiting(t *track) bool {
	if t.kind != memoryOfHost {
		return false
	}
	for _, name := range []string{evidence.SeriesHostCPUIowait, evidence.ShareOf(evidence.SeriesHostCPUIowait)} {
		if x := s.get(name); x != nil && (x.always || x.boot && len(x.t) == 1 && x.v[0] >= mostlyWaiting) {
			return true
		}
	}
	return false
}

func (p *parser) emitSeries(id evidence.SubjectID, s *tracks) (n int) {
	for _, t := range s.list {
		t.always = p.greeted && s.isAlwaysBusy(t) || s.isMostlyWaiting(t)
		if t.toUntilNext(!p.greeted && (t.kind == disk || t.kind == processor) || t.always) {
			p.sinceBoot = p.sinceBoot || t.always
			p.b.Series(evidence.Series{Subject: id, Name: t.name, Unit: t.unit, T: t.t, V: t.v, Origin: p.b.Origin(t.line)})
			n++
		}
	}
	return n
}

func (p *parser) emitCoverage(id evidence.SubjectID, kind string, t *track) {
	if t != nil && len(t.t) > 1 {
		p.b.Cover(evidence.Coverage{Subject: id, Kind: kind, From: t.t[0], Until: t.t[len(t.t)-1], Origin: p.b.Origin(t.line)})
	}
}

// sumOfRows returns the sum of all rows.
func (t *track) sumOfRows() (all float64) {
	if t != nil {
		for _, v := range t.v {
			all += v
		}
	}
	return all
}

// mean returns the mean of all rows, NaN of none.
func (t *track) mean() float64 {
	rows := t.listValues()
	sum := 0.
	for _, v := range rows {
		sum += v
	}
	return sum / float64(len(rows))
}

// listValues returns the values, each once.
func (t *track) listValues() []float64 {
	if t == nil {
		return nil
	}
	if !t.gauge && len(t.v) > 0 {
		return t.v[:len(t.v)-1] // the last one is there twice: toUntilNext
	}
	return t.v
}

// findHighest returns the highest of all rows, NaN of none.
func (t *track) findHighest() float64 {
	rows := t.listValues()
	if len(rows) == 0 {
		return math.NaN()
	}
	return slices.Max(rows)
}

// timeOfEach returns how long a read or a write of a disk took, ms, in the mean and in the row in which they took longest: how many were under way,
// by how many there were a second. Both are NaN if there were none.
func timeOfEach(underWay, rate *track) (mean, most float64) {
	n, of := underWay.listValues(), rate.listValues()
	sum, all := 0., 0.
	mean, most = math.NaN(), math.NaN()
	for i := range min(len(n), len(of)) {
		if len(n) == len(of) && of[i] > 0 {
			sum, all = sum+n[i], all+of[i]
			if each := 1e3 * n[i] / of[i]; !(each <= most) {
				most = each
			}
		}
	}
	if all > 0 {
		mean = 1e3 * sum / all
	}
	return mean, most
}

// mostShown bounds rows of the table of processes.
const mostShown = 20

func (p *parser) addTables() {
	t := evidence.Table{Title: "host, mean over the recording", Columns: []string{"figure", "value", "most", "unit"}}
	for _, x := range p.host.list {
		if v := x.mean(); !math.IsNaN(v) {
			t.Rows = append(t.Rows, []string{x.name, formatFigure(v), formatFigure(x.findHighest()), x.unit})
		}
		for _, each := range []struct{ name, underWay, rate string }{{"time of a read", evidence.SeriesDiskReading, evidence.SeriesDiskReads}, {"time of a write", evidence.SeriesDiskWriting, evidence.SeriesDiskWrites}} {
			if disk, ok := strings.CutPrefix(x.name, each.underWay+":"); ok {
				if mean, most := timeOfEach(x, p.host.get(each.rate+":"+disk)); !math.IsNaN(mean) {
					t.Rows = append(t.Rows, []string{each.name + ":" + disk, formatFigure(mean), formatFigure(most), "ms"})
				}
			}
		}
	}
	t.Rows = append(t.Rows, []string{"rows of averages, left out", strconv.FormatInt(p.averages, 10), "", "1"},
		[]string{"rows recognized but not used", strconv.FormatInt(p.ignored, 10), "", "1"}, []string{"lines not understood", strconv.FormatInt(p.odd, 10), "", "1"})
	p.b.Table(t)
	if len(p.processes) == 0 {
		return
	}
	t = evidence.Table{Title: "processes, those that used most CPU first", Columns: []string{"process", "pid", "cores", "of it system", "minor faults/s", "RSS MiB", "bytes/s to disks"}}
	for _, q := range p.processes[:min(len(p.processes), mostShown)] {
		t.Rows = append(t.Rows, []string{q.name, strconv.Itoa(q.pid), formatFigure(q.get(evidence.SeriesProcessCPU).mean()), formatFigure(q.get(evidence.SeriesProcessCPUSystem).mean()),
			formatFigure(q.get(evidence.SeriesProcessMinorFaults).mean()), formatFigure(q.get(evidence.SeriesProcessRSS).mean() / (1 << 20)), formatFigure(q.get(evidence.SeriesProcessDiskWritten).mean())})
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
