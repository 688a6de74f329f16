package nettrace

import "slices"

// addressed is an address, and which of some rows has it.
type addressed struct {
	address uint64
	row     int32
}

// addressSorter sorts rows by address; those of one address keep their order. It sorts by one byte after the other, as comparing addresses
// took a tenth of reading a stream, and passes over the bytes in which all addresses are alike.
type addressSorter struct {
	spare  []addressed
	counts [8][256]uint32
}

// leastBytewise is how many addresses are sorted by their bytes: the counts of fewer take longer than comparing them.
const leastBytewise = 48

// sortKeys sorts keys, whose rows must come in increasing order.
func (s *addressSorter) sortKeys(keys []addressed) {
	if len(keys) < leastBytewise {
		slices.SortFunc(keys, func(x, y addressed) int {
			switch {
			case x.address < y.address, x.address == y.address && x.row < y.row:
				return -1
			}
			return 1
		})
		return
	}
	first, differ, ascending, last := keys[0].address, uint64(0), true, uint64(0)
	for i := range keys {
		a := keys[i].address
		differ |= a ^ first
		ascending = ascending && a >= last
		last = a
	}
	if ascending {
		return
	}
	for digit := range s.counts {
		if differ>>(8*digit)&0xff == 0 {
			continue
		}
		clear(s.counts[digit][:])
		for i := range keys {
			s.counts[digit][byte(keys[i].address>>(8*digit))]++
		}
	}
	if cap(s.spare) < len(keys) {
		s.spare = make([]addressed, len(keys)+len(keys)/4)
	}
	from, to := keys, s.spare[:len(keys)]
	for digit := range s.counts {
		if differ>>(8*digit)&0xff == 0 {
			continue
		}
		places, next := &s.counts[digit], uint32(0)
		for i, n := range places {
			places[i] = next
			next += n
		}
		for i := range from {
			place := &places[byte(from[i].address>>(8*digit))]
			to[*place] = from[i]
			*place++
		}
		from, to = to, from
	}
	if &from[0] != &keys[0] {
		copy(keys, from)
	}
}
