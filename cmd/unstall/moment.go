package main

import (
	"fmt"
	"time"

	"github.com/unstall/unstall/evidence"
)

// moment is a time as people give it: with its date, or the time of day on the
// day of the evidence.
type moment struct {
	time    time.Time
	ofDay   bool
	present bool
}

func (m *moment) UnmarshalText(text []byte) error {
	m.present = true
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04"} {
		if t, err := time.Parse(layout, string(text)); err == nil {
			m.time = t
			return nil
		}
	}
	m.ofDay = true
	for _, layout := range []string{"15:04:05", "15:04"} {
		if t, err := time.Parse(layout, string(text)); err == nil {
			m.time = t
			return nil
		}
	}
	return fmt.Errorf("%q is not a time: give 2026-11-20T14:02:00Z or 14:02:00 (UTC)", text)
}

// near returns the time; a time of day is the one closest to the middle of the
// evidence. The zero time stands for none.
func (m moment) near(b *evidence.Bundle) time.Time {
	if !m.present || !m.ofDay {
		return m.time
	}
	var from, until int64
	for _, c := range b.Coverage {
		clock := &b.Clocks[c.Clock]
		if !clock.Anchored() || c.From == 0 || c.Until == 0 {
			continue
		}
		if start := c.From + clock.Offset; from == 0 || start < from {
			from = start
		}
		until = max(until, c.Until+clock.Offset)
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
