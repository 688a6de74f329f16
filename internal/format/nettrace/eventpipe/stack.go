package eventpipe

import (
	"encoding/binary"
	"hash/maphash"
	"slices"
)

// stacks keeps each distinct stack once, under one number for the whole stream.
type stacks struct {
	of    [][]uint64 // by StackID
	arena []uint64   // the unused rest of the memory for stacks
	words int        // its size when new

	seed  maphash.Seed
	table []uint64 // by hash: its upper half above the StackID; 0: free
	used  int

	local  []numbers // as the stream numbers them since the last sequence point
	recent numbers   // of local, where the last one was found
}

// maxNumbers is how many ranges of numbers are kept at a time. A writer numbers the
// stacks between two sequence points consecutively, which makes one range.
const maxNumbers = 256

// numbers are stacks with consecutive numbers of the stream.
type numbers struct {
	first uint32
	ids   []StackID
}

// An arena is twice as large as the one before: most streams have a hundred stacks, some have a
// hundred thousand.
const (
	leastArenaWords = 1 << 10
	arenaWords      = 32 << 10
)

func (s *stacks) init() {
	s.of = make([][]uint64, 1)
	s.seed = maphash.MakeSeed()
	s.table = make([]uint64, 1<<10)
}

// addBlock takes in a stack block and tells whether it was whole.
func (s *stacks) addBlock(data []byte, pointer int) bool {
	c := Cursor{data: data}
	first, count := c.U32(), c.U32()
	if !c.OK() {
		return false
	}
	n := s.numbersFrom(first)
	defer func() { s.recent = *n }()
	for ; count > 0; count-- {
		stack := c.Bytes(int(c.U32()))
		if !c.OK() {
			return false
		}
		n.ids = append(n.ids, s.intern(stack, pointer))
	}
	return true
}

// numbersFrom returns the numbers that begin with first.
func (s *stacks) numbersFrom(first uint32) *numbers {
	if last := len(s.local) - 1; last >= 0 {
		n := &s.local[last]
		if len(n.ids) == 0 {
			n.first = first
		}
		if uint64(n.first)+uint64(len(n.ids)) == uint64(first) {
			return n
		}
	}
	if len(s.local) == maxNumbers {
		s.local = append(s.local[:0], s.local[maxNumbers/2:]...)
	}
	s.local = append(s.local, numbers{first: first})
	return &s.local[len(s.local)-1]
}

func (s *stacks) flush() {
	s.recent = numbers{}
	if len(s.local) > 1 {
		clear(s.local[1:])
		s.local = s.local[:1]
	}
	if len(s.local) == 1 {
		s.local[0].ids = s.local[0].ids[:0]
		s.local[0].first = 0
	}
}

// find returns the StackID of a stack by the stream's number.
func (s *stacks) find(number uint32) (id StackID, known bool) {
	if at := number - s.recent.first; uint64(at) < uint64(len(s.recent.ids)) {
		return s.recent.ids[at], true
	}
	return s.searchLocal(number)
}

func (s *stacks) searchLocal(number uint32) (id StackID, known bool) {
	for i := len(s.local) - 1; i >= 0; i-- { // the last one first: it may have reused the number
		if n := &s.local[i]; uint64(number-n.first) < uint64(len(n.ids)) {
			s.recent = *n
			return n.ids[number-n.first], true
		}
	}
	return 0, false
}

// intern finds or adds a stack as a stream writes it.
func (s *stacks) intern(stack []byte, pointer int) StackID {
	depth := len(stack) / pointer
	if depth == 0 {
		return 0
	}
	stack = stack[:depth*pointer]
	hash := maphash.Bytes(s.seed, stack) | 1<<63 // never a free place
	mask := uint64(len(s.table) - 1)
	i := hash & mask
	for ; s.table[i] != 0; i = (i + 1) & mask {
		if s.table[i]>>32 == hash>>32 && s.equalsStack(StackID(s.table[i]), stack, pointer) {
			return StackID(s.table[i])
		}
	}
	id := StackID(len(s.of))
	s.of = append(s.of, s.keepStack(stack, pointer, depth))
	s.table[i] = hash>>32<<32 | uint64(id)
	if s.used++; s.used > len(s.table)/2 {
		s.grow(pointer)
	}
	return id
}

func (s *stacks) equalsStack(id StackID, stack []byte, pointer int) bool {
	have := s.of[id]
	if len(have)*pointer != len(stack) {
		return false
	}
	if pointer == 4 {
		for i, address := range have {
			if address != uint64(binary.LittleEndian.Uint32(stack[4*i:])) {
				return false
			}
		}
		return true
	}
	for i, address := range have {
		if address != binary.LittleEndian.Uint64(stack[8*i:]) {
			return false
		}
	}
	return true
}

func (s *stacks) keepStack(stack []byte, pointer, depth int) []uint64 {
	if depth > len(s.arena) {
		if depth > arenaWords/4 {
			return decodeAddresses(make([]uint64, depth), stack, pointer)
		}
		s.words = min(arenaWords, max(leastArenaWords, 4*depth, 2*s.words))
		s.arena = make([]uint64, s.words)
	}
	kept := s.arena[:depth:depth]
	s.arena = s.arena[depth:]
	return decodeAddresses(kept, stack, pointer)
}

func decodeAddresses(to []uint64, stack []byte, pointer int) []uint64 {
	for i := range to {
		if pointer == 4 {
			to[i] = uint64(binary.LittleEndian.Uint32(stack[4*i:]))
		} else {
			to[i] = binary.LittleEndian.Uint64(stack[8*i:])
		}
	}
	return to
}

// grow doubles the table. The lower half of a hash is not kept, so each hash is computed anew.
func (s *stacks) grow(pointer int) {
	table := make([]uint64, 2*len(s.table))
	mask := uint64(len(table) - 1)
	var bytes []byte
	for id, stack := range s.of {
		if id == 0 {
			continue
		}
		bytes = slices.Grow(bytes[:0], len(stack)*pointer)
		for _, address := range stack {
			if pointer == 4 {
				bytes = binary.LittleEndian.AppendUint32(bytes, uint32(address))
			} else {
				bytes = binary.LittleEndian.AppendUint64(bytes, address)
			}
		}
		hash := maphash.Bytes(s.seed, bytes) | 1<<63
		i := hash & mask
		for table[i] != 0 {
			i = (i + 1) & mask
		}
		table[i] = hash>>32<<32 | uint64(id)
	}
	s.table = table
}
