package hotspotgc

import (
	"bytes"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
)

// collection is the state of a GC(n) that is in progress, or whose pause waits for its
// CPU times.
type collection struct {
	number  int64 // unknown: the slot is free
	pending event // what the lines so far say about the next pause
	done    bool  // the pause itself was printed
	begun   int64 // time of a cycle's first line, unknown before

	eden, survivor, oldRegions, humongous sizes // G1 regions
}

// maxOpen is how many collections may be in progress at once: a concurrent cycle, young ones
// within it, and those whose end is not in the log.
const maxOpen = 4

// collectionOf finds a collection by its number, or begins it. Without a number it returns the one
// read last.
func (u *unified) collectionOf(id int64) *collection {
	c := &u.open[u.recent]
	if id == unknown && c.number != 0 || c.number == id+1 {
		return c
	}
	oldest := 0
	for i := range u.open {
		if u.open[i].number == id+1 {
			u.recent = i
			return &u.open[i]
		}
		if u.open[i].number < u.open[oldest].number {
			oldest = i
		}
	}
	u.recent = oldest
	c = &u.open[oldest]
	if c.done {
		u.flushPause(c)
	}
	c.reset(id)
	return c
}

// reset makes room for a new collection. Numbers are stored plus one, so that an empty
// slot is 0.
func (c *collection) reset(id int64) {
	none := sizes{unknown, unknown, unknown}
	*c = collection{number: id + 1, pending: newEvent(evidence.StopTheWorld), begun: unknown, eden: none, survivor: none, oldRegions: none, humongous: none}
}

// parseEvent reads lines that report an event; it returns false for others.
func (u *unified) parseEvent(id int64, b []byte, line int64) bool {
	switch b[0] {
	case 'P':
		switch {
		case bytes.HasPrefix(b, []byte("Pause ")):
			if i := bytes.Index(b, []byte("ms User=")); i > 0 {
				return u.parseJoined(id, b[:i+len("ms")], b[i+len("ms "):], line)
			}
			return u.parsePhase(id, b, line)
		case bytes.HasPrefix(b, []byte("PSYoungGen: ")), bytes.HasPrefix(b, []byte("ParNew: ")), bytes.HasPrefix(b, []byte("ParOldGen: ")), bytes.HasPrefix(b, []byte("PSOldGen: ")):
			return u.generationSize(id, b)
		case bytes.HasPrefix(b, []byte("Promotion failed")) && id == unknown, bytes.Equal(b, []byte("Promotion failed")):
			return u.setFailure(id, "promotion failed")
		case bytes.HasPrefix(b, []byte("Parallel Workers: ")):
			return u.parseSetting(b, line)
		}
	case 'C':
		switch {
		case bytes.HasPrefix(b, []byte("Concurrent ")):
			return u.parsePhase(id, b, line) || u.parseSetting(b, line)
		case bytes.HasPrefix(b, []byte("CMS: ")):
			return u.generationSize(id, b)
		case bytes.HasPrefix(b, []byte("Cancelling GC: ")):
			return u.parseCancelled(b)
		case bytes.HasPrefix(b, []byte("CPUs: ")):
			return u.parseSetting(b, line)
		}
	case 'D':
		switch {
		case bytes.HasPrefix(b, []byte("DefNew: ")):
			return u.generationSize(id, b)
		case bytes.HasPrefix(b, []byte("Desired survivor size ")):
			return u.parseTenuring(id, b)
		case bytes.HasPrefix(b, []byte("Degenerated GC upgrading to Full GC")):
			return u.setFailure(id, "upgraded to a full collection")
		}
	case 'E':
		switch {
		case bytes.HasPrefix(b, []byte("Eden regions: ")):
			return u.parseRegions(id, b)
		case bytes.HasPrefix(b, []byte("Entering safepoint region: ")):
			u.operation = u.o.internText(b[len("Entering safepoint region: "):])
			u.o.countIgnored(startLine)
			return true
		case bytes.HasPrefix(b, []byte("Evacuation failure")):
			return u.setFailure(id, "evacuation failure")
		}
	case 'S':
		switch {
		case bytes.HasPrefix(b, []byte("Survivor regions: ")):
			return u.parseRegions(id, b)
		case bytes.HasPrefix(b, []byte("Safepoint \"")):
			return u.parseSafepoint(b, line)
		}
	case 'O':
		switch {
		case bytes.HasPrefix(b, []byte("Old regions: ")):
			return u.parseRegions(id, b)
		case bytes.HasPrefix(b, []byte("Old Generation ")):
			return u.parseCycle(id, b, line)
		case bytes.HasPrefix(b, []byte("Old: ")):
			return u.generationSize(id, b)
		}
	case 'H':
		switch {
		case bytes.HasPrefix(b, []byte("Humongous regions: ")):
			return u.parseRegions(id, b)
		case bytes.HasPrefix(b, []byte("Heap ")), bytes.HasPrefix(b, []byte("Heap: ")):
			return u.parseSetting(b, line)
		}
	case 'T':
		switch {
		case bytes.HasPrefix(b, []byte("Tenured: ")):
			return u.generationSize(id, b)
		case bytes.HasPrefix(b, []byte("Total time for which application threads were stopped: ")):
			return u.parseStopped(b, line)
		case bytes.HasPrefix(b, []byte("To-space exhausted")):
			return u.setFailure(id, "to-space exhausted")
		case bytes.HasPrefix(b, []byte("To-space overflow")):
			return u.setFailure(id, "to-space overflow")
		}
	case 'M':
		switch {
		case bytes.HasPrefix(b, []byte("Metaspace: ")):
			return u.generationSize(id, b)
		case bytes.HasPrefix(b, []byte("Minor Collection")), bytes.HasPrefix(b, []byte("Major Collection")):
			return u.parseCycle(id, b, line)
		case bytes.HasPrefix(b, []byte("Memory: ")):
			return u.parseSetting(b, line)
		}
	case 'G':
		if bytes.HasPrefix(b, []byte("Garbage Collection (")) {
			return u.parseCycle(id, b, line)
		}
	case 'Y':
		if bytes.HasPrefix(b, []byte("Young Generation ")) {
			return u.parseCycle(id, b, line)
		}
	case 'U':
		switch {
		case bytes.HasPrefix(b, []byte("User=")):
			return u.parseTimes(id, b)
		case bytes.HasPrefix(b, []byte("Using ")) && id == unknown:
			return u.parseUsing(b, line)
		}
	case 'A':
		switch {
		case bytes.HasPrefix(b, []byte("Allocation Stall (")):
			return u.parseStall(id, b, line)
		case bytes.HasPrefix(b, []byte("Age table with threshold ")):
			return u.ageTable(id, b)
		}
	case 'R':
		if bytes.HasPrefix(b, []byte("Relocation Stall (")) {
			return u.parseStall(id, b, line)
		}
	case 'V':
		if bytes.HasPrefix(b, []byte("Version: ")) {
			return u.parseSetting(b, line)
		}
	case 'c':
		if bytes.HasPrefix(b, []byte("concurrent mode failure")) {
			return u.setFailure(id, "concurrent mode failure")
		}
	}
	return false
}

// parseJoined reads a pause that a tool joined with lines behind it and within it: "Pause Full (System.gc()) Metaspace: 82364K->82364K(1126400K)
// 828M->742M(1024M) 880.722ms User=2.03s Sys=0.02s Real=0.88s[…] Leaving safepoint region[…] Total time for which application threads were
// stopped: 0.8815607 seconds, …". Its stamp is that of the first of them, at the pause's begin; those of the safepoint's end are of its end.
func (u *unified) parseJoined(id int64, pause, rest []byte, line int64) bool {
	if i := bytes.Index(pause, []byte(" Metaspace: ")); i > 0 {
		meta := pause[i+1:]
		if end := bytes.IndexByte(meta, ')'); end > 0 && u.generationSize(id, meta[:end+1]) {
			pause = slices.Concat(pause[:i], meta[end+1:])
		}
	}
	began := u.mark
	var stopped []byte
	for i := bytes.IndexByte(rest, '['); i >= 0; {
		var d decorators
		text, ok := d.cutDecorators(rest[i:])
		if !ok {
			break
		}
		u.mark = d
		if bytes.HasPrefix(text, []byte("Total time for which application threads were stopped: ")) {
			stopped = text
			break
		}
		next := bytes.IndexByte(text, '[')
		if next < 0 {
			break
		}
		i = len(rest) - len(text) + next
	}
	ok := u.parsePhase(id, pause, line) && u.parseTimes(id, rest)
	if stopped != nil {
		u.parseStopped(stopped, line)
	}
	u.mark = began
	return ok
}

// setFailure sets what went wrong in the collection in progress.
func (u *unified) setFailure(id int64, what string) bool {
	c := u.collectionOf(id)
	if c.done {
		u.flushPause(c)
	}
	c.pending.failure = what
	u.o.countIgnored(detailLine)
	return true
}
