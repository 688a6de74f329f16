package replay

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/operate/watch/rule"
	"github.com/unstall/unstall/internal/operate/watch/series"
)

// Schema is the version of the JSON form: fields are added, never renamed.
const Schema = "unstall.watch/v1"

type checked struct {
	Schema   string    `json:"schema"`
	From     time.Time `json:"from"`
	Until    time.Time `json:"until"`
	Subjects []string  `json:"subjects"`
	Rules    int       `json:"rules"`
	Alarms   []Alarm   `json:"alarms"`
	Unheld   []string  `json:"not_held"` // rules whose series were not recorded
}

// Alarm is the JSON form of an alarm. Unknown is null.
type Alarm struct {
	Rule     string     `json:"rule"`
	Title    string     `json:"title"`
	Severity string     `json:"severity"`
	Subject  string     `json:"subject"`
	At       time.Time  `json:"at"`
	Since    time.Time  `json:"since"`
	Ended    *time.Time `json:"ended"`
	Series   string     `json:"series"`
	Value    float64    `json:"value"`
	Bound    *float64   `json:"bound"`
	Usual    *float64   `json:"usual"`
	Unit     string     `json:"unit"`
	Look     string     `json:"look"`
	Causes   []string   `json:"causes"`
}

// AlarmOf returns the JSON form of an event that began an alarm.
func AlarmOf(ev rule.Event) Alarm {
	s, _ := series.Of(ev.Rule.Series)
	known := func(v float64) *float64 {
		if math.IsNaN(v) {
			return nil
		}
		return &v
	}
	unit := s.Unit
	if ev.Rule.Period != nil {
		unit = "s"
	}
	return Alarm{Rule: ev.Rule.ID, Title: ev.Rule.Title, Severity: ev.Rule.Severity, Subject: ev.Subject.Key, At: utcTime(ev.At), Since: utcTime(ev.Since), Series: ev.Rule.Series,
		Value: ev.Value, Bound: known(ev.Bound), Usual: known(ev.Usual), Unit: unit, Look: ev.Rule.Look, Causes: append([]string{}, ev.Rule.Causes...)}
}

func utcTime(ns int64) time.Time { return time.Unix(0, ns).UTC() }

// findEnd returns when an alarm ended, 0 if it has not.
func (r *Result) findEnd(alarm rule.Event) int64 {
	for _, ev := range r.Events {
		if !ev.Fired && ev.Rule == alarm.Rule && ev.Subject == alarm.Subject && ev.At > alarm.At {
			return ev.At
		}
	}
	return 0
}

// JSON writes the result as JSON.
func (r *Result) JSON(w io.Writer, rules int) error {
	out := checked{Schema: Schema, From: utcTime(r.From), Until: utcTime(r.Until), Subjects: append([]string{}, r.Subjects...), Rules: rules, Alarms: []Alarm{}, Unheld: append([]string{}, r.Unheld...)}
	for _, ev := range r.Alarms() {
		a := AlarmOf(ev)
		if at := r.findEnd(ev); at != 0 {
			t := utcTime(at)
			a.Ended = &t
		}
		out.Alarms = append(out.Alarms, a)
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(out)
}

// Text writes the result for people. Of the user's own rules it also says why one raised no alarm.
func (r *Result) Text(w io.Writer, rules int, own []rule.Rule) error {
	var b strings.Builder
	alarms := r.Alarms()
	if len(r.Subjects) == 0 {
		b.WriteString("the recording has no series that rules use\n")
		_, err := io.WriteString(w, b.String())
		return err
	}
	fmt.Fprintf(&b, "%s of %s to %s UTC (%s), %s: %s\n", strings.Join(r.Subjects[:min(4, len(r.Subjects))], ", "), utcTime(r.From).Format("2006-01-02 15:04:05"),
		utcTime(r.Until).Format("2006-01-02 15:04:05"), formatLongDuration(r.Until-r.From), units.Plural(rules-len(r.Unheld), "rule"), units.Plural(len(alarms), "alarm"))
	for _, ev := range alarms {
		fmt.Fprintf(&b, "\n%s  %s  %s\n", utcTime(ev.At).Format("2006-01-02 15:04:05"), ev.Rule.ID, ev.Subject.Key)
		fmt.Fprintf(&b, "  %s: %s\n", ev.Rule.Title, Found(ev))
		if at := r.findEnd(ev); at != 0 {
			fmt.Fprintf(&b, "  ended after %s\n", formatLongDuration(at-ev.Since))
		} else {
			fmt.Fprintf(&b, "  still active at the end of the recording\n")
		}
		if ev.Rule.Look != "" {
			fmt.Fprintf(&b, "  look at %s\n", ev.Rule.Look)
		}
	}
	lacking := false
	for i := range own {
		if why := r.whyQuiet(&own[i]); why != "" {
			fmt.Fprintf(&b, "\n%s raised no alarm: %s\n", own[i].ID, why)
			_, recorded := r.reached[own[i].Series]
			lacking = lacking || !recorded
		}
	}
	if has := r.namedSeries(); lacking && len(has) > 0 {
		fmt.Fprintf(&b, "\nthis recording has these series of unstall watch --series: %s\n", strings.Join(has, ", "))
	}
	if len(r.Unheld) > 0 {
		fmt.Fprintf(&b, "\nnot checked, because their series were not recorded: %s\n", units.Plural(len(r.Unheld), "rule"))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// namedSeries returns the series of [series.Of] that were recorded, sorted: a rule can be tried with these.
func (r *Result) namedSeries() (ids []string) {
	for _, id := range slices.Sorted(maps.Keys(r.reached)) {
		if _, named := series.Of(id); named {
			ids = append(ids, id)
		}
	}
	return ids
}

// whyQuiet says why a rule raised no alarm, as far as the values of its series tell; "" if it raised one.
func (r *Result) whyQuiet(of *rule.Rule) string {
	if slices.ContainsFunc(r.Alarms(), func(ev rule.Event) bool { return ev.Rule.ID == of.ID }) {
		return ""
	}
	reached, recorded := r.reached[of.Series]
	if !recorded {
		return of.Series + " was not recorded"
	}
	unit := "count"
	if s, ok := series.Of(of.Series); ok {
		unit = s.Unit
	}
	simple := of.Period == nil && of.Usual == nil && of.Than == "" && (of.Take == rule.Mean || of.Take == rule.Max || of.Take == rule.Min)
	switch {
	case simple && of.Above != nil && reached.most <= *of.Above:
		return fmt.Sprintf("%s was at most %s, and it needs more than %s", of.Series, units.Of(reached.most, unit), units.Of(*of.Above, unit))
	case simple && of.Below != nil && reached.least >= *of.Below:
		return fmt.Sprintf("%s was at least %s, and it needs less than %s", of.Series, units.Of(reached.least, unit), units.Of(*of.Below, unit))
	}
	why := fmt.Sprintf("%s was from %s to %s, but the condition did not hold for %s", of.Series, units.Of(reached.least, unit), units.Of(reached.most, unit), max(of.For, of.Over))
	if len(of.And) > 0 {
		why += " together with those under and"
	}
	return why
}

// Found describes the value of an alarm's series in words: "820 MiB, above 512 MiB (1.5 × the usual 341 MiB)".
func Found(ev rule.Event) string {
	c := &ev.Rule.Condition
	unit := "count"
	if s, ok := series.Of(c.Series); ok {
		unit = s.Unit
	}
	if c.Period != nil {
		return fmt.Sprintf("every %s", units.Of(ev.Value, "s"))
	}
	switch c.Take {
	case rule.Climb:
		return fmt.Sprintf("by %s a second for %s, more than %s", units.Of(ev.Value, unit), c.Over, units.Num(ev.Bound))
	case rule.Sum:
		return fmt.Sprintf("%s within %s", units.Num(math.Round(ev.Value*10)/10), c.Over)
	}
	word := "above"
	if c.Below != nil {
		word = "below"
	}
	out := fmt.Sprintf("%s, %s %s", units.Of(ev.Value, unit), word, units.Of(ev.Bound, unit))
	switch {
	case c.Usual != nil && ev.Bound > *c.Above*ev.Usual:
		out += fmt.Sprintf(" (usual: %s)", units.Of(ev.Usual, unit))
	case c.Usual != nil:
		out += fmt.Sprintf(" (%s × the usual %s)", units.Num(*c.Above), units.Of(ev.Usual, unit))
	case c.Than != "":
		out += fmt.Sprintf(" (%s × %s)", units.Num(*c.Above), c.Than)
	}
	held := time.Duration(max(ev.At-ev.Since, int64(c.Over)))
	if held > time.Second {
		held = held.Round(time.Second) // readings once per second are some ms off
	}
	return out + " for " + rule.Duration(held).String()
}

// formatLongDuration returns a time in words: "20 days", "3m20s".
func formatLongDuration(ns int64) string {
	d := time.Duration(ns)
	if d >= 48*time.Hour {
		return units.Plural(int(math.Round(d.Hours()/24)), "day")
	}
	return d.Round(time.Second).String()
}
