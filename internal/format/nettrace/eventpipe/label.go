package eventpipe

// The kinds of a label.
const (
	labelActivity = 1 + iota
	labelRelated
	labelTrace
	labelSpan
	labelText
	labelNumber
	labelOpcode
	labelKeywords
	labelLevel
	labelVersion

	lastLabel = 0x80 // of its list
)

// Bounds of label lists between two sequence points.
const (
	maxLabelLists = 1 << 18
	maxLabelBytes = 32 << 20
)

// labelLists are the label lists since the last sequence point.
type labelLists struct {
	by    map[uint32]*Labels
	bytes int
}

func (ls *labelLists) get(id uint32) *Labels { return ls.by[id] }

func (ls *labelLists) flush() {
	clear(ls.by)
	ls.bytes = 0
}

// addBlock takes a block of label lists and says whether it was complete.
func (ls *labelLists) addBlock(data []byte, u *Unknown) bool {
	c := Cursor{data: data}
	id, count := c.U32(), c.U32()
	if ls.by == nil {
		ls.by = map[uint32]*Labels{}
	}
	ls.bytes += len(data)
	for ; count > 0; count-- {
		l, ok := readLabels(&c)
		if !ok {
			return false
		}
		if len(ls.by) < maxLabelLists && ls.bytes <= maxLabelBytes {
			ls.by[id] = l
		} else {
			u.Tags++
		}
		id++
	}
	return c.OK()
}

func readLabels(c *Cursor) (l *Labels, ok bool) {
	l = &Labels{}
	o := override{opcode: -1, level: -1, version: -1}
	plain := o
	for last := false; !last; {
		k := c.U8()
		last = k&lastLabel != 0
		switch k &^ lastLabel {
		case labelActivity:
			l.Activity = c.GUID()
		case labelRelated:
			l.Related = c.GUID()
		case labelTrace:
			l.TraceID = c.GUID()
		case labelSpan:
			l.SpanID = c.U64()
		case labelText:
			key, value := c.readCounted(), c.readCounted()
			if l.Text == nil {
				l.Text = map[string]string{}
			}
			l.Text[key] = value
		case labelNumber:
			key, value := c.readCounted(), c.Varint()
			if l.Number == nil {
				l.Number = map[string]int64{}
			}
			l.Number[key] = value
		case labelOpcode:
			o.opcode = int16(c.U8())
		case labelKeywords:
			o.keywords, o.hasKeywords = c.I64(), true
		case labelLevel:
			o.level = int16(c.U8())
		case labelVersion:
			o.version = int16(c.U8())
		default:
			return nil, false
		}
		if !c.OK() {
			return nil, false
		}
	}
	if o != plain {
		l.override = &o
	}
	return l, true
}
