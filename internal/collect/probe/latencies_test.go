package probe

import (
	"testing"
	"time"
)

func TestLatenciesSlower(t *testing.T) {
	began := time.Unix(1_700_000_000, 0)
	for name, test := range map[string]struct {
		before, after time.Duration // of each request; the slowest hundredth take ten times as long
		each          time.Duration // between requests
		want          string
	}{
		"longer by far":        {100 * time.Millisecond, 300 * time.Millisecond, 10 * time.Millisecond, "p99 rose from 1 s to 3 s"},
		"as before":            {100 * time.Millisecond, 110 * time.Millisecond, 10 * time.Millisecond, ""},
		"few, twice as long":   {100 * time.Millisecond, 200 * time.Millisecond, 50 * time.Millisecond, "p50 rose from 100 ms to 200 ms"},
		"too few":              {100 * time.Millisecond, 900 * time.Millisecond, 500 * time.Millisecond, ""},
		"less than timers err": {100 * time.Microsecond, 300 * time.Microsecond, 10 * time.Millisecond, ""},
	} {
		l := new(Latencies)
		n := 0
		for at := began.Add(-5 * time.Second); at.Before(began.Add(5 * time.Second)); at = at.Add(test.each) {
			took := test.before
			if !at.Before(began) {
				took = test.after
			}
			if n++; n%80 == 0 {
				took *= 10
			}
			l.Add(at.UnixNano(), int64(took))
		}
		if got := l.Slower(l.Before(began), began, began.Add(5*time.Second)); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
	var none *Latencies
	none.Add(1, 1)
	if none.Sent() || none.Slower(none.Before(began), began, began) != "" {
		t.Error("of no requests something is said")
	}
}
