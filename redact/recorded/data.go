package recorded

import "github.com/unstall/unstall/redact"

// data is what is not known: texts in it are looked for in one byte a character and
// in two (UTF-16), and what is secret is overwritten.
type data struct {
	held   []byte // what may be the beginning of a text
	values bool   // texts are values that were given at run time
	out    []byte
}

const (
	shortest = 6       // characters that are looked at
	longest  = 8 << 10 // characters that are looked at together
)

func (d *data) next(p []byte) []byte {
	d.held = append(d.held, p...)
	// A text may go on in the next piece: the last of this one waits.
	whole := len(d.held) - tail(d.held)
	d.out = append(d.out[:0], d.held[:whole]...)
	d.held = append(d.held[:0], d.held[whole:]...)
	d.texts(d.out)
	return d.out
}

func (d *data) end() []byte {
	d.out = append(d.out[:0], d.held...)
	d.held = d.held[:0]
	d.texts(d.out)
	return d.out
}

// tail is how much at the end of b may be part of a text that goes on.
func tail(b []byte) int {
	for n := 0; n < min(len(b), 2*longest); n++ {
		i := len(b) - 1 - n
		if !printable(b[i]) && !(b[i] == 0 && (i == 0 || printable(b[i-1]))) {
			return n
		}
	}
	return min(len(b), 2*longest)
}

func printable(c byte) bool { return c >= ' ' && c < 0x7f || c == '\t' || c >= 0x80 }
func ascii(c byte) bool     { return c >= ' ' && c < 0x7f || c == '\t' }

func (d *data) overwrite(b []byte) bool {
	if d.values {
		return redact.OverwriteValue(b)
	}
	return redact.Overwrite(b)
}

// texts overwrites what is secret in all texts.
func (d *data) texts(b []byte) {
	var narrow []byte
	for i := 0; i < len(b); {
		n := 0
		for i+2*n+1 < len(b) && ascii(b[i+2*n]) && b[i+2*n+1] == 0 && n < longest {
			n++
		}
		if n >= shortest {
			narrow = narrow[:0]
			for k := range n {
				narrow = append(narrow, b[i+2*k])
			}
			if d.overwrite(narrow) {
				for k, c := range narrow {
					b[i+2*k] = c
				}
			}
			i += 2 * n
			continue
		}
		for n = 0; i+n < len(b) && ascii(b[i+n]) && n < longest; {
			n++
		}
		if n >= shortest {
			d.overwrite(b[i : i+n])
		}
		i += max(n, 1)
	}
}
