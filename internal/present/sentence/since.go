package sentence

import (
	"cmp"
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
	if o != nil && o.Bursts != nil {
		return formatBursts(o.Bursts)
	}
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

// formatBursts says when requests were slow that are slow in bursts.
func formatBursts(b *diagnose.Bursts) string {
	text := "in " + units.Count(b.Count) + " bursts of " + units.Time(b.LastS*1e9)
	if b.EveryS != nil {
		text += ", every " + units.Time(*b.EveryS*1e9)
	}
	return text + ": " + units.Percent(b.Slow) + " of requests slow in them, " + units.Percent(b.Between) + " between"
}

// Begins says whether the evidence shows when requests become slow.
func Begins(d *diagnose.Diagnosis) bool {
	o := requestOnset(d)
	return o != nil && (o.Within || o.Bursts != nil)
}

func requestOnset(d *diagnose.Diagnosis) *diagnose.Onset {
	if d.Requests == nil {
		return nil
	}
	return d.Requests.Onset
}

// More says where one slow request is shown, and where a program finds everything.
func More(d *diagnose.Diagnosis) []string {
	if r := d.Requests; r != nil && r.Slow > 0 {
		return []string{"one slow request: unstall explain " + cmp.Or(d.File, "FILE"), "a page: -o report.html"}
	}
	return []string{"timeline and figures: -o report.html", "as JSON: --format json"}
}
