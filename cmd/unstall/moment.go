package main

import (
	"fmt"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
)

// stretch is the requested time.
type stretch struct {
	Since moment `placeholder:"TIME" help:"Only events from this time on: RFC 3339, 14:02:00 (UTC; since the start in a log without dates), 520s (after the start) or -10m (before the end)."`
	Until moment `placeholder:"TIME" help:"Only events until this time."`
}

// resolvePeriod returns both times for a bundle, zero for an open end. It prints the times it chose if they were not given in full.
func (c *stretch) resolvePeriod(b *evidence.Bundle, s *session) (since, until time.Time, err error) {
	since, until = c.Since.resolveTime(b), c.Until.resolveTime(b)
	for _, said := range []string{c.Since.formatTaken("since", since, b.Dated()), c.Until.formatTaken("until", until, b.Dated())} {
		if said != "" {
			s.printNote("%s", said)
		}
	}
	if !since.IsZero() && !until.IsZero() && !since.Before(until) {
		return since, until, fmt.Errorf("--since %s is not before --until %s", formatMoment(since, b.Dated()), formatMoment(until, b.Dated()))
	}
	return since, until, nil
}

// formatMoment formats a time; in a log without dates, as the time since its beginning.
func formatMoment(t time.Time, dated bool) string {
	if !dated && t.Year() == 1970 { // time since the log began; but a user may have asked for a date in 1970
		return t.Sub(time.Unix(0, 0)).Round(time.Millisecond).String()
	}
	return t.UTC().Format(time.RFC3339)
}

// moment is a time as users type it. It has a date, or is a time of day on the day of the evidence (in a log without dates, since
// the log began), or is relative: "-10m" before the end of the evidence, "520s" after its beginning.
type moment struct {
	time     time.Time
	relative time.Duration
	ofDay    bool
	present  bool
	text     string
}

func (m *moment) UnmarshalText(text []byte) error {
	m.present, m.text = true, string(text)
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly} {
		if t, err := time.Parse(layout, m.text); err == nil {
			m.time = t
			return nil
		}
	}
	if d, err := time.ParseDuration(m.text); err == nil && d != 0 {
		m.relative = d
		return nil
	}
	m.ofDay = true
	for _, layout := range []string{"15:04:05", "15:04"} {
		if t, err := time.Parse(layout, string(text)); err == nil {
			m.time = t
			return nil
		}
	}
	return fmt.Errorf("%q is not a time: give 2026-11-20T14:02:00Z, 14:02:00 (UTC), 520s (after the start) or -10m (before the end)", text)
}

// resolveTime returns the time in a bundle's period. A time of day becomes the one closest to the middle of the evidence. Without a
// given time it returns the zero time.
func (m moment) resolveTime(b *evidence.Bundle) time.Time {
	if !m.present || !m.ofDay && m.relative == 0 {
		return m.time
	}
	from, until := evidencePeriod(b)
	switch {
	case m.relative > 0:
		return time.Unix(0, from).Add(m.relative)
	case m.relative < 0:
		return time.Unix(0, until).Add(m.relative)
	case !b.Dated():
		return time.Unix(0, 0).Add(m.time.Sub(m.time.Truncate(24 * time.Hour)))
	}
	middle := time.Unix(0, from/2+until/2).UTC()
	t := time.Date(middle.Year(), middle.Month(), middle.Day(), m.time.Hour(), m.time.Minute(), m.time.Second(), m.time.Nanosecond(), time.UTC)
	switch d := t.Sub(middle); {
	case d > 12*time.Hour:
		t = t.AddDate(0, 0, -1)
	case d < -12*time.Hour:
		t = t.AddDate(0, 0, 1)
	}
	return t
}

// evidencePeriod returns the first and last time, in ns, of all evidence with a date, or of all evidence if none of it has a date.
// The clocks need not be aligned yet.
func evidencePeriod(b *evidence.Bundle) (from, until int64) {
	dated := b.Dated()
	some := false
	for _, c := range b.Coverage {
		clock := &b.Clocks[c.Clock]
		if c.Until == 0 || clock.Anchored() != dated || dated && c.From == 0 {
			continue
		}
		offset := int64(0)
		if dated {
			offset = clock.Offset
		}
		if start := c.From + offset; !some || start < from {
			from, some = start, true
		}
		until = max(until, c.Until+offset)
	}
	return from, until
}

// formatTaken says which time was chosen, if it was not given in full; "" otherwise.
func (m moment) formatTaken(flag string, t time.Time, dated bool) string {
	switch {
	case !m.present || !m.ofDay && m.relative == 0:
		return ""
	case dated:
		return fmt.Sprintf("--%s %s: %s", flag, m.text, t.UTC().Format("2006-01-02 15:04:05 UTC"))
	}
	return fmt.Sprintf("--%s %s: %s after the start of a log without dates", flag, m.text, time.Duration(t.UnixNano()).Round(time.Millisecond))
}
