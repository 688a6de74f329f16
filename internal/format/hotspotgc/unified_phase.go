package hotspotgc

import (
	"bytes"

	"github.com/unstall/unstall/internal/base/evidence"
)

// head is the meaning of the words of a pause or phase, cached so that each is parsed once.
type head struct {
	name, trigger, failure string
	pause                  evidence.Pause
	young                  bool
}

// maxHeads bounds the memory that a damaged log can use.
const maxHeads = 2048

// parsePhase reads a pause or a concurrent phase:
//
//	Pause Young (Normal) (G1 Evacuation Pause) 24M->3M(256M) 3.405ms
//	Pause Young (Normal) (G1 Evacuation Pause) (Evacuation Failure: Allocation) 90M->91M(96M) 4.1ms
//	Pause Full (System.gc()) 31M->2M(96M) 9.8ms
//	Concurrent Mark (1.234s, 1.345s) 111.032ms
//	Concurrent cleanup 66M->63M(96M) 0.014ms
//	Y: Pause Mark Start (Major) 0.013ms
//
// Without a duration it is the beginning.
func (u *unified) parsePhase(id int64, b []byte, line int64) bool {
	rest, took, ok := cutDuration(b)
	if !ok {
		if b[0] == 'C' && id == unknown || bytes.IndexByte(b, '=') >= 0 || bytes.HasSuffix(b, []byte(" us")) {
			return false
		}
		if bytes.Contains(b, []byte("->")) || bytes.IndexByte(b, '[') >= 0 || bytes.Count(b, []byte("(")) != bytes.Count(b, []byte(")")) {
			return false // broken off
		}
		u.beginCollection(id, b)
		return true
	}
	rest, heap := trailingSizes(rest)
	h := u.headOf(trailingSpan(rest))
	end := u.lineTime()
	u.seen = true
	if u.o.clock.current != u.lastProcess {
		u.forgetCollections()
	}
	if h.name[0] == 'C' || len(h.name) > 3 && h.name[3] == 'C' {
		e := newEvent(evidence.GCConcurrent)
		e.name, e.number, e.line, e.heap = h.name, id, line, heap
		e.start, e.end = end-took, end
		u.o.emitEvent(&e)
		if c := u.collectionOf(id); c.oldPending() && !c.done {
			c.pending.old = sizes{unknown, unknown, unknown}
		}
		return true
	}
	u.flushAll()
	c := u.collectionOf(id)
	e := &c.pending
	e.of = u.o.clock.current + 1
	e.kind, e.pause, e.name, e.trigger, e.line, e.heap, e.number = evidence.StopTheWorld, h.pause, h.name, h.trigger, line, heap, id
	if h.failure != "" {
		e.failure = h.failure
	}
	e.start, e.end = end-took, end
	if u.o.clock.basis == noStamps {
		e.start, e.end = end, end+took
	}
	u.subtractInner(e, h, took)
	u.checkOrder(e, h)
	c.done = true
	u.regionSizes(c)
	u.o.clock.advanceTo(e.end)
	return true
}

func (c *collection) oldPending() bool { return c.pending.old.before != unknown }

// fullWithin is the failure of a young collection that turned into a full one.
const fullWithin = "full collection"

// subtractInner subtracts the full collection from the time of the young one that turned into it:
// Serial and CMS print the full one within the young one, whose time includes it.
func (u *unified) subtractInner(e *event, h *head, took int64) {
	if h.pause == evidence.PauseFull {
		if u.inner != unknown && e.number == u.inner+1 {
			u.innerTook += took
		} else {
			u.innerTook, u.innerStart = took, e.start
		}
		u.inner = e.number
		return
	}
	if h.young && u.inner != unknown && e.number != unknown && e.number < u.inner && took >= u.innerTook {
		e.end = e.start + took - u.innerTook
		if e.failure == "" {
			e.failure = fullWithin
		}
	}
	u.inner, u.innerTook = unknown, 0
}

// forgetCollections drops the collections of one process when a line of another comes.
func (u *unified) forgetCollections() {
	u.flushAll()
	u.open = [maxOpen]collection{}
	u.lastProcess, u.lastYoung, u.inner, u.innerTook = u.o.clock.current, unknown, unknown, 0
}

// checkOrder counts collections with numbers out of order while the stamps do not restart:
// two JVMs write to one log at once.
func (u *unified) checkOrder(e *event, h *head) {
	if !h.young || e.number == unknown || e.failure == fullWithin {
		return
	}
	if e.number <= u.lastYoung {
		u.o.disorder++
	}
	u.lastYoung = e.number
}

// beginCollection reads the first line of a pause or a cycle, and writes the complete pause of the same
// number before it.
func (u *unified) beginCollection(id int64, b []byte) {
	u.o.countIgnored(startLine)
	if id == unknown {
		return
	}
	u.seen = true
	if c := u.collectionOf(id); c.done && b[0] == 'P' {
		u.flushPause(c)
	}
}

// cutDuration removes "3.405ms" or "0.010s" from the end.
func cutDuration(b []byte) (rest []byte, ns int64, ok bool) {
	n := len(b)
	if n < 4 || b[n-1] != 's' {
		return b, 0, false
	}
	i := bytes.LastIndexByte(b, ' ')
	number, unit := b[i+1:n-1], int64(1)
	if b[n-2] == 'm' {
		number, unit = b[i+1:n-2], 1000
	}
	v, m := parseDecimal(number)
	if i < 0 || m == 0 || m != len(number) {
		return b, 0, false
	}
	return b[:i], v / unit, true
}

// trailingSizes removes "24M->3M(256M)" from the end.
func trailingSizes(b []byte) ([]byte, sizes) {
	i := bytes.LastIndexByte(b, ' ')
	if i >= 0 && i+4 < len(b) && b[i+1] >= '0' && b[i+1] <= '9' {
		if s, n := parseTransition(b[i+1:]); n == len(b)-i-1 {
			return b[:i], s
		}
	}
	return b, sizes{unknown, unknown, unknown}
}

// trailingSpan removes "(1.234s, 1.345s)" from the end, which JDK 9 to 12 print.
func trailingSpan(b []byte) []byte {
	if n := len(b); n > 3 && b[n-1] == ')' && b[n-2] == 's' {
		if i := bytes.LastIndexByte(b, '('); i > 0 && b[i+1] >= '0' && b[i+1] <= '9' {
			return b[:i-1]
		}
	}
	return b
}

// headOf returns the meaning of the words, parsed once for each.
func (u *unified) headOf(b []byte) *head {
	if h, ok := u.heads[string(b)]; ok {
		return h
	}
	h := newHead(string(b))
	if name := collectorOf(string(b)); name != "" {
		u.o.setCollector(name, 0)
	}
	if len(u.heads) < maxHeads {
		u.heads[string(b)] = h
	}
	return h
}
