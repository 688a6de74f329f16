package procfs

import (
	"bytes"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/format"
)

// hz is USER_HZ: how many ticks the files count in a second.
const hz = 100

// Columns of a cpu line.
const (
	user = iota
	nice
	system
	idle
	iowait
	irq
	softirq
	steal
	cpuColumns
)

// hostEnds computes figures from all lines of a file.
var hostEnds = map[string]func(*parser){
	"stat":    (*parser).perCPU,
	"meminfo": (*parser).swapUsed,
}

var cpuSeries = []struct {
	name    string
	columns []int
}{
	{evidence.SeriesHostCPUBusy, []int{user, nice, system, irq, softirq}},
	{evidence.SeriesHostCPUUser, []int{user, nice}},
	{evidence.SeriesHostCPUSystem, []int{system}},
	{evidence.SeriesHostCPUIowait, []int{iowait}},
	{evidence.SeriesHostCPUSoftirq, []int{irq, softirq}},
	{evidence.SeriesHostCPUSteal, []int{steal}},
}

func (p *parser) parseStat(line []byte) bool {
	key, value, ok := cutKey(line)
	if !ok {
		return false
	}
	var v [cpuColumns]int64
	switch string(key) {
	case "cpu":
		n := parseFields(value, v[:])
		if n <= softirq || n < p.wide {
			return false
		}
		p.wide = n
		p.rounds.ticks = 0
		for _, ticks := range v {
			p.rounds.ticks += ticks
		}
		for _, x := range cpuSeries {
			if slices.Max(x.columns) < n {
				var ticks float64
				for _, i := range x.columns {
					ticks += float64(v[i])
				}
				p.addCounter(&p.host, x.name, "cores", ticks/hz)
			}
		}
		return true
	case "intr":
		total, _, _ := bytes.Cut(value, []byte(" "))
		return p.parseCounter(total, &p.host, evidence.SeriesHostInterrupts, "1/s")
	case "ctxt":
		return p.parseCounter(value, &p.host, evidence.SeriesHostContextSwitches, "1/s")
	case "btime":
		n, ok := format.ParseDigits(value)
		p.btime = n
		return ok
	case "processes":
		return p.parseCounter(value, &p.host, evidence.SeriesHostForks, "1/s")
	case "procs_running":
		return p.parseGauge(value, &p.host, evidence.SeriesHostProcsRunning, "1")
	case "procs_blocked":
		return p.parseGauge(value, &p.host, evidence.SeriesHostProcsBlocked, "1")
	}
	if digits, ok := bytes.CutPrefix(key, []byte("cpu")); ok {
		n, ok := format.ParseDigits(digits)
		if !ok || n >= 1<<16 || p.online >= 1<<16 {
			return false
		}
		p.online++ // offline ones have no line
		p.cpus = max(p.cpus, p.online)
		if columns := parseFields(value, v[:]); columns > softirq && columns >= p.wide {
			p.processors.addCPU(int(n), &v)
		}
		return true
	}
	p.ignored++
	return true
}

// parseLoadavg reads "2.61 2.06 1.52 9/116 17576".
func (p *parser) parseLoadavg(line []byte) bool {
	first, rest, _ := bytes.Cut(line, []byte(" "))
	if bytes.Count(rest, []byte(" ")) != 3 {
		return false
	}
	v, ok := parseDecimal(first)
	if ok {
		p.addReading(&p.host, evidence.SeriesHostLoad1, "1", false, v)
	}
	return ok
}

// parseDecimal reads digits with an optional point.
func parseDecimal(s []byte) (float64, bool) {
	i, f, point := bytes.Cut(s, []byte("."))
	n, ok := format.ParseDigits(i)
	if !ok || !point {
		return float64(n), ok
	}
	m, ok := format.ParseDigits(f)
	scale := 1.0
	for range f {
		scale *= 10
	}
	return float64(n) + float64(m)/scale, ok
}

// parsePressure reads "some avg10=24.70 avg60=21.85 avg300=20.06 total=354853060", of
// the host or of a cgroup.
func (p *parser) parsePressure(line []byte) bool {
	what, _, _ := bytes.Cut(line, []byte(" "))
	name := p.pressures[0]
	switch string(what) {
	case "some":
	case "full":
		name = p.pressures[1]
	default:
		return false
	}
	_, total, ok := bytes.Cut(line, []byte(" total="))
	us, whole := format.ParseDigits(total)
	if !ok || !whole || name == "" {
		return false
	}
	t, who := &p.host, "the host"
	if p.group != nil {
		t, who = &p.group.tracks, p.group.path
	}
	p.addCounter(t, name, "1", float64(us)/1e6)
	x, ok := strainOf(t, name, who, line)
	x.line = p.number
	if ok && len(p.pressed) < mostPressed {
		p.pressed = append(p.pressed, x)
	}
	if ok && len(p.strained) < maxCgroups && (name == evidence.SeriesHostPressureMemoryFull || name == evidence.SeriesCgroupPressureMemoryFull) {
		p.strained = append(p.strained, x)
	}
	return true
}

// strained is the share of the last ten seconds in which nothing of a group ran, as it waited for memory.
type strained struct {
	of        *tracks
	name, who string
	share     float64
	line      int64
}

// strainOf returns the average over ten seconds, which counts if the file was read only once.
func strainOf(t *tracks, name, who string, line []byte) (strained, bool) {
	_, rest, ok := bytes.Cut(line, []byte(" avg10="))
	digits, _, _ := bytes.Cut(rest, []byte(" "))
	share, is := parseDecimal(digits)
	return strained{of: t, name: name, who: who, share: share / 100}, ok && is && share <= 100
}

// mostPressed is the number of lines about pressure whose average is told.
const mostPressed = 64

// addPressureTable writes the averages over ten seconds of what was read only once.
func (p *parser) addPressureTable() {
	t := evidence.Table{Title: "pressure: share of the last 10 s in which some threads, or all, waited", Columns: []string{"", "of", "share"}}
	for _, x := range p.pressed {
		if k := x.of.get(x.name); k != nil && len(k.t) == 1 {
			t.Rows = append(t.Rows, []string{x.name, x.who, units.Percent(x.share)})
		}
	}
	if len(t.Rows) > 0 {
		p.b.Table(t)
	}
}

// emitStrained writes the group that waits most for memory, by a single look.
func (p *parser) emitStrained(host evidence.SubjectID) {
	most := strained{}
	for _, x := range p.strained {
		if k := x.of.get(x.name); k != nil && len(k.t) == 1 && x.share > most.share {
			most = x
		}
	}
	if most.share > 0 {
		p.b.Fact(evidence.Fact{Subject: host, Key: evidence.FactMemoryStrain, Value: most.who, Number: most.share, Origin: p.b.Origin(most.line)})
	}
}

// hostPressure and groupPressure are the series of what some, and all, waited for.
var (
	hostPressure = map[string][2]string{
		"cpu":    {evidence.SeriesHostPressureCPUSome, evidence.SeriesHostPressureCPUFull},
		"memory": {evidence.SeriesHostPressureMemorySome, evidence.SeriesHostPressureMemoryFull},
		"io":     {evidence.SeriesHostPressureIOSome, evidence.SeriesHostPressureIOFull},
		"irq":    {"", evidence.SeriesHostPressureIRQFull},
	}
	groupPressure = map[string][2]string{
		"cpu.pressure":    {evidence.SeriesCgroupPressureCPUSome, evidence.SeriesCgroupPressureCPUFull},
		"memory.pressure": {evidence.SeriesCgroupPressureMemorySome, evidence.SeriesCgroupPressureMemoryFull},
		"io.pressure":     {evidence.SeriesCgroupPressureIOSome, evidence.SeriesCgroupPressureIOFull},
		"irq.pressure":    {"", evidence.SeriesCgroupPressureIRQFull},
	}
)

func (p *parser) parseHostname(line []byte) bool {
	p.name = cleanText(line, 64)
	return true
}

// perCPU is the times of each CPU at this reading and the previous one.
type perCPU struct {
	now, before []cpuTime
	at          int64 // of before, 0 none
	busy, soft  float64
}

type cpuTime struct {
	id         int
	busy, soft int64 // ticks
}

func (c *perCPU) addCPU(id int, v *[cpuColumns]int64) {
	soft := v[irq] + v[softirq]
	c.now = append(c.now, cpuTime{id, v[user] + v[nice] + v[system] + soft, soft})
}

// perCPU finds, for each time between two readings, the busiest CPU, and the one with
// most interrupt time: if one CPU has all interrupts, the mean of all CPUs hides it.
func (p *parser) perCPU() {
	c := &p.processors
	p.deriveUptime(len(c.now))
	defer func() { c.before, c.now = c.now, c.before[:0] }()
	if len(c.now) == 0 || c.at != 0 && p.now <= c.at {
		return
	}
	if c.at != 0 && len(c.before) != len(c.now) {
		return // one was switched off or on, or the rest is missing
	}
	if c.at != 0 {
		var busy, soft int64
		for i, x := range c.now {
			if b := c.before[i]; b.id == x.id {
				busy, soft = max(busy, x.busy-b.busy), max(soft, x.soft-b.soft)
			}
		}
		c.busy += float64(busy) / hz
		c.soft += float64(soft) / hz
	}
	c.at = p.now
	p.addCounter(&p.host, evidence.SeriesHostCPUBusiest, "cores", c.busy)
	p.addCounter(&p.host, evidence.SeriesHostCPUSoftirqMost, "cores", c.soft)
}
