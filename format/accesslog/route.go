package accesslog

import (
	"bytes"

	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/format"
)

// routes folds request targets into routes: the query is dropped, segments that
// look like identifiers become {id}. After maxRoutes distinct ones the rest is
// folded to its first segment, then to its method, so that a scanner that tries
// a million paths costs no memory.
type routes struct {
	b       *evidence.Builder
	slots   map[string]uint16
	names   []evidence.NameID
	texts   []string
	buf     []byte
	unknown string // route of what has none
}

const (
	maxRoutes = 1000 // in full
	maxFolded = 1500 // including METHOD /first/…
)

func newRoutes(b *evidence.Builder, unknown string) *routes {
	return &routes{b: b, unknown: unknown, slots: make(map[string]uint16)}
}

// of returns the number of a request's route; its name is names[number].
func (r *routes) of(method, target []byte) uint16 {
	if len(target) == 0 && len(method) == 0 {
		return r.slot(r.unknown)
	}
	r.buf = append(r.buf[:0], method...)
	if len(method) > 0 && len(target) > 0 {
		r.buf = append(r.buf, ' ')
	}
	r.buf = format.AppendRoute(r.buf, target)
	if s, ok := r.slots[string(r.buf)]; ok {
		return s
	}
	if len(r.names) < maxRoutes {
		return r.slot(string(r.buf))
	}
	path := r.buf
	if len(method) > 0 {
		path = path[min(len(path), len(method)+1):]
	}
	head := len(r.buf) - len(path)
	if len(path) > 1 {
		if i := bytes.IndexByte(path[1:], '/'); i >= 0 {
			r.buf = append(r.buf[:head+i+2], "…"...)
			if s, ok := r.slots[string(r.buf)]; ok {
				return s
			}
			if len(r.names) < maxFolded {
				return r.slot(string(r.buf))
			}
		}
	}
	r.buf = append(r.buf[:head], "/…"...)
	if s, ok := r.slots[string(r.buf)]; ok || len(r.names) < maxFolded+100 {
		if !ok {
			s = r.slot(string(r.buf))
		}
		return s
	}
	return r.slot("…")
}

func (r *routes) slot(text string) uint16 {
	if s, ok := r.slots[text]; ok {
		return s
	}
	s := uint16(len(r.names))
	r.slots[text] = s
	r.names = append(r.names, r.b.Name(text))
	r.texts = append(r.texts, text)
	return s
}
