package evidence

import "bytes"

// Vantage is from where an artifact saw its requests.
type Vantage uint8

// Vantages, the innermost first. What load generators recorded is told by their results.
const (
	FromService Vantage = iota // the service itself: its log, its trace; or it is not known
	FromSpans                  // its telemetry
	FromKernel                 // its host's kernel, from when their first bytes arrived
	FromProxy                  // a proxy, which passed them on to the service
)

// SideOf is from where the artifact of a row saw it.
func (b *Bundle) SideOf(row int) Vantage {
	if a, ok := b.Requests.Origin.At(row).Artifact(); ok && int(a) < len(b.Artifacts) {
		return b.Artifacts[a].Vantage
	}
	return FromService
}

// RequestKey is the id of a request or of its trace, as several sources write it. Those of one request are the same; a trace
// may be of several requests.
type RequestKey int64

// KeyOf is an id as 64 bits: hexadecimal without leading zeros, as 64-bit trace ids are written with and without them, or any other
// text. 0 is none.
func KeyOf(text []byte) RequestKey {
	text = bytes.TrimLeft(text, "0")
	if len(text) == 0 {
		return 0
	}
	h := uint64(0xcbf29ce484222325) // FNV-1a
	hex := len(text) <= 32 && isHex(text)
	for _, c := range text {
		if hex && c >= 'A' && c <= 'F' {
			c |= 0x20
		}
		h = (h ^ uint64(c)) * 0x100000001b3
	}
	return RequestKey(max(h, 1))
}

func isHex(text []byte) bool {
	for _, c := range text {
		if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'f') {
			return false
		}
	}
	return true
}
