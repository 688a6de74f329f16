package sentence

import (
	"testing"
	"time"

	"github.com/unstall/unstall/internal/diagnose"
)

func TestSince(t *testing.T) {
	at := time.Date(2026, 11, 21, 14, 2, 10, 0, time.UTC)
	found := func(o *diagnose.Onset) *diagnose.Diagnosis {
		return &diagnose.Diagnosis{Outcome: diagnose.Found, Window: diagnose.Window{Start: &at}, Requests: &diagnose.Requests{Onset: o}}
	}
	healthy := found(nil)
	healthy.Outcome = diagnose.NothingFound
	for want, d := range map[string]*diagnose.Diagnosis{
		"": healthy,
		"throughout the recording: 2026-11-21 14:02:10 UTC":                                  found(&diagnose.Onset{At: &at}),
		"2026-11-21 14:02:10 UTC, 12 s in: 45 % of requests slow from then on, 0.2 % before": found(&diagnose.Onset{At: &at, From: 12, Within: true, Before: .002, Since: .45}),
		"12 s in: 45 % of requests slow from then on, 0 % before":                            found(&diagnose.Onset{From: 12, Within: true, Since: .45}),
	} {
		if got := Since(d); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
