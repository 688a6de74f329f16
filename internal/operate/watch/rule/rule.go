// Package rule has the rules for watched figures. A rule says what a series must show for an alarm to begin and to end. It
// is a few lines of YAML; the shipped rules are in default.yaml.
//
// Its opinion: an alarm may cost somebody's night. So a rule has a minimum time before it holds and another before it ends,
// and it ends at a lower bound than it begins. An unknown figure neither begins nor ends an alarm. A figure that grows with
// the service is compared with its usual value, not with a fixed number.
//
// The package computes on points and their times. It reads no clock and opens no file. State that outlives a process is a
// [Usual] that the caller stores.
package rule

import (
	"fmt"
	"slices"
	"time"
)

// Rule says which condition to watch for, and what to do about it.
type Rule struct {
	ID        string           `yaml:"id"`    // "dotnet.loh-size"
	Title     string           `yaml:"title"` // what happens, in one line
	Condition `yaml:",inline"` // the condition of the rule's own series
	And       []Condition      `yaml:"and"`       // further conditions that must hold at the same time: a list, each with a series and a bound
	For       Duration         `yaml:"for"`       // how long the conditions must hold before an alarm
	Clear     *float64         `yaml:"clear"`     // the alarm ends below it (above it if the rule has below); default: a tenth short of the bound
	ClearFor  Duration         `yaml:"clear-for"` // how long the value must be clear; default: as long as For, one minute at least
	Look      string           `yaml:"look"`      // where to look next
	Causes    []string         `yaml:"causes"`    // IDs of possible causes
	Severity  string           `yaml:"severity"`  // page, warn or note; default warn
	Line      int              `yaml:"-"`         // line in the file
}

// severities are in ascending order.
var severities = []string{"note", "warn", "page"}

// Graver says whether a rule is more severe than another.
func (r *Rule) Graver(than string) bool {
	return slices.Index(severities, r.Severity) > slices.Index(severities, than)
}

// Condition is what one series must show. One of Above, Below and Period is set. With Usual or Than, Above is a factor.
type Condition struct {
	Series string   `yaml:"series"` // which series must show it: unstall watch --series lists them
	Take   Take     `yaml:"take"`   // how the points of Over become one value: mean, max, min, climb (growth per second) or sum; default mean
	Over   Duration `yaml:"over"`   // the time that one value is of; default 10 s
	Above  *float64 `yaml:"above"`  // the bound that the value must exceed, in the series' unit
	Below  *float64 `yaml:"below"`  // the bound that it must fall below, likewise
	Usual  *Days    `yaml:"usual"`  // Above is a factor of the median of the daily maxima of the days before
	Than   string   `yaml:"than"`   // Above is a factor of this series
	Period *Period  `yaml:"period"` // the series repeats with a constant period
}

// Take says how the points of a time become one value.
type Take string

// Ways to take a value.
const (
	Mean  Take = "mean"
	Max   Take = "max"
	Min   Take = "min"
	Climb Take = "climb" // growth per second, if the series hardly ever falls
	Sum   Take = "sum"   // total count of a rate
)

// Days are the days that decide the usual value.
type Days struct {
	Days  int     `yaml:"days"`  // how many; default 14
	Least int     `yaml:"least"` // fewer known days give no usual value; default 3
	Floor float64 `yaml:"floor"` // smaller values are never unusual
}

// Period says when a series counts as repeating.
type Period struct {
	Least Duration `yaml:"least"` // shortest; default 10 s
	Most  Duration `yaml:"most"`  // longest; default 15 min
	Times int      `yaml:"times"` // number of occurrences needed; default 5
	Above float64  `yaml:"above"` // values above it count as an occurrence
}

// Duration is a time as people write it: 30s, 5m, 14d.
type Duration time.Duration

// UnmarshalText parses a time such as 30s, 5m or 14d.
func (d *Duration) UnmarshalText(text []byte) error {
	s := string(text)
	if n := len(s); n > 1 && s[n-1] == 'd' {
		var days float64
		if _, err := fmt.Sscanf(s, "%gd", &days); err == nil && days >= 0 && days < 1000 {
			*d = Duration(days * 24 * float64(time.Hour))
			return nil
		}
	}
	v, err := time.ParseDuration(s)
	if err != nil || v < 0 {
		return fmt.Errorf("%q is not a time: give 10s, 5m or 2h", s)
	}
	*d = Duration(v)
	return nil
}

// MarshalText returns the time as [Duration.String] does.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// String returns the time as Prometheus and people write it: "30s", "5m", "1h30m".
func (d Duration) String() string {
	v := time.Duration(d)
	if v == 0 {
		return "0s"
	}
	out := ""
	for _, u := range []struct {
		of   time.Duration
		name string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "m"}, {time.Second, "s"}, {time.Millisecond, "ms"}} {
		if n := v / u.of; n > 0 {
			out += fmt.Sprintf("%d%s", n, u.name)
			v -= n * u.of
		}
	}
	return out
}
