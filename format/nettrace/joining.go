package nettrace

// joining finds the row that a look is to be joined with: of the same thread and
// stack in the same quantum. It knows the rows of one quantum, the last, since looks
// come in order of time; it is a table of its own because there is one look-up for
// each of a thousand samples a second of each of hundreds of threads.
type joining struct {
	quantum    int64 // ns
	from       int64 // when the quantum began
	table      []joined
	used       int
	generation uint32 // entries of others are free
}

type joined struct {
	generation uint32
	row        uint32
}

const leastJoining = 1 << 8

// begin starts anew, with no rows.
func (j *joining) begin(quantum int64) {
	j.quantum, j.from = quantum, -1<<63
	if j.table == nil {
		j.table = make([]joined, leastJoining)
	}
	j.next()
}

// next forgets all rows.
func (j *joining) next() {
	j.used = 0
	if j.generation++; j.generation == 0 {
		clear(j.table)
		j.generation = 1
	}
}

// has joins r with one of rows, or else expects it to be appended to them.
func (j *joining) has(rows []look, r *look) bool {
	if uint64(r.time-j.from) >= uint64(j.quantum) {
		j.from = r.time - (r.time%j.quantum+j.quantum)%j.quantum
		j.next()
	} else if j.used > len(j.table)/2 {
		j.grow(rows)
	}
	e := j.find(rows, r)
	if e.generation == j.generation {
		rows[e.row].count += r.count
		return true
	}
	*e = joined{j.generation, uint32(len(rows))}
	j.used++
	return false
}

// find is the entry of a row alike, or the free one where it belongs.
func (j *joining) find(rows []look, r *look) *joined {
	key := uint64(r.lane)*0x9e3779b97f4a7c15 ^ uint64(r.stack)*0xc2b2ae3d27d4eb4f
	if r.native {
		key = ^key
	}
	mask := uint64(len(j.table) - 1)
	for i := (key ^ key>>32) & mask; ; i = (i + 1) & mask {
		e := &j.table[i]
		if e.generation != j.generation {
			return e
		}
		if have := &rows[e.row]; have.stack == r.stack && have.lane == r.lane && have.native == r.native {
			return e
		}
	}
}

// grow doubles the table. The rows of the quantum are the last ones.
func (j *joining) grow(rows []look) {
	j.table = make([]joined, 2*len(j.table))
	for i := len(rows) - j.used; i < len(rows); i++ {
		*j.find(rows, &rows[i]) = joined{j.generation, uint32(i)}
	}
}
