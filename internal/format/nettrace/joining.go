package nettrace

import "github.com/unstall/unstall/internal/format/nettrace/eventpipe"

// look is a row: one thread with one stack, once or several times within a quantum.
type look struct {
	time  int64
	n     int64 // the event's number
	what  seen
	count int64
}

// seen is the content of a sample: a lane's number, a stack and whether in native code.
type seen uint64

func whatSeen(lane uint32, stack eventpipe.StackID, native bool) seen {
	s := seen(stack)<<32 | seen(lane)<<1
	if native {
		s |= 1
	}
	return s
}

func (s seen) laneNumber() uint32 { return uint32(s) >> 1 }
func (s seen) stackID() (id eventpipe.StackID, native bool) {
	return eventpipe.StackID(s >> 32), s&1 != 0
}

// rowBlocks are rows in blocks, so that none is copied when more come.
type rowBlocks[T any] struct {
	blocks []*[rowBlock]T
	n      int
}

const rowBlock = 1 << 10

func (r *rowBlocks[T]) at(i int) *T { return &r.blocks[i/rowBlock][i%rowBlock] }

// add returns where the next row is to be written.
func (r *rowBlocks[T]) add() *T {
	if r.n == len(r.blocks)*rowBlock {
		r.blocks = append(r.blocks, new([rowBlock]T))
	}
	r.n++
	return r.at(r.n - 1)
}

// joining finds the row to join a sample with: the one with the same content
// in the same quantum. It has only the rows of the last quantum, since samples come
// in order of time. It is a table of its own because hundreds of threads are sampled
// a thousand times a second each.
type joining struct {
	quantum    int64 // ns
	from       int64 // when the quantum began
	table      []joined
	used       int
	generation uint32 // entries of others are free
}

type joined struct {
	what       seen
	generation uint32
	row        uint32
}

const leastJoining = 1 << 8

// beginQuantum starts anew with a quantum in ns, without rows.
func (j *joining) beginQuantum(quantum int64) {
	j.quantum, j.from = quantum, -1<<63
	if j.table == nil {
		j.table = make([]joined, leastJoining)
	}
	j.forgetRows()
}

// forgetRows forgets all rows.
func (j *joining) forgetRows() {
	j.used = 0
	if j.generation++; j.generation == 0 {
		clear(j.table)
		j.generation = 1
	}
}

// findRow finds the row to join a sample with. If there is none, the sample is expected to become
// row number next.
func (j *joining) findRow(what seen, time int64, next int) (row int, ok bool) {
	if uint64(time-j.from) >= uint64(j.quantum) {
		j.from = time - (time%j.quantum+j.quantum)%j.quantum
		j.forgetRows()
	}
	e := j.findEntry(what)
	if e.generation == j.generation {
		return int(e.row), true
	}
	*e = joined{what, j.generation, uint32(next)}
	if j.used++; j.used > len(j.table)/2 {
		j.grow()
	}
	return 0, false
}

// findEntry finds the entry of what was seen, or the free one where it belongs.
func (j *joining) findEntry(what seen) *joined {
	mask := uint64(len(j.table) - 1)
	hash := uint64(what) * 0x9e3779b97f4a7c15
	for i := hash >> 32 & mask; ; i = (i + 1) & mask {
		if e := &j.table[i]; e.what == what || e.generation != j.generation {
			return e
		}
	}
}

func (j *joining) grow() {
	old := j.table
	j.table = make([]joined, 2*len(old))
	for _, e := range old {
		if e.generation == j.generation {
			*j.findEntry(e.what) = e
		}
	}
}
