package nettrace

import (
	"bytes"
	"strings"
	"unicode/utf16"
)

// textStore keeps the names of methods as they came, in UTF-16, in blocks.
type textStore struct{ block []byte }

const (
	leastBlock = 4 << 10
	textBlock  = 256 << 10
)

// keep copies the bytes of an event.
func (t *textStore) keep(b []byte) []byte {
	if len(b) > textBlock {
		b = b[:textBlock]
	}
	if len(t.block)+len(b) > cap(t.block) {
		t.block = make([]byte, 0, max(leastBlock, len(b), min(textBlock, 2*cap(t.block))))
	}
	from := len(t.block)
	t.block = append(t.block, b...)
	return t.block[from:len(t.block):len(t.block)]
}

// frame is a method as dotnet-stack prints it: Module!Namespace.Type.Method(parameters).
func (t *textStore) frame(m *method, modules map[uint64]string) string {
	rest := m.name
	var namespace, name, signature string
	namespace, rest = utf16z(rest)
	name, rest = utf16z(rest)
	signature, _ = utf16z(rest)
	if i := strings.IndexByte(signature, '('); i >= 0 {
		signature = signature[i:]
	} else {
		signature = "()"
	}
	module := modules[m.module]
	if module == "" {
		module = "?"
	}
	if namespace != "" {
		namespace += "."
	}
	return clean(module + "!" + namespace + name + signature)
}

// utf16z takes a string off, up to its zero or the end.
func utf16z(b []byte) (string, []byte) {
	end := len(b) &^ 1
	for i := 0; i+1 < len(b); i += 2 {
		if b[i] == 0 && b[i+1] == 0 {
			end = i
			break
		}
	}
	units := make([]uint16, 0, end/2)
	for i := 0; i < end; i += 2 {
		units = append(units, uint16(b[i])|uint16(b[i+1])<<8)
	}
	return string(utf16.Decode(units)), bytes.TrimPrefix(b[end:], []byte{0, 0})
}
