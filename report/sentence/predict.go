package sentence

import (
	"fmt"
	"math"

	"github.com/unstall/unstall/figure"
	"github.com/unstall/unstall/predict"
)

// Effect is a figure of a prediction: what it is now and what it would be.
type Effect struct {
	Title     string
	Now, Then predict.Estimate
	Unit      string
}

func (e Effect) String() string {
	number := func(v float64) *float64 {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
		return &v
	}
	return figure.Change(number(e.Now.Value), number(e.Then.Value), number(e.Then.Low), number(e.Then.High), e.Unit)
}

// Effects are the figures of an outcome beside what was measured; figures that are
// not known are left out. The p99 of now is what the model of latencies says, as that
// of then.
func Effects(p *predict.Prediction, then *predict.Outcome) []Effect {
	now := p.Measured
	all := []Effect{
		{"gc cycles", now.Cycles, then.Cycles, "1/s"},
		{"gc cpu", now.Collector, then.Collector, "cores"},
		{"gc share of cpu", ofHundred(now.Share), ofHundred(then.Share), "%"},
		{"gc in assists", now.Assist, then.Assist, "cores"},
		{"time marking", ofHundred(now.Marking), ofHundred(then.Marking), "%"},
		{"process cpu", now.Process, then.Process, "cores"},
		{"p99", p.Now.P99, then.P99, "ms"},
		{"heap at its peak", now.Peak, then.Peak, "bytes"},
		{"resident", now.RSS, then.RSS, "bytes"},
	}
	var known []Effect
	for _, e := range all {
		if e.Then.Known() {
			known = append(known, e)
		}
	}
	return known
}

// ofHundred turns parts of one into per cents.
func ofHundred(e predict.Estimate) predict.Estimate {
	return predict.Estimate{Value: 100 * e.Value, Low: 100 * e.Low, High: 100 * e.High}
}

// Fill says what filling the memory takes, "" if it is nothing.
func Fill(o *predict.Outcome) string {
	f := o.Fill
	if !f.Faults.Known() || f.Faults.Value < 1000 {
		return ""
	}
	text := figure.Count(int64(math.Round(f.Faults.Value/1000)*1000)) + " page faults once after each start"
	if f.Seconds.Known() && f.Seconds.Value >= .05 {
		text += ", over " + figure.Time(f.Seconds.Value*1e9) + " at this load"
	}
	return text
}

// Cautions are what is wrong with an outcome though it is possible.
func Cautions(o *predict.Outcome) []string {
	var all []string
	if o.Limiter {
		all = append(all, "the collector would need half of the processors: the runtime caps it there, and the heap grows past its limit")
	}
	if o.PilesUp {
		all = append(all, "requests and the collector need more processors than there are: requests pile up")
	}
	if (o.Limiter || o.PilesUp) && !o.P99.Known() {
		all = append(all, "p99 is not known")
	}
	if o.Bound == predict.ByClock {
		all = append(all, "a cycle is forced every two minutes, before the heap is at its goal")
	}
	return all
}

// KneeInBrief is that with its figures, on a line.
func KneeInBrief(f *predict.Frontier) string {
	at, ok := f.Recommended()
	if !ok {
		return Knee(f)
	}
	text := at.Setting.String() + ": rss " + Resident(at.RSS.Value) + ", gc " + figure.Of(at.Collector.Value, "cores")
	if at.P99.Known() {
		text += ", p99 " + figure.Ms(at.P99.Value)
	}
	return text
}

// Resident writes sizes that are to be compared, in one unit.
func Resident(bytes float64) string { return figure.Num(math.Round(bytes/(1<<20))) + " MiB" }

// Knee says which point of a frontier is recommended, in one sentence.
func Knee(f *predict.Frontier) string {
	at, ok := f.Recommended()
	if !ok {
		return "keep the setting: " + f.Why
	}
	return at.Setting.String() + ": " + f.Why
}

// Margin says how far the live heap may grow, "" where it is not known.
func Margin(m *predict.Margin) string {
	if m == nil {
		return ""
	}
	to := func(v float64) string {
		return fmt.Sprintf("%s (%s ×)", figure.Size(v), figure.Num(v/m.Live))
	}
	live := "the live heap of " + figure.Size(m.Live)
	const of = "the processors"
	switch {
	case m.Quarter == 0:
		return live + " may grow a hundredfold: the collector never takes a quarter of " + of
	case m.Quarter <= m.Live:
		return "with " + live + " the collector takes a quarter of " + of + " already"
	case m.Half == 0:
		return live + " may grow to " + to(m.Quarter) + " until the collector takes a quarter of " + of
	default:
		return live + " may grow to " + to(m.Quarter) + " until the collector takes a quarter of " + of + ", and to " + to(m.Half) + " until it meets the runtime's cap of half of the processors"
	}
}

// Calibrated says what a prediction rests on.
func Calibrated(p *predict.Prediction) []string {
	if p.Pool != nil {
		return pooled(p.Pool)
	}
	if p.Young != nil {
		return young(p.Young)
	}
	c := p.Calibration
	items := []string{}
	if c.Go != "" {
		items = append(items, c.Go)
	}
	items = append(items, figure.Num(c.Processors)+" processors", fmt.Sprintf("%d gc cycles in %s", c.Cycles, figure.Time(c.Seconds*1e9)))
	known := p.Measured.Setting.String()
	if !c.Told {
		known += " (as its goals show)"
	}
	items = append(items, known, "live heap "+figure.Size(p.Measured.Live), figure.Of(p.Measured.Alloc, "bytes/s")+" allocated")
	if c.Source != "" {
		items = append(items, "from "+c.Source)
	}
	return items
}

// Room says how much memory there is to use.
func Room(f *predict.Frontier) string {
	switch f.Who {
	case "container":
		return figure.Size(f.Most) + ": what the container allows, less a tenth"
	case "host":
		return figure.Size(f.Most) + ": half of the host's memory; no limit of a container is known"
	}
	return figure.Size(f.Most)
}
