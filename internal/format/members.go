package format

import (
	"bytes"
	"encoding/json"
)

// claimMembers claims the texts of several lines that stand as messages in an object of JSON over several lines, as the pages of log stores show an
// entry and people copy it:
//
//	"jsonPayload": {
//	  "message": "Thread dump\n\n\"main\" prio=5 Id=1 RUNNABLE\n\tat …",
func (p *paste) claimMembers(formats []Format, lines []Line) bool {
	some := false
	for i := range lines {
		text := memberText(lines[i].Text)
		if text == nil {
			continue
		}
		var within []Line
		for part := range bytes.SplitSeq(text, newLine) {
			if len(within) == mostPasted {
				break
			}
			x := lines[i]
			x.Text = bytes.TrimRight(part, "\r")
			within = append(within, x)
		}
		some = p.claimAny(formats, trimBlank(within)) || some
	}
	if some {
		p.changed = true
	}
	return some
}

// memberText returns the text of a line that has one member of an object, a message of several lines; nil of other lines.
func memberText(l []byte) []byte {
	l = bytes.TrimSuffix(bytes.TrimSpace(l), []byte(","))
	if len(l) == 0 || l[0] != '"' || bytes.Count(l, []byte(`\n`)) < leastEscaped {
		return nil
	}
	for _, k := range messageKeys {
		rest, ok := bytes.CutPrefix(l, []byte(k))
		if !ok {
			continue
		}
		rest, ok = bytes.CutPrefix(bytes.TrimLeft(rest, " "), []byte(":"))
		var s string
		if !ok || json.Unmarshal(bytes.TrimSpace(rest), &s) != nil {
			return nil
		}
		return []byte(s)
	}
	return nil
}
