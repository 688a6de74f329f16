package wire

import (
	"iter"
	"math/bits"
	"math/rand/v2"
)

// ByID finds things by the number that the runtime gave them. It is a table with open addressing: of many
// programs a goroutine is put in and taken out for each request, in a fraction of the time that a map takes.
// The zero ByID is empty.
type ByID[V any] struct {
	slots  []slot[V] // a power of two, at most half of them in use
	n      int
	spread uint64 // odd, and another for each table: no trace is made so that all of its numbers meet
	shift  uint8
}

type slot[V any] struct {
	id int64
	v  *V // nil: not in use
}

// leastSlots is how many a table has to begin with.
const leastSlots = 64

// Len is how many there are.
func (t *ByID[V]) Len() int { return t.n }

func (t *ByID[V]) homeSlot(id int64) uint64 { return uint64(id) * t.spread >> (t.shift & 63) }

// Find returns nil for none.
func (t *ByID[V]) Find(id int64) *V {
	if len(t.slots) == 0 {
		return nil
	}
	for i := t.homeSlot(id); ; i++ {
		if s := &t.slots[i&uint64(len(t.slots)-1)]; s.id == id || s.v == nil {
			return s.v
		}
	}
}

// Add puts in what is not there yet.
func (t *ByID[V]) Add(id int64, v *V) {
	if 2*t.n >= len(t.slots) {
		t.growSlots()
	}
	t.n++
	t.putSlot(id, v)
}

func (t *ByID[V]) putSlot(id int64, v *V) {
	i := t.homeSlot(id)
	for t.slots[i&uint64(len(t.slots)-1)].v != nil {
		i++
	}
	t.slots[i&uint64(len(t.slots)-1)] = slot[V]{id, v}
}

func (t *ByID[V]) growSlots() {
	old := t.slots
	t.slots = make([]slot[V], max(leastSlots, 2*len(old)))
	t.shift = uint8(64 - bits.TrailingZeros(uint(len(t.slots))))
	if t.spread == 0 {
		t.spread = rand.Uint64() | 1
	}
	for _, s := range old {
		if s.v != nil {
			t.putSlot(s.id, s.v)
		}
	}
}

// Remove takes out what is there, and closes the gap that it leaves in what follows.
func (t *ByID[V]) Remove(id int64) {
	if len(t.slots) == 0 {
		return
	}
	mask := uint64(len(t.slots) - 1)
	i := t.homeSlot(id) & mask
	for ; t.slots[i].id != id || t.slots[i].v == nil; i = (i + 1) & mask {
		if t.slots[i].v == nil {
			return
		}
	}
	t.n--
	for j := i; ; {
		j = (j + 1) & mask
		s := t.slots[j]
		if s.v == nil {
			break
		}
		if (j-t.homeSlot(s.id))&mask >= (j-i)&mask { // it is found where the gap is, too
			t.slots[i] = s
			i = j
		}
	}
	t.slots[i] = slot[V]{}
}

// All yields them in no order.
func (t *ByID[V]) All() iter.Seq[*V] {
	return func(yield func(*V) bool) {
		for _, s := range t.slots {
			if s.v != nil && !yield(s.v) {
				return
			}
		}
	}
}
