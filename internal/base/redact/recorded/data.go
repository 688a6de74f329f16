package recorded

import (
	"encoding/binary"

	"github.com/unstall/unstall/internal/base/redact"
)

// data cleans unknown data: it searches texts in it, with one byte per character or two (UTF-16), and overwrites secrets.
type data struct {
	seen   *redact.Seen
	held   []byte // what may be the beginning of a text, after what was returned last
	done   int    // bytes of held that were returned
	values bool   // texts are values given at run time
	narrow []byte
}

const (
	shortest = 6        // characters: shorter texts are skipped
	longest  = 64 << 10 // characters that are scanned together: an event of .NET has 64 KiB at most
)

func (d *data) cleanPiece(p []byte) []byte {
	d.held = append(d.held[:copy(d.held, d.held[d.done:])], p...)
	d.done = d.upTo(d.held, false)
	return d.held[:d.done]
}

func (d *data) cleanRest() []byte {
	rest := d.held[d.done:]
	d.done = len(d.held)
	d.overwriteTexts(rest)
	return rest
}

// ascii are the characters of texts.
var ascii = func() (t [256]bool) {
	for c := range t {
		t[c] = c >= ' ' && c < 0x7f || c == '\t' || c == '\n' || c == '\r'
	}
	return t
}()

// lastLetters is the highest upper byte of further characters that a text may have: Latin, Greek, Cyrillic, Armenian and Hebrew letters.
const lastLetters = 0x05

func (d *data) seenKind() byte {
	if d.values {
		return redact.AsValue
	}
	return redact.AsLine
}

func (d *data) overwriteText(b []byte) bool {
	if d.values {
		return redact.OverwriteValue(b)
	}
	return redact.Overwrite(b)
}

// overwriteTexts overwrites the secrets in all texts.
func (d *data) overwriteTexts(b []byte) { d.upTo(b, true) }

// upTo overwrites the secrets in all texts except, unless b is the last piece, a text that may continue in the next one, and returns where
// that text begins.
func (d *data) upTo(b []byte, last bool) int {
	for i := 0; i < len(b); {
		if !ascii[b[i]] {
			i++
			continue
		}
		n := lettersOfTwo(b[i:])
		if i+2*n >= len(b)-1 && n < longest && !last {
			return i
		}
		if n >= shortest {
			d.ofTwo(b[i : i+2*n])
			i += 2 * n
			continue
		}
		n = lettersOfOne(b[i:])
		if i+n == len(b) && n < longest && !last {
			return i
		}
		if n >= shortest {
			d.ofOne(b[i : i+n])
		}
		if n > 1 && i+n < len(b) && b[i+n] == 0 {
			n-- // its last character may be the first of a text in two bytes a character
		}
		i += n
	}
	return len(b)
}

// ofOne scans a text of one byte per character.
func (d *data) ofOne(b []byte) {
	sum, harmless := d.seen.Before(d.seenKind(), b)
	if !harmless && !d.overwriteText(b) {
		d.seen.Remember(sum)
	}
}

// ofTwo scans a text of two bytes per character. A letter beyond ASCII counts as a letter of a word.
func (d *data) ofTwo(b []byte) {
	sum, harmless := d.seen.Before(d.seenKind(), b)
	if harmless {
		return
	}
	d.narrow = d.narrow[:0]
	for k := 0; k < len(b); k += 2 {
		c := b[k]
		if b[k+1] != 0 || c >= 0x7f {
			c = 0xff
		}
		d.narrow = append(d.narrow, c)
	}
	if !d.overwriteText(d.narrow) {
		d.seen.Remember(sum)
		return
	}
	for k, c := range d.narrow {
		if c != 0xff {
			b[2*k], b[2*k+1] = c, 0
		}
	}
}

// lettersOfTwo returns how many two-byte characters b begins with, of which the first is ASCII.
func lettersOfTwo(b []byte) (n int) {
	most := min(len(b)/2, longest)
	for n < most {
		if 2*n+8 <= len(b) {
			// Four at once: their upper bytes are 0, the lower ones from ' ' to '~'.
			const ones = 0x0001000100010001
			if x := binary.LittleEndian.Uint64(b[2*n:]); x&(ones*0xff80)|(x+ones)&(ones*0x80)|(x-ones*' ')&(ones*0x8000) == 0 {
				n += 4
				continue
			}
		}
		c, upper := b[2*n], b[2*n+1]
		if !(upper == 0 && ascii[c] || n > 0 && upper <= lastLetters && (upper > 0 || c >= 0xa0)) {
			break
		}
		n++
	}
	return min(n, most)
}

// lettersOfOne returns how many one-byte characters b begins with.
func lettersOfOne(b []byte) (n int) {
	most := min(len(b), longest)
	for n < most {
		if n+8 <= len(b) {
			const ones = 0x0101010101010101
			if x := binary.LittleEndian.Uint64(b[n:]); (x|(x+ones)|(x-ones*' '))&(ones*0x80) == 0 {
				n += 8
				continue
			}
		}
		if !ascii[b[n]] {
			break
		}
		n++
	}
	return min(n, most)
}
