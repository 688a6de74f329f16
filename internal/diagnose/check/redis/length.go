package redis

import (
	"fmt"
	"math"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// longestEvent returns the length (ns) of the longest of the named events that the latency monitor saw since its reset or in
// its history; 0 if there is none.
func (s *server) longestEvent(names ...string) (ns float64, origin evidence.Origin) {
	for _, e := range s.Events {
		for _, name := range names {
			if v := math.Max(float64(e.Longest), float64(e.AllTime)); e.Name == name && v > ns {
				ns, origin = v, e.Origin
			}
		}
	}
	return ns, origin
}

// judgeLongestEvent judges by the longest event alone, where events are rare or their rate is unknown.
func judgeLongestEvent(c *check.Case, title, spends, what string, ns float64, origin evidence.Origin, fix ...check.Fix) check.Verdict {
	return check.Verdict{Rule: check.StandsAlone, Weight: rarely.Value, Title: title, Summary: fmt.Sprintf("one of %s, by the latency monitor", units.Time(ns)), Spends: spends,
		Evidence: []check.Evidence{c.Figure("redis.event_longest_ms", what+", the longest by the latency monitor", ns/1e6, "ms", origin)}, Fix: fix,
		Needs: []check.Need{{What: "how often it happens: LATENCY HISTORY of the event, and INFO twice", Command: "unstall redis://HOST:PORT"}}}
}
