package main

import (
	"context"
	"time"

	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/collect/discover"
)

// again records what follows a capture: a live target named as the run after it is
// recorded for as long as the capture before it, and the new capture takes its
// place. Files stay what they are. False if that failed, which has been said.
func (s *session) again(before, after string) (string, bool) {
	r := recording{For: lasted(before)}
	away, _, err := elsewhere{}.split([]string{after})
	if err != nil {
		s.fail(wrongUse, err)
		return "", false
	}
	if away != nil {
		s.note("recording the running process for %s, as long as %s: put the same load on it", r.For, before)
		return s.kept(s.recordAway(away, r, besides{}, nil))
	}
	live, _, errs := discover.Split(context.Background(), []string{after}, platform.Recognisers())
	switch {
	case len(errs) > 0:
		s.said(errs)
		return "", false
	case len(live) == 0:
		return after, true
	}
	s.note("recording the running process for %s, as long as %s: put the same load on it", r.For, before)
	return s.kept(s.record(r, live, nil, nil))
}

// kept says where a capture is, if there is one.
func (s *session) kept(path string) (string, bool) {
	if path != "" {
		s.note("saved %s", path)
	}
	return path, path != ""
}

// lasted is how long a capture was recorded, in whole seconds; what is none stands
// for as long as is recorded by default.
func lasted(path string) time.Duration {
	c, err := capture.Open(path)
	if err != nil || c.Info.Start.IsZero() {
		return 30 * time.Second
	}
	return max(time.Second, c.End.Sub(c.Info.Start).Round(time.Second))
}
