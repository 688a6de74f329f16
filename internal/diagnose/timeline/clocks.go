package timeline

import "github.com/unstall/unstall/internal/base/evidence"

// placeClocks decides which clocks' times go on the timeline: all that know the time of day if
// that of the requests does, else the requests' own and those that were aligned with it by GC
// cycles.
func (l *layout) placeClocks() {
	b := l.b
	var head evidence.ClockID = -1
	if l.ledger != nil {
		for _, a := range []evidence.ArtifactID{l.ledger.Requests.Source, l.ledger.Source} {
			if at := l.of[a]; at >= 0 {
				if c := l.sources[at].clock; head < 0 || !b.Clocks[head].Anchored() && b.Clocks[c].Anchored() {
					head = c
				}
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
		moved := l.alignedClocks()
		for i := range b.Clocks {
			l.placed[i] = l.placed[i] || moved[head] && moved[i]
		}
	}
	l.t.Anchored = head >= 0 && b.Clocks[head].Anchored()
	for i := range l.sources {
		s := &l.sources[i]
		s.name = l.nameOf(s.artifacts)
		s.placed = l.placed[s.clock]
	}
}

// alignedClocks says which of the clocks that do not know the time of day agree with each other:
// those that were aligned by the GC cycles they saw, and the one they were aligned with.
func (l *layout) alignedClocks() []bool {
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
		if k == evidence.GCMark {
			cycles[b.Intervals.Clock.At(i)]++
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
