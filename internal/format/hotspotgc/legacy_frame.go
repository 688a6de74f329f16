package hotspotgc

import "github.com/unstall/unstall/internal/base/evidence"

// frame is an open bracket.
type frame struct {
	kind frameKind
	name string // of a generation, a constant

	sizes    sizes
	duration int64 // ns
	used     bool  // the sizes are "used(capacity)": there was no collection
}

type frameKind uint8

const (
	detailFrame    frameKind = iota // its content is not used
	gcFrame                         // [GC …
	fullFrame                       // [Full GC …
	g1Frame                         // [GC pause …
	g1Remark                        // [GC remark …
	g1Cleanup                       // [GC cleanup …
	pauseFrame                      // [Pause Init Mark, Shenandoah's
	youngFrame                      // [ParNew: …
	oldFrame                        // [CMS: …
	metaFrame                       // [Metaspace: …, [CMS Perm : …
	initialFrame                    // [1 CMS-initial-mark: …
	remarkFrame                     // [1 CMS-remark: …
	heapFrame                       // [ 4096K->3936K(16M)], which G1 of JDK 6 prints below a pause
	histogramFrame                  // [Class Histogram, outside of a collection
	phaseFrame                      // [Concurrent marking, Shenandoah's
)

// maxDepth is deeper than any nesting.
const maxDepth = 16

func (f *frame) isPause() bool { return f.kind >= gcFrame && f.kind <= pauseFrame }

// frameName is the text behind a bracket; of two with the same beginning the longer comes first.
type frameName struct {
	text string
	kind frameKind
	name string
	from collectors
}

// frameNames are those of generations. open itself reads [GC…, [Full GC…, concurrent phases, [Eden: and
// [Times:.
var frameNames = [...]frameName{
	{"ParNew", youngFrame, "ParNew", seenParNew},
	{"PSYoungGen", youngFrame, "PSYoungGen", seenParallel},
	{"DefNew", youngFrame, "DefNew", seenDefNew},
	{"ASParNew", youngFrame, "ParNew", seenParNew},
	{"CMS Perm", metaFrame, perm, 0},
	{"CMS", oldFrame, "CMS", seenCMS},
	{"ASCMS", oldFrame, "CMS", seenCMS},
	{"ParOldGen", oldFrame, "ParOldGen", seenParallel},
	{"PSOldGen", oldFrame, "PSOldGen", seenParallel},
	{"Tenured", oldFrame, "Tenured", seenTenured},
	{"Train", oldFrame, "Train", 0},
	{"PSPermGen", metaFrame, perm, 0},
	{"Perm", metaFrame, perm, 0},
	{"Metaspace", metaFrame, "", 0},
	{"1 CMS-initial-mark", initialFrame, "CMS", seenCMS},
	{"1 CMS-remark", remarkFrame, "CMS", seenCMS},
	{"1 ASCMS-initial-mark", initialFrame, "CMS", seenCMS},
	{"1 ASCMS-remark", remarkFrame, "CMS", seenCMS},
}

// perm is what a permanent generation is called, whose capacity is of what it has, and that of a metaspace of what is reserved.
const perm = "perm"

// openBracket reads the text behind the bracket at i and returns the next position.
func (l *legacy) openBracket(text []byte, i int) int {
	s := text[i+1:]
	switch {
	case hasPrefix(s, "GC"):
		switch r := s[2:]; {
		case hasPrefix(r, " concurrent-"):
			return l.g1Phase(text, i+len("[GC "))
		case hasPrefix(r, " pause"):
			l.seen |= seenG1
			return l.openPause(g1Frame, i+len("[GC pause"))
		case hasPrefix(r, " remark"):
			l.seen |= seenG1
			return l.openPause(g1Remark, i+len("[GC remark"))
		case hasPrefix(r, " cleanup"):
			l.seen |= seenG1
			return l.openPause(g1Cleanup, i+len("[GC cleanup"))
		case hasPrefix(r, " Worker"), hasPrefix(r, " ref-proc"):
			return l.push(detailFrame, "", i+len("[GC "))
		case pauseFollows(r):
			return l.openPause(gcFrame, i+len("[GC"))
		}
	case hasPrefix(s, "Full GC") && pauseFollows(s[len("Full GC"):]):
		return l.openPause(fullFrame, i+len("[Full GC"))
	case hasPrefix(s, "Inc GC"):
		return l.openPause(gcFrame, i+len("[Inc GC"))
	case hasPrefix(s, "Times:"):
		return l.scanTimes(text, i+len("[Times:"))
	case hasPrefix(s, "Eden:"):
		return l.scanEden(text, i+1)
	case hasPrefix(s, "CMS-concurrent-"):
		return l.cmsPhase(text, i+len("[CMS-"))
	case hasPrefix(s, "ASCMS-concurrent-"):
		return l.cmsPhase(text, i+len("[ASCMS-"))
	case hasPrefix(s, "Class Histogram"):
		l.setKind(classLine)
		if l.depth > 0 {
			return l.push(detailFrame, "", i+1)
		}
		l.opened = l.takeTime()
		return l.push(histogramFrame, "", i+len("[Class Histogram"))
	case hasPrefix(s, "Pause "), hasPrefix(s, "Concurrent ") && len(s) > len("Concurrent ") && !isUpper(s[len("Concurrent ")]):
		return l.openShenandoah(text, i)
	}
	if f := frameOf(s); f != nil {
		l.seen |= f.from
		l.date, l.uptime = unknown, unknown
		return l.push(f.kind, f.name, i+1+len(f.text))
	}
	return l.openOther(text, i)
}

// frameOf returns the generation that s begins with, nil if there is none.
func frameOf(s []byte) *frameName {
	for j := range frameNames {
		if f := &frameNames[j]; hasPrefix(s, f.text) {
			return f
		}
	}
	return nil
}

// pauseFollows says whether "[GC" begins a collection, by the text behind it.
func pauseFollows(s []byte) bool {
	if len(s) == 0 {
		return true
	}
	switch c := s[0]; c {
	case ' ':
		return len(s) == 1 || !(s[1] >= 'a' && s[1] <= 'z') || hasPrefix(s, " invoke=")
	case '[', '(', ':', '-', '{', ',':
		return true
	default:
		return isDigit(c) || hasPrefix(s, "AdaptiveSize") || hasPrefix(s, "PSAdaptiveSize") || hasPrefix(s, "Before GC") || hasPrefix(s, "Desired") || hasPrefix(s, "GC ")
	}
}

// openOther opens a bracket for a part of a collection, or skips one
// that is not GC's.
func (l *legacy) openOther(text []byte, i int) int {
	if k, ok := otherBracket(text[i+1:]); ok {
		l.setKind(k)
		if l.depth == 1 && l.stack[0].kind == gcFrame && hasPrefix(text[i+1:], "YG occupancy") {
			l.e.pause = evidence.PauseRemark
		}
		return l.push(detailFrame, "", i+1)
	}
	if l.depth > 0 {
		return l.push(detailFrame, "", i+1)
	}
	if s := text[i+1:]; l.held && len(s) > 0 && (s[0] == ' ' || s[0] == '[') {
		return l.push(heapFrame, "", i+1)
	}
	l.strange = true
	return nextCollection(text, i+1)
}

func (l *legacy) push(kind frameKind, name string, next int) int {
	if l.depth == maxDepth {
		l.abandonPause()
		l.strange = true
	}
	f := &l.stack[l.depth]
	f.kind, f.name, f.duration, f.used = kind, name, unknown, false
	f.sizes = sizes{unknown, unknown, unknown}
	l.depth++
	return next
}

// openPause begins a pause, or a collection within one: CMS may collect the young
// generation first in its remark. Any other open pause has lost its end.
func (l *legacy) openPause(kind frameKind, next int) int {
	l.gave = true
	if l.depth > 0 && !(kind == gcFrame && l.isRemark()) {
		l.abandonPause()
	}
	if l.depth == 0 {
		l.flushPause()
		*l.e = newPause
		l.e.start, l.inner = l.takeTime(), unknown
		l.e.of = l.o.clock.current + 1 // the next line may be of another process
		l.begunAt, l.begunN = l.number, 0
	}
	l.date, l.uptime = unknown, unknown
	return l.push(kind, "", next)
}

// isRemark says whether the open pause is CMS's remark: by its trigger, or for JDKs that
// print none, by the figure at its beginning.
func (l *legacy) isRemark() bool {
	return l.stack[0].kind == gcFrame && (l.e.trigger == cmsRemark || l.e.pause == evidence.PauseRemark)
}

// closeBracket closes the innermost bracket.
func (l *legacy) closeBracket() {
	if l.depth == 0 {
		return
	}
	l.depth--
	f := &l.stack[l.depth]
	switch f.kind {
	case detailFrame:
	case heapFrame:
		if l.e.heap.before == unknown {
			l.e.heap = f.sizes
		}
	case histogramFrame:
		l.emitHistogram(f)
	case phaseFrame:
		l.phaseEnded(f)
	case youngFrame:
		l.setSizes(f, &l.e.young)
		l.e.youngTime = f.duration
		if l.e.name == "" {
			l.e.name = f.name
		}
	case oldFrame:
		l.setSizes(f, &l.e.old)
		l.e.name = combinedName(l.e.name, f.name)
		l.e.pause = evidence.PauseFull
	case metaFrame:
		if l.depth == 0 && !l.held { // behind a concurrent phase
			return
		}
		l.setSizes(f, &l.e.meta)
		l.e.perm = f.name == perm
	case initialFrame:
		l.setSizes(f, &l.e.old)
		l.e.pause = evidence.PauseInitialMark
	case remarkFrame:
		l.setSizes(f, &l.e.old)
		l.e.pause = evidence.PauseRemark
	default:
		if l.depth == 0 {
			l.endPause(f)
		} else { // the collection within a remark
			l.e.heap, l.inner = f.sizes, f.duration
		}
	}
}

// setSizes takes the sizes of a bracket within a pause, or behind one that has ended.
func (l *legacy) setSizes(f *frame, s *sizes) {
	if l.depth == 0 && !l.held {
		l.strange = true
		return
	}
	l.gave = true
	*s = f.sizes
}

// combinedName names a pause that collected both generations.
func combinedName(young, old string) string {
	switch young + old {
	case "ParNewCMS":
		return "ParNew + CMS"
	case "ParNewTenured":
		return "ParNew + Tenured"
	case "DefNewTenured":
		return "DefNew + Tenured"
	case "DefNewCMS":
		return "DefNew + CMS"
	}
	return old
}
