package fleet

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/operate/fleet/promql"
	"github.com/unstall/unstall/internal/operate/watch/exporter/names"
)

// Version is what a version of a service did to its slow time for each request, against the
// version before.
type Version struct {
	Service string    `json:"service"`
	Version string    `json:"version"`
	Before  string    `json:"before"`
	Since   time.Time `json:"since"`  // when it was first seen, to a step
	Factor  *float64  `json:"factor"` // slow time for each request: after ÷ before
	Low     *float64  `json:"low"`    // its 95 % interval; nil: too few pairs
	High    *float64  `json:"high"`
	Pairs   int       `json:"pairs"`
	Of      string    `json:"pairs_of"` // "hosts" that ran both, "moments" at which both ran; "" neither
	Result  string    `json:"result"`   // "worse" | "better" | "same" | "unclear"
}

// Change is a moment from which a service lost more or less time than before.
type Change struct {
	Service string    `json:"service"`
	At      time.Time `json:"at"`     // to a step
	Before  float64   `json:"before"` // the median of the steps before, in Per
	After   float64   `json:"after"`
	Per     string    `json:"per"`
	Version string    `json:"version"` // that came then, "" none
}

// Limits for comparing versions and moments.
const (
	level       = .95
	seed        = 1
	sameWithin  = 1.1             // an interval within this factor counts as the same
	moments     = 48              // steps of a window; a day has half-hour steps
	leastStep   = 5 * time.Minute // so that a step has several samples from a writer that writes once a minute
	leastMoment = 3               // steps; a shorter change is an incident, not a new level
	leastFactor = 1.5             // between two levels for a change to be reported
)

func stepOf(window time.Duration) time.Duration {
	return max(leastStep, (window / moments).Truncate(time.Second))
}

// course is the slow time and requests of a version of a service over the window's steps.
type course struct {
	service, version string
	slow, requests   map[float64]float64 // by time, s
}

// joinCourses joins slow time and requests of each version by steps.
func (a *asked) joinCourses() map[place]*course {
	all := make(map[place]*course)
	fill := func(from []promql.Series, of func(*course) map[float64]float64) {
		for _, s := range from {
			k := place{s.Labels[names.Service], s.Labels[names.Version]}
			if all[k] == nil {
				all[k] = &course{k.service, k.host, make(map[float64]float64), make(map[float64]float64)}
			}
			for _, p := range s.Points {
				if p.Value >= 0 {
					of(all[k])[p.At] += p.Value
				}
			}
		}
	}
	fill(a.seconds, func(c *course) map[float64]float64 { return c.slow })
	fill(a.served, func(c *course) map[float64]float64 { return c.requests })
	return all
}

// firstStep returns the time of the first step with requests, or with slow time if there are no requests.
func (c *course) firstStep() (at float64, ok bool) {
	for _, from := range []map[float64]float64{c.requests, c.slow} {
		at = math.Inf(1)
		for t, v := range from {
			if v > 0 {
				at, ok = min(at, t), true
			}
		}
		if ok {
			return at, true
		}
	}
	return 0, false
}

// compareVersions compares each version of a service with the one that was seen before it.
func (a *asked) compareVersions() (all []Version) {
	courses := a.joinCourses()
	byService := make(map[string][]*course)
	for _, c := range courses {
		if _, ok := c.firstStep(); ok && c.version != "" {
			byService[c.service] = append(byService[c.service], c)
		}
	}
	for service, of := range byService {
		sorting.Short(of, func(x, y *course) int {
			f, _ := x.firstStep()
			g, _ := y.firstStep()
			return cmp.Or(cmp.Compare(f, g), cmp.Compare(x.version, y.version))
		})
		for i := 1; i < len(of); i++ {
			all = append(all, a.compareVersion(service, of[i-1], of[i]))
		}
	}
	order := map[string]int{"worse": 0, "better": 1, "same": 2, "unclear": 3}
	sorting.Short(all, func(x, y Version) int {
		return cmp.Or(cmp.Compare(order[x.Result], order[y.Result]), cmp.Compare(x.Service, y.Service), x.Since.Compare(y.Since))
	})
	return all
}

// compareVersion compares a version with the one before. It uses hosts that ran both, which differ only in the
// time, or else moments at which both ran, which differ only in the host.
func (a *asked) compareVersion(service string, before, after *course) Version {
	since, _ := after.firstStep()
	v := Version{Service: service, Version: after.version, Before: before.version, Since: time.Unix(int64(since), 0).Add(-stepOf(a.opt.Since)).UTC(), Result: "unclear"}
	was, is := a.byHost(service, before.version, after.version)
	v.Of = "hosts"
	if len(was) < stats.MinPairs {
		if m, n := byMoment(before, after); len(m) > len(was) {
			was, is, v.Of = m, n, "moments"
		}
	}
	if v.Pairs = len(was); v.Pairs == 0 {
		v.Of = ""
		return v
	}
	factor, interval, ok := stats.RatioInterval(was, is, level, seed)
	v.Factor = stats.FiniteOrNil(factor)
	if !ok {
		return v
	}
	v.Low, v.High = stats.FiniteOrNil(interval.Low), stats.FiniteOrNil(interval.High)
	switch {
	case interval.Low > 1 && factor > sameWithin:
		v.Result = "worse"
	case interval.High < 1 && factor < 1/sameWithin:
		v.Result = "better"
	case interval.Low > 1/sameWithin && interval.High < sameWithin:
		v.Result = "same"
	}
	return v
}

// byHost returns the slow time per request of both versions on hosts that ran both.
func (a *asked) byHost(service, before, after string) (was, is []float64) {
	rate := func(u use) float64 {
		if !(u.requests >= leastRequests) {
			return math.NaN()
		}
		return u.slow / u.requests
	}
	rates := make(map[string][2]float64)
	for _, u := range a.uses {
		if u.service != service || u.version != before && u.version != after {
			continue
		}
		r, ok := rates[u.host]
		if !ok {
			r = [2]float64{math.NaN(), math.NaN()}
		}
		if u.version == before {
			r[0] = rate(u)
		} else {
			r[1] = rate(u)
		}
		rates[u.host] = r
	}
	hosts := make([]string, 0, len(rates))
	for h := range rates {
		hosts = append(hosts, h)
	}
	slices.Sort(hosts)
	for _, h := range hosts {
		if r := rates[h]; r[0] >= 0 && r[1] >= 0 {
			was, is = append(was, r[0]), append(is, r[1])
		}
	}
	return was, is
}

// byMoment returns the slow time per request of both versions in steps at which both had requests.
func byMoment(before, after *course) (was, is []float64) {
	times := make([]float64, 0, len(after.requests))
	for t, n := range after.requests {
		if n >= leastRequests && before.requests[t] >= leastRequests {
			times = append(times, t)
		}
	}
	slices.Sort(times)
	for _, t := range times {
		was, is = append(was, before.slow[t]/before.requests[t]), append(is, after.slow[t]/after.requests[t])
	}
	return was, is
}

// findChanges returns the moments from which a service lost more or less time than before.
func (a *asked) findChanges() (all []Change) {
	courses := a.joinCourses()
	services := make(map[string][]*course)
	for _, c := range courses {
		services[c.service] = append(services[c.service], c)
	}
	for service, of := range services {
		times, values, per := a.slowTimeSteps(of)
		points := stats.ChangePoints(values, leastMoment)
		for i, at := range points {
			from, until := 0, len(values)
			if i > 0 {
				from = points[i-1]
			}
			if i+1 < len(points) {
				until = points[i+1]
			}
			c := Change{Service: service, Before: stats.Median(values[from:at]), After: stats.Median(values[at:until]), Per: per}
			if max(c.Before, c.After) < leastFactor*min(c.Before, c.After) || max(c.Before, c.After) == 0 {
				continue
			}
			step := stepOf(a.opt.Since)
			c.At = time.Unix(int64(times[at]), 0).Add(-step).UTC()
			for _, v := range of {
				if first, ok := v.firstStep(); ok && v.version != "" && len(of) > 1 && first > times[0] && math.Abs(first-times[at]) <= 2*step.Seconds() {
					c.Version = v.version
				}
			}
			all = append(all, c)
		}
	}
	sorting.Short(all, func(x, y Change) int { return cmp.Or(x.At.Compare(y.At), cmp.Compare(x.Service, y.Service)) })
	return all
}

// slowTimeSteps returns the slow time of a service step by step: per request if every step has requests, else per
// hour.
func (a *asked) slowTimeSteps(of []*course) (times, values []float64, per string) {
	slow, requests := make(map[float64]float64), make(map[float64]float64)
	for _, c := range of {
		for t, v := range c.slow {
			slow[t] += v
		}
		for t, v := range c.requests {
			requests[t] += v
		}
	}
	counted := len(requests) > 0
	for t := range slow {
		times = append(times, t)
		counted = counted && requests[t] >= leastRequests
	}
	slices.Sort(times)
	per = perHour
	for _, t := range times {
		v := slow[t] / stepOf(a.opt.Since).Hours()
		if counted {
			v, per = slow[t]/requests[t]*1000, perRequests
		}
		values = append(values, v)
	}
	return times, values, per
}
