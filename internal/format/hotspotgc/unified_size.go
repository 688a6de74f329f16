package hotspotgc

import "bytes"

// parseInteger reads digits; 0, 0 if there are none or too many.
func parseInteger(b []byte) (v int64, n int) {
	for n < len(b) && b[n] >= '0' && b[n] <= '9' {
		if v = v*10 + int64(b[n]-'0'); v > 1<<55 {
			return 0, 0
		}
		n++
	}
	return v, n
}

// sizeOf reads "24M", "1024K", "512B" in bytes; -1, 0 for other text.
func sizeOf(b []byte) (bytes int64, n int) {
	v, n := parseInteger(b)
	if n == 0 || n == len(b) || v > 1<<33 {
		return unknown, 0
	}
	switch b[n] {
	case 'B':
		return v, n + 1
	case 'K', 'k':
		return v << 10, n + 1
	case 'M', 'm':
		return v << 20, n + 1
	case 'G', 'g':
		return v << 30, n + 1
	case 'T':
		if v < 1<<20 {
			return v << 40, n + 1
		}
	}
	return unknown, 0
}

// parseTransition reads "24M->3M(256M)", "69952K(78656K)->8704K(78656K)" and
// "2332M(28%)->190M(2%)"; its length is 0 for other text.
func parseTransition(b []byte) (s sizes, n int) {
	s = sizes{unknown, unknown, unknown}
	before, n := sizeOf(b)
	if n == 0 {
		return s, 0
	}
	_, m := inBrackets(b[n:])
	n += m
	if len(b) < n+3 || b[n] != '-' || b[n+1] != '>' {
		return s, 0
	}
	n += 2
	after, m := sizeOf(b[n:])
	if m == 0 {
		return s, 0
	}
	n += m
	capacity, m := inBrackets(b[n:])
	return sizes{before, after, capacity}, n + m
}

// inBrackets reads "(256M)", or "(28%)" as unknown.
func inBrackets(b []byte) (bytes int64, n int) {
	if len(b) < 3 || b[0] != '(' {
		return unknown, 0
	}
	v, n := sizeOf(b[1:])
	if n == 0 {
		if _, n = parseInteger(b[1:]); n == 0 || b[1+min(n, len(b)-2)] != '%' {
			return unknown, 0
		}
		n++
	}
	if 1+n >= len(b) || b[1+n] != ')' {
		return unknown, 0
	}
	return v, n + 2
}

// afterColon returns what follows the first colon and a space.
func afterColon(b []byte) []byte {
	if i := bytes.IndexByte(b, ':'); i >= 0 && i+2 <= len(b) {
		return b[i+2:]
	}
	return nil
}

// generationSize reads "DefNew: 26240K->1092K(29504K)" and similar text; later releases add
// the spaces of the generation and, for the metaspace, its parts.
func (u *unified) generationSize(id int64, b []byte) bool {
	s, n := parseTransition(afterColon(b))
	if n == 0 {
		return false
	}
	if id == unknown {
		u.o.countIgnored(heapLine)
		return true
	}
	c := u.collectionOf(id)
	switch b[0] {
	case 'D':
		c.pending.young = s
		u.o.setCollector("Serial", 0)
	case 'T', 'C', 'O':
		c.pending.old = s
	case 'M':
		c.pending.meta = s
	default:
		if b[3] == 'O' || b[2] == 'O' {
			c.pending.old = s
		} else {
			c.pending.young = s
			if b[1] == 'S' {
				u.o.setCollector("Parallel", 0)
			} else {
				u.o.setCollector("ParNew+CMS", 0)
			}
		}
	}
	u.o.countIgnored(heapLine)
	return true
}

// parseRegions reads G1's "Eden regions: 24->0(150)".
func (u *unified) parseRegions(id int64, b []byte) bool {
	t := afterColon(b)
	before, n := parseInteger(t)
	if n == 0 || len(t) < n+3 || t[n] != '-' || t[n+1] != '>' {
		return false
	}
	left, m := parseInteger(t[n+2:])
	if m == 0 {
		return false
	}
	s := sizes{before, left, unknown}
	if t = t[n+2+m:]; len(t) > 2 && t[0] == '(' {
		if v, n := parseInteger(t[1:]); n > 0 {
			s.capacity = v
		}
	}
	c := u.collectionOf(id)
	switch b[0] {
	case 'E':
		c.eden = s
	case 'S':
		c.survivor = s
	case 'O':
		c.oldRegions = s
	case 'H':
		c.humongous = s
	}
	u.o.countIgnored(heapLine)
	return true
}

// regionSizes converts G1's regions to bytes. A log that begins late does not show their
// size: then it is the power of two that fits the heap in use.
func (u *unified) regionSizes(c *collection) {
	if c.eden.before == unknown || c.survivor.before == unknown {
		return
	}
	e := &c.pending
	u.o.setCollector("G1", e.line)
	if used := c.eden.before + c.survivor.before + max(0, c.oldRegions.before) + max(0, c.humongous.before); (u.region == 0 || u.guess) && used > 0 && e.heap.before > 0 {
		size := int64(1 << 20)
		for size*used < e.heap.before && size < 1<<29 {
			size *= 2
		}
		if size > u.region {
			u.region, u.guess = size, true
		}
	}
	r := u.region
	if r == 0 {
		return
	}
	e.young = sizes{(c.eden.before + c.survivor.before) * r, (c.eden.after + max(0, c.survivor.after)) * r, unknown}
	if c.eden.capacity != unknown {
		e.young.capacity = (c.eden.capacity + max(0, c.survivor.after)) * r
	}
	if c.oldRegions.before != unknown {
		e.old = sizes{c.oldRegions.before * r, c.oldRegions.after * r, unknown}
	}
	e.humongousBefore, e.humongousAfter = c.humongous.before, c.humongous.after
}
