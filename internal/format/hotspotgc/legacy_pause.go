package hotspotgc

import (
	"github.com/unstall/unstall/internal/base/evidence"
)

// Triggers and failures in the words of the rest of the program.
const (
	cmsInitialMark = "CMS Initial Mark"
	cmsRemark      = "CMS Final Remark"

	promotionFailed  = "promotion failed"
	modeFailure      = "concurrent mode failure"
	modeInterrupted  = "concurrent mode interrupted"
	toSpaceExhausted = "to-space exhausted"
	toSpaceOverflow  = "to-space overflow"
)

var newPause = newEvent(evidence.StopTheWorld)

// endPause finishes the outermost bracket of a pause.
func (l *legacy) endPause(f *frame) {
	e := l.e
	if f.duration == unknown {
		l.strange = true
		return
	}
	if f.sizes.before != unknown {
		e.heap = f.sizes
	}
	e.end, e.line = e.start+f.duration, l.number
	switch f.kind {
	case fullFrame:
		e.pause, e.name = evidence.PauseFull, "Full GC"
	case g1Frame:
		e.name = g1Name(e.pause == evidence.PauseMixed, e.name != "")
		if e.pause != evidence.PauseMixed {
			e.pause = evidence.PauseYoung
		}
	case g1Remark:
		e.pause, e.name = evidence.PauseRemark, "GC remark"
	case pauseFrame:
		l.shenandoahEnded(f)
	case g1Cleanup:
		e.pause, e.name = evidence.PauseCleanup, "GC cleanup"
	default:
		l.classifyPause(f)
	}
	l.held, l.last, l.pauseEnd = true, timedPause, e.end
	l.o.clock.advanceTo(e.end)
}

// classifyPause decides the kind of "[GC …]" from its content.
func (l *legacy) classifyPause(f *frame) {
	e := l.e
	switch {
	case e.trigger == cmsInitialMark || e.pause == evidence.PauseInitialMark:
		e.pause, e.name = evidence.PauseInitialMark, "CMS-initial-mark"
		l.seen |= seenCMS
	case e.trigger == cmsRemark || e.pause == evidence.PauseRemark:
		e.pause, e.name = evidence.PauseRemark, "CMS-remark"
		l.seen |= seenCMS
	case e.pause == evidence.PauseFull: // the old generation was collected, too
	case f.used && e.name == "":
		e.name = "GC without a collection"
		l.seen |= seenCMS
	default:
		e.pause = evidence.PauseYoung
		if e.name == "" {
			e.name = "GC"
		}
	}
}

func g1Name(mixed, initial bool) string {
	switch {
	case mixed && initial:
		return "GC pause (mixed) (initial-mark)"
	case mixed:
		return "GC pause (mixed)"
	case initial:
		return "GC pause (young) (initial-mark)"
	}
	return "GC pause (young)"
}

// scanParentheses reads text in parentheses: the cause of a collection, and what went wrong in
// it.
func (l *legacy) scanParentheses(text []byte, i int) int {
	n := inParentheses(text[i:])
	if n < 0 || l.depth == 0 {
		l.strange = true
		return nextCollection(text, i+1)
	}
	j := i + n
	f := &l.stack[l.depth-1]
	switch s := text[i+1 : j]; string(s) {
	case promotionFailed, "promotion failed ":
		l.setFailure(promotionFailed)
	case modeFailure:
		l.setFailure(modeFailure)
	case modeInterrupted:
		l.setFailure(modeInterrupted)
	case toSpaceExhausted, "evacuation failed", "evacuation failure":
		l.setFailure(toSpaceExhausted)
	case toSpaceOverflow:
		l.setFailure(toSpaceOverflow)
	case "young":
	case "mixed", "partial":
		l.e.pause = evidence.PauseMixed
	case "initial-mark":
		l.e.name = "initial-mark"
	case "System":
		l.e.trigger = "System.gc()"
	default:
		if f.isPause() && l.depth == 1 && l.e.trigger == "" && len(s) > 0 && !isDigit(s[0]) {
			if l.trigger != string(s) { // most are the same as the one before
				l.trigger = l.o.internText(s)
			}
			l.e.trigger = l.trigger
		}
	}
	return j + 1
}

// inParentheses returns the end of the parentheses that s begins with, −1 if there are none.
func inParentheses(s []byte) int {
	level := 0
	for j, c := range s {
		if c == '(' {
			level++
		} else if c == ')' {
			if level--; level == 0 {
				return j
			}
		}
	}
	return -1
}

// setFailure sets what went wrong. A failed promotion often ends in a concurrent mode failure,
// which then decides the kind of the pause.
func (l *legacy) setFailure(what string) {
	switch l.e.failure {
	case "", promotionFailed:
		l.e.failure = what
	}
}

// scanDashes reads "--", which marks a young collection that ran out of room, and lines of ages.
func (l *legacy) scanDashes(text []byte, i int) int {
	s := text[i:]
	switch {
	case hasPrefix(s, "- age "):
		l.parseAge(s)
		return len(text)
	case hasPrefix(s, "---"), hasPrefix(s, "- "):
		l.setKind(statsLine)
		return len(text)
	case hasPrefix(s, "--") && l.depth > 0:
		if l.stack[0].kind == g1Frame {
			l.setFailure(toSpaceExhausted)
		} else {
			l.setFailure(promotionFailed)
		}
		return i + 2
	case hasPrefix(s, "->"):
		return i + 2
	case hasPrefix(s, "-Xlog"), hasPrefix(s, "-XX:"):
		l.setKind(bannerLine)
		return len(text)
	}
	l.strange = true
	return i + 1
}

// parseAge reads "- age   1:     108488 bytes,     108488 total".
func (l *legacy) parseAge(s []byte) {
	l.setKind(ageLine)
	for i := len(s) - len(" total"); i > 0; i-- {
		if s[i-1] == ' ' {
			if v, ok := parseDigits(s[i : len(s)-len(" total")]); ok && (l.depth > 0 || l.held) {
				l.e.survivors = v
			}
			return
		}
		if !isDigit(s[i-1]) {
			return
		}
	}
}

// parseTenuring reads "Desired survivor size 524288 bytes, new threshold 15 (max 15)".
func (l *legacy) parseTenuring(s []byte) {
	const before = "new threshold "
	for i := range s {
		if s[i] == 'n' && hasPrefix(s[i:], before) {
			v, n := int64(0), i+len(before)
			for ; n < len(s) && isDigit(s[n]) && v < 1000; n++ {
				v = v*10 + int64(s[n]-'0')
			}
			if l.depth > 0 || l.held {
				l.e.tenuring, l.e.survivors = v, max(l.e.survivors, 0)
			}
			return
		}
	}
}
