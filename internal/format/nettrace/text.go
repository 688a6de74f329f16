package nettrace

import "github.com/unstall/unstall/internal/format/nettrace/eventpipe"

// textStore keeps the names of methods in their UTF-16 form, in blocks.
type textStore struct {
	blocks  [][]byte
	text    []byte // reused
	writing int    // the block that texts are copied to, from 1; 0: none

	// Blocks of the stream itself are kept for the texts in them.
	streamBytes int // of these blocks
	textBytes   int // of the texts in them
}

// textAt is the position of a text: without pointers, so that GC need not scan
// methods and sorting them needs no write barrier.
type textAt struct{ block, from, size uint32 }

const (
	leastBlock = 4 << 10
	textBlock  = 256 << 10
)

// keepText copies the bytes of an event.
func (t *textStore) keepText(b []byte) textAt {
	if len(b) > textBlock {
		b = b[:textBlock]
	}
	last := t.writing - 1
	if last < 0 || len(t.blocks[last])+len(b) > cap(t.blocks[last]) {
		size := leastBlock
		if last >= 0 {
			size = min(textBlock, 2*cap(t.blocks[last]))
		}
		last = len(t.blocks)
		t.blocks = append(t.blocks, make([]byte, 0, max(size, len(b))))
		t.writing = last + 1
	}
	from := len(t.blocks[last])
	t.blocks[last] = append(t.blocks[last], b...)
	return textAt{uint32(last), uint32(from), uint32(len(b))}
}

// spareBytes is how many more bytes the kept blocks of a stream may have than twice their texts.
const spareBytes = 1 << 20

// keepInBlock keeps the block of an event for b, the end of its payload, instead of copying it. Where texts are too small a part of the
// blocks that were kept so far it copies b.
func (t *textStore) keepInBlock(e *eventpipe.Event, b []byte) textAt {
	if len(b) == 0 || len(b) > textBlock {
		return t.keepText(b)
	}
	block, end := e.Block()
	last := len(t.blocks) - 1
	if last < 0 || &t.blocks[last][:1][0] != &block[0] {
		if t.streamBytes+cap(block) > 2*t.textBytes+spareBytes {
			return t.keepText(b)
		}
		e.KeepBlock()
		t.streamBytes += cap(block)
		t.blocks = append(t.blocks, block)
		last++
	}
	t.textBytes += len(b)
	return textAt{uint32(last), uint32(end - len(b)), uint32(len(b))}
}

func (t *textStore) bytesAt(p textAt) []byte {
	if p.size == 0 {
		return nil
	}
	return t.blocks[p.block][p.from : p.from+p.size]
}

// formatFrame formats a method as dotnet-stack prints it:
// Module!Namespace.Type.Method(parameters). It is valid until the next one.
func (t *textStore) formatFrame(m *method, modules map[uint64]string) []byte {
	namespace, rest := cutUTF16(t.bytesAt(m.name))
	name, rest := cutUTF16(rest)
	signature, _ := cutUTF16(rest)
	b := t.text[:0]
	if module := modules[m.module]; module != "" {
		b = append(b, module...)
	} else {
		b = append(b, '?')
	}
	b = append(b, '!')
	if len(namespace) > 0 {
		b = eventpipe.AppendUTF16(b, namespace)
		b = append(b, '.')
	}
	b = eventpipe.AppendUTF16(b, name)
	for i := 0; ; i += 2 {
		if i+1 >= len(signature) {
			b = append(b, "()"...)
			break
		}
		if signature[i] == '(' && signature[i+1] == 0 {
			b = eventpipe.AppendUTF16(b, signature[i:])
			break
		}
	}
	t.text = b
	for _, c := range b {
		if c < ' ' || c == 0x7f || len(b) > maxText {
			return []byte(cleanText(string(b)))
		}
	}
	return b
}

// cutUTF16 cuts off a string, up to its zero or the end.
func cutUTF16(b []byte) (s, rest []byte) {
	for i := 0; i+1 < len(b); i += 2 {
		if b[i] == 0 && b[i+1] == 0 {
			return b[:i], b[i+2:]
		}
	}
	return b[:len(b)&^1], b[len(b)&^1:]
}
