package recording

// pool holds where the constants of a class are.
type pool struct {
	class *Class
	at    map[int64]int32 // by key; a chunk is shorter than 2 GiB
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
		p := c.pools[id]
		if p == nil {
			p = &pool{class: x, at: make(map[int64]int32, n)}
			c.pools[id] = p
		}
		for range n {
			key := body.long()
			at := body.at
			if skipValue(&body, x, 0); body.bad {
				return false
			}
			p.at[key] = int32(at)
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
	for range b.count() {
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
