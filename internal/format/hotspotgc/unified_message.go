package hotspotgc

// message reads what follows the decorators.
func (u *unified) message(b []byte, number int64, decorated bool) {
	id, text := numbered(b)
	if id != unknown {
		u.seen = true
	}
	if len(text) == 0 {
		u.o.ignore(emptyLine)
		return
	}
	if c := text[0]; c == ' ' || c == '-' || c == '=' {
		if id == unknown && !decorated && !u.indented(text) {
			u.o.ignore(otherLine)
			return
		}
		if u.paced(text, number) {
			return
		}
		u.indent(id, text)
		return
	}
	if len(text) > 3 && text[1] == ':' && text[2] == ' ' && (text[0]|0x20 == 'y' || text[0] == 'O') {
		u.generation(id, text, number)
		return
	}
	if u.event(id, text, number) {
		return
	}
	if text[0] == '#' && u.o.late(text, number) {
		u.o.ignore(safepointLine)
		return
	}
	for _, words := range overheadWords {
		if has(text, words) {
			u.o.overhead(text, number)
			u.o.ignore(statsLine)
			return
		}
	}
	if k, ok := knownMessage(text); ok {
		u.o.ignore(k)
		return
	}
	if k, ok := knownTags(u.mark.tags); ok {
		u.o.ignore(k)
		return
	}
	if u.mark.debug {
		u.o.ignore(debugLine)
		return
	}
	if !decorated && id == unknown {
		u.o.ignore(otherLine)
		return
	}
	u.o.unknownLine(b, number)
}
