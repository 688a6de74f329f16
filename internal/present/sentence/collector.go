package sentence

import (
	"strings"

	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose"
)

// collectors says how much GC stopped each process, where nobody saw what requests met of it, and whether it is
// ruled out: of a GC log that is what can be told for certain.
func collectors(d *diagnose.Diagnosis) string {
	if d.Requests != nil {
		return ""
	}
	var s []string
	for _, c := range d.Collectors {
		if c.Stopped == nil {
			continue
		}
		text := "GC pauses the program "
		if Several(d) {
			text = "GC pauses " + c.Subject + " "
		}
		watched := units.Ms(c.WatchedS * 1e3)
		if c.Pauses == 0 {
			text = strings.TrimSuffix(text, " ") + " 0 times in " + watched
		} else {
			text += units.Percent(*c.Stopped) + " of " + watched
			if c.LongestMs != nil && *c.LongestMs > 0 {
				text += ", for " + units.Ms(*c.LongestMs) + " at most"
			}
		}
		if acquitted(&c) {
			text += ": GC does not make it slow"
		}
		s = append(s, text+".")
	}
	return strings.Join(s, " ")
}

// longEnough (s) is a collector watched to be acquitted: one that is in trouble collects several times in that.
const longEnough = 5

// acquitted says whether a collector was watched for long enough to say that it is not what makes the program slow.
func acquitted(c *diagnose.Collector) bool {
	return c.RuledOut && c.Stopped != nil && c.WatchedS >= longEnough
}

// gcIsWell says whether GC is ruled out in all that was watched, and nobody saw anything that is slow.
func gcIsWell(d *diagnose.Diagnosis) bool {
	if d.Outcome != diagnose.NotJudged || d.Requests != nil || d.AtRequests != nil || len(d.Collectors) == 0 {
		return false
	}
	for _, c := range d.Collectors {
		if !acquitted(&c) {
			return false
		}
	}
	return true
}
