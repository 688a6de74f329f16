package watch

import (
	"testing"
	"time"

	"github.com/unstall/unstall/watch/rule"
)

// What is graver than what was captured a moment ago is captured, too.
func TestCapturedAgain(t *testing.T) {
	at := time.Unix(1e9, 0)
	for _, c := range []struct {
		last     captured
		severity string
		after    time.Duration
		want     bool
	}{
		{captured{}, "note", 0, true},
		{captured{at, "warn"}, "warn", time.Minute, false},
		{captured{at, "warn"}, "note", time.Minute, false},
		{captured{at, "warn"}, "page", time.Minute, true},
		{captured{at, "note"}, "warn", time.Second, true},
		{captured{at, "page"}, "page", 9 * time.Minute, false},
		{captured{at, "page"}, "note", 11 * time.Minute, true},
	} {
		if got := c.last.again(at.Add(c.after), &rule.Rule{Severity: c.severity}, 10*time.Minute); got != c.want {
			t.Errorf("%+v, then %s after %s: %v, want %v", c.last, c.severity, c.after, got, c.want)
		}
	}
}
