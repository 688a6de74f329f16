package recording

// pool holds where the constants of a class are.
type pool struct {
	found []constant

	// Made when one is first asked for: most pools are never.
	first int64
	dense []int32         // places by key from first on, 0: none
	at    map[int64]int32 // where keys lie far apart
	ready bool
}

// constant is a key and where its value is; a chunk is shorter than 2 GiB.
type constant struct {
	key int64
	at  int32
}

// find returns where a constant is. The JVM counts stacks and threads, whose keys so lie side by side.
func (p *pool) find(key int64) (int, bool) {
	if !p.ready {
		p.index()
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

func (p *pool) index() {
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

// constants notes where each constant is. One that comes again is the same.
func (c *Chunk) constants() {
	for _, at := range c.checks {
		if !c.checkpoint(c.from(at)) {
			c.Unread++
		}
	}
}

// checkpoint reads one from behind its type.
func (c *Chunk) checkpoint(body cursor) bool {
	body.long() // start
	body.long() // duration
	body.long() // how far it is to the one before
	body.byte() // its kind
	for range body.int() {
		id := body.long()
		n := body.count()
		x := c.Classes[id]
		if body.bad || x == nil {
			return false
		}
		if x.pool == nil {
			x.pool = new(pool)
		}
		p := x.pool
		for range n {
			key := body.long()
			at := body.at
			if skipValue(&body, x, 0); body.bad {
				return false
			}
			p.found = append(p.found, constant{key, int32(at)})
		}
	}
	return !body.bad
}

// skipValue goes over a value of a class.
func skipValue(b *cursor, x *Class, depth int) {
	if x == nil || depth > mostDepth {
		b.fail()
		return
	}
	switch x.kind {
	case oneByte:
		b.skip(1)
	case twoBytes:
		b.number(2)
	case fourBytes:
		b.number(4)
	case eightBytes:
		b.number(8)
	case floatKind:
		b.skip(4)
	case doubleKind:
		b.skip(8)
	case stringKind:
		b.skipString()
	default:
		if x.numbers > 0 && !b.wide {
			b.skipNumbers(x.numbers)
			return
		}
		if len(x.Fields) == 0 { // takes no room: a million of them would be none
			b.fail()
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
	n := b.count()
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
		b.number(8)
	} else {
		skipValue(b, f.Class, depth+1)
	}
}
