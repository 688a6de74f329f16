package procfs

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// process is one process: a PID and the time it started.
type process struct {
	tracks
	pid     int
	name    string // comm: the first 15 bytes of the executable's name, or the thread's own name
	started int64  // ticks after boot
	known   bool   // started is known
	line    int64  // where its name comes first
	exact   bool   // VmRSS was read
	allowed string // Cpus_allowed_list
	cgroups []string
	parent  int64 // PID of its parent
	kernel  bool  // it is a kernel thread
	environ int64 // line of its environment's section, 0 not read
	facts   []evidence.Fact
	args    []string
	service string // its name in telemetry, from its environment

	scheduled, switched pass // of its threads, by schedstat and by status
	thp                 reading
}

// pass is the figures of threads' files in one round over them.
type pass struct {
	threads map[int64]thread
	round   int64
	open    bool       // threads were read in this round
	sum     [3]float64 // growth of all threads that were read twice
	most    [3]int64   // in this round, of one thread
	waited  float64    // the sum of most[delay]
	at      int64      // of the latest thread read
	names   threadNames
}

type thread struct {
	round int64
	v     [3]int64
}

// Fields of a thread's schedstat, and of its status.
const (
	run, delay, given = 0, 1, 2 // ns, ns, times
	voluntary, forced = 0, 1
)

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
	blocked    = 42 - 3 // delayacct_blkio_ticks; 2.6.18 on
)

// processStat reads "4711 (comm) S 1 …"; the name may hold blanks and
// parentheses.
func (p *parser) processStat(line []byte) bool {
	open, close := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if open < 0 || close < open || len(line) < close+4 {
		return false
	}
	if pid, ok := format.ParseDigits(bytes.TrimSpace(line[:open])); !ok || int(pid) != p.pid {
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
	q.parent, q.kernel = v[parent], v[flags]&kernelThread != 0
	q.name, q.started, q.known = cleanText(line[open+1:close], 64), v[starttime], true
	p.addCounter(&q.tracks, evidence.SeriesProcessCPU, "cores", (float64(v[utime])+float64(v[stime]))/hz)
	p.addCounter(&q.tracks, evidence.SeriesProcessCPUSystem, "cores", float64(v[stime])/hz)
	p.addCounter(&q.tracks, evidence.SeriesProcessMinorFaults, "1/s", float64(v[minflt]))
	p.addCounter(&q.tracks, evidence.SeriesProcessMajorFaults, "1/s", float64(v[majflt]))
	p.addReading(&q.tracks, evidence.SeriesProcessThreads, "1", false, float64(v[numThreads]))
	if !q.exact {
		p.addReading(&q.tracks, evidence.SeriesProcessRSS, "bytes", false, float64(v[rss])*4096)
	}
	if ticks, ok := numberBehind(line[close+2:], blocked); ok {
		p.addCounter(&q.tracks, evidence.SeriesProcessBlocked, "1", float64(ticks)/hz)
	}
	return true
}

// numberBehind returns the number behind the first n words. It must have a space behind it: the
// last number may be cut.
func numberBehind(s []byte, n int) (int64, bool) {
	for ; n > 0; n-- {
		i := bytes.IndexByte(s, ' ')
		if i < 0 {
			return 0, false
		}
		s = s[i+1:]
	}
	digits, _, more := bytes.Cut(s, []byte(" "))
	v, ok := format.ParseDigits(digits)
	return v, ok && more // the last may be cut
}

// statColumns reads what follows the name: a letter, then numbers of which some
// are negative.
func statColumns(s []byte, out []int64) bool {
	for i := range out {
		word, rest, more := bytes.Cut(s, []byte(" "))
		if i > 0 {
			digits, negative := bytes.CutPrefix(word, []byte("-"))
			n, ok := format.ParseDigits(digits)
			if !ok {
				return false
			}
			if negative { // tpgid and nice may be; fields that are read may not
				n = -1
			}
			out[i] = n
		}
		if s = rest; !more { // the last field to read may be cut
			return false
		}
	}
	return true
}

func (p *parser) processStatus(line []byte) bool {
	key, value, ok := cutKey(line)
	if !ok {
		return false
	}
	q := p.subject
	switch string(key) {
	case "Name":
		if q.name == "" {
			q.name = cleanText(value, 64)
		}
		return true
	case "VmRSS":
		v, ok := parseKiB(value)
		if ok && !q.exact {
			q.exact = true
			q.drop(evidence.SeriesProcessRSS)
		}
		if ok {
			p.addReading(&q.tracks, evidence.SeriesProcessRSS, "bytes", false, v)
		}
		return ok
	case "voluntary_ctxt_switches":
		return p.parseCounter(value, &q.tracks, evidence.SeriesProcessMainThreadVoluntarySwitches, "1/s")
	case "nonvoluntary_ctxt_switches":
		return p.parseCounter(value, &q.tracks, evidence.SeriesProcessMainThreadNonvoluntarySwitches, "1/s")
	case "VmSwap", "RssAnon":
		v, ok := parseKiB(value)
		if ok {
			p.addReading(&q.tracks, statusSeries[string(key)], "bytes", false, v)
		}
		return ok
	case "THP_enabled":
		n, ok := format.ParseDigits(value)
		q.thp = reading{float64(n), p.number}
		return ok
	case "Cpus_allowed_list":
		q.allowed = cleanText(value, 256)
		return true
	}
	p.ignored++
	return true
}

var statusSeries = map[string]string{"VmSwap": evidence.SeriesProcessSwap, "RssAnon": evidence.SeriesProcessAnonymous}

// processRollup reads the sums over all of a process's mappings.
func (p *parser) processRollup(line []byte) bool {
	if bytes.HasSuffix(line, []byte("[rollup]")) {
		return true
	}
	key, value, ok := cutKey(line)
	switch {
	case !ok:
		return false
	case string(key) != "AnonHugePages":
		p.ignored++
		return true
	}
	v, ok := parseKiB(value)
	if ok {
		p.addReading(&p.subject.tracks, evidence.SeriesProcessHuge, "bytes", false, v)
	}
	return ok
}

// processSchedstat reads "run delay slices", ns.
func (p *parser) processSchedstat(line []byte) bool {
	var v [3]int64
	if parseFields(line, v[:]) != 3 {
		return false
	}
	p.addCounter(&p.subject.tracks, evidence.SeriesProcessMainThreadRunDelay, "1", float64(v[1])/1e9)
	return true
}

func (p *parser) threadSchedstat(line []byte) bool {
	var v [3]int64
	if parseFields(line, v[:]) != 3 {
		return false
	}
	p.addThread(&p.subject.scheduled, v, (*parser).endScheduled)
	return true
}

// threadComm reads a thread's name. That of a thread whose CPU time was not read yet is left out: their number is bounded.
func (p *parser) threadComm(line []byte) bool {
	if _, met := p.subject.scheduled.threads[p.tid]; met {
		p.subject.scheduled.names.setName(p.tid, cleanText(line, 64))
	}
	return true
}

// threadStatus reads of a thread how often it gave its CPU away and how often that was taken.
func (p *parser) threadStatus(line []byte) bool {
	key, value, ok := cutKey(line)
	if !ok {
		return false
	}
	var v *int64
	switch string(key) {
	case "voluntary_ctxt_switches":
		v = &p.switches[voluntary]
	case "nonvoluntary_ctxt_switches":
		v = &p.switches[forced]
	default:
		p.ignored++
		return true
	}
	n, ok := format.ParseDigits(value)
	if !ok {
		return false
	}
	if *v = n; v == &p.switches[forced] { // the last line
		p.addThread(&p.subject.switched, p.switches, (*parser).endSwitched)
	}
	return true
}

// addThread adds the growth of a thread's counters to the sums of all threads. A thread that is
// read for the second time in a round begins the next round.
func (p *parser) addThread(s *pass, v [3]int64, ended func(*parser, *process)) {
	old, known := s.threads[p.tid]
	switch {
	case !known && p.threads >= maxThreads:
		p.dropped++
		return
	case !known:
		if s.threads == nil {
			s.threads = make(map[int64]thread)
		}
		p.threads++
	case old.round == s.round:
		ended(p, p.subject)
	}
	if known && v[0] >= old.v[0] && v[1] >= old.v[1] && v[2] >= old.v[2] {
		for i := range v {
			s.sum[i] += float64(v[i] - old.v[i])
			s.most[i] = max(s.most[i], v[i]-old.v[i])
		}
		s.names.addRun(p.tid, v[run]-old.v[run])
	}
	s.threads[p.tid] = thread{s.round, v}
	s.at, s.open = p.now, true
}

// endScheduled ends a round over the schedstat of a process's threads.
func (p *parser) endScheduled(q *process) {
	s := &q.scheduled
	s.waited += float64(s.most[delay]) / 1e9
	p.endRound(s, func() {
		p.addCounter(&q.tracks, evidence.SeriesProcessThreadsRun, "cores", s.sum[run]/1e9)
		p.addCounter(&q.tracks, evidence.SeriesProcessRunDelay, "1", s.sum[delay]/1e9)
		p.addCounter(&q.tracks, evidence.SeriesProcessRunDelayMost, "1", s.waited)
		p.addCounter(&q.tracks, evidence.SeriesProcessSwitches, "1/s", s.sum[given])
		for series, ns := range s.names.runTimes() {
			p.addCounter(&q.tracks, series, "cores", ns/1e9)
		}
	})
}

// endSwitched ends a round over the status of a process's threads.
func (p *parser) endSwitched(q *process) {
	s := &q.switched
	p.endRound(s, func() {
		p.addCounter(&q.tracks, evidence.SeriesProcessVoluntarySwitches, "1/s", s.sum[voluntary])
		p.addCounter(&q.tracks, evidence.SeriesProcessInvoluntarySwitches, "1/s", s.sum[forced])
	})
}

// endRound counts the result of a round, at the time of its last thread.
func (p *parser) endRound(s *pass, count func()) {
	now := p.now
	p.now = s.at
	count()
	p.now = now
	s.round++
	s.most, s.open = [3]int64{}, false
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
			if !slices.Contains(q.cgroups, g) {
				q.cgroups = append(q.cgroups, g)
			}
		}
	}
	return true
}

// ioSeries are the counters of /proc/PID/io that become series: what calls read
// and wrote, sockets too, and what of it went to disks.
var ioSeries = map[string][2]string{
	"rchar":                 {evidence.SeriesProcessIORead, "bytes/s"},
	"wchar":                 {evidence.SeriesProcessIOWritten, "bytes/s"},
	"syscr":                 {evidence.SeriesProcessIOReads, "1/s"},
	"syscw":                 {evidence.SeriesProcessIOWrites, "1/s"},
	"read_bytes":            {evidence.SeriesProcessDiskRead, "bytes/s"},
	"write_bytes":           {evidence.SeriesProcessDiskWritten, "bytes/s"},
	"cancelled_write_bytes": {evidence.SeriesProcessDiskCancelled, "bytes/s"},
}

func (p *parser) processIO(line []byte) bool {
	key, value, ok := cutKey(line)
	if !ok {
		return false
	}
	s, ok := ioSeries[string(key)]
	if !ok {
		p.ignored++
		return true
	}
	return p.parseCounter(value, &p.subject.tracks, s[0], s[1])
}
