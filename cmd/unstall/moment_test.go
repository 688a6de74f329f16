package main

import (
	"testing"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
)

func TestMoment(t *testing.T) {
	b := evidence.NewBundle()
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "trace"}), "gotrace")
	day := time.Date(2026, 11, 20, 23, 50, 0, 0, time.UTC)
	p.Clock().Offset = day.UnixNano() // counts from this day until the clocks are aligned
	p.Cover(evidence.Coverage{From: 1, Until: int64(10 * time.Minute)})
	p.Close()
	for in, want := range map[string]string{
		"23:52:30":                  "2026-11-20T23:52:30Z",
		"23:52":                     "2026-11-20T23:52:00Z",
		"00:10:00":                  "2026-11-21T00:10:00Z", // the time after midnight is closer
		"2026-11-20T23:52:30+01:00": "2026-11-20T22:52:30Z",
		"2026-11-20 23:52:30":       "2026-11-20T23:52:30Z",
	} {
		var m moment
		if err := m.UnmarshalText([]byte(in)); err != nil {
			t.Fatal(err)
		}
		if got := m.resolveTime(b).UTC().Format(time.RFC3339); got != want {
			t.Errorf("%s is %s, want %s", in, got, want)
		}
	}
	var m moment
	if !m.resolveTime(b).IsZero() {
		t.Error("none given, yet there is one")
	}
	if err := m.UnmarshalText([]byte("yesterday")); err == nil {
		t.Error("yesterday is a time")
	}
}
