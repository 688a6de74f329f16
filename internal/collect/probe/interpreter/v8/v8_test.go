package v8

import (
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// image is a made-up heap: words by address.
type image struct {
	bytes map[uint64]byte
	next  uint64
}

func (m *image) Read(at uint64, to []byte) bool {
	for i := range to {
		b, is := m.bytes[at+uint64(i)]
		if !is {
			return false
		}
		to[i] = b
	}
	return true
}

func (m *image) put(at uint64, b ...byte) {
	for i, x := range b {
		m.bytes[at+uint64(i)] = x
	}
}

// object adds an object of words, with room behind it, and returns its tagged address.
func (m *image) object(words ...uint64) uint64 {
	at := m.next
	m.next += 1 << 12
	m.put(at, make([]byte, 1<<10)...)
	for i, w := range words {
		m.word(at+uint64(8*i), w)
	}
	return at + 1
}

func (m *image) word(at, w uint64) { m.put(at, binary.LittleEndian.AppendUint64(nil, w)...) }

// typed adds a map of a type.
func (m *image) typed(meta uint64, typ uint16) uint64 {
	v := m.object(meta)
	m.put(v-1+12, byte(typ), byte(typ>>8))
	return v
}

func small(n int) uint64 { return uint64(n) << 32 }

// numbers are the constants of Node.js 20.
func numbers() constants {
	return constants{"off_fp_function": -16, "off_fp_context_or_frame_type": -8, "class_HeapObject__map__Map": 0, "class_Map__instance_type__uint16_t": 12,
		"class_JSFunction__shared__SharedFunctionInfo": 24, "class_SharedFunctionInfo__name_or_scope_info__Object": 16, "class_SharedFunctionInfo__script_or_debug_info__HeapObject": 32,
		"class_Script__name__Object": 16, "class_Script__source__Object": 8, "class_String__length__int32_t": 12, "class_SeqOneByteString__chars__char": 16,
		"class_SeqTwoByteString__chars__char": 16, "class_ConsString__first__String": 16, "class_ConsString__second__String": 24, "class_ThinString__actual__String": 16,
		"class_SlicedString__parent__String": 16, "class_SlicedString__offset__SMI": 24, "SmiShiftSize": 31, "SmiValueShift": 1, "type_Map__MAP_TYPE": 255,
		"type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE": 262, "type_ScopeInfo__SCOPE_INFO_TYPE": 261, "type_Script__SCRIPT_TYPE": 167, "type_DebugInfo__DEBUG_INFO_TYPE": 153,
		"FirstNonstringType": 128, "StringRepresentationMask": 7, "StringEncodingMask": 8, "OneByteStringTag": 8, "SeqStringTag": 0, "ConsStringTag": 1, "SlicedStringTag": 3,
		"ThinStringTag": 5, "TaggedSize": 8, "SystemPointerSize": 8, "HeapObjectTag": 1, "frametype_ExitFrame": 3, "scopeinfo_idx_ncontextlocals": 2, "scopeinfo_idx_first_vars": 3}
}

// program is a heap with a function render of /srv/app.js, which begins in its third line.
type program struct {
	*image
	meta, oneByte, twoByte, cons, sliced, thin          uint64 // maps
	scopes, shareds, scripts, functions, odd            uint64
	name, path, source, scope, script, shared, function uint64
}

func newProgram() *program {
	p := &program{image: &image{bytes: make(map[uint64]byte), next: 1 << 20}}
	p.meta = p.object()
	p.word(p.meta-1, p.meta)
	p.put(p.meta-1+12, 255, 0)
	p.oneByte, p.twoByte, p.cons, p.sliced, p.thin = p.typed(p.meta, 8), p.typed(p.meta, 0), p.typed(p.meta, 9), p.typed(p.meta, 11), p.typed(p.meta, 13)
	p.scopes, p.shareds, p.scripts, p.functions, p.odd = p.typed(p.meta, 261), p.typed(p.meta, 262), p.typed(p.meta, 167), p.typed(p.meta, 2066), p.typed(p.meta, 131)
	p.name, p.path = p.text("render"), p.text("/srv/app.js")
	p.source = p.text("// a\n// b\nfunction render() {}\n")
	outer := p.object(p.scopes, 0, 0, 0)
	local := p.text("local")
	p.scope = p.object(p.scopes, 0, 0, small(1), local, 0, p.name, 0, small(25), small(30), outer)
	p.script = p.object(p.scripts, p.source, p.path)
	p.shared = p.object(p.shareds, 0, p.scope, 0, p.script)
	p.function = p.object(p.functions, 0, 0, p.shared)
	return p
}

func (p *program) text(s string) uint64 {
	v := p.object(p.oneByte)
	p.put(v-1+12, byte(len(s)), byte(len(s)>>8), 0, 0)
	p.put(v-1+16, []byte(s)...)
	return v
}

func (p *program) joined(m uint64, length int, fields ...uint64) uint64 {
	v := p.object(append([]uint64{m, 0}, fields...)...)
	p.put(v-1+12, byte(length), 0, 0, 0)
	return v
}

func newNames(t *testing.T, c constants, m Memory) *Names {
	l, err := c.layout()
	if err != nil {
		t.Fatal(err)
	}
	return NewNames(l, m)
}

// A function has its name, script and line, with the fields' offsets told and found by type, and after it has moved.
func TestFunction(t *testing.T) {
	for _, told := range []bool{true, false} {
		p, c := newProgram(), numbers()
		if !told {
			delete(c, "class_SharedFunctionInfo__name_or_scope_info__Object")
			delete(c, "class_SharedFunctionInfo__script_or_debug_info__HeapObject")
		}
		n := newNames(t, c, p)
		want := Function{Name: "render", Script: "/srv/app.js", Line: 3}
		for range 2 {
			if f, ok := n.Function(p.function); !ok || f != want {
				t.Errorf("%v, %v", f, ok)
			}
		}
		moved := p.object(p.functions, 0, 0, p.shared)
		p.word(p.function-1, moved-1)
		if f, ok := n.Function(p.function); !ok || f != want {
			t.Errorf("moved: %v, %v", f, ok)
		}
		p.word(p.shared-1+16, p.object(p.scopes, 0, 0, 0, p.text("other"), 0, small(1), small(4), p.scope))
		if f, ok := n.Function(p.function); !ok || f != (Function{Name: "other", Script: "/srv/app.js", Line: 1}) {
			t.Errorf("another function in its place: %v, %v", f, ok)
		}
	}
}

// Names are strings of each form that V8 has.
func TestNames(t *testing.T) {
	p := newProgram()
	two := p.object(p.twoByte)
	p.put(two-1+12, 3, 0, 0, 0, 0xfc, 0, 0xd8, 0, 0x16, 0x4e) // üØ世
	both := p.joined(p.cons, 9, p.name, two)
	n := newNames(t, numbers(), p)
	for want, at := range map[string]uint64{"render": p.name, "üØ世": two, "renderüØ世": both, "nde": p.joined(p.sliced, 3, p.name, small(2)),
		"derü": p.joined(p.sliced, 4, both, small(3)), "app": p.joined(p.thin, 3, p.text("app")), "": p.text("")} {
		if got, ok := n.text(at); !ok || got != want {
			t.Errorf("%q, %v, not %q", got, ok, want)
		}
	}
	external := p.joined(p.typed(p.meta, 10), 4, 0)
	ring := p.joined(p.cons, 9, p.name, 0)
	p.word(ring-1+24, ring)
	long := p.joined(p.oneByte, 9)
	p.put(long-1+12, 0xff, 0xff, 0xff, 0xff)
	if got, _ := n.text(ring); len(got) > 9 { // the length ends what is made of itself
		t.Errorf("of itself: %q", got)
	}
	for what, at := range map[string]uint64{"outside the heap": external, "of negative length": long, "no string": p.script, "a number": small(7), "nothing": 0x1234567} {
		if got, ok := n.text(at); ok {
			t.Errorf("%s: %q", what, got)
		}
	}
}

// What is no function has no name.
func TestTorn(t *testing.T) {
	p := newProgram()
	n := newNames(t, numbers(), p)
	for what, at := range map[string]uint64{"a script": p.script, "a string": p.name, "a context": p.object(p.odd, 0, 0, p.name), "half written": p.object(p.functions, 0, 0, 0),
		"moved to nowhere": p.object(1<<40, 0, 0, p.shared), "a number": small(3), "0": 0, "unmapped": 1<<44 + 1} {
		if f, ok := n.Function(at); ok {
			t.Errorf("%s: %v", what, f)
		}
	}
}

// A build that cannot be read says why.
func TestLayout(t *testing.T) {
	c := numbers()
	c["TaggedSize"] = 4
	if _, err := c.layout(); err == nil || !strings.Contains(err.Error(), "compressed pointers") {
		t.Error(err)
	}
	c = numbers()
	delete(c, "class_Script__name__Object")
	if _, err := c.layout(); err == nil || !strings.Contains(err.Error(), "v8dbg_class_Script__name__Object") {
		t.Error(err)
	}
	f, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	if _, err := ReadLayout(f); !errors.Is(err, ErrNone) {
		t.Errorf("of a program without V8: %v", err)
	}
}

// The constants of each node of this machine are complete.
func TestReadLayout(t *testing.T) {
	found, _ := filepath.Glob("../../../../../.tools/node-versions/*/node")
	if path, err := exec.LookPath("node"); err == nil {
		found = append(found, path)
	}
	if len(found) == 0 {
		t.Skip("it needs Node.js (node)")
	}
	for _, path := range found {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		l, err := ReadLayout(f)
		_ = f.Close()
		if err != nil || l.Function != -16 || l.Marker != -8 || !l.IsExit(3<<1) || len(l.exits) < 2 || l.IsExit(1<<1) {
			t.Errorf("%s: %+v, %v", path, l, err)
		}
	}
}

// Memory may hold anything.
func FuzzFunction(f *testing.F) {
	f.Add(uint64(0), uint64(1<<20+1), []byte{1})
	p := newProgram()
	f.Add(p.function-1+24, p.scope, []byte{9, 0, 0, 0})
	f.Add(p.scope-1+24, uint64(0), []byte{0, 0, 0, 0, 0xff, 0xff})
	l, _ := numbers().layout()
	f.Fuzz(func(t *testing.T, at, function uint64, with []byte) {
		p := newProgram()
		p.put(at, with...)
		n := NewNames(l, p)
		n.Function(function)
		if x, ok := n.Function(p.function); ok && len(x.Name) > 4*longestName {
			t.Errorf("a name of %d bytes", len(x.Name))
		}
		n.text(function)
	})
}
