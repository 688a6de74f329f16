package gctrace

import "bytes"

// cycle is one gc line. Times are ns, sizes MiB; unknown is -1.
type cycle struct {
	number                   int64
	start                    int64 // since the runtime started
	sweepTerm                int64 // wall time of the phases
	mark                     int64
	markTerm                 int64
	assist, background, idle int64 // time on a P
	before, after, live      int64
	goal                     int64 // -1: none
	stacks, globals          int64 // -1: before 1.19
	line                     int64
	stamp                    int64 // when it was written, 0 unknown
	run                      int32
	procs                    int32
	util                     int32 // percent
	fivePhases               bool  // 1.5
	leakCheck                bool
	forced                   bool // by runtime.GC
	timer                    bool // by the runtime, after two minutes without a cycle
	stampInLine              bool // stamp is from the line's text, not from its envelope
}

func (c *cycle) end() int64 { return c.start + c.sweepTerm + c.mark + c.markTerm }

// maxTruncation returns by how many ns a cycle may end later than its line says.
func (c *cycle) maxTruncation() int64 {
	slack := int64(1e6) // @
	for _, ns := range [...]int64{c.sweepTerm, c.mark, c.markTerm} {
		switch {
		case ns >= 10e6:
			slack += 1e6
		case ns >= 1e6:
			slack += 1e5
		default:
			slack += 1e4
		}
	}
	return slack
}

// hasSameFigures says whether two lines print the same figures.
func (c cycle) hasSameFigures(o *cycle) bool {
	c.line, c.stamp, c.stampInLine, c.run, c.timer = o.line, o.stamp, o.stampInLine, o.run, o.timer
	return c == *o
}

// cycles keeps cycles in blocks: copies while a slice grows would cost more
// than reading them.
type cycles struct {
	blocks [][]cycle
	n      int
}

const cycleBlock = 1 << 10

// add copies a cycle and returns the copy, whose address stays.
func (s *cycles) add(c *cycle) *cycle {
	if s.n%cycleBlock == 0 {
		s.blocks = append(s.blocks, make([]cycle, cycleBlock))
	}
	kept := &s.blocks[len(s.blocks)-1][s.n%cycleBlock]
	*kept = *c
	s.n++
	return kept
}

func (s *cycles) at(i int) *cycle { return &s.blocks[i/cycleBlock][i%cycleBlock] }

// head is where a gc line begins: "gc N @".
type head struct {
	start int
	at    int // the '@', -1: there is none
	whole bool
}

// findHead returns the next head at or after from. It searches for the rare '@'
// and looks at other bytes only around one. "N @T s P%" without its "gc "
// is a head that is not whole.
func findHead(b []byte, from int) head {
	for i := from; ; {
		k := bytes.IndexByte(b[i:], '@')
		if k < 0 {
			return head{at: -1}
		}
		at := i + k
		i = at + 1
		if i < len(b) && !isDigit(b[i]) {
			continue
		}
		d := at - 1
		if d <= from || b[d] != ' ' {
			continue
		}
		n := d
		for n > from && isDigit(b[n-1]) {
			n--
		}
		if n == d {
			continue
		}
		if n-from >= 3 && b[n-1] == ' ' && b[n-2] == 'c' && b[n-3] == 'g' {
			return head{start: n - 3, at: at, whole: true}
		}
		_, end := parseDecimal(b, i, 1e9)
		if _, end = parsePercent(b, skipLiteral(b, end, "s ")); end >= 0 {
			return head{start: n, at: at}
		}
	}
}

// parseCycle reads the gc line at a head and returns where it ends.
func parseCycle(b []byte, h head) (v cycle, end int, ok bool) {
	if !h.whole {
		return v, 0, false
	}
	i := h.start + len("gc ")
	v.number, i = parseInteger(b, i)
	v.start, i = parseDecimal(b, skipLiteral(b, i, " @"), 1e9)
	v.util, i = parsePercent(b, skipLiteral(b, i, "s "))
	i, v.leakCheck = skipOptional(b, i, " (checking for goroutine leaks)")
	i = skipLiteral(b, i, ": ")

	var clock [5]int64
	n := 0
	for more := true; more; n++ {
		if n == len(clock) {
			return v, 0, false
		}
		clock[n], i = parseDecimal(b, i, 1e6)
		i, more = skipOptional(b, i, "+")
	}
	_, i = parseDecimal(b, skipLiteral(b, i, " ms clock, "), 1e6) // the sweep termination's
	v.sweepTerm, v.markTerm = clock[0], clock[n-1]
	scan := int64(0)
	switch n {
	case 3:
		v.mark = clock[1]
	case 5:
		// Scanning stacks and enabling the write barrier, then marking: all
		// concurrent, all GC work.
		v.fivePhases = true
		v.mark = clock[1] + clock[2] + clock[3]
		var barrier int64
		scan, i = parseDecimal(b, skipLiteral(b, i, "+"), 1e6)
		barrier, i = parseDecimal(b, skipLiteral(b, i, "+"), 1e6)
		scan += barrier
	default:
		return v, 0, false
	}
	v.assist, i = parseDecimal(b, skipLiteral(b, i, "+"), 1e6)
	v.background, i = parseDecimal(b, skipLiteral(b, i, "/"), 1e6)
	v.background += scan
	v.idle, i = parseDecimal(b, skipLiteral(b, i, "/"), 1e6)
	_, i = parseDecimal(b, skipLiteral(b, i, "+"), 1e6) // the mark termination's

	v.before, i = parseInteger(b, skipLiteral(b, i, " ms cpu, "))
	v.after, i = parseInteger(b, skipArrow(b, i))
	v.live, i = parseInteger(b, skipArrow(b, i))
	v.goal, i = parseInteger(b, skipLiteral(b, i, " MB, "))
	v.stacks, v.globals = -1, -1
	procs, i := parseInteger(b, skipLiteral(b, i, " MB goal, "))
	i, told := skipOptional(b, i, " MB stacks, ")
	if told {
		v.stacks = procs
		v.globals, i = parseInteger(b, i)
		procs, i = parseInteger(b, skipLiteral(b, i, " MB globals, "))
	}
	i, v.forced = skipOptional(b, skipLiteral(b, i, " P"), " (forced)")
	if i < 0 || procs <= 0 || procs > maxProcs {
		return v, 0, false
	}
	v.procs = int32(procs)
	if v.goal > maxGoal {
		v.goal = -1
	}
	if v.fivePhases && v.forced && v.mark == 0 {
		v.assist, v.background, v.idle = -1, -1, -1
	}
	return v, i, true
}

// beginsHead says whether a line ends within "gc N @": at its beginning, after a
// prefix of the given length or after a quote. The end of a cut file looks so.
func beginsHead(b []byte, prefix int) bool {
	if 0 < prefix && prefix < len(b) && beginsHead(b[prefix:], 0) {
		return true
	}
	if len(b) > 0 && b[0] == '{' {
		b = b[bytes.LastIndexByte(b, '"')+1:]
	}
	const gc = "gc "
	if len(b) <= len(gc) {
		return len(b) > 0 && string(b) == gc[:len(b)]
	}
	if string(b[:len(gc)]) != gc || len(b) > 24 {
		return false
	}
	b = bytes.TrimLeft(b[len(gc):], "0123456789")
	return len(b) == 0 || string(b) == " "
}
