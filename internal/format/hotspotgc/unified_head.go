package hotspotgc

import (
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
)

// pauses are the beginnings of pause names of all collectors, longer ones first.
var pauses = []struct {
	words string
	pause evidence.Pause
	young bool // it collects the young generation; its first words in brackets say how
}{
	{"Pause Young (Mixed)", evidence.PauseMixed, true}, // G1, JDK 11 on
	{"Pause Young", evidence.PauseYoung, true},
	{"Pause Mixed", evidence.PauseMixed, true},          // G1, JDK 9 and 10
	{"Pause Initial Mark (", evidence.PauseYoung, true}, // G1, JDK 9 and 10: a young collection with it
	{"Pause Initial Mark", evidence.PauseInitialMark, false},
	{"Pause Full", evidence.PauseFull, false},
	{"Pause Remark", evidence.PauseRemark, false},
	{"Pause Cleanup", evidence.PauseCleanup, false},
	{"Pause Degenerated GC", evidence.PauseDegenerated, false}, // Shenandoah
	{"Pause Init Mark", evidence.PauseInitialMark, false},
	{"Pause Final Mark", evidence.PauseRemark, false},
	{"Pause Mark Start", evidence.PauseInitialMark, false}, // ZGC
	{"Pause Mark End", evidence.PauseRemark, false},
}

// ways are the words in brackets before the reason of a young collection.
var ways = map[string]bool{"Normal": true, "Concurrent Start": true, "Prepare Mixed": true, "Mixed": true}

// asides are words in brackets behind a phase that do not change its meaning.
var asides = map[string]bool{"process weakrefs": true, "unload classes": true, "update refs": true}

func newHead(text string) *head {
	text = strings.TrimSpace(text)
	generation := ""
	if len(text) > 3 && text[1] == ':' {
		generation, text = text[:3], text[3:]
	}
	h := &head{name: text}
	for _, p := range pauses {
		if strings.HasPrefix(text, p.words) {
			h.pause, h.young = p.pause, p.young
			break
		}
	}
	words, brackets := cutBrackets(text)
	h.name = words
	for i, s := range brackets {
		switch {
		case asides[s]:
		case strings.HasPrefix(s, "Evacuation Failure"):
			h.failure = strings.ToLower(s)
		case h.young && i == 0 && ways[s], !h.young && h.pause != evidence.PauseFull:
			h.name += " (" + s + ")"
		case h.trigger == "":
			h.trigger = s
		default:
			h.name += " (" + s + ")"
		}
	}
	if h.name == "" {
		h.name = text
	}
	h.name = generation + h.name
	return h
}

// cutBrackets removes the brackets at the end of words. It does not split nested brackets:
// "Pause Full (System.gc())" is "Pause Full" and "System.gc()".
func cutBrackets(text string) (words string, brackets []string) {
	words = text
	for strings.HasSuffix(words, ")") {
		depth, i := 0, len(words)-1
		for ; i >= 0; i-- {
			if words[i] == ')' {
				depth++
			} else if words[i] == '(' {
				if depth--; depth == 0 {
					break
				}
			}
		}
		if i < 1 || words[i-1] != ' ' {
			break
		}
		brackets = append([]string{words[i+1 : len(words)-1]}, brackets...)
		words = strings.TrimRight(words[:i], " ")
	}
	return words, brackets
}

// collectorOf returns the collector by the words of its pauses and phases, for logs that
// begin late; "" if others use the same words.
func collectorOf(text string) string {
	generational := strings.HasSuffix(text, "(Young)") || strings.HasSuffix(text, "(Global)") || strings.HasSuffix(text, "(Mixed)") || strings.Contains(text, "remembered set scanning")
	switch {
	case len(text) > 3 && text[1] == ':':
		return "generational ZGC"
	case strings.HasPrefix(text, "Pause Mark Start"), strings.HasPrefix(text, "Pause Relocate Start"):
		return "ZGC"
	case strings.Contains(text, "(G1 "), strings.HasPrefix(text, "Pause Young (Concurrent Start)"), strings.HasPrefix(text, "Pause Young (Normal)"):
		return "G1"
	case strings.HasPrefix(text, "Pause Init"), strings.HasPrefix(text, "Pause Degenerated"), strings.HasPrefix(text, "Concurrent reset"), strings.HasPrefix(text, "Concurrent remembered set"):
		if generational {
			return "generational Shenandoah"
		}
		return "Shenandoah"
	}
	return ""
}
