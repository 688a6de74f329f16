package perfscript

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// finish emits what was read.
func (p *parser) finish() {
	b := p.b
	p.clocked = p.from > 1e18
	if p.clocked {
		*b.Clock() = evidence.Clock{Name: "unix", Error: 1e6, Resolution: 1e3}
	} else {
		*b.Clock() = evidence.Clock{Name: "since boot", Error: evidence.Unanchored, Resolution: 1e3}
		b.Warnf(0, "its times count from the boot of the host and cannot be joined with other files: perf record -k CLOCK_REALTIME")
	}
	period := p.sampleInterval()
	order, commands := p.listProcesses()
	subjects := make(map[who]evidence.SubjectID, len(order))
	for _, w := range order {
		subjects[w] = b.Subject(evidence.Subject{Kind: evidence.Process, PID: int(w.pid), Name: b.Text(commands[w])})
	}
	on, off, unit := b.Name(evidence.SampleOnCPU), b.Name(evidence.SampleOffCPU), b.Name("nanoseconds")
	ran, waited := make(map[evidence.SubjectID]int64), make(map[evidence.SubjectID]int64)
	t := totals{}
	b.RoomForSamples(len(p.rows))
	for _, r := range p.rows {
		id, ok := subjects[p.processOf(r.who)]
		if !ok {
			continue
		}
		s := evidence.Sample{Subject: id, Time: r.at, Lane: evidence.LaneID(r.tid), Stack: r.stack, Type: on, Unit: unit, Class: r.class, Value: cmp.Or(r.ns, period), Origin: b.Origin(r.line)}
		if r.waited {
			s.Type = off
			waited[id]++
			if r.ns >= longWait {
				b.Interval(evidence.Interval{Subject: id, Lane: s.Lane, Kind: evidence.InKernel, Start: r.at - r.ns, End: r.at, Stack: r.stack, Cause: r.class, Origin: s.Origin})
			}
		} else {
			ran[id]++
		}
		t.add(r.waited, r.class, s.Value)
		b.Sample(s)
	}
	every := period
	if i := slices.IndexFunc(p.rows, func(r row) bool { return !r.waited && r.ns > 0 }); i >= 0 {
		every = p.rows[i].ns
	}
	for _, w := range order {
		id := subjects[w]
		if ran[id] > 0 {
			p.addCoverage(id, evidence.CoverOnCPU, evidence.SampleOnCPU, every)
		}
		if waited[id] > 0 {
			p.addCoverage(id, evidence.CoverOffCPU, evidence.SampleOffCPU, 0)
		}
	}
	t.emitTables(b)
	if p.processes > len(order) {
		b.Warnf(0, "%s left out, which had fewer samples: give those of one with perf script --pid", format.Count(p.processes-len(order), "process was", "processes were"))
	}
	p.emitWarnings(period)
}

// processOf returns the process that rows of a thread are of.
func (p *parser) processOf(w who) who {
	switch {
	case p.pids:
		return who{pid: w.pid, comm: 0}
	case p.only > 0:
		return who{pid: int32(p.only)}
	case p.hostly:
		return who{comm: w.comm}
	}
	return who{comm: p.named}
}

// listProcesses returns the processes, those with most rows first, and the command of each: that
// of the thread which has its id, else the first.
func (p *parser) listProcesses() (all []who, commands map[who]evidence.NameID) {
	rows := make(map[who]int)
	commands = make(map[who]evidence.NameID)
	for _, r := range p.rows {
		w := p.processOf(r.who)
		if rows[w]++; rows[w] == 1 {
			all = append(all, w)
			commands[w] = cmp.Or(w.comm, r.who.comm)
		}
		if r.tid == w.pid {
			commands[w] = r.who.comm
		}
	}
	slices.SortStableFunc(all, func(a, b who) int { return cmp.Compare(rows[b], rows[a]) })
	p.processes = len(all)
	return all[:min(len(all), mostSubject)], commands
}

func (p *parser) addCoverage(id evidence.SubjectID, kind, profile string, every int64) {
	if p.until <= p.from {
		return
	}
	p.b.Cover(evidence.Coverage{Subject: id, Kind: kind, From: p.from, Until: p.until, Sampled: every, Origin: p.b.Origin(1)})
	p.b.Fact(evidence.Fact{Subject: id, Key: evidence.FactProfileKind, Value: profile, Number: math.NaN(), From: p.from, Until: p.until, Origin: p.b.Origin(1)})
	if every > 0 {
		rate := 1e9 / float64(every)
		p.b.Fact(evidence.Fact{Subject: id, Key: evidence.FactProfileRate, Value: fmt.Sprintf("%.4g", rate), Number: rate, From: p.from, Until: p.until, Origin: p.b.Origin(1)})
	}
}

// sampleInterval returns how many ns lie between two samples of a CPU that is busy all the time:
// the first quartile of the gaps, as idle CPUs are sampled less often.
func (p *parser) sampleInterval() int64 {
	const usual = int64(1e9) / 99
	if len(p.gaps) == 0 {
		return usual
	}
	slices.Sort(p.gaps)
	return max(1, p.gaps[len(p.gaps)/4])
}

// totals are how long threads were in each mechanism.
type totals map[total]struct{ count, ns int64 }

type total struct {
	waited bool
	class  evidence.NameID
}

func (t totals) add(waited bool, class evidence.NameID, ns int64) {
	k := total{waited, class}
	x := t[k]
	x.count++
	x.ns += ns
	t[k] = x
}

// mostShown bounds rows of a table.
const mostShown = 12

func (t totals) emitTables(b *evidence.Builder) {
	for _, waited := range []bool{false, true} {
		var order []total
		var all int64
		for k, x := range t {
			if k.waited == waited {
				order = append(order, k)
				all += x.ns
			}
		}
		if all == 0 {
			continue
		}
		slices.SortStableFunc(order, func(a, b total) int { return cmp.Or(cmp.Compare(t[b].ns, t[a].ns), cmp.Compare(a.class, b.class)) })
		x := evidence.Table{Title: "threads ran in", Columns: []string{"mechanism", "time", "share", "samples"}}
		if waited {
			x.Title, x.Columns[3] = "threads waited for", "waits"
		}
		for _, k := range order[:min(len(order), mostShown)] {
			name := b.Text(k.class)
			if k.class == 0 {
				name = "the program's own code"
			}
			x.Rows = append(x.Rows, []string{name, time.Duration(t[k].ns).Round(time.Microsecond).String(), fmt.Sprintf("%.1f %%", 100*float64(t[k].ns)/float64(all)), fmt.Sprint(t[k].count)})
		}
		b.Table(x)
	}
}

func (p *parser) emitWarnings(period int64) {
	b := p.b
	if p.odd > 0 {
		b.Warnf(p.first, "%s not understood", format.Count(p.odd, "line was", "lines were"))
	}
	if p.others > 0 {
		b.Warnf(0, "%s left out: only samples of CPU time, sched:sched_switch and sched:sched_wakeup are read, and not of the kernel's own threads", format.Count(p.others, "event was", "events were"))
	}
	if p.unasked > 0 && p.unasked == p.samples-p.idle {
		b.Warnf(0, "its samples have no stacks: record with perf record -g")
	}
	if !p.pids && p.only == 0 && p.hostly {
		b.Warnf(0, "it only has thread ids, so unstall identifies processes by their commands: perf script -F comm,pid,tid,cpu,time,event,trace,period,ip,sym,dso")
	}
	if slices.ContainsFunc(p.rows, func(r row) bool { return !r.waited && r.ns == 0 }) {
		b.Warnf(0, "its samples are not of a clock: each is taken for %v of CPU time, by how they follow each other", time.Duration(period).Round(10*time.Microsecond))
	}
	if len(p.left) > 0 && p.switched > 0 && !slices.ContainsFunc(p.rows, func(r row) bool { return r.waited }) {
		b.Warnf(0, "of no wait the end was seen: record switches of all CPUs (perf record -a -e sched:sched_switch)")
	}
	if p.dropped > 0 {
		b.Warnf(0, "there are more than %d rows or %d threads: %d were left out", mostRows, mostThreads, p.dropped)
	}
}
