package jvmparnew

import (
	"fmt"
	"strings"

	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/lab"
)

// article has the figures of the report.
var article = struct{ collections, mean, healthy, pause float64 }{collections: 100, mean: 2500, healthy: 60, pause: 40}

func floatPtr(v float64) *float64 { return &v }

// outcomeChecks returns the checks of the runs and the diagnoses.
func outcomeChecks(o *lab.Outcome) (all []lab.Check) {
	all = append(all, collectionChecks(o)...)
	all = append(all, lateChecks(o)...)
	for _, name := range []string{"callers-cache", "callers-cache-more", "server-cache", "no-garbage", "split"} {
		if r := o.Result(name); r != nil {
			all = append(all, checkWithinSLO(r))
		}
	}
	all = append(all, kneeChecks(o)...)
	return append(all, eliminationChecks(o)...)
}

// collectionChecks checks the collections of the sick variant.
func collectionChecks(o *lab.Outcome) []lab.Check {
	sick := o.Result("sick")
	n := lab.Check{Name: "sick: ParNew collections a minute", Unit: "1", Asked: "> 100", Article: floatPtr(article.collections)}
	if v, ok := sick.Figure(lab.YoungCollections); ok {
		n.Got, n.OK = &v, v > 100
	} else {
		n.Why = "its GC log was not recorded"
	}
	pause := lab.Check{Name: "sick: mean pause", Unit: "ms", Asked: "to be known", Article: floatPtr(article.pause), Told: true}
	if v, ok := sick.Figure(lab.YoungPause); ok {
		pause.Got, pause.OK = &v, true
	}
	stopped := lab.Check{Name: "sick: share of time paused by GC", Unit: "1", Asked: "to be known", Article: floatPtr(article.collections * article.pause / 60e3), Told: true}
	if v, ok := sick.Figure(lab.YoungStopped); ok {
		stopped.Got, stopped.OK = &v, true
	}
	return []lab.Check{n, pause, stopped}
}

// lateChecks checks how many callers gave up, and how long the mean answer took. Where the host has hardly more room without
// garbage than with it, no peak overwhelms one variant and not the other, and they are told only.
func lateChecks(o *lab.Outcome) []lab.Check {
	share := stats.Median(o.Of("sick", "slow_share"))
	mean := stats.Median(o.Of("sick", "mean_ms"))
	all := []lab.Check{
		{Name: "sick: share of the requests over 300 ms", Unit: "1", Asked: "≥ 0.5", Got: &share, OK: share >= .5},
		{Name: "sick: mean latency", Unit: "ms", Asked: "≥ 10 × the healthy one", Got: &mean, Article: floatPtr(article.mean)},
	}
	healthy := lab.Check{Name: "low-rate: mean latency", Unit: "ms", Asked: "≤ 60", Article: floatPtr(article.healthy)}
	if r := o.Result("low-rate"); r != nil && r.Served != nil {
		v := r.Served.MeanMs
		healthy.Got, healthy.OK = &v, v <= article.healthy
		all[1].OK = mean >= 10*v
	} else {
		healthy.Why, all[1].Why = "it was not diagnosed", "the healthy one is not known"
	}
	if !o.HasRoom("sick", "no-garbage") {
		for i := range all {
			all[i].Told, all[i].Why = true, "this host has no peak well above the knee with garbage and well below the one without"
		}
	}
	return append(all, healthy)
}

// checkWithinSLO checks that a variant keeps the SLO while it is diagnosed.
func checkWithinSLO(r *lab.Result) lab.Check {
	c := lab.Check{Name: r.Name + ": p99", Unit: "ms", Asked: "≤ 300"}
	if r.Served == nil {
		c.Why = "it was not diagnosed"
		return c
	}
	c.Got = &r.Served.P99Ms
	c.OK = r.Served.P99Ms <= float64(slo.Milliseconds())
	return c
}

// kneeChecks checks that the rate is above what the sick variant can serve and below what it
// could serve without garbage: then garbage makes it slow, not its work.
func kneeChecks(o *lab.Outcome) []lab.Check {
	rate := *o.Plan.Peak
	sick := lab.Check{Name: "sick: knee", Unit: "1/s", Asked: fmt.Sprintf("< %.0f, the peak", rate), Got: o.KneeOf("sick")}
	sick.OK = sick.Got != nil && *sick.Got < rate
	free := lab.Check{Name: "no-garbage: knee", Unit: "1/s", Asked: fmt.Sprintf("> %.0f, the peak", rate), Got: o.KneeOf("no-garbage")}
	free.OK = free.Got != nil && *free.Got > rate
	report := lab.Check{Name: "peak", Unit: "1/s", Asked: "as in the report", Got: &rate, Article: floatPtr(peak), OK: rate == peak, Told: true}
	return []lab.Check{sick, free, report}
}

// steps are the report's steps: what it examined in order, and what our diagnosis of the sick
// variant must say about each. Text is a part of the figure's text.
var steps = []struct {
	name, cause, text, unit string
	asked                   string
	is                      func(float64) bool
	article                 *float64
}{
	{"a query takes, as the database sees it (mean)", dependency, "of a call, measured by", "ms", "≤ 0.3", func(v float64) bool { return v <= .3 }, floatPtr(.3)},
	{"connections in use at most, of 10", pool, "most connections in use", "count", "< 10", func(v float64) bool { return v < 10 }, floatPtr(7)},
	{"local time of a slow request", dependency, "local time", "ms", "to be known", nil, floatPtr(267)},
	{"busy CPUs of the host", saturation, "that were busy", "CPUs", "to be known", nil, nil},
	{"collections a minute", young, "young collections per minute", "1/min", "> 100", func(v float64) bool { return v > 100 }, floatPtr(article.collections)},
	{"the class that fills most of the heap", young, "heap used by", "bytes", "to be known", nil, nil},
}

// eliminationChecks checks that the diagnosis of the sick variant has a figure for every step.
func eliminationChecks(o *lab.Outcome) (all []lab.Check) {
	r := o.Result("sick")
	if r == nil || r.Diagnosis == nil {
		return nil
	}
	for i, s := range steps {
		c := lab.Check{Name: fmt.Sprintf("step %d: %s", i+1, s.name), Unit: s.unit, Asked: s.asked, Article: s.article, Why: "the diagnosis has no such figure"}
		for _, v := range r.Diagnosis.Verdicts {
			if v.Cause != s.cause {
				continue
			}
			for _, e := range v.Evidence {
				if c.Got == nil && e.Value != nil && e.Unit == s.unit && strings.Contains(e.Text, s.text) {
					c.Got, c.Why = e.Value, ""
					c.OK = s.is == nil || s.is(*e.Value)
				}
			}
		}
		all = append(all, c)
	}
	return all
}
