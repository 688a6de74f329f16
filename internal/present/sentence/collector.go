package sentence

import (
	"strings"

	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose"
)

// describeCollectors says how much GC paused each process, and whether GC is ruled out; "" where
// requests were seen. It is what a GC log alone can tell for certain.
func describeCollectors(d *diagnose.Diagnosis) string {
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
		if isAcquitted(&c) {
			text += ": GC does not make it slow"
		}
		s = append(s, text+".")
	}
	return strings.Join(s, " ")
}

// longEnough is how many seconds a collector must be watched to be ruled out: one in trouble collects several times in them.
const longEnough = 5

// isAcquitted says whether a collector was watched for long enough to say that it does not make
// the program slow.
func isAcquitted(c *diagnose.Collector) bool {
	return c.RuledOut && c.Stopped != nil && c.WatchedS >= longEnough
}

// gcIsWell says whether GC is ruled out in all processes that were watched, and no request was
// seen.
func gcIsWell(d *diagnose.Diagnosis) bool {
	if d.Outcome != diagnose.NotJudged || d.Requests != nil || d.AtRequests != nil || len(d.Collectors) == 0 {
		return false
	}
	for _, c := range d.Collectors {
		if !isAcquitted(&c) {
			return false
		}
	}
	return true
}
