package sentence

import (
	"fmt"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/operate/compare"
	"github.com/unstall/unstall/internal/operate/experiment"
)

// mostTold is how many metrics a sentence names of each kind.
const mostTold = 3

// Tried returns what a change did in one line: "thp=never instead of madvise: better: p99 −45 %
// (−52 to −37); changed: process CPU, system −62 % (−70 to −51)". Better or worse is
// said only of what users of the service notice: less CPU time is no gain where a limit took it.
func Tried(r *experiment.Result) string {
	what := fmt.Sprintf("%s=%s instead of %s", r.Setting, r.Tried, r.Was)
	if len(r.Comparison.Metrics) == 0 {
		return what + ": no metric of the process was recorded, so the effect is unknown."
	}
	better := listMetrics(r.Comparison, func(m *compare.Result) bool { return m.Gate && m.Result == compare.Improved })
	worse := listMetrics(r.Comparison, func(m *compare.Result) bool { return m.Gate && m.Result == compare.Regressed })
	changed := listMetrics(r.Comparison, func(m *compare.Result) bool {
		return !m.Gate && (m.Result == compare.Improved || m.Result == compare.Regressed)
	})
	var parts []string
	for _, x := range []struct{ lead, metrics string }{{"better", better}, {"worse", worse}, {"changed", changed}} {
		if x.metrics != "" {
			parts = append(parts, x.lead+": "+x.metrics)
		}
	}
	switch {
	case r.Blocks < stats.MinPairs:
		return fmt.Sprintf("%s: unclear: %s, at least %d needed", what, units.Plural(r.Blocks, "block"), stats.MinPairs)
	case len(parts) == 0:
		return fmt.Sprintf("%s: no significant difference in %s", what, units.Plural(r.Blocks, "block"))
	}
	return what + ": " + strings.Join(parts, "; ")
}

// listMetrics names the metrics that satisfy is, with their changes.
func listMetrics(c *compare.Comparison, match func(*compare.Result) bool) string {
	var all []string
	for i := range c.Metrics {
		m := &c.Metrics[i]
		if !match(m) {
			continue
		}
		change := Changed(m)
		if change == "" {
			change = Both(m)
		}
		all = append(all, m.Title+" "+change)
	}
	if n := len(all); n > mostTold {
		return strings.Join(all[:mostTold], ", ") + fmt.Sprintf(" and %d more", n-mostTold)
	}
	return strings.Join(all, ", ")
}

// TriedHow says what was changed, what it affects, and in which turns.
func TriedHow(r *experiment.Result) string {
	text := fmt.Sprintf("%s of %s: %s alternating with %s, ", r.Setting, r.Affects, r.Tried, r.Was)
	if r.File != "" {
		text = fmt.Sprintf("%s (%s) of %s: %s alternating with %s, ", r.Setting, r.File, r.Affects, r.Tried, r.Was)
	}
	seconds := func(s float64) string { return units.Time(s * float64(time.Second)) }
	text += fmt.Sprintf("%s of two turns of %s in random order (--seed %d), the first %s of each not counted", units.Plural(r.Blocks, "block"), seconds(r.TurnS), r.Seed, seconds(r.SettleS))
	if r.Early != "" {
		text += fmt.Sprintf("; %d were planned: %s", r.Planned, r.Early)
	}
	return text
}

// PutBack says whether the setting has its earlier value again.
func PutBack(r *experiment.Result) string {
	b := r.Restored
	switch {
	case b == nil:
		return fmt.Sprintf("no: %s was %s: set it yourself", r.Setting, r.Was)
	case b.Gone:
		return fmt.Sprintf("%s no longer exists: its process has ended", r.Setting)
	case b.Kept:
		return fmt.Sprintf("no: another process changed %s to %s, and unstall did not overwrite that (it was %s before)", r.Setting, b.Now, b.Was)
	}
	return fmt.Sprintf("yes: read back, %s is %s again", r.Setting, b.Now)
}
