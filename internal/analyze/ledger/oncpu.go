package ledger

import (
	"math/bits"
	"slices"

	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
)

// onCPU is how long requests ran by the kernel's clock of CPU time: samples of the thread on which a request began, while
// it works on requests. A ready thread seems to run in a look; the CPU clock counts only a thread that runs. The clock
// counts in samples: it says nothing of one request as short as a sample, but tells the mean of many of about that length.
type onCPU struct {
	ran    map[int]int64    // ns, by row
	alike  map[int][2]int64 // by the power of two of their latency: ns that requests ran, and of their latencies
	stack  map[int]evidence.StackID
	period int64
	whole  bool // requests run only on their first thread: time without samples is time not run
}

const (
	leastPeriods = 2  // sample periods that a request must last for the clock to tell of it alone
	leastSum     = 20 // sample periods that shorter requests must last in sum
	mostClocked  = .7 // of the pool's samples are on the thread that a request began on: then requests run nowhere else
)

// byClock returns nil where the kernel's CPU clock was not recorded, or not for the threads that requests name.
func (l *Ledger) byClock(read func() *threads.Threads) *onCPU {
	t := read()
	c := &onCPU{ran: make(map[int]int64), alike: make(map[int][2]int64), stack: make(map[int]evidence.StackID), period: t.CPUClockPeriod(l.Subject)}
	if c.period == 0 {
		return nil
	}
	r := &l.b.Requests
	turns := make(map[evidence.LaneID][]int64) // when requests began on a thread
	for _, row := range l.Rows {
		if r.Lane.At(row) != 0 {
			turns[r.Lane.At(row)] = append(turns[r.Lane.At(row)], r.Start.At(row))
		}
	}
	if len(turns) == 0 {
		return nil
	}
	for _, starts := range turns {
		slices.Sort(starts)
	}
	all, of := 0, 0
	for _, w := range l.b.Covered(l.Subject, evidence.CoverOnCPU) {
		for _, lane := range t.CPUClockLanes(l.Subject) {
			t.CPUClockSamples(l.Subject, lane, max(w.From, l.From), min(w.Until, l.To), func(_ int64, stack evidence.StackID) {
				if t.View(l.Subject, stack).Role == threadstack.Worker {
					all++
				}
			})
		}
		for _, row := range l.Rows {
			start, end := r.Start.At(row), r.End.At(row)
			if r.Lane.At(row) == 0 || start < w.From || end > w.Until {
				continue
			}
			starts := turns[r.Lane.At(row)]
			if n := countBefore(starts, start+1); n < len(starts) {
				end = min(end, starts[n])
			}
			c.ran[row] = 0
			t.CPUClockSamples(l.Subject, r.Lane.At(row), start, end, func(_ int64, stack evidence.StackID) {
				v := t.View(l.Subject, stack)
				if !v.Request {
					return
				}
				if of++; v.State == evidence.Running { // a thread that spins at a lock waits
					c.ran[row] += c.period
					c.stack[row] = stack
				}
			})
			k := bits.Len64(uint64(r.Latency(row)))
			c.alike[k] = [2]int64{c.alike[k][0] + c.ran[row], c.alike[k][1] + r.Latency(row)}
		}
	}
	if !slices.ContainsFunc(t.CPUClockLanes(l.Subject), func(lane evidence.LaneID) bool { return turns[lane] != nil }) {
		return nil // the runtime numbers threads differently than the kernel
	}
	c.whole = float64(of) >= mostClocked*float64(all) || !l.leavesThread()
	return c
}

// mostLeft is the largest part of requests' time without a thread with which they stay on their first thread.
const mostLeft = .1

// leavesThread reports whether requests continue on other threads: some await, or were seen to have left their first
// thread.
func (l *Ledger) leavesThread() bool {
	if f, ok := l.b.Fact(l.Subject, evidence.FactRequestsAwait); ok && f.Number > 0 {
		return true
	}
	var away, all int64
	for _, row := range l.Rows {
		for s := range l.b.Requests.Path(row).All {
			if s.Kind == evidence.Awaiting {
				away += s.Dur
			}
		}
		all += l.b.Requests.Latency(row)
	}
	return float64(away) > mostLeft*float64(all)
}

// ranShare returns the part of its time for which a request ran, or the mean of requests as short, and the stack in which
// it was last seen running.
func (c *onCPU) ranShare(l *Ledger, row int) (part float64, stack evidence.StackID, known bool) {
	if c == nil {
		return 0, 0, false
	}
	ran, watched := c.ran[row]
	took := l.b.Requests.Latency(row)
	if !watched {
		return 0, 0, false
	}
	if took < leastPeriods*c.period {
		k := c.alike[bits.Len64(uint64(took))]
		return min(1, float64(k[0])/float64(max(1, k[1]))), c.stack[row], k[1] >= leastSum*c.period
	}
	return min(1, float64(ran)/float64(took)), c.stack[row], true
}

// correctByClock corrects what looks say of a time by the clock of CPU time. Seen (ns) is how long the looks see threads
// running in parts; runs is the part of the time in which the world was not stopped. The time that the clock counts is
// running. A thread that seems to run beyond that was ready, as far as the kernel counted ready time; correctByClock
// returns this time. The rest is split like the other time, because an idle thread of the pool looks like one that works
// for requests.
func (w *walker) correctByClock(parts []share, at, dur int64, runs, seen float64) (corrected []share, running float64, ready int64) {
	part, stack, known := w.l.clock.ranShare(w.l, w.row)
	if !known {
		return parts, seen, -1
	}
	whole := float64(dur) * runs
	ran := min(part*float64(dur), whole)
	if ran <= seen {
		if !w.l.clock.whole {
			return parts, seen, -1
		}
	}
	var others float64
	for _, x := range parts {
		if x.mechanism != Own {
			others += x.part * runs
		}
	}
	corrected = slices.Clone(parts)
	left := 1.
	if ran <= seen {
		was := min(seen-ran, w.l.ready.mostWait(at, dur))
		if others == 0 {
			was = seen - ran
		}
		left += (seen - ran - was) / max(1, others)
		for i := range corrected {
			if corrected[i].mechanism == Own {
				corrected[i].part *= (ran + was) / max(1, seen)
			} else {
				corrected[i].part *= left
			}
		}
		return corrected, ran + was, int64(was)
	}
	if others > 0 {
		left = min(1, (whole-ran)/others)
	}
	for i := range corrected {
		if corrected[i].mechanism == Own {
			corrected[i].part *= ran / seen
		} else {
			corrected[i].part *= left
		}
	}
	if seen <= 0 {
		corrected = append(corrected, share{mechanism: Own, Segment: evidence.Segment{Kind: evidence.Running, Stack: stack}, part: ran / runs})
	}
	return corrected, ran, 0
}
