package linux

import (
	"cmp"
	"slices"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// findStops finds when the quota stopped the process, as far as its traced requests show it:
// cpu.stat counts how often and how long, but not when. During a stop no request changes its state
// though some are at work. Of such silences the longest are taken, no more than the kernel counted
// in number and length. A handler that computes for as long looks the same, so the result is a
// bound where the quota was rarely met.
func (t *throttle) findStops(c *check.Case, w metrics.Window) metrics.Spans {
	quiet := findSilences(c, w)
	sorting.Short(quiet, func(a, b metrics.Span) int { return cmp.Compare(b.To-b.From, a.To-a.From) })
	left, span := int(t.Stopped.Number+1), int64(t.Waiting.Number*float64(w.Until-w.From))
	quiet = slices.DeleteFunc(quiet, func(x metrics.Span) bool {
		if d := x.To - x.From; left > 0 && d <= span {
			left, span = left-1, span-d
			return false
		}
		return true
	})
	sorting.Short(quiet, func(a, b metrics.Span) int { return cmp.Compare(a.From, b.From) })
	return quiet
}

const (
	silence   = 5_000_000 // ns: the scheduler's slice of a quota; a silence below it is too common
	cell      = 1_000_000 // ns
	mostCells = 1 << 20
)

// findSilences returns the stretches in which requests were at work, or waited to be read, but none changed its state, to
// the cell. Requests arrive also while the process is stopped.
func findSilences(c *check.Case, w metrics.Window) (out metrics.Spans) {
	width := max(cell, (w.Until-w.From)/mostCells+1)
	cells := int((w.Until - w.From) / width)
	if cells < 1 {
		return nil
	}
	changed, working := make([]bool, cells), make([]int32, cells+1) // working: how many more than in the cell before
	at := func(ns int64) int { return int(min(max((ns-w.From)/width, 0), int64(cells-1))) }
	for _, row := range c.Ledger.KnownRows() {
		eachState(c, row, func(from, to int64, k evidence.Kind) {
			if to <= w.From || from >= w.Until {
				return
			}
			changed[at(to)] = true
			if k != evidence.BeforeService { // what begins then, the client does
				changed[at(from)] = true
			}
			if atWork[k] || k == evidence.BeforeService {
				working[at(from)]++
				working[at(to)+1]--
			}
		})
	}
	begin, now := -1, int32(0)
	for i := range cells + 1 {
		now += working[i]
		if i < cells && !changed[i] && now > 0 {
			if begin < 0 {
				begin = i
			}
		} else if begin >= 0 {
			if int64(i-begin)*width >= silence {
				out = append(out, metrics.Span{From: w.From + int64(begin)*width, To: w.From + int64(i)*width})
			}
			begin = -1
		}
	}
	return out
}

// atWork are the states that would have continued if the process had run.
var atWork = map[evidence.Kind]bool{
	evidence.Running: true, evidence.Runnable: true, evidence.Syscall: true, evidence.LockWait: true, evidence.Paused: true,
	evidence.GCAssist: true, evidence.GCAssistWait: true, evidence.GCSweep: true, evidence.GCWait: true,
}

// lost is what requests lost in the stops.
type lost struct {
	in    func(row int) int64 // ns, including time in a socket that no thread read
	found int64               // ns that the process was stopped, of stops with a known time
}

// lostBy finds what requests lost to the stops: by silences, where the states of requests are
// known; else each moment gets its part of what the kernel counted around it.
func (t *throttle) lostBy(c *check.Case, w metrics.Window, known bool) lost {
	stops := t.findStops(c, w)
	within := stops.Within
	if !known {
		queues := metrics.ThrottledQueues(c.Bundle, c.Subject, w)
		within = func(from, to int64) int64 {
			if part := queues.Over(metrics.Window{From: from, Until: to}); part.Known() {
				return int64(min(1, part.Number) * float64(to-from))
			}
			return 0
		}
	}
	in := func(row int) (sum int64) {
		eachState(c, row, func(from, to int64, k evidence.Kind) {
			if atWork[k] || k == evidence.Unobserved || waitsForProcess[k] {
				sum += within(from, to)
			}
		})
		return sum
	}
	return lost{in, within(w.From, w.Until)}
}

// waitsForProcess are states in which a request waits until the process comes to it.
var waitsForProcess = map[evidence.Kind]bool{evidence.BeforeService: true, evidence.ThreadWait: true}

// lostAtMost returns the time (ns) of slow requests in which the process had to work on them, or
// to start them.
func lostAtMost(c *check.Case) (sum int64) {
	for _, row := range c.Ledger.Slow {
		eachState(c, row, func(from, to int64, k evidence.Kind) {
			if atWork[k] || k == evidence.Unobserved || waitsForProcess[k] {
				sum += to - from
			}
		})
	}
	return sum
}

// lossBounds returns the bounds of a sum of what requests lost, given how much of the counted
// stops was found. The kernel counts a stop for each processor that had a thread of the process to
// run: the process was stopped for that sum at most, and at least for that divided by its
// processors.
func (t *throttle) lossBounds(c *check.Case, w metrics.Window, stopped, sum int64) (low, high int64) {
	most := t.Waiting.Number * float64(w.Until-w.From)
	least := most / float64(max(1, c.Bundle.Subjects[c.Subject].CPUs))
	found := float64(max(1, stopped))
	return int64(float64(sum) * min(1, least/found)), min(c.Ledger.Total, int64(float64(sum)*max(1, most/found)))
}

// eachState yields the states of a traced request with their times.
func eachState(c *check.Case, row int, yield func(from, to int64, k evidence.Kind)) {
	r := &c.Bundle.Requests
	at := r.Begins(row)
	for s := range r.Path(row).All {
		yield(at, at+s.Dur, s.Kind)
		at += s.Dur
	}
}
