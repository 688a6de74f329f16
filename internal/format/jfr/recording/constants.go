package recording

// pool has the positions of the constants of a class.
type pool struct {
	found []constant

	// It is built on first use: most pools are never used.
	first int64
	dense []int32         // positions by key from first on, 0: none
	at    map[int64]int32 // if keys are sparse
	ready bool
}

// constant is a key and the position of its value; a chunk is shorter than 2 GiB.
type constant struct {
	key int64
	at  int32
}

// find returns the position of a constant. The JVM numbers stacks and threads consecutively, so their keys are dense.
func (p *pool) find(key int64) (int, bool) {
	if !p.ready {
		p.buildIndex()
	}
	if p.dense != nil {
		if i := uint64(key) - uint64(p.first); i < uint64(len(p.dense)) {
			return int(p.dense[i]), p.dense[i] != 0
		}
		return 0, false
	}
	at, ok := p.at[key]
	return int(at), ok
}

func (p *pool) buildIndex() {
	p.ready = true
	if len(p.found) == 0 {
		return
	}
	first, last := p.found[0].key, p.found[0].key
	for _, c := range p.found {
		first, last = min(first, c.key), max(last, c.key)
	}
	if span := uint64(last) - uint64(first); span < 4*uint64(len(p.found))+64 {
		p.first, p.dense = first, make([]int32, span+1)
		for _, c := range p.found {
			p.dense[uint64(c.key)-uint64(first)] = c.at
		}
		return
	}
	p.at = make(map[int64]int32, len(p.found))
	for _, c := range p.found {
		p.at[c.key] = c.at
	}
}

// indexConstants records the position of each constant. Repeated constants are equal.
func (c *Chunk) indexConstants() {
	for _, at := range c.checks {
		if !c.decodeCheckpoint(c.cursorAt(at)) {
			c.Unread++
		}
	}
}

// decodeCheckpoint decodes a checkpoint from behind its type.
func (c *Chunk) decodeCheckpoint(body cursor) bool {
	body.readLong() // start
	body.readLong() // duration
	body.readLong() // distance to the previous one
	body.readByte() // its kind
	for range body.readInt() {
		id := body.readLong()
		n := body.readCount()
		x := c.Classes[id]
		if body.bad || x == nil {
			return false
		}
		if x.pool == nil {
			x.pool = new(pool)
		}
		p := x.pool
		for range n {
			key := body.readLong()
			at := body.at
			if skipValue(&body, x, 0); body.bad {
				return false
			}
			p.found = append(p.found, constant{key, int32(at)})
		}
	}
	return !body.bad
}

// skipValue skips a value of a class.
func skipValue(b *cursor, x *Class, depth int) {
	if x == nil || depth > mostDepth {
		b.markBad()
		return
	}
	switch x.kind {
	case oneByte:
		b.skipBytes(1)
	case twoBytes:
		b.readNumber(2)
	case fourBytes:
		b.readNumber(4)
	case eightBytes:
		b.readNumber(8)
	case floatKind:
		b.skipBytes(4)
	case doubleKind:
		b.skipBytes(8)
	case stringKind:
		b.skipString()
	default:
		if x.numbers > 0 && !b.wide {
			b.skipNumbers(x.numbers)
			return
		}
		if len(x.Fields) == 0 { // it has no size: a million of them would still be empty
			b.markBad()
		}
		for i := range x.Fields {
			if skipField(b, &x.Fields[i], depth); b.bad {
				return
			}
		}
	}
}

func skipField(b *cursor, f *Field, depth int) {
	if !f.Array {
		skipOne(b, f, depth)
		return
	}
	n := b.readCount()
	if x := f.Class; !b.wide && !f.Pooled && x != nil && x.numbers > 0 && depth < mostDepth {
		b.skipNumbers(n * x.numbers) // a stack has a thousand of them
		return
	}
	for range n {
		if skipOne(b, f, depth); b.bad {
			return
		}
	}
}

func skipOne(b *cursor, f *Field, depth int) {
	if f.Pooled {
		b.readNumber(8)
	} else {
		skipValue(b, f.Class, depth+1)
	}
}
