package hotspotgc

import (
	"bytes"

	"github.com/unstall/unstall/internal/base/evidence"
)

// parseCycle reads ZGC's cycles: "Garbage Collection (Proactive) 2332M(28%)->190M(2%)", "Minor
// Collection (Allocation Rate) 60M(62%)->30M(31%) 0.010s", "Y: Young Generation 76M(79%)->86M(90%)
// 0.010s". They run concurrently.
func (u *unified) parseCycle(id int64, b []byte, line int64) bool {
	if b[0] == 'Y' || b[0] == 'O' {
		if bytes.HasSuffix(b, []byte(":")) {
			return false
		}
	}
	rest, took, timed := cutDuration(b)
	rest, heap := trailingSizes(rest)
	now := u.lineTime()
	c := u.collectionOf(id)
	if heap.before == unknown {
		if c.begun == unknown {
			c.begun = now
		}
		u.o.countIgnored(startLine)
		return true
	}
	u.seen = true
	h := u.headOf(rest)
	e := newEvent(evidence.GCConcurrent)
	e.name, e.number, e.line, e.heap, e.end, e.start = h.name, id, line, heap, now, now
	words, brackets := cutBrackets(h.name)
	if len(brackets) == 1 {
		e.name, e.trigger = words, brackets[0]
	}
	switch {
	case timed:
		e.start = now - took
	case c.begun != unknown:
		e.start = c.begun
	}
	if b[1] == 'i' || b[1] == 'a' && b[0] == 'M' {
		u.o.setCollector("generational ZGC", line)
	} else if b[0] == 'G' {
		u.o.setCollector("ZGC", line)
	}
	p := &c.pending
	e.young, e.old, e.meta = p.young, p.old, p.meta
	e.heap.capacity = p.heap.capacity
	u.o.emitEvent(&e)
	if !c.done {
		p.young, p.old, p.meta, p.heap = sizes{unknown, unknown, unknown}, sizes{unknown, unknown, unknown}, sizes{unknown, unknown, unknown}, sizes{unknown, unknown, unknown}
	}
	return true
}

// parseGeneration reads generational ZGC's lines, which begin with the collection they belong to:
// y minor, Y young of a major, O old.
func (u *unified) parseGeneration(id int64, b []byte, line int64) {
	u.seen = true
	text := b[3:]
	for len(text) > 0 && text[0] == ' ' {
		text = text[1:]
	}
	switch {
	case bytes.HasPrefix(text, []byte("Pause ")), bytes.HasPrefix(text, []byte("Concurrent ")):
		if u.parsePhase(id, b, line) {
			return
		}
	case bytes.HasPrefix(text, []byte("Young Generation ")), bytes.HasPrefix(text, []byte("Old Generation ")):
		if u.parseCycle(id, text, line) {
			return
		}
	case bytes.HasPrefix(text, []byte("Used: ")), bytes.HasPrefix(text, []byte("Capacity: ")):
		u.parseRow(id, text, b[0] == 'O')
	}
	u.o.countIgnored(detailLine)
}

// parseRow reads ZGC's tables of heap figures: the first column is at the start of marking,
// the fourth at the end of relocation. The whole heap's tables have six columns, a generation's four.
func (u *unified) parseRow(id int64, b []byte, old bool) {
	var columns [6]int64
	n := 0
	for i := bytes.IndexByte(b, ' '); i < len(b) && n < len(columns); i++ {
		if b[i] < '0' || b[i] > '9' {
			continue
		}
		v, m := sizeOf(b[i:])
		if m == 0 {
			return
		}
		columns[n] = v
		n++
		for i < len(b) && b[i] != ')' {
			i++
		}
	}
	p := &u.collectionOf(id).pending
	switch {
	case n == 6 && b[0] == 'C':
		p.heap.capacity = columns[3]
	case n != 4 || b[0] == 'C':
	case old:
		p.old.before, p.old.after = columns[0], columns[3]
	default:
		p.young.before, p.young.after = columns[0], columns[3]
	}
}

// parseStall reads "Allocation Stall (worker 1) 9.880ms": one thread waited until memory was free.
// It does not concern the other threads.
func (u *unified) parseStall(id int64, b []byte, line int64) bool {
	rest, took, ok := cutDuration(b)
	i := bytes.IndexByte(rest, '(')
	if !ok || i < 2 || rest[len(rest)-1] != ')' {
		return false
	}
	e := newEvent(evidence.AllocStall)
	e.name, e.number, e.line = u.o.internText(rest[:i-1]), id, line
	e.end = u.lineTime()
	e.start = e.end - took
	e.lane = u.laneOf(rest[i+1 : len(rest)-1])
	u.o.setCollector("ZGC", line) // no other collector has them; a log that begins late may have no other sign of it
	u.o.emitEvent(&e)
	return true
}

// parsePacing reads " 15 of 57 ms ( 26.1%): pool-1-thread-6", which Shenandoah prints below
// "Allocation pacing accrued:" after each cycle: how long an allocating thread was delayed in
// the time since the last cycle. The moment of the delay is unknown; it is written at the end, with the
// time that contains it.
// https://github.com/openjdk/jdk/blob/jdk-25-ga/src/hotspot/share/gc/shenandoah/shenandoahPacer.cpp
// (print_cycle_on)
func (u *unified) parsePacing(b []byte, line int64) bool {
	if !bytes.HasSuffix(u.mark.tags, statsTag) {
		return false
	}
	b = bytes.TrimLeft(b, " ")
	ms, n := parseInteger(b)
	rest, of := bytes.CutPrefix(b[max(0, n):], []byte(" of "))
	all, m := parseInteger(bytes.TrimLeft(rest, " "))
	if n <= 0 || !of || m <= 0 || ms > all {
		return false
	}
	unit, thread, told := bytes.Cut(rest, []byte("): "))
	if !told || len(thread) == 0 || !bytes.Contains(unit, []byte(" ms (")) {
		return false
	}
	u.o.paced = true
	if ms == 0 || thread[0] == '<' || u.lineTime() == unknown {
		u.o.countIgnored(statsLine)
		return true
	}
	e := newEvent(evidence.AllocStall)
	e.name, e.number, e.line = "Pacing", unknown, line
	e.end = u.lineTime()
	e.start, e.within = e.end-ms*1e6, all*1e6
	e.lane = u.laneOf(thread)
	u.o.emitEvent(&e)
	return true
}

// laneOf returns a number for a thread's name.
func (u *unified) laneOf(thread []byte) evidence.LaneID {
	lane, ok := u.lanes[string(thread)]
	if !ok {
		lane = int64(len(u.lanes) + 1)
		if len(u.lanes) < maxNames {
			u.lanes[string(thread)] = lane
		}
	}
	return evidence.LaneID(lane)
}

// parseCancelled reads Shenandoah's "Cancelling GC: Allocation Failure": the reason why the
// next collection is degenerate.
func (u *unified) parseCancelled(b []byte) bool {
	u.cancel = u.o.internText(afterColon(b))
	u.o.countIgnored(detailLine)
	return true
}

// parseTimes reads "User=0.01s Sys=0.00s Real=0.00s", which follows a pause.
func (u *unified) parseTimes(id int64, b []byte) bool {
	user, n := parseDecimal(b[len("User="):])
	b = b[len("User=")+n:]
	i := bytes.Index(b, []byte("Sys="))
	if n == 0 || i < 0 {
		return false
	}
	system, n := parseDecimal(b[i+4:])
	b = b[i+4+n:]
	i = bytes.Index(b, []byte("Real="))
	if n == 0 || i < 0 {
		return false
	}
	real, n := parseDecimal(b[i+5:])
	if n == 0 {
		return false
	}
	if c := u.collectionOf(id); c.done {
		e := &c.pending
		e.user, e.system, e.real = user, system, real
		e.start = e.end - e.stoodFor(e.end-e.start) // the line is written at the end
		u.flushPause(c)
	}
	u.o.countIgnored(detailLine)
	return true
}

// flushPause writes the complete pause.
func (u *unified) flushPause(c *collection) {
	e := &c.pending
	if e.pause == evidence.PauseDegenerated || e.pause == evidence.PauseFull {
		if u.cancel != "" && e.trigger == "" {
			e.trigger = u.cancel
		}
		u.cancel = ""
	}
	u.o.emitEvent(e)
	number, begun := c.number, c.begun
	c.reset(number - 1)
	c.begun = begun
}

func (u *unified) flushAll() {
	for i := range u.open {
		if c := &u.open[i]; c.done {
			u.flushPause(c)
		}
	}
}

// close ends the log.
func (u *unified) close() { u.flushAll() }
