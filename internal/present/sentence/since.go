package sentence

import (
	"time"

	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose"
)

// Since says since when requests are slow, or how far back the evidence goes; "" where nothing is
// wrong, or where the answer names its own stretch.
func Since(d *diagnose.Diagnosis) string {
	if d.Worst != nil || d.Outcome != diagnose.Found && d.Outcome != diagnose.NotExplained {
		return ""
	}
	o := requestOnset(d)
	if !Begins(d) {
		text := "throughout the recording"
		if d.Window.Start != nil {
			text += ": " + d.Window.Start.UTC().Format(time.DateTime) + " UTC"
		}
		return text
	}
	text := units.Time(o.From*1e9) + " in"
	if o.At != nil {
		text = o.At.UTC().Format(time.DateTime) + " UTC, " + text
	}
	return text + ": " + units.Percent(o.Since) + " of requests slow from then on, " + units.Percent(o.Before) + " before"
}

// Begins says whether the evidence shows when requests become slow.
func Begins(d *diagnose.Diagnosis) bool {
	o := requestOnset(d)
	return o != nil && o.Within
}

func requestOnset(d *diagnose.Diagnosis) *diagnose.Onset {
	if d.Requests == nil {
		return nil
	}
	return d.Requests.Onset
}

// More says where one slow request is shown, and where a program finds everything.
func More(d *diagnose.Diagnosis) []string {
	first := "timeline and figures: -o report.html"
	if r := d.Requests; r != nil && r.Slow > 0 {
		first = "one slow request: -o report.html"
	}
	return []string{first, "as JSON: --format json"}
}
