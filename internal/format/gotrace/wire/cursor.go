package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// cursor goes through the events of one thread in a generation.
type cursor struct {
	m       *thread
	batches []batch
	data    []byte // what is left of the batch before batches
	last    int64  // ns of the event before, 0: none of the batch yet
	begin   uint64 // ticks of the batch

	// The event that is next.
	time int64
	typ  Type
	args [4]uint64
}

// decodeNext decodes the next event; ok is false if there is none.
func (c *cursor) decodeNext(nsPerTick float64) (ok bool, err error) {
	for len(c.data) == 0 {
		if len(c.batches) == 0 {
			return false, nil
		}
		b := &c.batches[0]
		c.data, c.begin, c.last, c.batches = b.data, b.ticks, 0, c.batches[1:]
	}
	if c.last == 0 {
		c.last = int64(float64(c.begin) * nsPerTick)
	}
	data := c.data
	typ := Type(data[0])
	n := numbersOf[typ]
	if n == 0 {
		return false, fmt.Errorf("event %d in a batch of events", typ)
	}
	i := 1
	var later uint64
	switch { // most numbers take a byte or two
	case i < len(data) && data[i] < 0x80:
		later = uint64(data[i])
		i++
	case i+1 < len(data) && data[i+1] < 0x80:
		later = uint64(data[i]&0x7f) | uint64(data[i+1])<<7
		i += 2
	default:
		var k int
		if later, k = binary.Uvarint(data[min(i, len(data)):]); k <= 0 {
			return false, errCutEvent
		}
		i += k
	}
	for a := range c.args[:n-1] {
		switch {
		case i < len(data) && data[i] < 0x80:
			c.args[a] = uint64(data[i])
			i++
		case i+1 < len(data) && data[i+1] < 0x80:
			c.args[a] = uint64(data[i]&0x7f) | uint64(data[i+1])<<7
			i += 2
		default:
			v, k := binary.Uvarint(data[min(i, len(data)):])
			if k <= 0 {
				return false, errCutEvent
			}
			c.args[a] = v
			i += k
		}
	}
	c.typ, c.data = typ, data[i:]
	c.time = int64(float64(later)*nsPerTick) + c.last
	c.last = c.time
	return true, nil
}

var errCutEvent = errors.New("an event is cut short within its batch")

// frontier is the threads' next events, a heap by time. Events of the same time come out in
// the order in which x/exp/trace has them.
type frontier []ahead

type ahead struct {
	time int64
	c    *cursor
}

func (f *frontier) insert(c *cursor) {
	*f = append(*f, ahead{c.time, c})
	f.siftUp(len(*f) - 1)
}

// fixAt restores the order of the heap after the cursor at i went on.
func (f frontier) fixAt(i int) {
	f[i].time = f[i].c.time
	if i == 0 || f.siftUp(i) == i {
		f.siftDown(i)
	}
}

func (f *frontier) remove(i int) {
	h := *f
	for i > 0 {
		up := (i - 1) / 2
		h[up], h[i] = h[i], h[up]
		i = up
	}
	last := len(h) - 1
	h[0], h[last] = h[last], h[0]
	h[last].c = nil
	*f = h[:last]
	f.siftDown(0)
}

func (f frontier) siftUp(i int) int {
	for i > 0 && f[(i-1)/2].time > f[i].time {
		f[(i-1)/2], f[i] = f[i], f[(i-1)/2]
		i = (i - 1) / 2
	}
	return i
}

func (f frontier) siftDown(i int) {
	for {
		least := 2*i + 1
		if least >= len(f) {
			return
		}
		if right := least + 1; right < len(f) && f[right].time < f[least].time {
			least = right
		}
		if f[least].time >= f[i].time {
			return
		}
		f[i], f[least] = f[least], f[i]
		i = least
	}
}
