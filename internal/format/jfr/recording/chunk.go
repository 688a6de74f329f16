package recording

import "math"

// Chunk is one chunk, held in memory.
type Chunk struct {
	Header
	Classes map[int64]*Class // of its metadata; nil: it has none

	Events  int64 // that it holds, constants and metadata not counted
	Unread  int64 // events and constants that contradict the metadata
	Damaged int64 // bytes from which events could not be separated

	data   []byte
	counts map[int64]int64 // events by type
	checks []int           // positions of checkpoints, behind their type
	base   int64           // ticks, see Header.Deltas
	values []value
}

// reset begins a chunk: it finds its metadata and its constants.
func (c *Chunk) reset(h Header, data []byte) {
	*c = Chunk{Header: h, data: data, counts: make(map[int64]int64), checks: c.checks[:0], values: c.values, base: h.Ticks}
	meta := -1
	var few [fewTypes]int64
	c.Damaged = c.walkEvents(func(id int64, body cursor) bool {
		if id >= 0 && id < fewTypes {
			few[id]++
		} else {
			c.counts[id]++
		}
		switch id {
		case metaType:
			meta = body.at
		case checkType:
			c.checks = append(c.checks, body.at)
		default:
			c.Events++
		}
		return true
	})
	for id, n := range few {
		if n > 0 {
			c.counts[int64(id)] = n
		}
	}
	if c.Damaged > 0 { // the header may lead to data behind the damage
		if at := c.findEventAt(c.metadata, metaType); at > meta {
			meta = at
		}
		c.followCheckpoints()
	}
	if meta < 0 {
		return
	}
	m, whole := decodeMetadata(c.cursorAt(meta))
	if !whole {
		c.Unread++
	}
	c.Classes = m
	c.indexConstants()
}

func (c *Chunk) cursorAt(at int) cursor { return cursor{b: c.data, at: at, wide: !c.Compressed} }

// walkEvents goes from event to event as long as do returns true, and returns the bytes it
// could not walk.
func (c *Chunk) walkEvents(do func(id int64, body cursor) bool) (damaged int64) {
	for at := headerSize; at < len(c.data); {
		body := c.cursorAt(at)
		size := body.readInt()
		id := body.readLong()
		if body.bad || size < int64(body.at-at) || size > int64(len(c.data)-at) {
			return int64(len(c.data) - at)
		}
		end := at + int(size)
		body.b = c.data[:end]
		if !do(id, body) {
			return 0
		}
		at = end
	}
	return 0
}

// findEventAt returns the position, behind its type, of the event that the header points to;
// -1 if it is not there.
func (c *Chunk) findEventAt(position, id int64) int {
	if position < headerSize || position >= int64(len(c.data)) {
		return -1
	}
	body := c.cursorAt(int(position))
	if size := body.readInt(); size <= 0 || body.readLong() != id || body.bad {
		return -1
	}
	return body.at
}

// followCheckpoints adds the checkpoints that the header and each checkpoint point to, the last one
// first.
func (c *Chunk) followCheckpoints() {
	known := make(map[int]bool)
	for _, at := range c.checks {
		known[at] = true
	}
	for position := c.Header.constants; ; {
		at := c.findEventAt(position, checkType)
		if at < 0 || known[at] {
			return
		}
		known[at] = true
		c.checks = append(c.checks, at)
		body := c.cursorAt(at)
		body.readLong()
		body.readLong()
		delta := body.readLong()
		if delta == 0 || body.bad {
			return
		}
		position += delta
	}
}

// Counts returns the number of events of each type, including constants and metadata.
func (c *Chunk) Counts() map[int64]int64 { return c.counts }

// ticksToTime converts a tick to ns since the epoch.
func (c *Chunk) ticksToTime(ticks int64) int64 {
	return c.Start + c.ticksToDuration(ticks-c.Ticks)
}

// ticksToDuration converts a number of ticks to ns.
func (c *Chunk) ticksToDuration(ticks int64) int64 {
	switch c.Frequency {
	case 1e9:
		return ticks
	case 0:
		return 0
	}
	ns := float64(ticks) / (float64(c.Frequency) / 1e9)
	if math.Abs(ns) > math.MaxInt64/2 {
		return 0
	}
	return int64(ns)
}

// fewTypes bounds the small type numbers, which all of the JVM's own types have.
const fewTypes = 1024

// Each calls do for each event of the classes for which wanted returns true; wanted is called
// once per class. The record is valid until do returns. An event that contradicts its class is
// counted and left out.
func (c *Chunk) Each(wanted func(*Class) bool, do func(*Record)) {
	var few [fewTypes]*Class
	more := make(map[int64]*Class)
	for id, x := range c.Classes {
		switch {
		case !x.Event() || c.counts[id] == 0 || !wanted(x):
		case id >= 0 && id < fewTypes:
			few[id] = x
		default:
			more[id] = x
		}
	}
	var r Record
	c.walkEvents(func(id int64, body cursor) bool {
		var x *Class
		if id >= 0 && id < fewTypes {
			x = few[id]
		} else {
			x = more[id]
		}
		if x == nil {
			return true
		}
		r = Record{Class: x, chunk: c, values: c.values[:0]}
		if !r.decode(&body) {
			c.Unread++
			return true
		}
		c.values = r.values
		do(&r)
		return true
	})
}
