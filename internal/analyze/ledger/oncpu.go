package ledger

import (
	"math/bits"
	"slices"

	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
)

// onCPU is how long requests ran, by the kernel's clock of CPU time: the samples of the thread that a
// request began on while it works on requests. To a look at a thread, one that is ready seems to run; to the clock
// only one that runs does. It counts in samples: of one request as short as a sample it says nothing, but of many
// that lasted about as long what they did in the mean.
type onCPU struct {
	ran    map[int]int64    // ns, by row
	alike  map[int][2]int64 // by the power of two of their latency: ns that requests ran, and of their latencies
	stack  map[int]evidence.StackID
	period int64
	whole  bool // requests run nowhere else: what it does not count did not run
}

const (
	leastPeriods = 2  // a request must last for the clock to tell of it alone
	leastSum     = 20 // of those that are as short their sum
	mostClocked  = .7 // of the samples of the pool's threads are of requests on the thread they began on: then they run nowhere else
)

// byClock is nil where the kernel's clock did not watch, or not the threads that requests are known by.
func (l *Ledger) byClock(stacks threads.Readers) *onCPU {
	t := threads.Of(l.b, stacks)
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
				if of++; v.State == evidence.Running { // who spins at a lock waits
					c.ran[row] += c.period
					c.stack[row] = stack
				}
			})
			k := bits.Len64(uint64(r.Latency(row)))
			c.alike[k] = [2]int64{c.alike[k][0] + c.ran[row], c.alike[k][1] + r.Latency(row)}
		}
	}
	if !slices.ContainsFunc(t.CPUClockLanes(l.Subject), func(lane evidence.LaneID) bool { return turns[lane] != nil }) {
		return nil // the runtime calls threads by other numbers than the kernel
	}
	c.whole = float64(of) >= mostClocked*float64(all) || !l.leavesThread()
	return c
}

// mostLeft is the part of requests' time without a thread up to which they stay on the one they began on.
const mostLeft = .1

// leavesThread says whether requests go on on other threads: some await, or were seen to have left
// theirs.
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

// ranShare returns which part of a request it ran, or requests as short as it did in the mean, and
// the stack in which it was last seen running.
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

// correctByClock corrects what looks say of a time by the clock of CPU time. The looks see threads
// in parts, seen (ns) of them running; runs is the part in which the world was not stopped. What
// the clock says ran, ran. A thread that seems to run beyond that was ready, which is the time
// returned, as far as the kernel counted it; the rest of it was spent as others' was: a thread of
// the pool without work looks like one that works for requests.
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
