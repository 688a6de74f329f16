package fleet

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/operate/fleet/promql"
	"github.com/unstall/unstall/internal/operate/watch/exporter/names"
)

// Bounds from which a warning is given.
const (
	mostApart  = 30 * time.Second // between a host's clock and the store's; beyond it figures fall into a wrong minute
	mostHere   = 2 * time.Minute  // between this machine's clock and the store's; answers of VictoriaMetrics are half a minute old
	mostStarts = 6                // of a watch within an hour; more mean that two watches write under one name in turn
)

// collectWarnings returns what makes the figures less reliable than they look.
func (a *asked) collectWarnings() (all []string) {
	var twice []string
	for _, s := range a.starts {
		if s.Value > mostStarts {
			twice = append(twice, s.Labels[names.Host])
		}
	}
	if len(twice) > 0 {
		all = append(all, fmt.Sprintf("%s: two hosts seem to use one name, or its watcher restarts repeatedly: slow time may be counted twice; give each host its own name", joinFirstNames(twice, 5)))
	}
	var apart []string
	var most time.Duration
	for _, s := range a.clocks {
		if off := offOf(s); off > mostApart {
			apart = append(apart, s.Labels[names.Host])
			most = max(most, off)
		}
	}
	if len(apart) > 0 {
		all = append(all, fmt.Sprintf("%s: its clock differs from the store's by up to %s, and so do its times; synchronise it with NTP", joinFirstNames(apart, 5), units.Time(float64(most))))
	}
	if off := a.opt.Now.Sub(a.at).Abs(); !a.opt.Now.IsZero() && off > mostHere {
		all = append(all, fmt.Sprintf("the clock of this machine differs from the store's by %s; the store's clock counts", units.Time(float64(off))))
	}
	if slices.ContainsFunc(a.uses, func(u use) bool { return math.IsNaN(u.requests) }) {
		all = append(all, fmt.Sprintf("some hosts do not count requests (%s): they are compared by slow time per hour, regardless of load", names.Requests))
	}
	if slices.ContainsFunc(a.uses, func(u use) bool { return u.host == "" }) {
		all = append(all, fmt.Sprintf("some series have no label %s: their hosts cannot be distinguished; keep it in the store's relabelling", names.Host))
	}
	return all
}

func offOf(s promql.Sample) time.Duration {
	return time.Duration(math.Min(math.Abs(s.Value), 1e9) * float64(time.Second))
}
