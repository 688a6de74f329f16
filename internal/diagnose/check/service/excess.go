package service

import (
	"fmt"
	"slices"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/model/queue"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// excess estimates the latency at the expected rate. Four methods are tried in order, the most direct first: requests
// that arrived at that rate in the recording, the baseline, a replay of a part of the arrivals, and the use of the CPUs.
type excess struct {
	c            *check.Case
	v            *check.Verdict
	a            *arrivals
	expected     float64
	overRate     float64 // the rate over the expected one
	expectedFrom string  // the expected rate in words: "the rate before 14:02"
}

func (e *excess) byStretch() bool {
	took := e.a.quietLatencies(e.expected)
	if len(took) < ledger.MinRequests {
		return false
	}
	p50, p90 := stats.Quantile(took, .5), stats.Quantile(took, .9)
	e.v.Evidence = append(e.v.Evidence, e.c.Figure("requests.p50_at_expected_ms", fmt.Sprintf("p50 of the %d requests that arrived at up to %s/s in the same recording", len(took), units.Num(about.Value*e.expected)), float64(p50)/1e6, "ms", check.From(e.a.Source)))
	return e.subtractUsual(p50, p90)
}

func (e *excess) byBaseline() bool {
	p50, ok := e.c.Bundle.Fact(e.c.Subject, evidence.FactBaselineP50)
	p99, known := e.c.Bundle.Fact(e.c.Subject, evidence.FactBaselineP99)
	rate, is := e.c.Bundle.Fact(e.c.Subject, evidence.FactBaselineRate)
	if !ok || !known || !is || p50.Number <= 0 || rate.Number < e.expected/about.Value {
		return false // a baseline at a lower rate does not show the latency at this rate
	}
	e.v.Evidence = append(e.v.Evidence, check.FigureOfOption("requests.p50_baseline_ms", fmt.Sprintf("p50 at %s/s in the baseline", units.Num(rate.Number)), p50.Number/1e6, "ms", "--baseline"))
	return e.subtractUsual(int64(p50.Number), int64(p99.Number))
}

// subtractUsual computes the saving as what slow requests took beyond the usual latency at the
// expected rate; high is its upper value.
func (e *excess) subtractUsual(usual, high int64) bool {
	l, r := e.c.Ledger, &e.c.Bundle.Requests
	per := make([]int64, len(l.Slow))
	var least, most int64
	for n, row := range l.Slow {
		per[n] = max(0, r.Latency(row)-usual)
		least += max(0, r.Latency(row)-high)
		most += per[n]
	}
	if float64(most) < (1-asSlow.Value)*float64(l.Total) {
		e.v.Title, e.v.Summary = "", fmt.Sprintf("%s × %s, but requests are just as slow at %s (p50 %s)", units.Num(e.overRate), e.expectedFrom, e.expectedFrom, units.Time(float64(usual)))
		return true
	}
	e.v.Rule = check.Matters
	e.v.Saves = e.c.Save(per, least, most)
	return true
}

// byReplay replays the arrivals through the CPUs, each request with the mean CPU time, and again
// without those that exceed the expected rate. It decides only if the first replay gives the
// observed latencies.
func (e *excess) byReplay() bool {
	c := e.c
	used, origin, known := c.ProcessorsUsed()
	cores := c.Bundle.CPUsOf(c.Subject)
	rows := e.a.Rows
	if !known || cores == 0 || len(rows) < queue.MinReplay || e.a.rate <= 0 {
		return false
	}
	r := &c.Bundle.Requests
	need := int64(used / e.a.rate * 1e9)
	var arrive, demand, observed, thinned, less []int64
	kept := 0.
	for _, i := range rows {
		at := r.End.At(i) - r.Latency(i)
		arrive, demand, observed = append(arrive, at), append(demand, need), append(observed, r.Latency(i))
		if kept += 1 / e.overRate; kept >= 1 { // keeps one request in overRate, evenly
			kept--
			thinned, less = append(thinned, at), append(less, need)
		}
	}
	q := queue.Queue{Servers: cores}
	with, err := q.Open(arrive, demand)
	if err != nil || !queue.FitOf(observed, with.Latency).Used {
		return false
	}
	without, err := q.Open(thinned, less)
	if err != nil || len(without.Latency) == 0 {
		return false
	}
	slices.Sort(without.Latency)
	p50, p90 := stats.Quantile(without.Latency, .5), stats.Quantile(without.Latency, .9)
	e.v.Evidence = append(e.v.Evidence,
		c.Figure("requests.cpu_ms", "CPU time per request", float64(need)/1e6, "ms", origin),
		c.Figure("requests.p50_without_surge_ms", fmt.Sprintf("p50 if only one in %s had arrived (replay of the arrivals with %d CPUs, which reproduces the observed p50 and p99)", units.Num(e.overRate), cores), float64(p50)/1e6, "ms", check.From(e.a.Source)))
	return e.subtractUsual(p50, p90)
}

var mostBusy = check.Threshold{Name: "share of CPUs in use above which a queue is just long", Value: .98, Unit: "1",
	Why: "ρ/(1−ρ) grows without limit", Source: "M/M/1: ρ/(1−ρ) is 49 at 98 %, and grows without limit above"}

// byProcessors computes how busy the CPUs would be at the expected rate. The wait in a queue is
// proportional to ρ/(1−ρ), ρ the utilisation (M/M/1; with more servers it falls more
// steeply).
func (e *excess) byProcessors() bool {
	c := e.c
	used, origin, known := c.ProcessorsUsed()
	if !known || cpuCount(c) == 0 {
		return false
	}
	now := min(used/cpuCount(c), mostBusy.Value)
	then := now / e.overRate
	e.v.Evidence = append(e.v.Evidence, c.Figure("process.cpus_share", "share of the CPUs in use", now, "1", origin),
		c.Figure("process.at_expected_cpus_share", fmt.Sprintf("share of the CPUs in use at %s/s, if each request needs as much", units.Num(e.expected)), then, "1", origin))
	if now < saturated.Value || then > comfortable.Value {
		return false
	}
	left := (then / (1 - then)) / (now / (1 - now))
	need := used / e.a.rate * 1e9
	var waited float64
	for _, row := range c.Ledger.Slow {
		waited += max(0, float64(c.Bundle.Requests.Latency(row))-need)
	}
	e.v.Rule = check.Matters
	e.v.Saves = c.Bound(waited*(1-left), 0, waited)
	return true
}
