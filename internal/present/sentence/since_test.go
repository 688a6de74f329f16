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

// The command that explains a request names the files that were read, where they are few.
func TestMoreNamesTheFile(t *testing.T) {
	d := &diagnose.Diagnosis{Requests: &diagnose.Requests{Slow: 3}}
	for file, want := range map[string]string{"": "one slow request: unstall explain FILE", "shop-1432.unstall": "one slow request: unstall explain shop-1432.unstall",
		"a.txt shop.unstall": "one slow request: unstall explain a.txt shop.unstall"} {
		if d.File = file; More(d)[0] != want {
			t.Errorf("%q, want %q", More(d)[0], want)
		}
	}
}
