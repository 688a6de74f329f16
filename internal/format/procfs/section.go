package procfs

import (
	"bytes"

	"github.com/unstall/unstall/internal/format"
)

// sum is a figure to which several lines of a section add.
type sum struct {
	tracks     *tracks
	name, unit string
	counter    bool
	v          float64
	line       int64 // the first of them
	most       bool  // the greatest of the lines counts
}

// sumCounter adds to a counter to which several lines of a section add up.
func (p *parser) sumCounter(t *tracks, name, unit string, v float64) {
	p.addTo(sum{t, name, unit, true, v, p.number, false})
}

// sumGauge adds to a gauge to which several lines of a section add up.
func (p *parser) sumGauge(t *tracks, name, unit string, v float64) {
	p.addTo(sum{t, name, unit, false, v, p.number, false})
}

// maxGauge sets a gauge to the greatest value that the lines of a section give it.
func (p *parser) maxGauge(t *tracks, name, unit string, v float64) {
	p.addTo(sum{t, name, unit, false, v, p.number, true})
}

func (p *parser) addTo(x sum) {
	for i := range p.sums {
		if s := &p.sums[i]; s.name == x.name && s.tracks == x.tracks {
			if s.v += x.v; x.most {
				s.v = max(s.v-x.v, x.v)
			}
			return
		}
	}
	p.sums = append(p.sums, x)
}

// closeSection ends a section.
func (p *parser) closeSection() {
	if p.end != nil {
		p.end(p)
	}
	now := p.number
	for _, s := range p.sums {
		p.number = s.line
		p.addReading(s.tracks, s.name, s.unit, s.counter, s.v)
	}
	p.number = now
	p.sums, p.end, p.firstName = p.sums[:0], nil, ""
}

// openSection begins a section.
func (p *parser) openSection(path []byte) {
	p.reader, p.subject, p.group, p.online, p.headed = nil, nil, nil, 0, true
	p.columns = p.columns[:0]
	clear(p.listening)
	if len(path) == 0 || len(path) > maxPath {
		return
	}
	if !p.stamped && kernelFile(path) {
		p.assignRound(path)
	}
	if rest, ok := bytes.CutPrefix(path, []byte("/proc/")); ok {
		p.openProc(rest)
	} else if rest, ok := bytes.CutPrefix(path, []byte("/sys/fs/cgroup/")); ok {
		p.openCgroup(string(rest))
	} else if kernelFile(path) {
		p.path, p.reader = string(path), (*parser).oneValue
	}
	if p.reader != nil || kernelFile(path) {
		p.sections++
	}
}

var hostFiles = map[string]func(*parser, []byte) bool{
	"stat":                (*parser).parseStat,
	"loadavg":             (*parser).parseLoadavg,
	"vmstat":              (*parser).parseVmstat,
	"meminfo":             (*parser).parseMeminfo,
	"pressure/cpu":        (*parser).parsePressure,
	"pressure/memory":     (*parser).parsePressure,
	"pressure/io":         (*parser).parsePressure,
	"pressure/irq":        (*parser).parsePressure,
	"uptime":              (*parser).uptimeFile,
	"buddyinfo":           (*parser).parseBuddyinfo,
	"diskstats":           (*parser).parseDiskstats,
	"softirqs":            (*parser).parseSoftirqs,
	"net/softnet_stat":    (*parser).parseSoftnet,
	"net/dev":             (*parser).parseInterfaces,
	"net/netstat":         (*parser).parseNetstat,
	"net/tcp":             (*parser).tcpTable,
	"net/tcp6":            (*parser).tcpTable,
	"sys/kernel/hostname": (*parser).parseHostname,
}

var processFiles = map[string]func(*parser, []byte) bool{
	"stat":         (*parser).processStat,
	"status":       (*parser).processStatus,
	"schedstat":    (*parser).processSchedstat,
	"cgroup":       (*parser).processCgroup,
	"io":           (*parser).processIO,
	"environ":      (*parser).processEnviron,
	"cmdline":      (*parser).processCmdline,
	"fd/tcp":       (*parser).processSockets,
	"fd/listen":    (*parser).listenQueue,
	"fd/unread":    (*parser).listenQueue,
	"net/netstat":  (*parser).parseNetstat,
	"net/tcp":      (*parser).tcpTable,
	"net/tcp6":     (*parser).tcpTable,
	"smaps_rollup": (*parser).processRollup,
	"net/dev":      (*parser).parseInterfaces,
}

var threadFiles = map[string]func(*parser, []byte) bool{
	"schedstat": (*parser).threadSchedstat,
	"status":    (*parser).threadStatus,
	"comm":      (*parser).threadComm,
}

func (p *parser) openProc(path []byte) {
	if len(path) == 0 || path[0] < '0' || path[0] > '9' {
		switch p.reader = hostFiles[string(path)]; {
		case p.reader != nil:
			p.end = hostEnds[string(path)]
		case bytes.HasPrefix(path, []byte("sys/")):
			p.path, p.reader = "/proc/"+string(path), (*parser).oneValue
		}
		if k, ok := bytes.CutPrefix(path, []byte("pressure/")); ok && p.reader != nil {
			p.pressures = hostPressure[string(k)]
		}
		return
	}
	digits, file, _ := bytes.Cut(path, []byte("/"))
	pid, ok := format.ParseDigits(digits)
	if !ok || pid == 0 || pid > 1<<30 {
		return
	}
	if task, ok := bytes.CutPrefix(file, []byte("task/")); ok {
		digits, file, _ = bytes.Cut(task, []byte("/"))
		if p.tid, ok = format.ParseDigits(digits); !ok {
			return
		}
		p.reader = threadFiles[string(file)]
	} else {
		p.reader = processFiles[string(file)]
	}
	if p.reader == nil {
		return
	}
	p.pid = int(pid)
	if p.subject = p.byPID[p.pid]; p.subject == nil {
		p.subject = p.newProcess(p.pid)
	}
	if p.subject == nil {
		p.reader = nil
		p.dropped++
		return
	}
	if string(file) == "environ" && p.subject.environ == 0 {
		p.subject.environ = p.number
	}
}

func (p *parser) newProcess(pid int) *process {
	if len(p.processes) >= maxProcesses {
		return nil
	}
	q := &process{pid: pid, line: p.number}
	p.processes = append(p.processes, q)
	p.byPID[pid] = q
	return q
}
