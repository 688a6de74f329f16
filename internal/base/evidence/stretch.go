package evidence

import (
	"path/filepath"
	"strings"
)

// Stretch is the part of a process's life in one piece of a rotated log. Such pieces name no process; they belong to one process if one
// continues the other.
type Stretch struct {
	Subject     SubjectID
	Began       int64 // when the process began, ns since the epoch; 0 unknown
	From, Until int64 // on the process's own clock, ns; -1 unknown
	First, Last int64 // numbers of its collections; -1 unknown

	artifact ArtifactID
	clock    ClockID
	format   string
}

// Stretch records the process of a piece of a log.
func (p *Builder) Stretch(s Stretch) {
	s.artifact, s.clock, s.format = p.Artifact, p.clock, p.format
	p.bundle.stretches = append(p.bundle.stretches, s)
}

// joinStretches merges processes if a piece of a log of one begins where a piece of the other ends. It returns what it renamed.
func (b *Bundle) joinStretches() map[SubjectID]bool {
	gone := make(map[SubjectID]bool)
	for again := true; again; {
		again = false
		for i := range b.stretches {
			for j := range b.stretches {
				x, y := &b.stretches[i], &b.stretches[j]
				if x.Subject == y.Subject || !b.isContinued(x, y) || !b.Agree(b.Subjects[x.Subject], b.Subjects[y.Subject]) {
					continue
				}
				to, from := min(x.Subject, y.Subject), max(x.Subject, y.Subject)
				b.mergeSubject(&b.Subjects[to], b.Subjects[from])
				b.renameSubject(from, to)
				gone[from], again = true, true
			}
		}
	}
	for i := range b.stretches {
		for j := range b.stretches[:i] {
			x, y := &b.stretches[j], &b.stretches[i]
			if x.Subject == y.Subject && x.clock != y.clock && x.Began == 0 && y.Began == 0 {
				b.sameClock(y.clock, x.clock)
				y.clock = x.clock
				break
			}
		}
	}
	return gone
}

// dateStretches dates a log that counts from its process's start, by another log of the same process that gives the start. If several
// processes follow each other, it counts on.
func (b *Bundle) dateStretches() {
	whose, several := make(map[ClockID]SubjectID), make(map[ClockID]bool)
	for i := range b.stretches {
		s := &b.stretches[i]
		if first, ok := whose[s.clock]; ok && first != s.Subject {
			several[s.clock] = true
		}
		whose[s.clock] = s.Subject
	}
	for i := range b.stretches {
		y := &b.stretches[i]
		k := &b.Clocks[y.clock]
		if k.Anchored() || k.Resolution == 0 || y.Began != 0 || several[y.clock] {
			continue
		}
		for j := range b.stretches {
			if x := &b.stretches[j]; x.Subject == y.Subject && x.Began != 0 && x.format == y.format {
				k.Offset, k.Error = x.Began, 2*k.Resolution
				break
			}
		}
	}
}

// atOnce is how many collections may run at once: concurrent ones and young ones within. The first number of a piece may differ by this
// much from the number that follows the last.
const atOnce = 4

// isContinued reports whether y continues x.
func (b *Bundle) isContinued(x, y *Stretch) bool {
	if x.artifact == y.artifact || x.format != y.format || x.From < 0 || y.From < 0 || y.From < x.Until {
		return false
	}
	if x.Began != 0 && y.Began != 0 {
		return abs(x.Began-y.Began) <= startSlack
	}
	if x.Last >= 0 && y.First >= 0 {
		return y.First <= x.Last+atOnce && y.First > x.Last-atOnce && y.Last >= x.Last
	}
	return trimRotation(b.Artifacts[x.artifact].Name) == trimRotation(b.Artifacts[y.artifact].Name)
}

// trimRotation removes what rotation adds to a name: gc.log.3, gc.log.0.current, gc.log.1.gz.
func trimRotation(name string) string {
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".current")
	if ext := filepath.Ext(name); len(ext) > 1 && strings.Trim(ext[1:], "0123456789") == "" {
		name = strings.TrimSuffix(name, ext)
	}
	return name
}

// sameClock moves the rows of one clock to another that counts from the same moment.
func (b *Bundle) sameClock(from, to ClockID) {
	if b.Clocks[from].Anchored() || b.Clocks[to].Anchored() {
		return
	}
	b.Intervals.Clock.Replace(from, to)
	for i := range b.Coverage {
		if b.Coverage[i].Clock == from {
			b.Coverage[i].Clock = to
		}
	}
}
