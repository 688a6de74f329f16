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

// truncated is by how much the end may be later than it reads.
func (c *cycle) truncated() int64 {
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

// same says whether two lines print the same figures.
func (c cycle) same(o *cycle) bool {
	c.line, c.stamp, c.stampInLine, c.run, c.timer = o.line, o.stamp, o.stampInLine, o.run, o.timer
	return c == *o
}

// cycles keeps cycles in blocks: copying them as a slice grows would cost more
// than reading them does.
type cycles struct {
	blocks [][]cycle
	n      int
}

const cycleBlock = 1 << 10

func (s *cycles) add(c *cycle) {
	if s.n%cycleBlock == 0 {
		s.blocks = append(s.blocks, make([]cycle, 0, cycleBlock))
	}
	b := &s.blocks[len(s.blocks)-1]
	*b = append(*b, *c)
	s.n++
}

func (s *cycles) at(i int) *cycle { return &s.blocks[i/cycleBlock][i%cycleBlock] }

// head is where a gc line begins: "gc N @".
type head struct {
	start int
	at    int // the '@', -1: there is none
	whole bool
}

// findHead returns the next head at or after from. The rare byte is the '@':
// everything else is looked at only around one. "N @T s P%" whose "gc " was torn
// off is a head that is not whole.
func findHead(b []byte, from int) head {
	for i := from; ; {
		k := bytes.IndexByte(b[i:], '@')
		if k < 0 {
			return head{at: -1}
		}
		at := i + k
		i = at + 1
		if i < len(b) && !digit(b[i]) {
			continue
		}
		d := at - 1
		if d <= from || b[d] != ' ' {
			continue
		}
		n := d
		for n > from && digit(b[n-1]) {
			n--
		}
		if n == d {
			continue
		}
		if n-from >= 3 && b[n-1] == ' ' && b[n-2] == 'c' && b[n-3] == 'g' {
			return head{start: n - 3, at: at, whole: true}
		}
		c := cursor{b: b, i: i}
		c.decimal(1e9)
		c.lit("s ")
		c.percent()
		if !c.bad {
			return head{start: n, at: at}
		}
	}
}

// parseCycle reads the gc line at a head and returns where it ends.
func parseCycle(b []byte, h head) (v cycle, end int, ok bool) {
	if !h.whole {
		return v, 0, false
	}
	c := cursor{b: b, i: h.start + 3}
	v.number = c.integer()
	c.lit(" @")
	v.start = c.decimal(1e9)
	c.lit("s ")
	v.util = c.percent()
	v.leakCheck = c.opt(" (checking for goroutine leaks)")
	c.lit(": ")

	var clock [5]int64
	n := 0
	for {
		if n == len(clock) {
			return v, 0, false
		}
		clock[n] = c.decimal(1e6)
		n++
		if !c.opt("+") {
			break
		}
	}
	c.lit(" ms clock, ")
	c.decimal(1e6) // the sweep termination's
	v.sweepTerm, v.markTerm = clock[0], clock[n-1]
	scan := int64(0)
	switch n {
	case 3:
		v.mark = clock[1]
	case 5:
		// Scanning stacks and enabling the write barrier, then marking: all
		// concurrent, all the collector's.
		v.fivePhases = true
		v.mark = clock[1] + clock[2] + clock[3]
		c.lit("+")
		scan = c.decimal(1e6)
		c.lit("+")
		scan += c.decimal(1e6)
	default:
		return v, 0, false
	}
	c.lit("+")
	v.assist = c.decimal(1e6)
	c.lit("/")
	v.background = c.decimal(1e6) + scan
	c.lit("/")
	v.idle = c.decimal(1e6)
	c.lit("+")
	c.decimal(1e6) // the mark termination's
	c.lit(" ms cpu, ")

	v.before = c.integer()
	c.arrow()
	v.after = c.integer()
	c.arrow()
	v.live = c.integer()
	c.lit(" MB, ")
	v.goal = c.integer()
	c.lit(" MB goal, ")
	v.stacks, v.globals = -1, -1
	procs := c.integer()
	if c.opt(" MB stacks, ") {
		v.stacks = procs
		v.globals = c.integer()
		c.lit(" MB globals, ")
		procs = c.integer()
	}
	c.lit(" P")
	v.forced = c.opt(" (forced)")
	if c.bad || procs <= 0 || procs > maxProcs {
		return v, 0, false
	}
	v.procs = int32(procs)
	if v.goal > maxGoal {
		v.goal = -1
	}
	if v.fivePhases && v.forced && v.mark == 0 {
		v.assist, v.background, v.idle = -1, -1, -1
	}
	return v, c.i, true
}

const (
	maxProcs = 1 << 20
	maxGoal  = 1 << 33 // MiB; no machine has 8 PiB: the pacer's "never"
	maxInt   = 1e15

	// 11 days of a phase, 30 years of @: more is a clock that ran backwards.
	maxDecimal = 1e9
)

// cursor reads a line from left to right; once something is not as expected it
// is bad and stays so.
type cursor struct {
	b   []byte
	i   int
	bad bool
}

func (c *cursor) lit(s string) {
	if !c.opt(s) {
		c.bad = true
	}
}

func (c *cursor) opt(s string) bool {
	if len(c.b)-c.i < len(s) || string(c.b[c.i:c.i+len(s)]) != s {
		return false
	}
	c.i += len(s)
	return true
}

// arrow also takes the form JSON encoders give it, for envelopes that nobody
// took off.
func (c *cursor) arrow() {
	if !c.opt("->") {
		c.lit(`-\u003e`)
	}
}

func (c *cursor) integer() (n int64) {
	i := c.i
	for i < len(c.b) && digit(c.b[i]) {
		n = n*10 + int64(c.b[i]-'0')
		if i++; n > maxInt {
			c.bad = true
			return 0
		}
	}
	if i == c.i {
		c.bad = true
	}
	c.i = i
	return n
}

// decimal reads a number as a multiple of unit ns, rounded down.
func (c *cursor) decimal(unit int64) int64 {
	n := c.integer()
	if n > maxDecimal {
		c.bad = true
		return 0
	}
	n *= unit
	if c.i < len(c.b) && c.b[c.i] == '.' {
		i := c.i + 1
		for i < len(c.b) && digit(c.b[i]) {
			unit /= 10
			n += int64(c.b[i]-'0') * unit
			i++
		}
		if i == c.i+1 {
			c.bad = true
		}
		c.i = i
	}
	return n
}

// percent returns -1 for what is none: early in a process the share can be
// anything.
func (c *cursor) percent() int32 {
	negative := c.opt("-")
	n := int64(0)
	i := c.i
	for i < len(c.b) && digit(c.b[i]) {
		n = min(n*10+int64(c.b[i]-'0'), 1000)
		i++
	}
	if i == c.i {
		c.bad = true
	}
	c.i = i
	c.lit("%")
	if negative || n > 100 {
		return -1
	}
	return int32(n)
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

// beginsHead says whether a line ends within "gc N @", at its beginning, after a
// prefix of the given length or after a quote: the end of a file that was cut.
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
