package eventpipe

// fieldParser reads the fields of a type. Once bad, it returns nothing more:
// the type then has no fields, and the stream goes on.
type fieldParser struct {
	c    *Cursor
	left int // fields that may still be kept
	bad  bool
}

func (p *fieldParser) ok() bool { return !p.bad && p.c.OK() }

// parseFields4 parses fields as version 4 has them: a type, then a name.
func (p *fieldParser) parseFields4(depth int) []Field {
	return p.parseList(int(p.c.I32()), depth, func() Field {
		f := p.parseType(func() TypeCode { return p.parseCode(p.c.U32()) }, Decimal+3, p.parseFields4, depth)
		f.Name = p.c.UTF16()
		return f
	})
}

// parseFields5 parses fields as version 5 has them in a tag: a size, a name, then a type.
func (p *fieldParser) parseFields5(depth int) []Field {
	return p.parseList(int(p.c.I32()), depth, func() Field {
		size := int(p.c.I32())
		return p.parseWithin(size-4, func() Field {
			name := p.c.UTF16()
			f := p.parseType(func() TypeCode { return p.parseCode(p.c.U32()) }, Array, p.parseFields5, depth)
			f.Name = name
			return f
		})
	})
}

// parseFields6 parses fields as version 6 has them.
func (p *fieldParser) parseFields6(depth int) []Field {
	return p.parseList(int(p.c.U16()), depth, func() Field {
		return p.parseWithin(int(p.c.U16()), func() Field {
			name := p.c.readCounted()
			f := p.parseType(func() TypeCode { return p.parseCode(uint32(p.c.U8())) }, Boolean8, p.parseFields6, depth)
			f.Name = name
			return f
		})
	})
}

func (p *fieldParser) parseCode(c uint32) TypeCode {
	if c > 0xff {
		p.bad = true
		return 0
	}
	return TypeCode(c)
}

// parseList parses n fields.
func (p *fieldParser) parseList(n, depth int, field func() Field) []Field {
	if n < 0 || n > p.c.Len() || depth > maxDepth { // each is a byte at least
		p.bad = true
		return nil
	}
	var fields []Field
	for ; n > 0 && p.ok(); n-- {
		if p.left--; p.left < 0 {
			p.left, p.bad = 0, true
			break
		}
		fields = append(fields, field())
	}
	return fields
}

// parseWithin parses a field in size bytes and skips the rest of them.
func (p *fieldParser) parseWithin(size int, field func() Field) Field {
	outer := p.c
	inner := Cursor{data: outer.Bytes(size)}
	if !outer.OK() {
		return Field{}
	}
	p.c = &inner
	f := field()
	if !inner.OK() {
		p.bad = true
	}
	p.c = outer
	return f
}

// parseType parses a type up to the highest code in this version.
func (p *fieldParser) parseType(code func() TypeCode, highest TypeCode, fields func(depth int) []Field, depth int) (f Field) {
	f.Type = code()
	if !p.ok() {
		return f
	}
	switch {
	case f.Type > highest || f.Type == 0 || f.Type == 2:
		p.bad = true
	case f.Type == Object:
		f.Fields = fields(depth + 1)
	case f.Type == Array || f.Type == FixedArray || f.Type == RelLoc || f.Type == DataLoc:
		if p.left--; p.left < 0 || depth >= maxDepth {
			p.left, p.bad = max(p.left, 0), true
			return f
		}
		elem := p.parseType(code, highest, fields, depth+1)
		f.Elem = &elem
		if f.Type == FixedArray {
			f.Count = int(p.c.U16())
		}
	}
	return f
}
