package hotspotgc

import "github.com/unstall/unstall/internal/base/evidence"

// stoppedText begins the line of PrintGCApplicationStoppedTime at the end of a stop.
const stoppedText = "Total time for which application threads were stopped: "

// scanStop reads "0.1701451 seconds, Stopping threads took: 0.0000861 seconds" from position i on.
// Without a stamp the stop ends with the pause printed before it, or follows the stop before.
func (l *legacy) scanStop(text []byte, i int) int {
	if i < len(text) && text[i] == '-' { // the clock was set back during the stop
		l.takeTime()
		return len(text)
	}
	total, n := parseDecimal(text[i:])
	if n == 0 {
		l.strange = true
		return nextCollection(text, i)
	}
	i += n
	if hasPrefix(text[i:], " seconds") {
		i += len(" seconds")
	}
	e := newEvent(evidence.Safepoint)
	if took := ", Stopping threads took: "; hasPrefix(text[i:], took) {
		i += len(took)
		e.toSafepoint, n = parseDecimal(text[i:])
		i += n
		if hasPrefix(text[i:], " seconds") {
			i += len(" seconds")
		}
	}
	switch {
	case l.date != unknown || l.uptime != unknown:
		e.end = l.takeTime()
	case l.pauseEnd != unknown && l.pauseEnd > l.stopped:
		e.end = l.pauseEnd
	default:
		e.end = max(l.o.clock.timeAt(unknown, unknown), l.stopped, l.pauseEnd) + total
	}
	e.start, e.name, e.line = e.end-total, nameless, l.number
	l.stopped = e.end
	l.gave = true
	l.o.emitEvent(&e)
	return i
}

// emitHistogram emits a stop for a class histogram outside of a collection.
func (l *legacy) emitHistogram(f *frame) {
	if f.duration == unknown || l.depth > 0 {
		return
	}
	e := newEvent(evidence.Safepoint)
	e.start, e.end, e.name, e.line = l.opened, l.opened+f.duration, "class histogram", l.number
	l.stopped = e.end
	l.o.emitEvent(&e)
}

// scanRunning reads "0.0170944 seconds", the time between two stops, which advances the time of logs
// without stamps.
func (l *legacy) scanRunning(text []byte, i int) int {
	ns, n := parseDecimal(text[i:])
	if n == 0 {
		l.strange = true
		return nextCollection(text, i)
	}
	i += n
	if hasPrefix(text[i:], " seconds") {
		i += len(" seconds")
	}
	if l.depth == 0 {
		l.flushPause()
	}
	now := l.takeTime()
	l.o.clock.advanceTo(max(now, l.stopped) + ns)
	return i
}

// parseOperation reads a row of PrintSafepointStatistics, which prints many at a time and long
// after their safepoints (all times in ms):
//
//	0.250: G1IncCollectionPause  [ 9  0  0 ]  [ 0  0  0  0  3 ]  0
//
// with threads total, running, to wait for, and times to spin, block, synchronize
// (the two before included), clean up and run the operation.
func (l *legacy) parseOperation(text []byte, i int) bool {
	begin := i
	for i < len(text) && text[i] != '[' {
		i++
	}
	nameEnd := i
	for nameEnd > begin && text[nameEnd-1] == ' ' {
		nameEnd--
	}
	_, i, ok := scanNumbers(text, i, 3)
	if !ok {
		return false
	}
	times, _, ok := scanNumbers(text, skipSpace(text, i), 5)
	if !ok || nameEnd == begin {
		return false
	}
	e := newEvent(evidence.Safepoint)
	up := l.uptime
	l.date, l.uptime = unknown, unknown
	e.start = l.o.clock.rowTime(up)
	e.toSafepoint = times[2] * 1e6
	e.end = e.start + e.toSafepoint + (times[3]+times[4])*1e6
	e.name, e.line = l.o.internText(text[begin:nameEnd]), l.number
	l.gave = true
	l.o.emitEvent(&e)
	return true
}

// scanNumbers reads n numbers in a bracket at i and returns the position behind it.
func scanNumbers(text []byte, i, n int) (v [5]int64, next int, ok bool) {
	if i >= len(text) || text[i] != '[' {
		return v, i, false
	}
	i++
	for k := range n {
		i = skipSpace(text, i)
		from := i
		for i < len(text) && isDigit(text[i]) && i-from < 12 {
			v[k] = v[k]*10 + int64(text[i]-'0')
			i++
		}
		if i == from {
			return v, i, false
		}
	}
	i = skipSpace(text, i)
	if i >= len(text) || text[i] != ']' {
		return v, i, false
	}
	return v, i + 1, true
}
