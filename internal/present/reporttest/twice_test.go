package reporttest

import (
	"testing"

	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/diagnose/check"
)

func TestTwice(t *testing.T) {
	share, perMinute := .1157, 193.
	verdict := func(title string) *diagnose.Diagnosis {
		return &diagnose.Diagnosis{Verdicts: []diagnose.Verdict{{Cause: "jvm.young-gc-rate", Verdict: check.Supported, Title: title,
			Evidence:   []diagnose.Evidence{{ID: "gc.paused_share", Text: "share of the time paused", Value: &share, Unit: "1"}},
			Prediction: []diagnose.Prediction{{ID: "gc.young_per_min", Metric: "young collections", Now: &perMinute, Unit: "1/min"}}}}}
	}
	for title, want := range map[string]int{
		"Young GC runs 193 times per minute and pauses the program 12 % of the time.":   0,
		"Young GC runs 195 times per minute and pauses the program 12 % of the time.":   1,
		"Young GC runs 193 times per minute and pauses the program 11.9 % of the time.": 1,
		"Young GC runs 20 times per minute.":                                            0,
	} {
		if got := Twice(verdict(title)); len(got) != want {
			t.Errorf("%q: %v", title, got)
		}
	}
}

func TestShares(t *testing.T) {
	for share, want := range map[float64]int{0: 0, .104: 0, 1: 0, 26: 1, -.1: 1} {
		d := &diagnose.Diagnosis{Verdicts: []diagnose.Verdict{{Cause: "linux.cpu-throttled",
			Evidence: []diagnose.Evidence{{ID: "quota.stopped_periods_share", Text: "share of 249 periods that the quota throttled", Value: &share, Unit: "1"}}}}}
		if got := Shares(d); len(got) != want {
			t.Errorf("%g: %v", share, got)
		}
	}
}

func TestAlike(t *testing.T) {
	for text, want := range map[string]int{"p99 0.691 ms and over 691 µs": 1, "p99 691 µs, over 691 µs": 0, "0.16 s and 160 ms": 0, "691 µs and 691 ms": 0} {
		if got := Alike(text); len(got) != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
