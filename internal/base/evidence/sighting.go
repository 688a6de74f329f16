package evidence

import "bytes"

// Vantage is the place from which an artifact saw its requests.
type Vantage uint8

// Vantages, innermost first. Load generators have none: their results identify them.
const (
	FromService Vantage = iota // the service itself, by its log or trace; or unknown
	FromSpans                  // its telemetry
	FromKernel                 // its host's kernel, from the arrival of the first bytes
	FromProxy                  // a proxy that passed them on to the service
)

// VantageOf returns the vantage of a row's artifact.
func (b *Bundle) VantageOf(row int) Vantage {
	if a, ok := b.Requests.Origin.At(row).Artifact(); ok && int(a) < len(b.Artifacts) {
		return b.Artifacts[a].Vantage
	}
	return FromService
}

// RequestKey is the id of a request or of its trace, as several sources write it. A request has the same key in all of them; a trace may
// have several requests.
type RequestKey int64

// KeyOf hashes an id to 64 bits; 0 is none. It hashes the id without leading zeros, because 64-bit trace ids occur with and
// without them.
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
