// Package rule has the rules by which figures are watched: what they say of a series, when
// one holds, when it does no longer. A rule is a few lines of YAML; those that come with the
// program are in default.yaml.
//
// Its opinion: an alarm is somebody's night. So a rule needs a minimum of time before it holds
// and another before it ends, the bound at which it ends lies below the one at which it
// begins, a figure that is not known is no reason for either, and what grows with a service is
// held against what was usual for it, not against a number somebody chose.
//
// It is a function of points and their times: it asks no clock, opens no file, and what it has
// to remember for longer than a process lives is a [Usual] that its caller keeps.
package rule

import (
	"fmt"
	"slices"
	"time"
)

// Rule is what is watched for, and what to do about it.
type Rule struct {
	ID        string           `yaml:"id"`    // "dotnet.loh-size"
	Title     string           `yaml:"title"` // what happens, in one line
	Condition `yaml:",inline"` // of the series that the rule is about
	And       []Condition      `yaml:"and"`       // what must hold as well
	For       Duration         `yaml:"for"`       // how long it must hold before it is an alarm
	Clear     *float64         `yaml:"clear"`     // the alarm ends below it (above it where the rule has below); default: a tenth short of the bound
	ClearFor  Duration         `yaml:"clear-for"` // for that long; default: as long as For, one minute at least
	Look      string           `yaml:"look"`      // what to look at next
	Causes    []string         `yaml:"causes"`    // which it may be
	Severity  string           `yaml:"severity"`  // page, warn or note; default warn
	Line      int              `yaml:"-"`         // of the file
}

// severities in the order of how grave they are.
var severities = []string{"note", "warn", "page"}

// Graver says whether a rule is of a graver severity than another's.
func (r *Rule) Graver(than string) bool {
	return slices.Index(severities, r.Severity) > slices.Index(severities, than)
}

// Condition is what must hold of one series. One of Above, Below and Period says what; with
// Usual, or Than, Above is a factor of that.
type Condition struct {
	Series string   `yaml:"series"`
	Take   Take     `yaml:"take"`   // what of the points of Over counts; default mean
	Over   Duration `yaml:"over"`   // default 10 s
	Above  *float64 `yaml:"above"`  // in the series' unit
	Below  *float64 `yaml:"below"`  // likewise
	Usual  *Days    `yaml:"usual"`  // Above is a factor: of the median of the maxima of so many days before
	Than   string   `yaml:"than"`   // Above is a factor: of this series
	Period *Period  `yaml:"period"` // it comes back, again and again after the same time
}

// Take is what of the points of a time counts.
type Take string

// What can be taken.
const (
	Mean  Take = "mean"
	Max   Take = "max"
	Min   Take = "min"
	Climb Take = "climb" // growth per second, where it nearly never falls
	Sum   Take = "sum"   // of a rate: how many there were
)

// Days are those that say what is usual.
type Days struct {
	Days  int     `yaml:"days"`  // how many; default 14
	Least int     `yaml:"least"` // nothing is usual before there are as many; default 3
	Floor float64 `yaml:"floor"` // what is less than this is never unusual
}

// Period says what counts as coming back.
type Period struct {
	Least Duration `yaml:"least"` // shortest; default 10 s
	Most  Duration `yaml:"most"`  // longest; default 15 min
	Times int      `yaml:"times"` // how often it must have come; default 5
	Above float64  `yaml:"above"` // what of the series counts as that it came
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
