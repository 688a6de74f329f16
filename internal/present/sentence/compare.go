package sentence

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/operate/compare"
)

// Compared returns the answer of a comparison in a sentence or two: "Better: p99 6.4 → 3.5 ms,
// −45 % (−52 to −37). Of 12 metrics 5 improved, none regressed."
func Compared(c *compare.Comparison) string {
	if c.Refused() {
		return "Not comparable: " + c.Why + "."
	}
	lead, ok := leadingMetric(c)
	if !ok {
		return "Nothing to compare: no metric is known for both sides."
	}
	if c.IsLoadUnknown() {
		return comparedWithoutLoad(c)
	}
	count := make(map[string]int)
	for _, m := range c.Metrics {
		count[m.Result]++
	}
	s := map[string]string{compare.Improved: "Better", compare.Regressed: "Worse", compare.Same: "No change", compare.Unclear: "Not decided"}[lead.Result] + ": " + lead.Title + " " + changeOf(&lead)
	if lead.Result == compare.Unclear && lead.Why != "" {
		s += ": " + lead.Why // the change has parentheses of its own
	}
	switch {
	case lead.Allowed == nil:
	case lead.Result == compare.Unclear && *lead.Allowed > mostAllowed:
		s += "; " + formatRunCount(c.Pairs)
	default:
		s += fmt.Sprintf("; %s, so a difference between runs of up to %s was allowed for", formatRunCount(c.Pairs), units.Percent(*lead.Allowed))
	}
	if p99, ok := c.Of("p99_ms"); ok && p99.Result == compare.Unclear && lead.Name != p99.Name {
		s += "; p99 " + changeOf(&p99) + ", is not decided"
	}
	s += fmt.Sprintf(". Of %s %s improved, %s regressed", units.Plural(len(c.Metrics), "metric"), formatCountOrNone(count[compare.Improved]), formatCountOrNone(count[compare.Regressed]))
	if n := count[compare.Unclear]; n > 0 {
		s += fmt.Sprintf(", %d unclear", n)
	}
	if n := count[compare.Same]; n > 0 {
		s += fmt.Sprintf(", %d the same", n)
	}
	return s + "."
}

// IsWorse says whether the answer is that a metric got worse, which not every metric's regression makes a failure.
func IsWorse(c *compare.Comparison) bool {
	lead, ok := leadingMetric(c)
	return ok && !c.Refused() && lead.Result == compare.Regressed
}

// comparedWithoutLoad returns the answer of a comparison of runs whose load is unknown, as of captures without any request: what changed, by
// how much, and what none of it decides.
func comparedWithoutLoad(c *compare.Comparison) string {
	count := make(map[string]int)
	var lead *compare.Result
	for i := range c.Metrics {
		m := &c.Metrics[i]
		switch {
		case m.Moved == nil:
			count[""]++
		default:
			count[*m.Moved]++
		}
		if m.HasMoved() && (lead == nil || ratioFirst(m) && !ratioFirst(lead)) {
			lead = m
		}
	}
	changed := count[compare.MovedUp] + count[compare.MovedDown]
	var s string
	switch {
	case lead != nil:
		s = "Changed: " + lead.Title + " " + changeOf(lead)
	case count[""] == 0:
		s = "No change in what was recorded"
	default:
		s = "Not decided: no figure changed by more than two runs may differ"
	}
	s += fmt.Sprintf(". Of %s %s changed", units.Plural(len(c.Metrics), "metric"), formatCountOrNone(changed))
	if n := count[""]; n > 0 {
		s += fmt.Sprintf(", %d unclear", n)
	}
	return s + ". The load of the runs is unknown: nothing says whether requests are faster, or whether both runs had as much to do."
}

// ratioFirst says whether a metric depends little on how much a service has to do, so that it heads a report on runs of unknown load.
func ratioFirst(m *compare.Result) bool {
	switch m.Name {
	case "gc_cpu_share", "gc_pause_cpu_share", "longest_pause_ms", "throttled_share", "pool_waiters":
		return true
	}
	return false
}

// ForVerdict says what decides a comparison of runs whose load is unknown, or differed by itself; "" for any other.
func ForVerdict(c *compare.Comparison) string {
	if c.Refused() && c.Loads.Before.OfferedRate == nil && c.Loads.After.OfferedRate == nil {
		return "For a verdict: record both sides under the same load, with --load URL and --rate N."
	}
	if !c.IsLoadUnknown() || len(c.Metrics) == 0 {
		return ""
	}
	return "For a verdict: record both sides under the same --load URL, or put each capture and the access log of its time into a folder and compare the two folders."
}

// changeOf returns both figures of a metric and its change. Of several pairs, the change is the median of theirs and not that of the medians.
func changeOf(m *compare.Result) string {
	change := Changed(m)
	switch {
	case change == "":
		return Both(m)
	case m.Pairs > 1 && m.Change != nil && !isChangeOfMedians(m):
		return Both(m) + " (medians), pair by pair " + change
	}
	return Both(m) + ", " + change
}

// isChangeOfMedians says whether the change over the pairs is about that of the medians, so that a reader who divides them finds it.
func isChangeOfMedians(m *compare.Result) bool {
	const near = .03
	return *m.Before > 0 && math.Abs(*m.After / *m.Before - 1 - *m.Change) <= near*max(1, *m.After / *m.Before)
}

// ResultWord returns the word that a table has for a metric: its result, or of runs whose load is unknown what the figure did.
func ResultWord(c *compare.Comparison, m *compare.Result) string {
	switch {
	case !c.IsLoadUnknown() || m.Moved == nil:
		return m.Result
	case m.HasMoved():
		return "changed"
	}
	return compare.Same
}

// mostAllowed is the largest difference between runs that is written as a figure where nothing was decided; beyond it runs are too
// noisy, which the reason says.
const mostAllowed = 1

// Columns returns the titles of the columns with both figures of a metric and with its change: of one run each there is no median.
func Columns(c *compare.Comparison) (both, change string) {
	if c.Pairs == 1 {
		return "before → after", "change"
	}
	return "medians", "change, pair by pair"
}

// Remarks returns what a comparison says after its answer, a sentence each: what the host did, and what would decide it.
func Remarks(c *compare.Comparison) (all []string) {
	for _, text := range []string{HostChange(c), ForVerdict(c)} {
		if text != "" {
			all = append(all, text)
		}
	}
	return all
}

// HostChange says that the host was busier in one of the runs, which alone can explain a difference, or that it was busy in either
// and nothing was decided; "" if neither, or if the runs do not compare.
func HostChange(c *compare.Comparison) string {
	const large = .2 // of the time, or of the host's CPUs
	const busy = .5  // of the host's CPUs
	if c.Refused() {
		return "" // the reason says it
	}
	if m, ok := c.Of("cpu_pressure"); ok && m.Before != nil && m.After != nil && math.Abs(*m.After-*m.Before) >= large {
		return "The host was " + busierOrLess(*m.After > *m.Before) + " after the change: CPU pressure " + Both(&m) + "."
	}
	if b, a := c.Loads.Before.Others, c.Loads.After.Others; b != nil && a != nil && math.Abs(*a-*b) >= large {
		return "The host was " + busierOrLess(*a > *b) + " after the change: other processes used " + units.Percent(*b) + " → " + units.Percent(*a) + " of its CPUs."
	}
	lead, _ := leadingMetric(c)
	if b, a := c.Loads.Before.Others, c.Loads.After.Others; lead.Result == compare.Unclear && b != nil && a != nil && max(*b, *a) >= busy {
		return "Other processes used " + units.Percent(*b) + " and " + units.Percent(*a) + " of the host's CPUs during the runs: a quieter host decides smaller changes."
	}
	return ""
}

func busierOrLess(more bool) string {
	if more {
		return "busier"
	}
	return "less busy"
}

// CauseChanged returns the verdicts about a cause: "found → ruled out".
func CauseChanged(x *compare.CauseChange) string {
	return causeState(x.Before) + " → " + causeState(x.After)
}

func causeState(verdict *string) string {
	switch {
	case verdict == nil:
		return "not asked"
	case *verdict == check.Supported:
		return "found"
	}
	return Outcome(*verdict)
}

// CauseFigures returns the figures that decided a cause, one sentence for each side that was asked for it.
func CauseFigures(x *compare.CauseChange) (sides []string) {
	if x.BeforeSummary != "" {
		sides = append(sides, "before: "+x.BeforeSummary)
	}
	if x.AfterSummary != "" {
		sides = append(sides, "after: "+x.AfterSummary)
	}
	return sides
}

// CauseLines returns what the diagnoses of both sides say about causes, a line for each cause; none if they were not made.
func CauseLines(c *compare.Comparison) (lines []string) {
	for i := range c.Causes {
		x := &c.Causes[i]
		lines = append(lines, strings.Join(append([]string{x.Cause + "  " + CauseChanged(x)}, CauseFigures(x)...), " · "))
	}
	if c.Diagnosed && len(lines) == 0 {
		lines = []string{NoCauses}
	}
	return lines
}

// NoCauses is said where both runs were diagnosed and no cause was named.
const NoCauses = "no cause found before or after"

// formatRunCount says how many runs of each side decided.
func formatRunCount(pairs int) string {
	if pairs == 1 {
		return "one run each"
	}
	return units.Plural(pairs, "run") + " each"
}

// formatCountOrNone returns a count, "none" for 0.
func formatCountOrNone(n int) string {
	if n == 0 {
		return "none"
	}
	return units.Count(n)
}

// leadingMetric returns the metric that heads a report: the first regression that fails the
// comparison, else the p99 if it is decided, else the first improvement of a metric that may fail
// one, else another metric of requests that is decided, else the p99, else the first that is decided, else the first there is.
func leadingMetric(c *compare.Comparison) (compare.Result, bool) {
	if len(c.Metrics) == 0 {
		return compare.Result{}, false
	}
	if bad := c.Regressed(); len(bad) > 0 {
		for _, m := range bad {
			if m.Name == "p99_ms" {
				return m, true
			}
		}
		return bad[0], true
	}
	p99, ok := c.Of("p99_ms")
	if ok && p99.Result != compare.Unclear {
		return p99, true
	}
	for _, m := range c.Metrics {
		if m.Gate && m.Result == compare.Improved {
			return m, true
		}
	}
	if ok {
		if m := decidedLatency(c); m != nil {
			return *m, true
		}
		return p99, true
	}
	for _, m := range c.Metrics {
		if m.Result == compare.Improved || m.Result == compare.Regressed {
			return m, true
		}
	}
	return c.Metrics[0], true
}

// decidedLatency returns a metric of requests that is decided where the p99 is not; nil if there is none, or if such metrics went both ways.
func decidedLatency(c *compare.Comparison) (lead *compare.Result) {
	for _, name := range []string{"p90_ms", "mean_ms", "p999_ms", "slow_share"} {
		m, ok := c.Of(name)
		switch {
		case !ok || m.Result != compare.Improved && m.Result != compare.Regressed:
		case lead == nil:
			lead = &m
		case lead.Result != m.Result:
			return nil
		}
	}
	return lead
}

// Both returns the figures of both sides: "6.4 → 3.5 ms".
func Both(m *compare.Result) string { return units.Change(m.Before, m.After, nil, nil, m.Unit) }

// Changed returns a change and its interval, "−45 % (−52 to −37)"; "" if there was nothing
// before.
func Changed(m *compare.Result) string {
	if m.Change == nil {
		return formatDifference(m.DifferenceLow, m.DifferenceHigh, m.Unit)
	}
	s := formatChange(*m.Change)
	if !strings.HasPrefix(s, "×") {
		s += " %"
	}
	if m.Low != nil && m.High != nil {
		s += " (" + formatChange(*m.Low) + " to " + formatChange(*m.High) + ")"
	} else if m.Low != nil {
		s += " (from " + formatChange(*m.Low) + ")"
	}
	return s
}

// formatDifference returns the interval of a difference, "difference +3.1 to +5.3 %", where there was nothing before; "" if it is
// unknown or none.
func formatDifference(low, high *float64, unit string) string {
	if low == nil || high == nil || *low == 0 && *high == 0 {
		return ""
	}
	factor, name := units.Scale(unit, max(math.Abs(*low), math.Abs(*high)))
	signed := func(v float64) string {
		if v > 0 {
			return "+" + units.Num(v*factor)
		}
		return units.Num(v * factor)
	}
	return strings.TrimSpace("difference " + signed(*low) + " to " + signed(*high) + " " + name)
}

// formatChange returns a change with its sign: whole per cents, tenths where they matter; from ten
// times on as a factor.
func formatChange(v float64) string {
	if v >= 9 {
		return "×" + units.Num(1+v)
	}
	v *= 100
	decimals := 0
	if a := math.Abs(v); a < 9.95 || a > 95 && a < 99.95 {
		decimals = 1
	}
	rounded := math.Round(v*math.Pow10(decimals)) / math.Pow10(decimals)
	s := units.Num(rounded)
	if rounded > 0 {
		s = "+" + s
	}
	return s
}

// braces restores the braces of a pattern in a URL, which captures of earlier versions have escaped.
var braces = strings.NewReplacer("%7B", "{", "%7D", "}")

// latencyFrom says whose latencies a side's p50 and p99 are.
var latencyFrom = map[string]string{"intended": "latency seen by the client, from when a request was due", "send": "latency seen by the client, from when a request was sent",
	"server": "latency seen at the service"}

// Side returns the load of one side's runs, in words.
func Side(s *compare.Side) []string {
	items := []string{units.Plural(len(s.Runs), "run")}
	if s.URL != "" {
		items = append(items, braces.Replace(s.URL))
	}
	switch {
	case s.Mode == "closed" && s.Connections != nil:
		items = append(items, "closed loop, "+units.Plural(*s.Connections, "connection"))
	case s.Mode != "":
		items = append(items, s.Mode+" loop")
	}
	if s.OfferedRate != nil {
		items = append(items, units.Num(*s.OfferedRate)+"/s offered")
	}
	if s.Rate != nil {
		items = append(items, units.Num(*s.Rate)+"/s finished")
	}
	if s.DurationS != nil {
		items = append(items, units.Time(*s.DurationS*1e9))
	}
	if from := latencyFrom[s.LatencyFrom]; from != "" {
		items = append(items, from)
	}
	if s.Errors != nil {
		if *s.Errors == 0 {
			items = append(items, "no errors")
		} else {
			items = append(items, units.Percent(*s.Errors)+" errors")
		}
	}
	if s.Others != nil {
		items = append(items, "other processes used "+units.Percent(*s.Others)+" of the host's CPUs")
	}
	return items
}

// Doubt is why several metrics are unclear.
type Doubt struct {
	Why     string
	Metrics []string
}

func (d Doubt) String() string {
	between := ", "
	if slices.ContainsFunc(d.Metrics, func(name string) bool { return strings.Contains(name, ",") }) {
		between = "; "
	}
	return d.Why + ": " + strings.Join(d.Metrics, between)
}

// Doubts groups the unclear metrics by what makes them so.
func Doubts(c *compare.Comparison) (out []Doubt) {
	for _, m := range c.Metrics {
		if m.Result != compare.Unclear || m.Why == "" || c.IsLoadUnknown() && m.Moved != nil {
			continue
		}
		found := false
		for i := range out {
			if out[i].Why == m.Why {
				out[i].Metrics, found = append(out[i].Metrics, m.Title), true
			}
		}
		if !found {
			out = append(out, Doubt{m.Why, []string{m.Title}})
		}
	}
	for i := range out {
		if n := len(out[i].Metrics); n > 1 && n == len(c.Metrics) {
			out[i].Metrics = []string{"all metrics"}
		}
	}
	return out
}

// Pairs says what the results rest on.
func Pairs(c *compare.Comparison) string {
	s := units.Plural(c.Pairs, "pair") + " of runs"
	s += "; " + units.Percent(c.Level) + " intervals"
	if least, most, single := c.Allowed(); single {
		s += " of what varies within the runs; on top of it a difference between runs of "
		if units.Percent(least) != units.Percent(most) {
			s += units.Percent(least) + " to " + units.Percent(most) + ", by metric,"
		} else {
			s += "up to " + units.Percent(most)
		}
		s += " was allowed for"
	}
	if c.Seed != nil {
		s += fmt.Sprintf("; random order, --seed %d", *c.Seed)
	}
	return s
}
