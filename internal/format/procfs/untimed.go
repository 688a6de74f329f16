package procfs

import (
	"bytes"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// rounds are the readings of files under headers without a time, as users paste them: a repeated
// file begins the next one. The time since boot shows the time between them.
type rounds struct {
	seen   map[string]bool // files of this round
	number int64           // of the round
	uptime map[int64]float64
	quota  map[int64]float64 // s of a quota's counted periods
	ticks  int64             // of the section: all ticks of all CPUs
}

// assignRound gives a section without a time the time of a round of its own,
// until a better one is known.
func (p *parser) assignRound(path []byte) {
	r := &p.rounds
	switch {
	case r.seen == nil:
		r.seen, r.uptime, r.quota = make(map[string]bool), make(map[int64]float64), make(map[int64]float64)
	case r.seen[string(path)]:
		r.number++
		clear(r.seen)
	}
	if len(r.seen) < maxThreads {
		r.seen[string(path)] = true
	}
	p.now = (r.number + 1) * 1e9
}

// uptimeFile reads "14782.13 29000.51", s since boot and of idle processors.
func (p *parser) uptimeFile(line []byte) bool {
	first, _, _ := bytes.Cut(line, []byte(" "))
	s, ok := parseDecimal(first)
	if ok && p.rounds.uptime != nil {
		p.rounds.uptime[p.rounds.number] = s
	}
	return ok
}

// deriveUptime derives the time since boot from the processors' ticks, where nothing better tells
// it.
func (p *parser) deriveUptime(processors int) {
	r := &p.rounds
	if _, known := r.uptime[r.number]; r.uptime != nil && !known && processors > 0 && r.ticks > 0 {
		r.uptime[r.number] = float64(r.ticks) / hz / float64(processors)
	}
	r.ticks = 0
}

// dropUntimed is called at the first time in the recording. It drops what came before, which has
// no time.
func (p *parser) dropUntimed() {
	p.stamped = true
	if p.rounds.seen == nil {
		return
	}
	p.early = true
	p.rounds = rounds{}
	p.host, p.processors = tracks{}, perCPU{}
	for _, q := range p.processes {
		q.tracks, q.scheduled, q.switched = tracks{}, pass{}, pass{}
	}
	for _, g := range p.cgroups {
		g.tracks = tracks{}
	}
}

// placeReadings places readings without time by the time since boot. Where that is unknown they
// stay 1 s apart.
func (p *parser) placeReadings() evidence.Clock {
	if p.stamped || p.rounds.seen == nil {
		return evidence.Clock{Name: "unix", Error: 1e6, Resolution: p.unit}
	}
	r := &p.rounds
	clock := evidence.Clock{Name: "readings, one after the other", Error: evidence.Unanchored}
	at := make(map[int64]int64)
	last := 0.
	byQuota := len(r.uptime) == 0 && r.number > 0
	for n := range r.number + 1 {
		s, ok := r.uptime[n]
		if byQuota {
			s, ok = r.quota[n]
		}
		if !ok || s <= last || s > 1e9 {
			if r.number > 0 {
				p.b.Warnf(0, "no time stands above its readings, which are taken for 1 s apart: write date +%%s%%N above each, or record /proc/uptime as well")
			}
			return clock
		}
		last = s
		at[(n+1)*1e9] = int64(s * 1e9)
	}
	move := func(all []*track) {
		for _, t := range all {
			for i := range t.t {
				t.t[i] = at[t.t[i]]
			}
		}
	}
	move(p.host.list)
	for _, q := range p.processes {
		move(q.list)
	}
	for _, g := range p.cgroups {
		move(g.list)
	}
	for _, x := range p.settings.list {
		x.from, x.until = at[x.from], at[x.until]
	}
	clock.Name, clock.Resolution = "since boot", 1e7
	if byQuota {
		clock.Name = "periods of the quota"
		p.b.Warnf(0, "no time stands above its readings: the periods of the quota between them tell how long it ran, and when it idled is not counted")
	}
	return clock
}

// addPeriods adds how long a quota counted, by its number of periods.
func (p *parser) addPeriods(n float64) {
	if r := &p.rounds; r.quota != nil {
		of := p.group.period
		if of <= 0 {
			of = usualPeriod
		}
		r.quota[r.number] = max(r.quota[r.number], n*of/1e6)
	}
}

// usualPeriod is the period of a quota unless another was set, µs.
const usualPeriod = 100_000

// begins are the first lines of files that users copy without a header.
var begins = []struct{ with, path string }{{"cpu  ", "/proc/stat"}, {"MemTotal: ", "/proc/meminfo"}, {"nr_free_pages ", "/proc/vmstat"}, {"usage_usec ", cpuStat}, {"nr_periods ", cpuStat},
	{"nr_throttled ", cpuStat}, {"throttled_usec ", cpuStat}, {"throttled_time ", cpuStat}} // by grep throttled

const cpuStat = "/sys/fs/cgroup/cpu.stat"

// goesOn says whether a line that may begin cpu.stat stands within it: only the first of its names begins the next reading.
func (p *parser) goesOn(line []byte) bool {
	name, _, _ := bytes.Cut(line, []byte(" "))
	switch string(name) {
	case "nr_periods":
		return p.firstName == "usage_usec"
	case "nr_throttled", "throttled_usec", "throttled_time":
		return p.firstName != "" && p.firstName != string(name)
	}
	return false
}

// fileOfLine returns the file that begins with a line, "" if there is none.
func fileOfLine(line []byte) string {
	for _, x := range begins {
		rest, ok := bytes.CutPrefix(line, []byte(x.with))
		if ok && bytes.IndexFunc(rest, func(r rune) bool { return (r < '0' || r > '9') && r != ' ' && r != 'k' && r != 'B' }) < 0 && len(rest) > 0 {
			return x.path
		}
	}
	return ""
}

// isQuota says whether a line is cpu.max, copied without a header: "50000 100000" or "max 100000", µs in a period of 1 ms to 1 s.
func isQuota(line []byte) bool {
	quota, period, two := bytes.Cut(line, []byte(" "))
	n, ok := format.ParseDigits(period)
	if _, digits := format.ParseDigits(quota); !digits && string(quota) != "max" {
		return false
	}
	return two && ok && n >= 1000 && n <= 1_000_000
}

// beginsCPUStat says whether text begins with a line of cpu.stat.
func beginsCPUStat(text []byte) bool {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return fileOfLine(bytes.TrimSuffix(line, []byte("\r"))) == cpuStat
}
