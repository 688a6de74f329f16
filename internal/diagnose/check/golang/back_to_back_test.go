package golang

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/diagnose/check"
)

// TestBackToBack judges collectors whose cycles take as long as the time between them, all the
// time or for a while, at less than a cycle per second.
func TestBackToBack(t *testing.T) {
	const s = int64(1e9)
	limit := func(int, float64) float64 { return 2048 * mib }
	full := func(i int) float64 { return mib * (2040 + 10*float64(i%3)) }
	numbered := func(i int) int { return 100 + i }
	// phase has a cycle every 2 s for 20 cycles, then one every 30 s.
	phase := func(i int) int64 { return s + 2*s*int64(min(i, 20)) + 30*s*int64(max(0, i-20)) }
	for _, c := range []struct {
		name         string
		log          log
		thrash, rate string
		title        string
	}{
		{"a limit, one cycle after the other", log{n: 30, period: 11 * s / 10, mark: 105 * s / 100, live: full, goal: limit, workers: 1, number: numbered}, check.Supported, check.RuledOut, "GC marks 95 % of the time"},
		{"GOGC, a large heap", log{n: 30, period: 10 * s, mark: 6 * s, live: full, goal: follows, workers: 1, number: numbered}, check.RuledOut, check.Supported, "GC marks 60 % of the time"},
		{"a third of the time", log{n: 30, period: 10 * s, mark: 3 * s, live: full, goal: limit, workers: 1, number: numbered}, check.RuledOut, check.RuledOut, ""},
		{"a phase, of a log that begins later", log{n: 26, period: 30 * s, mark: 18 * s / 10, start: phase, live: full, goal: limit, workers: 1, number: numbered}, check.Supported, check.RuledOut, "For 40 s GC marks"},
		{"asked for by the program", log{n: 30, period: 2 * s, mark: 18 * s / 10, live: full, goal: limit, workers: 1, number: numbered, forced: 1}, check.RuledOut, check.RuledOut, ""},
		{"most lines are missing, the others are quiet", log{n: 30, period: 30 * s, mark: s / 5, live: full, goal: limit, workers: 1, number: func(i int) int { return 100 + 20*i }}, check.Inconclusive, check.Inconclusive, ""},
		{"few lines are missing", log{n: 30, period: 30 * s, mark: s, live: full, goal: limit, workers: 1, number: func(i int) int { return 100 + i + i/10 }}, check.RuledOut, check.RuledOut, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			thrash, rate := MemoryLimitThrash.Judge(c.log.build()), GCRate.Judge(c.log.build())
			if thrash.State != c.thrash || rate.State != c.rate {
				t.Errorf("%s: %s (%s), want %s; %s: %s (%s), want %s", MemoryLimitThrash.ID, thrash.State, thrash.Summary, c.thrash, GCRate.ID, rate.State, rate.Summary, c.rate)
			}
			if !strings.Contains(thrash.Title+rate.Title, c.title) {
				t.Errorf("titles %q and %q, want %q", thrash.Title, rate.Title, c.title)
			}
		})
	}
}
