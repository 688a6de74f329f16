package gopprof

import "encoding/binary"

// isLegacyCPU recognises the binary CPU profile that gperftools writes, as Go did once: words
// of 4 or 8 bytes in either byte order; 0, the number of words in the header behind the first two, a
// version of 0, the period in µs, 0
// (https://gperftools.github.io/gperftools/cpuprofile-fileformat.html).
func isLegacyCPU(head []byte) bool {
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		for _, size := range []int{8, 4} {
			if len(head) < 5*size {
				continue
			}
			word := func(i int) uint64 {
				if size == 8 {
					return order.Uint64(head[8*i:])
				}
				return uint64(order.Uint32(head[4*i:]))
			}
			if period := word(3); word(0) == 0 && word(1) == 3 && word(2) == 0 && period > 0 && period <= 1e7 && word(4) == 0 {
				return true
			}
		}
	}
	return false
}
