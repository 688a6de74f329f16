package sentence

import (
	"fmt"
	"strings"

	"github.com/unstall/unstall/figure"
	"github.com/unstall/unstall/predict"
)

// pooled says what a prediction of a thread pool rests on.
func pooled(p *predict.Pool) []string {
	c := &p.Calibration
	items := []string{".NET " + c.Version, figure.Num(float64(c.Processors)) + " processors"}
	least := fmt.Sprintf("at least %d pool threads", c.Min)
	if !c.MinTold {
		least += " (the runtime's own number)"
	}
	items = append(items, least)
	if c.Waits != "" {
		items = append(items, c.Waits)
	}
	items = append(items, figure.Count(c.Connections)+" requests in flight",
		"an operation takes "+figure.Time(c.Service*1e9)+" ("+c.From+")")
	if c.CPU != nil {
		items = append(items, "a request computes "+figure.Time(*c.CPU*1e9))
	}
	if c.Seconds > 0 {
		items = append(items, "from "+figure.Time(c.Seconds*1e9)+" of recording")
	}
	return items
}

// PoolEffects are the figures of a situation of a thread pool beside those measured.
func PoolEffects(p *predict.Pool, then *predict.PoolOutcome) []Effect {
	now := &p.Measured
	var known []Effect
	for _, e := range []Effect{
		{"requests finished", now.Rate, then.Rate, "1/s"},
		{"mean latency", now.Latency, then.Latency, "ms"},
		{"p99", now.P99, then.P99, "ms"},
		{"pool threads", now.Threads, then.Threads, "threads"},
	} {
		if e.Then.Known() {
			known = append(known, e)
		}
	}
	return known
}

// Climb says how a pool comes to that, "" where it is so from the start.
func Climb(o *predict.PoolOutcome) string {
	if !o.Settles.Known() || o.Settles.Value == 0 {
		return ""
	}
	text := "threads come one by one"
	if o.Growth.Known() {
		text = figure.Num(o.Growth.Value) + " threads a second come"
	}
	text += fmt.Sprintf(" for %s after each start", figure.Time(o.Settles.Value*1e9))
	text += "; in the first 10 s " + figure.Of(o.Start.Rate.Value, "1/s")
	if o.Start.Latency.Known() {
		text += " at " + figure.Ms(o.Start.Latency.Value)
	}
	return text
}

// PoolEnd says what ends the climb of a pool's threads.
func PoolEnd(o *predict.PoolOutcome) string {
	switch {
	case o.Ends == predict.EndsMax && o.Rate.Value == 0:
		return "every thread waits for what only another one could complete, and there may be no more: nothing is answered until a restart"
	case o.Ends == predict.EndsMax:
		return "the pool may have no more threads: requests go on waiting for one"
	case o.Ends == predict.EndsCPU:
		return "the processors are in use: more threads would do no more"
	case o.Ends == predict.EndsClimbing:
		return fmt.Sprintf("threads still come after %s", strings.TrimSpace(figure.Time(float64(len(o.Curve))*1e9)))
	}
	return ""
}
