package ledger

import (
	"cmp"
	"slices"

	"github.com/unstall/unstall/evidence"
)

// pause is a stop-the-world interval; before is the time stopped by all earlier
// ones.
type pause struct{ from, to, before int64 }

// pausesOf returns the pauses of a subject, or of all if its own are not known,
// merged and in order. Only pauses on an anchored clock can be laid over
// requests of another artifact.
func pausesOf(b *evidence.Bundle, subject evidence.SubjectID) []pause {
	rows := b.Intervals.Select(evidence.StopTheWorld, subject)
	var out []pause
	for _, i := range rows {
		p := pause{from: b.Intervals.Start[i], to: b.Intervals.End[i]}
		if n := len(out); n > 0 && p.from <= out[n-1].to {
			out[n-1].to = max(out[n-1].to, p.to)
			continue
		}
		out = append(out, p)
	}
	var sum int64
	for i := range out {
		out[i].before = sum
		sum += out[i].to - out[i].from
	}
	return out
}

// until is the time stopped before t.
func (l *Ledger) until(t int64) int64 {
	i, _ := slices.BinarySearchFunc(l.pauses, t, func(p pause, t int64) int { return cmp.Compare(p.from, t) })
	if i == 0 {
		return 0
	}
	p := l.pauses[i-1]
	return p.before + min(t, p.to) - p.from
}

func (l *Ledger) overlap(from, to int64) int64 { return l.until(to) - l.until(from) }

// steps is how many positions within the clock's slack are tried.
const steps = 16

// stopped is the time of [from, to) the world was stopped: the mean over all
// positions that the clocks allow.
func (l *Ledger) stopped(from, to int64) int64 {
	slack := l.slack()
	if slack == evidence.Unanchored {
		return 0
	}
	if slack < 1e6 {
		return l.overlap(from, to)
	}
	var sum int64
	for k := range int64(steps) {
		d := slack * k / (steps - 1)
		sum += l.overlap(from+d, to+d)
	}
	return sum / steps
}

// stoppedBounds is the least and the most of the slow requests' time that can
// have been stopped.
func (l *Ledger) stoppedBounds() (low, high float64) {
	slack := l.slack()
	for _, row := range l.Slow {
		from, to := l.b.Requests.Start[row], l.b.Requests.End[row]
		least, most := int64(1<<62), int64(0)
		for k := range int64(steps) {
			d := slack * k / (steps - 1)
			o := l.overlap(from+d, to+d)
			least, most = min(least, o), max(most, o)
		}
		low += float64(least)
		high += float64(most)
	}
	return low, high
}

// slack is how far the requests' clock and the pauses' may be apart.
func (l *Ledger) slack() int64 {
	if len(l.Rows) == 0 {
		return 0
	}
	return l.b.Clocks[l.b.Requests.Clock[l.Rows[0]]].Slack()
}
