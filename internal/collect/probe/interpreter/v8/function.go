package v8

import "slices"

// Function is a function of JavaScript.
type Function struct {
	Name   string // as the program has it; "" if it has none
	Script string // as V8 knows it: a path, a file: URL, "node:internal/…"; "" of V8's own functions
	Line   int    // at which it begins, counted from 1; 0 unknown
	Own    bool   // it is one of V8's own: Array.prototype.map
}

// Names names the functions of one V8. It keeps what it found, and checks it at each use.
type Names struct {
	heap
	known   map[uint64]known
	scripts map[uint64]*script
}

// known is a named function, with what its SharedFunctionInfo held then. That does not change while the function lives, unlike its code.
type known struct {
	Function
	mapped           uint64
	name, script     uint64
	nameAt, scriptAt int64
}

const (
	sharedSize = 9 * word // of a SharedFunctionInfo that is searched
	mostKnown  = 1 << 13
)

// NewNames is for the V8 of a process.
func NewNames(l *Layout, m Memory) *Names {
	return &Names{heap: heap{Layout: l, mem: m, types: make(map[uint64]int32)}, known: make(map[uint64]known), scripts: make(map[uint64]*script)}
}

// Forget drops what is known of objects' types, because V8 may put others in their place.
func (n *Names) Forget() { clear(n.types) }

// IsMarker says whether what a frame has in the place of the context is the kind of a frame that is none of JavaScript: internal frames of V8 and its
// entries.
func IsMarker(v uint64) bool { return v&1 == 0 }

// IsExit says whether the kind of a frame is one that calls compiled code from JavaScript.
func (l *Layout) IsExit(kind uint64) bool { return slices.Contains(l.exits, kind) }

// Function names a JSFunction. It returns false if that is none: V8 has moved it since, or the frame is not one of JavaScript.
func (n *Names) Function(function uint64) (f Function, ok bool) {
	b := make([]byte, n.shared+word)
	if !n.read(function, 0, b) {
		return f, false
	}
	if m := wordAt(b, n.mapOf); m&3 == 0 { // it has moved, and says where to
		if !n.read(m+1, 0, b) {
			return f, false
		}
	}
	if n.typeOf(b) < 0 {
		return f, false
	}
	return n.ofShared(wordAt(b, n.shared))
}

// ofShared names a SharedFunctionInfo.
func (n *Names) ofShared(object uint64) (f Function, ok bool) {
	var b [sharedSize]byte
	if !n.read(object, 0, b[:]) {
		return f, false
	}
	if k, ok := n.known[object]; ok && k.mapped == wordAt(b[:], n.mapOf) && k.name == wordAt(b[:], k.nameAt) && k.script == wordAt(b[:], k.scriptAt) {
		return k.Function, true
	}
	if n.typeOf(b[:]) != n.typeShared {
		return f, false
	}
	k := known{mapped: wordAt(b[:], n.mapOf)}
	k.nameAt = n.fieldOf(b[:], n.nameOrScope, func(t int32) bool { return t == n.typeScope || n.isString(t) })
	k.scriptAt = n.fieldOf(b[:], n.script, func(t int32) bool { return t == n.typeScript || t == n.typeDebug })
	k.name, k.script = wordAt(b[:], k.nameAt), wordAt(b[:], k.scriptAt)
	position := -1
	switch t := n.kindOf(k.name); {
	case t == n.typeScope:
		k.Name, position, ok = n.ofScope(k.name)
	case n.isString(t):
		k.Name, ok = n.text(k.name)
	default:
		ok = !isObject(k.name) // a small number: it has none
	}
	if !ok {
		return f, false
	}
	script := k.script
	t := n.kindOf(script)
	if t == n.typeDebug {
		script = n.debuggedScript(script)
		t = n.kindOf(script)
	}
	if k.Own = t != n.typeScript; !k.Own {
		k.Script, k.Line = n.ofScript(script, position)
	}
	if len(n.known) > mostKnown {
		clear(n.known)
	}
	n.known[object] = k
	return k.Function, true
}

// fieldOf returns the offset of a SharedFunctionInfo's field: as V8 says it, or of the first that leads to an object of such a type; -1 if none does.
func (n *Names) fieldOf(b []byte, at int64, is func(typ int32) bool) int64 {
	if at >= 0 {
		return at
	}
	for at := int64(word); at+word <= int64(len(b)); at += word {
		if is(n.kindOf(wordAt(b, at))) {
			return at
		}
	}
	return -1
}

// debuggedScript returns the script of a function that a debugger has looked at, whose DebugInfo leads to it.
func (n *Names) debuggedScript(debug uint64) uint64 {
	var b [8 * word]byte
	if n.read(debug, 0, b[:]) {
		for at := int64(word); at < int64(len(b)); at += word {
			if v := wordAt(b[:], at); n.kindOf(v) == n.typeScript {
				return v
			}
		}
	}
	return 0
}

// Bounds of a ScopeInfo: names of more variables are in a table of their own (kScopeInfoMaxInlinedLocalNamesSize of V8's sources).
const (
	mostInlined = 75
	mostLocals  = 1 << 16
	tail        = 10 // words after the variables
)

// ofScope returns a function's name, and the position in its script at which it begins, -1 if unknown.
//
// After the variables follow, each if there is one: the place of a class's variable, the function's name with the place of its variable, the
// name that V8 made up for a function without one ("exports.handle"), the function's first and last position, which newer versions have
// earlier, and the ScopeInfo of what surrounds it.
func (n *Names) ofScope(scope uint64) (name string, position int, ok bool) {
	head := make([]byte, n.names)
	if !n.read(scope, 0, head) {
		return "", -1, false
	}
	count := int64(wordAt(head, n.locals) >> n.smiShift)
	if count > mostLocals {
		return "", -1, false
	}
	position = -1
	if n.early {
		position = n.span(wordAt(head, n.locals+word), wordAt(head, n.locals+2*word))
	}
	after := n.names + word*2*count
	if count >= mostInlined {
		after = n.names + word*(1+count)
	}
	var b [tail * word]byte
	if !n.read(scope, after, b[:]) {
		return "", -1, false
	}
	for at := int64(0); at < int64(len(b)); at += word {
		v := wordAt(b[:], at)
		if v&1 == 0 {
			if next := wordAt(b[:], at+word); !n.early && position < 0 && next&1 == 0 {
				// The places of variables are smaller than positions, and a pair of positions is in order. The last such pair before
				// the surrounding scope is the function's.
				if end := n.kindOf(wordAt(b[:], at+2*word)); end == n.typeScope {
					position = n.span(v, next)
				}
			}
			continue
		}
		t := n.kindOf(v)
		if n.isString(t) && name == "" {
			name, _ = n.text(v)
			continue
		}
		if t == n.typeScope || t < 0 {
			break
		}
	}
	return name, position, true
}

// span returns the first of two positions if they are in order, else -1.
func (n *Names) span(from, to uint64) int {
	a, z := int64(from)>>n.smiShift, int64(to)>>n.smiShift
	if from&1 != 0 || to&1 != 0 || a < 0 || z <= a {
		return -1
	}
	return int(a)
}

// script is a source whose lines were counted.
type script struct {
	name   string
	source uint64
	ends   []uint32 // positions of its line ends
	upTo   int      // that were looked for
}

// Bounds of the sources whose lines are counted.
const (
	mostScripts = 1 << 9
	mostSource  = 8 << 20 // characters
	mostEnds    = 1 << 18
)

// ofScript returns a script's name and the line of a position in it.
func (n *Names) ofScript(object uint64, position int) (name string, line int) {
	b := make([]byte, max(n.scriptName, n.scriptSource)+word)
	if !n.read(object, 0, b) {
		return "", 0
	}
	source := wordAt(b, n.scriptSource)
	s := n.scripts[object]
	if s == nil || s.source != source {
		s = &script{source: source}
		s.name, _ = n.text(wordAt(b, n.scriptName))
		if len(n.scripts) > mostScripts {
			clear(n.scripts)
		}
		n.scripts[object] = s
	}
	return s.name, n.lineOf(s, position)
}

// lineOf counts the lines before a position. A source outside the heap is not read: those of Node.js itself are.
func (n *Names) lineOf(s *script, position int) int {
	if position < 0 || position > mostSource {
		return 0
	}
	source := s.source
	var b [32]byte
	for range deepest {
		if !n.read(source, 0, b[:]) {
			return 0
		}
		if t := n.typeOf(b[:]); !n.isString(t) {
			return 0
		} else if rep := t & n.representation; rep == n.thin {
			source = wordAt(b[:], n.actual)
		} else if rep == n.cons && n.isEmpty(wordAt(b[:], n.second)) {
			source = wordAt(b[:], n.first)
		} else if rep != n.seq {
			return 0
		} else {
			size, start := 1, n.oneByte
			if t&n.encodingMask != n.oneByteTag {
				size, start = 2, n.twoByte
			}
			if !n.countLines(s, source, start, size, position) {
				return 0
			}
			at, _ := slices.BinarySearch(s.ends, uint32(position))
			return at + 1
		}
	}
	return 0
}

func (n *Names) isEmpty(object uint64) bool {
	text, ok := n.characters(nil, object, 0, 1, 1)
	return ok && len(text) == 0
}

// countLines finds the line ends before a position. Of the text it keeps nothing else.
func (n *Names) countLines(s *script, source uint64, start int64, size, position int) bool {
	var room [16 << 10]byte
	for s.upTo < position {
		piece := room[:min(len(room), size*(position-s.upTo))]
		if len(s.ends) > mostEnds || !n.read(source, start+int64(size*s.upTo), piece) {
			return false
		}
		for i := 0; i < len(piece); i += size {
			if piece[i] == '\n' && (size == 1 || piece[i+1] == 0) {
				s.ends = append(s.ends, uint32(s.upTo+i/size))
			}
		}
		s.upTo += len(piece) / size
	}
	return true
}
