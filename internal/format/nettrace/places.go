package nettrace

// places are the numbers of rows by what they are of, as a table of its own: each allocation tick looks up its row, and the lookup took a tenth of
// reading a stream.
type places struct {
	table []placed
	used  int
}

type placed struct {
	key uint64
	row uint32 // from 1; 0: free
}

const leastPlaces = 1 << 8

// findRow returns the number of the row for a key. If there is none, it is next from now on.
func (p *places) findRow(key uint64, next int) (row int, ok bool) {
	if 2*p.used >= len(p.table) {
		p.growTable()
	}
	e := p.findEntry(key)
	if e.row != 0 {
		return int(e.row - 1), true
	}
	*e = placed{key, uint32(next + 1)}
	p.used++
	return next, false
}

// hasRow says whether a key has a row.
func (p *places) hasRow(key uint64) bool { return len(p.table) > 0 && p.findEntry(key).row != 0 }

// findEntry finds the entry of a key, or the free one where it belongs.
func (p *places) findEntry(key uint64) *placed {
	mask := uint64(len(p.table) - 1)
	hash := key * 0x9e3779b97f4a7c15
	for i := (hash ^ hash>>32) & mask; ; i = (i + 1) & mask {
		if e := &p.table[i]; e.row == 0 || e.key == key {
			return e
		}
	}
}

func (p *places) growTable() {
	old := p.table
	p.table = make([]placed, max(leastPlaces, 2*len(old)))
	for _, e := range old {
		if e.row != 0 {
			*p.findEntry(e.key) = e
		}
	}
}
