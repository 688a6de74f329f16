package timeline

import "github.com/unstall/unstall/evidence"

// place decides which clocks' times go on the time line: all that know the time
// of day if that of the requests does, else the requests' own and those that
// were laid on it by their cycles.
func (l *layout) place() {
	b := l.b
	l.clocks = make([]int, len(b.Artifacts))
	for i := range l.clocks {
		l.clocks[i] = -1
	}
	note := func(o evidence.Origin, c evidence.ClockID) {
		if a, ok := o.Artifact(); ok && int(a) < len(l.clocks) && l.clocks[a] < 0 {
			l.clocks[a] = int(c)
		}
	}
	for _, c := range b.Coverage {
		note(c.Origin, c.Clock)
	}
	var head evidence.ClockID = -1
	for i := range b.Requests.Len() {
		note(b.Requests.Origin[i], b.Requests.Clock[i])
	}
	if l.ledger != nil {
		for _, a := range []evidence.ArtifactID{l.ledger.Requests.Source, l.ledger.Source} {
			if c := l.clocks[a]; c >= 0 && (head < 0 || !b.Clocks[head].Anchored() && b.Clocks[c].Anchored()) {
				head = evidence.ClockID(c)
			}
		}
	}
	if head < 0 {
		for _, c := range b.Coverage {
			if c.Subject == l.subject && (head < 0 || !b.Clocks[head].Anchored() && b.Clocks[c.Clock].Anchored()) {
				head = c.Clock
			}
		}
	}
	l.placed = make([]bool, len(b.Clocks))
	l.head = head
	if head < 0 || b.Clocks[head].Anchored() {
		for i := range b.Clocks {
			l.placed[i] = b.Clocks[i].Anchored()
		}
	} else {
		l.placed[head] = true
		moved := l.moved()
		for i := range b.Clocks {
			l.placed[i] = l.placed[i] || moved[head] && moved[i]
		}
	}
	l.t.Anchored = head >= 0 && b.Clocks[head].Anchored()
	for i := range l.sources {
		s := &l.sources[i]
		s.name = l.nameOf(s.artifacts)
		s.placed = l.isPlaced(s.artifacts[0])
	}
}

// moved says which of the clocks that do not know the time of day agree with each
// other: those that were laid on one of them by the cycles they saw, and that one.
func (l *layout) moved() []bool {
	b := l.b
	out := make([]bool, len(b.Clocks))
	any := false
	for i := range b.Clocks {
		if c := &b.Clocks[i]; !c.Anchored() && c.Offset != 0 {
			out[i], any = true, true
		}
	}
	if !any {
		return out
	}
	const enough = 3 // cycles that Align asks for
	cycles := make([]int, len(b.Clocks))
	for i, k := range b.Intervals.Kind {
		if a, ok := b.Intervals.Origin[i].Artifact(); k == evidence.GCMark && ok && l.clocks[a] >= 0 {
			cycles[l.clocks[a]]++
		}
	}
	for i, n := range cycles {
		if c := &b.Clocks[i]; n >= enough && !c.Anchored() && c.Offset == 0 {
			out[i] = true
			break
		}
	}
	return out
}

// isPlaced says whether an artifact's times are on the time line. One without a
// clock of its own, a profile say, has no times to place.
func (l *layout) isPlaced(a evidence.ArtifactID) bool {
	return int(a) < len(l.clocks) && l.clocks[a] >= 0 && l.placed[l.clocks[a]]
}
