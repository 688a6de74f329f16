package accesslog

import (
	"bytes"
	"hash/maphash"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// routes folds request targets into routes: it drops the query, and segments that
// look like identifiers become {id}. After maxRoutes distinct routes, further targets are
// folded to their first segment, then to their method, so that a scanner that tries
// a million paths uses no memory.
type routes struct {
	b       *evidence.Builder
	slots   map[string]uint16
	names   []evidence.NameID
	texts   []string
	buf     []byte
	unknown string // route of requests without one
}

const (
	maxRoutes = 1000 // in full
	maxFolded = 1500 // including METHOD /first/…
)

func newRoutes(b *evidence.Builder, unknown string) *routes {
	return &routes{b: b, unknown: unknown, slots: make(map[string]uint16)}
}

// folding folds targets and caches the last ones, as most come again and again.
type folding struct {
	seed  maphash.Seed
	known [foldings]struct{ path, route []byte }
}

const (
	foldings     = 1 << 11
	longestKnown = 256 // bytes
)

// appendRoute appends a request's method and route; nothing if it has neither.
func (f *folding) appendRoute(buf, method, target []byte) []byte {
	buf = append(buf, method...)
	if len(target) == 0 {
		return buf
	}
	if len(method) > 0 {
		buf = append(buf, ' ')
	}
	if i := bytes.IndexByte(target, '?'); i >= 0 {
		target = target[:i]
	}
	if len(target) > longestKnown {
		return format.AppendRoute(buf, target)
	}
	k := &f.known[maphash.Bytes(f.seed, target)%foldings]
	if !bytes.Equal(k.path, target) {
		k.path = append(k.path[:0], target...)
		k.route = format.AppendRoute(k.route[:0], target)
	}
	return append(buf, k.route...)
}

// routeNumber returns the number of a request's route in the form of [folding], with a method of that
// many bytes; the route's name is names[number].
func (r *routes) routeNumber(route []byte, method int) uint16 {
	if len(route) == 0 {
		return r.addRoute(r.unknown)
	}
	if s, ok := r.slots[string(route)]; ok {
		return s
	}
	if len(r.names) < maxRoutes {
		return r.addRoute(string(route))
	}
	r.buf = append(r.buf[:0], route...)
	path := r.buf
	if method > 0 {
		path = path[min(len(path), method+1):]
	}
	head := len(r.buf) - len(path)
	if len(path) > 1 {
		if i := bytes.IndexByte(path[1:], '/'); i >= 0 {
			r.buf = append(r.buf[:head+i+2], "…"...)
			if s, ok := r.slots[string(r.buf)]; ok {
				return s
			}
			if len(r.names) < maxFolded {
				return r.addRoute(string(r.buf))
			}
		}
	}
	r.buf = append(r.buf[:head], "/…"...)
	if s, ok := r.slots[string(r.buf)]; ok || len(r.names) < maxFolded+100 {
		if !ok {
			s = r.addRoute(string(r.buf))
		}
		return s
	}
	return r.addRoute("…")
}

func (r *routes) addRoute(text string) uint16 {
	if s, ok := r.slots[text]; ok {
		return s
	}
	s := uint16(len(r.names))
	r.slots[text] = s
	r.names = append(r.names, r.b.Name(text))
	r.texts = append(r.texts, text)
	return s
}
