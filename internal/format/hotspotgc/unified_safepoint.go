package hotspotgc

import (
	"bytes"

	"github.com/unstall/unstall/internal/base/evidence"
)

// parseSafepoint reads the line of JDK 13 on, printed when all threads run again:
//
//	Safepoint "G1CollectForAllocation", Time since last: 1 ns, Reaching safepoint: 2 ns, Cleanup: 3 ns, At safepoint: 4 ns, Leaving safepoint: 5 ns, Total: 14 ns, Threads: 1 runnable, 12 total
//
// JDK 24 dropped Cleanup; 21 and 22 added Leaving and Threads.
func (u *unified) parseSafepoint(b []byte, line int64) bool {
	name := b[len("Safepoint \""):]
	i := bytes.IndexByte(name, '"')
	if i < 0 {
		return false
	}
	reach, ok1 := parseNanos(name[i:], "Reaching safepoint: ")
	total, ok2 := parseNanos(name[i:], "Total: ")
	if !ok1 || !ok2 {
		return false
	}
	u.seen = true
	if since, ok := parseNanos(name[i:], "Time since last: "); ok {
		u.advanceSince(since, total)
	}
	leaving, ok := parseNanos(name[i:], "Leaving safepoint: ")
	if !ok || leaving > total {
		leaving = unknown
	}
	u.emitStop(u.o.internText(name[:i]), total, reach, leaving, line)
	return true
}

// advanceSince advances the time of a log without stamps by the time since the safepoint before,
// and by this one: so a log of safepoints alone has a time line without stamps.
func (u *unified) advanceSince(last, total int64) {
	c := &u.o.clock
	now := u.lineTime()
	if c.basis != noStamps || now > maxUptime || last > maxUptime || total > maxUptime {
		return
	}
	if !u.o.spaced {
		u.o.spaced = true
		c.widenTo(&c.processes[c.current], now) // the JVM counted from there
	}
	c.advanceTo(now + last + total)
}

func parseNanos(b []byte, label string) (ns int64, ok bool) {
	i := bytes.Index(b, []byte(label))
	if i < 0 {
		return 0, false
	}
	v, n := parseInteger(b[i+len(label):])
	return v, n > 0
}

// parseStopped reads the line of JDK 9 to 12 behind "Entering safepoint region: X": "Total
// time for which application threads were stopped: 0.0001 seconds, Stopping threads took: 0.0000
// seconds".
func (u *unified) parseStopped(b []byte, line int64) bool {
	total, n := parseDecimal(b[len("Total time for which application threads were stopped: "):])
	if n == 0 {
		return false
	}
	reach := int64(unknown)
	if i := bytes.Index(b, []byte("took: ")); i >= 0 {
		if v, n := parseDecimal(b[i+6:]); n > 0 {
			reach = v
		}
	}
	name := u.operation
	u.operation = ""
	u.emitStop(name, total, reach, unknown, line)
	return true
}

func (u *unified) emitStop(name string, total, reach, leaving, line int64) {
	e := newEvent(evidence.Safepoint)
	e.name, e.line, e.toSafepoint, e.leaving = name, line, reach, leaving
	e.end = u.lineTime()
	e.start = e.end - total
	u.o.emitEvent(&e)
}
