package procfs

import (
	"bytes"
	"path"
	"strings"

	"github.com/unstall/unstall/evidence"
)

// process is one process: a PID and the time it started.
type process struct {
	tracks
	pid     int
	name    string // comm: the first 15 bytes of the executable's name, or what the thread calls itself
	started int64  // ticks after boot
	known   bool   // started is
	line    int64  // where it is first named
	exact   bool   // VmRSS was read
	allowed string // Cpus_allowed_list
	cgroups []string
	environ int64 // line of its environment's section, 0 not read
	facts   []evidence.Fact
	args    []string

	threads map[int64]thread
	round   int64   // threads were read in this pass
	run     float64 // s that threads ran, summed over all that were read twice
	delay   float64 // s they were ready and not run
	at      int64   // of the latest thread read
}

type thread struct {
	round      int64
	run, delay int64 // ns
}

// Columns of /proc/PID/stat, counted from the state behind the name.
const (
	minflt     = 10 - 3
	majflt     = 12 - 3
	utime      = 14 - 3
	stime      = 15 - 3
	numThreads = 20 - 3
	starttime  = 22 - 3
	rss        = 24 - 3
	columns    = 25 - 3
)

// processStat reads "4711 (comm) S 1 …"; the name may hold blanks and
// parentheses.
func (p *parser) processStat(line []byte) bool {
	open, close := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if open < 0 || close < open || len(line) < close+4 {
		return false
	}
	if pid, ok := whole(bytes.TrimSpace(line[:open])); !ok || int(pid) != p.pid {
		return false
	}
	var v [columns]int64
	if !statColumns(line[close+2:], v[:]) {
		return false
	}
	for _, i := range []int{minflt, majflt, utime, stime, numThreads, starttime, rss} {
		if v[i] < 0 {
			return false
		}
	}
	q := p.subject
	if q.known && q.started != v[starttime] {
		if q = p.newProcess(p.pid); q == nil {
			p.dropped++
			return true
		}
		p.subject = q
	}
	q.name, q.started, q.known = clean(line[open+1:close], 64), v[starttime], true
	p.count(&q.tracks, evidence.SeriesProcessCPU, "cores", (float64(v[utime])+float64(v[stime]))/hz)
	p.count(&q.tracks, evidence.SeriesProcessCPUSystem, "cores", float64(v[stime])/hz)
	p.count(&q.tracks, evidence.SeriesProcessMinorFaults, "1/s", float64(v[minflt]))
	p.count(&q.tracks, evidence.SeriesProcessMajorFaults, "1/s", float64(v[majflt]))
	p.put(&q.tracks, evidence.SeriesProcessThreads, "1", false, float64(v[numThreads]))
	if !q.exact {
		p.put(&q.tracks, evidence.SeriesProcessRSS, "bytes", false, float64(v[rss])*4096)
	}
	return true
}

// statColumns reads what follows the name: a letter, then numbers of which some
// are negative.
func statColumns(s []byte, out []int64) bool {
	for i := range out {
		word, rest, more := bytes.Cut(s, []byte(" "))
		if i > 0 {
			digits, negative := bytes.CutPrefix(word, []byte("-"))
			n, ok := whole(digits)
			if !ok {
				return false
			}
			if negative { // tpgid and nice may be; what is read may not
				n = -1
			}
			out[i] = n
		}
		if s = rest; !more { // the last that is read may be cut
			return false
		}
	}
	return true
}

func (p *parser) processStatus(line []byte) bool {
	key, value, ok := keyed(line)
	if !ok {
		return false
	}
	q := p.subject
	switch string(key) {
	case "Name":
		if q.name == "" {
			q.name = clean(value, 64)
		}
		return true
	case "VmRSS":
		v, ok := kib(value)
		if ok && !q.exact {
			q.exact = true
			q.drop(evidence.SeriesProcessRSS)
		}
		if ok {
			p.put(&q.tracks, evidence.SeriesProcessRSS, "bytes", false, v)
		}
		return ok
	case "voluntary_ctxt_switches":
		return p.counter(value, &q.tracks, evidence.SeriesProcessMainThreadVoluntarySwitches, "1/s")
	case "nonvoluntary_ctxt_switches":
		return p.counter(value, &q.tracks, evidence.SeriesProcessMainThreadNonvoluntarySwitches, "1/s")
	case "Cpus_allowed_list":
		q.allowed = clean(value, 256)
		return true
	}
	p.ignored++
	return true
}

// processSchedstat reads "run delay slices", ns.
func (p *parser) processSchedstat(line []byte) bool {
	var v [3]int64
	if fields(line, v[:]) != 3 {
		return false
	}
	p.count(&p.subject.tracks, evidence.SeriesProcessMainThreadRunDelay, "1", float64(v[1])/1e9)
	return true
}

// threadSchedstat sums what threads ran and waited; a thread read for the second
// time in a pass over them begins the next pass.
func (p *parser) threadSchedstat(line []byte) bool {
	var v [3]int64
	if fields(line, v[:]) != 3 {
		return false
	}
	q := p.subject
	old, known := q.threads[p.tid]
	switch {
	case !known && p.threads >= maxThreads:
		p.dropped++
		return true
	case !known:
		if q.threads == nil {
			q.threads = make(map[int64]thread)
		}
		p.threads++
	case old.round == q.round:
		p.pass(q)
	}
	if known && v[0] >= old.run && v[1] >= old.delay {
		q.run += float64(v[0]-old.run) / 1e9
		q.delay += float64(v[1]-old.delay) / 1e9
	}
	q.threads[p.tid] = thread{q.round, v[0], v[1]}
	q.at = p.now
	return true
}

// pass ends a pass over a process's threads.
func (p *parser) pass(q *process) {
	now := p.now
	p.now = q.at
	p.count(&q.tracks, evidence.SeriesProcessThreadsRun, "cores", q.run)
	p.count(&q.tracks, evidence.SeriesProcessRunDelay, "1", q.delay)
	p.now = now
	q.round++
}

// processCgroup reads "0::/user.slice" and, of version 1, "4:cpu,cpuacct:/".
func (p *parser) processCgroup(line []byte) bool {
	parts := bytes.SplitN(line, []byte(":"), 3)
	if len(parts) != 3 || len(parts[2]) > maxPath {
		return false
	}
	at := path.Clean("/" + string(parts[2]))
	if q := p.subject; len(q.cgroups) < 64 {
		for _, controller := range strings.Split(string(parts[1]), ",") {
			g := path.Join("/", controller, at)
			if !contains(q.cgroups, g) {
				q.cgroups = append(q.cgroups, g)
			}
		}
	}
	return true
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// ioSeries are the counters of /proc/PID/io that become series: what calls read
// and wrote, sockets too, and what of it went to disks.
var ioSeries = map[string][2]string{
	"rchar":       {evidence.SeriesProcessIORead, "bytes/s"},
	"wchar":       {evidence.SeriesProcessIOWritten, "bytes/s"},
	"syscr":       {evidence.SeriesProcessIOReads, "1/s"},
	"syscw":       {evidence.SeriesProcessIOWrites, "1/s"},
	"read_bytes":  {evidence.SeriesProcessDiskRead, "bytes/s"},
	"write_bytes": {evidence.SeriesProcessDiskWritten, "bytes/s"},
}

func (p *parser) processIO(line []byte) bool {
	key, value, ok := keyed(line)
	if !ok {
		return false
	}
	s, ok := ioSeries[string(key)]
	if !ok {
		p.ignored++
		return true
	}
	return p.counter(value, &p.subject.tracks, s[0], s[1])
}
