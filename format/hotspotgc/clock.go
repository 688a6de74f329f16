package hotspotgc

import "github.com/unstall/unstall/evidence"

// clock makes one time of the stamps a log carries: dates, uptimes, both, stamps of an
// envelope, or none. The first stamp decides what the log's own clock counts from; where
// dates come up later they only say where that lies.
type clock struct {
	basis basis
	now   int64 // the latest time given, or reached by events of a log without stamps

	uptime  int64 // the latest, unknown before
	start   int64 // date − uptime of the running process, ns since the epoch
	started bool  // start is known
	shift   int64 // of uptimes, after a restart
	runs    int   // processes seen, by their uptimes

	offset, slack int64 // of uptimes from the epoch, where dates or envelopes tell
	anchored      bool
	dates         int64 // stamps that were dates
}

type basis uint8

const (
	noStamps basis = iota
	byUptime
	byDate
)

func newClock() clock { return clock{uptime: unknown} }

// at is the time of a moment with these stamps, each of them unknown where it is not
// written. Without any it is the latest time.
func (c *clock) at(date, uptime int64) int64 {
	if uptime != unknown {
		c.restart(date, uptime)
		c.uptime = uptime
	}
	if date != unknown {
		c.dates++
		if uptime != unknown && !c.started {
			c.start, c.started = date-uptime, true
		}
	}
	if c.basis == noStamps {
		switch {
		case date != unknown:
			c.basis = byDate
		case uptime != unknown:
			c.basis = byUptime
		}
	}
	switch {
	case c.basis == byDate && date != unknown:
		c.now = date
	case c.basis == byDate && uptime != unknown && c.started:
		c.now = c.start + uptime
	case c.basis == byUptime && uptime != unknown:
		c.now = uptime + c.shift
		if date != unknown && !c.anchored {
			c.anchored, c.offset, c.slack = true, date-c.now, 1e6
		}
	}
	return c.now
}

// back is by how much (ns) an uptime may lie before the one on the line above: threads
// write in turn, and a legacy line carries when its collection began.
const back = 10e9

// restart notices that the uptime begins anew: another process writes to the same file.
func (c *clock) restart(date, uptime int64) {
	if c.uptime == unknown || uptime >= c.uptime-back && (uptime >= c.uptime || uptime > c.uptime/2) {
		c.runs = max(c.runs, 1)
		return
	}
	c.runs++
	c.started = false
	if c.basis == byUptime {
		c.shift = c.now - uptime
		if date != unknown && c.anchored {
			c.shift = date - c.offset - uptime
		}
	}
}

// pass lets time go on to the end of something in a log without stamps.
func (c *clock) pass(end int64) {
	if c.basis == noStamps {
		c.now = max(c.now, end)
	}
}

// set writes what is known into the artifact's clock.
func (c *clock) set(k *evidence.Clock) {
	k.Resolution = 1e6
	switch {
	case c.basis == byDate:
		k.Name, k.Error = "dates of the log", 1e6
	case c.basis == byUptime:
		k.Name, k.Error = "since JVM start", evidence.Unanchored
		if c.anchored {
			k.Offset, k.Error = c.offset, c.slack
		}
	default:
		k.Name, k.Error, k.Resolution = "pauses one after another: the log has no stamps", evidence.Unanchored, 0
	}
}
