package sentence

import (
	"fmt"

	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose"
)

// Stretch says which part of long evidence a diagnosis is of: "In the worst 12 min of 24 h, from
// 13:05:00 to 13:17:00 UTC: "; "" where it is of all of it.
func Stretch(d *diagnose.Diagnosis) string {
	w := d.Worst
	if w == nil {
		return ""
	}
	s := "In the worst " + units.Time((w.Until-w.From)*1e9)
	if w.Closely {
		s = "In the " + units.Time((w.Until-w.From)*1e9) + " recorded in full"
	}
	if w.Window.Duration != nil {
		s += " of " + units.Time(*w.Window.Duration*1e9)
	}
	return s + ", " + formatStretch(d.Window, w.From, w.Until) + ": "
}

// Stretches says what is found in each of the worst stretches of long evidence, beside what is
// found over all of it: "in 12 min, 13:05:00 to 13:17:00 UTC: 45 % of the slow time there is …".
func Stretches(d *diagnose.Diagnosis) (said []string) {
	for _, x := range d.Stretches {
		s := "in " + units.Time((x.Until-x.From)*1e9) + ", " + formatStretch(x.Window, x.From, x.Until) + ": "
		switch {
		case x.Again && x.Of != nil:
			s += units.Percent(*x.Of) + " of the slow time there is " + x.Cause
		case x.Of != nil:
			s += units.Percent(*x.Of) + " of the slow time there is " + x.Cause + ": " + x.Title
		default:
			s += x.Cause + ": " + x.Title
		}
		if x.Subject != "" && Several(d) {
			s += ", in " + x.Subject
		}
		said = append(said, s)
	}
	return said
}

// formatStretch says when a stretch was: by the clock where that is known, else from the beginning
// of the log.
func formatStretch(w diagnose.Window, from, until float64) string {
	if w.Start != nil && w.End != nil {
		return Window(w)
	}
	clock := func(s float64) string {
		n := int(s)
		return fmt.Sprintf("%d:%02d:%02d", n/3600, n/60%60, n%60)
	}
	return "from " + clock(from) + " to " + clock(until) + " of the log"
}
