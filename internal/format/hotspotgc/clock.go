package hotspotgc

import "github.com/unstall/unstall/internal/base/evidence"

// clock makes one time line from the stamps of a log: dates, uptimes, both, stamps of an
// envelope, or none. It also tells apart the processes that wrote to one log. The first stamp
// decides what the log's own clock counts from; dates that appear later only anchor
// that clock.
type clock struct {
	basis basis
	now   int64 // the latest time, or the end of events in a log without stamps
	laid  bool  // an event got a time before the first stamp
	rows  bool  // now counts from some process's uptime
	lead  int64 // of now behind the stamps, see takeFirstStamp

	processes []process
	current   int
	pid       int64 // of the line being read, 0 unknown
	envelope  int64 // the stamp of its envelope, 0 unknown
	back      int   // switches back to an earlier process

	offset, slack int64 // of the basis from the epoch, if dates or envelopes show it
	anchored      bool
	envelopes     envelopeBounds
}

// process is one JVM that wrote to the log.
type process struct {
	pid     int64
	uptime  int64 // the latest, unknown before
	start   int64 // date − uptime, ns since the epoch
	started bool  // start is known
	shift   int64 // of its uptimes to the log's clock
	up      int64 // the first uptime, unknown before
	number  int64 // of its first and last collection, unknown before
	latest  int64
	from    int64 // the first and the last time on the log's clock
	until   int64
	seen    bool
}

func newProcess() process {
	return process{uptime: unknown, up: unknown, number: unknown, latest: unknown}
}

type basis uint8

const (
	noStamps basis = iota
	byUptime
	byDate
)

// maxProcesses is how many processes of one log are told apart; later ones count as the
// last.
const maxProcesses = 256

// maxUptime is 10 years: some JVMs print the time since the epoch as their uptime.
const maxUptime = 10 * 366 * 86400e9

func newClock() clock {
	return clock{processes: []process{newProcess()}}
}

// timeAt returns the time of a moment with these stamps, each of them unknown if it is not
// in the log. Without any it is the latest time. Times follow the stamps less lead.
func (c *clock) timeAt(date, uptime int64) int64 {
	if uptime > maxUptime {
		uptime = unknown
	}
	if date == unknown && c.envelope != 0 && (c.basis == byDate || c.basis == noStamps && uptime == unknown) {
		date = c.envelope
	}
	if date == unknown && uptime == unknown {
		if c.pid != 0 {
			c.chooseProcess(date, uptime)
		}
		c.laid = c.laid || c.basis == noStamps
		return c.now
	}
	if c.basis == noStamps {
		c.takeFirstStamp(date, uptime)
	}
	c.chooseProcess(date, uptime)
	p := &c.processes[c.current]
	if uptime != unknown {
		p.uptime = uptime
		if p.up == unknown {
			p.up = uptime
		}
	}
	if date != unknown && uptime != unknown && !p.started {
		p.start, p.started = date-uptime, true
	}
	switch {
	case c.basis == byDate && date != unknown:
		c.now = date - c.lead
	case c.basis == byDate && p.started:
		c.now = p.start + uptime - c.lead
	case c.basis == byUptime && uptime != unknown:
		c.now = uptime + p.shift - c.lead
		if date != unknown && !c.anchored {
			c.anchored, c.offset, c.slack = true, date-c.now-c.lead, 1e6
		}
	}
	if c.basis == byUptime && c.envelope != 0 {
		c.addEnvelope(c.envelope, c.now+c.lead)
	}
	c.widenTo(p, c.now)
	return c.now
}

// takeFirstStamp takes the first stamp. Events before it were placed one after another from 0 on
// and end here: all times continue from there, and are moved by lead after the whole log was read.
// Rows that count from the start of the JVM need not be moved to its uptimes.
func (c *clock) takeFirstStamp(date, uptime int64) {
	c.basis = byUptime
	stamp := uptime
	if date != unknown {
		c.basis, stamp = byDate, date
	}
	switch {
	case !c.laid:
	case !c.rows:
		c.lead = stamp - c.now
	case date != unknown && uptime != unknown:
		c.lead = date - uptime
	case date != unknown:
		c.lead = date - c.now
	}
}

// rowTime returns the time of an event with an uptime that is printed long after the event; it does not
// move the clock. Without any other uptime of the process it returns the time of printing.
func (c *clock) rowTime(uptime int64) int64 {
	switch p := &c.processes[c.current]; {
	case p.uptime != unknown:
		return c.now - (p.uptime - uptime)
	case c.basis != noStamps:
		return c.now
	}
	c.rows = true
	return uptime
}

func (c *clock) widenTo(p *process, t int64) {
	if !p.seen {
		p.seen, p.from, p.until = true, t, t
	}
	p.from, p.until = min(p.from, t), max(p.until, t)
}

// How stamps tell processes apart, in ns.
const (
	lag     = 10e9  // an uptime may lie this much before the one above: threads write in turn
	jitter  = 0.3e9 // the same within the first seconds
	steady  = 2e9   // date − uptime of one process may vary by this much
	sameGap = 10    // an uptime belongs to a process that is this many times closer
)

// isRestart says whether an uptime after another one belongs to a restarted process.
func isRestart(before, uptime int64) bool {
	return uptime < before-lag || uptime < before/2 && uptime < before-jitter
}

// chooseProcess finds the process that a line with these stamps belongs to, and makes it the
// current one.
func (c *clock) chooseProcess(date, uptime int64) {
	p := &c.processes[c.current]
	if c.pid != 0 {
		if p.pid == 0 {
			p.pid = c.pid
		}
		if p.pid != c.pid {
			c.switchProcess(func(q *process) bool { return q.pid == c.pid }, uptime)
			c.processes[c.current].pid = c.pid
		}
		return
	}
	if uptime == unknown || p.uptime == unknown {
		return
	}
	if date != unknown && p.started {
		start := date - uptime
		if isNear(start, p.start) {
			return
		}
		for i := range c.processes {
			if q := &c.processes[i]; q.started && isNear(start, q.start) {
				c.switchProcess(func(x *process) bool { return x == q }, uptime)
				return
			}
		}
		if isRestart(p.uptime, uptime) {
			c.switchProcess(func(*process) bool { return false }, uptime)
		} else {
			p.start = start // the host's clock was set
		}
		return
	}
	if isRestart(p.uptime, uptime) || uptime > p.uptime+lag && len(c.processes) > 1 {
		jump := uptime - p.uptime
		closest := func(q *process) bool {
			gap := uptime - q.uptime
			return q != p && q.uptime != unknown && gap >= 0 && gap < lag && (jump < 0 || gap < jump/sameGap)
		}
		if jump < 0 {
			c.switchProcess(closest, uptime)
			return
		}
		for i := range c.processes {
			if q := &c.processes[i]; closest(q) {
				c.switchProcess(closest, uptime)
				return
			}
		}
	}
}

func isNear(a, b int64) bool { return a-b <= steady && b-a <= steady }

// switchProcess makes another process for which is holds the current one, or a new one if there is
// none.
func (c *clock) switchProcess(match func(*process) bool, uptime int64) {
	for i := range c.processes {
		if i != c.current && match(&c.processes[i]) {
			c.current = i
			c.back++
			return
		}
	}
	if len(c.processes) >= maxProcesses {
		c.processes[c.current].uptime = unknown
		return
	}
	p := newProcess()
	if c.basis == byUptime && uptime != unknown {
		p.shift = c.now + c.lead - uptime
	}
	c.processes = append(c.processes, p)
	c.current = len(c.processes) - 1
}

// isMixed says whether several processes wrote in turn, not one after the other.
func (c *clock) isMixed() bool { return c.back >= 2 }

// advanceTo moves the time of a log without stamps to the end of something.
func (c *clock) advanceTo(end int64) {
	if c.basis == noStamps {
		c.now, c.laid = max(c.now, end), true
	}
}

// widenToEvent widens the coverage and the collection numbers of a process to include one
// of its events.
func (c *clock) widenToEvent(process int, e *event) {
	p := &c.processes[process]
	if e.number != unknown {
		if p.number == unknown {
			p.number = e.number
		}
		p.latest = max(p.latest, e.number)
	}
	if !p.seen {
		p.seen, p.from, p.until = true, e.start, e.end
	}
	p.from, p.until = min(p.from, e.start), max(p.until, e.end)
}

// envelopeBounds bound the position of the log's clock by the times when a collector read
// lines: never before a line was written.
type envelopeBounds struct {
	some   bool
	coarse bool // all stamps are of whole seconds
	least  int64
}

// addEnvelope adds the stamp of the envelope that a line at t came in.
func (c *clock) addEnvelope(stamp, t int64) {
	e := &c.envelopes
	if !e.some {
		*e = envelopeBounds{some: true, coarse: true, least: stamp - t}
	}
	e.least = min(e.least, stamp-t)
	e.coarse = e.coarse && stamp%1e9 == 0
}

// writeTo writes the result into the artifact's clock. spaced says that events without stamps
// show the time between them.
func (c *clock) writeTo(k *evidence.Clock, spaced bool) {
	k.Resolution = 1e6
	switch {
	case c.basis == byDate:
		k.Name, k.Error = "dates of the log", 1e6
	case c.basis == byUptime:
		k.Name, k.Error = "since JVM start", evidence.Unanchored
		switch e := &c.envelopes; {
		case c.anchored:
			k.Offset, k.Error = c.offset, c.slack
		case e.some && e.coarse:
			k.Offset, k.Error = e.least+5e8, 5e8+5e6
		case e.some:
			k.Offset, k.Error = e.least-1e6, 5e6
		}
	case spaced:
		k.Name, k.Error, k.Resolution = "since the safepoint before the first", evidence.Unanchored, 1
	default:
		k.Name, k.Error, k.Resolution = "pauses one after another", evidence.Unanchored, 0
	}
}
