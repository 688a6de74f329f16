package hotspotgc

// parseMessage reads what follows the decorators.
func (u *unified) parseMessage(b []byte, number int64, decorated bool) {
	id, text := cutNumber(b)
	if id != unknown {
		u.seen = true
	}
	if len(text) == 0 {
		u.o.countIgnored(emptyLine)
		return
	}
	if c := text[0]; c == ' ' || c == '-' || c == '=' {
		if id == unknown && !decorated && !u.isIndented(text) {
			u.o.countIgnored(otherLine)
			return
		}
		if u.parsePacing(text, number) {
			return
		}
		u.parseIndented(id, text)
		return
	}
	if len(text) > 3 && text[1] == ':' && text[2] == ' ' && (text[0]|0x20 == 'y' || text[0] == 'O') {
		u.parseGeneration(id, text, number)
		return
	}
	if u.parseEvent(id, text, number) {
		return
	}
	if text[0] == '#' && u.o.countLateThread(text, number) {
		u.o.countIgnored(safepointLine)
		return
	}
	for _, words := range overheadWords {
		if hasPrefix(text, words) {
			u.o.countOverhead(text, number)
			u.o.countIgnored(statsLine)
			return
		}
	}
	if k, ok := knownMessage(text); ok {
		u.o.countIgnored(k)
		return
	}
	if k, ok := knownTags(u.mark.tags); ok {
		u.o.countIgnored(k)
		return
	}
	if u.mark.debug {
		u.o.countIgnored(debugLine)
		return
	}
	if !decorated && id == unknown {
		u.o.countIgnored(otherLine)
		return
	}
	u.o.unknownLine(b, number)
}
