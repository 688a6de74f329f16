package java

import (
	"strings"

	"github.com/unstall/unstall/internal/base/redact"
)

const maxName = 120 // bytes of a thread's name

// Pool returns a thread's name without the part that distinguishes it within its pool.
func Pool(name string) string {
	name = string(redact.Value([]byte(strings.ToValidUTF8(strings.TrimSpace(name), "?"))))
	if len(name) > maxName {
		name = strings.ToValidUTF8(name[:maxName], "")
	}
	name = stripHashes(withoutRequest(name))
	if i := strings.IndexByte(name, '#'); i > 0 && i+1 < len(name) && name[i+1]-'0' <= 9 { // GC task thread#0 (ParallelGC)
		return name[:i]
	}
	if cut := strings.TrimRight(name, "0123456789"); cut != name {
		if cut = strings.TrimRight(cut, "-_#:./ @"); cut != "" {
			return cut
		}
	}
	return name
}

// withoutRequest returns a name without the request that a thread serves, which some servers append to the name (Dropwizard: "dw-20 - GET
// /orders/7").
func withoutRequest(name string) string {
	for _, method := range []string{"GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"} {
		if i := strings.Index(name, method+" /"); i > 0 {
			if own := strings.TrimRight(name[:i], " -:|"); own != "" {
				return own
			}
		}
	}
	return name
}

// An identity hash is up to 31 bits (System.identityHashCode), which Object.toString writes as
// up to eight hexadecimal digits after an @, and others as up to ten decimal ones.
const (
	leastHex     = 5
	mostHex      = 8
	leastDecimal = 7
	mostDecimal  = 10
)

// stripHashes returns a name without the identity hashes of objects, which differ in each process:
// QueuedThreadPool@1b2c3d4-12, qtp1883919084-35.
func stripHashes(name string) string {
	var out strings.Builder
	for i := 0; i < len(name); {
		switch c := name[i]; {
		case c == '@':
			n := countPrefix(name[i+1:], isHexadecimal)
			if n >= leastHex && n <= mostHex && !isAlphanumeric(name, i+1+n) {
				i += 1 + n
				continue
			}
		case isDecimal(c) && i > 0 && isAlphanumeric(name, i-1) && !isDecimal(name[i-1]):
			n := countPrefix(name[i:], isDecimal)
			if n >= leastDecimal && n <= mostDecimal && !isAlphanumeric(name, i+n) {
				i += n
				continue
			}
			out.WriteString(name[i : i+n])
			i += n
			continue
		}
		out.WriteByte(name[i])
		i++
	}
	if out.Len() == 0 {
		return name
	}
	return out.String()
}

// countPrefix returns how many bytes at the beginning are of a kind.
func countPrefix(s string, of func(byte) bool) (n int) {
	for n < len(s) && of(s[n]) {
		n++
	}
	return n
}

func isDecimal(c byte) bool { return c-'0' <= 9 }

func isHexadecimal(c byte) bool { return isDecimal(c) || c-'a' <= 'f'-'a' }

// isAlphanumeric says whether there is a letter or a digit at a place.
func isAlphanumeric(s string, i int) bool {
	return i < len(s) && (isDecimal(s[i]) || (s[i]|0x20)-'a' <= 'z'-'a')
}
