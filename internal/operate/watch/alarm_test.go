package watch

import (
	"context"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe"
	"github.com/unstall/unstall/internal/operate/watch/rule"
)

// An alarm more severe than one captured a moment ago is captured, too.
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
		if got := c.last.isCaptureDue(at.Add(c.after), &rule.Rule{Severity: c.severity}, 10*time.Minute); got != c.want {
			t.Errorf("%+v, then %s after %s: %v, want %v", c.last, c.severity, c.after, got, c.want)
		}
	}
}

// The kernel is recorded only after an alarm that is about it, or whose rule names no causes.
func TestKernelAsked(t *testing.T) {
	asks := func(name string) []probe.Probe {
		return []probe.Probe{{Name: name, Find: func(context.Context, discover.Target) []probe.Access { return []probe.Access{{Probe: name}} }}}
	}
	now := time.Unix(1e9, 0)
	w, _ := still(t, t.TempDir(), &now)
	w.opt.Probes, w.opt.Kernel = asks("plain"), asks("kernel")
	s := w.serviceOf("gateway", "go1.26.0")
	for _, c := range []struct {
		causes []string
		want   string
	}{
		{[]string{"go.gc-rate", "linux.cpu-saturation"}, "kernel"},
		{[]string{"go.gc-rate"}, "plain"},
		{nil, "kernel"},
	} {
		f := w.findRecordable(t.Context(), s, &rule.Rule{Causes: c.causes})
		if len(f.Accesses) != 1 || f.Accesses[0].Probe != c.want {
			t.Errorf("%v: %+v, want %s", c.causes, f.Accesses, c.want)
		}
	}
}
