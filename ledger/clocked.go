package ledger

import (
	"slices"

	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/threads"
)

// clocked is how long requests ran, by the kernel's clock of CPU time: the samples of the thread that a
// request began on while it works on requests. To a look at a thread, one that is ready seems to run; to the clock
// only one that runs does. It counts in samples, so of a request as short as one it says nothing.
type clocked struct {
	ran    map[int]int64 // ns, by row
	stack  map[int]evidence.StackID
	period int64
	whole  bool // requests run nowhere else: what it does not count did not run
}

const (
	leastPeriods = 2  // a request must last for the clock to tell of it
	mostClocked  = .7 // of the samples of the pool's threads are of requests on the thread they began on: then they run nowhere else
)

// byClock is nil where the kernel's clock did not watch, or not the threads that requests are known by.
func (l *Ledger) byClock(stacks threads.Readers) *clocked {
	t := threads.Of(l.b, stacks)
	c := &clocked{ran: make(map[int]int64), stack: make(map[int]evidence.StackID), period: t.ClockPeriod(l.Subject)}
	if c.period == 0 {
		return nil
	}
	r := &l.b.Requests
	turns := make(map[evidence.LaneID][]int64) // when requests began on a thread
	for _, row := range l.Rows {
		if r.Lane[row] != 0 {
			turns[r.Lane[row]] = append(turns[r.Lane[row]], r.Start[row])
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
		for _, lane := range t.ClockedLanes(l.Subject) {
			t.Clocked(l.Subject, lane, max(w.From, l.From), min(w.Until, l.To), func(_ int64, stack evidence.StackID) {
				if t.View(l.Subject, stack).Role == threads.Worker {
					all++
				}
			})
		}
		for _, row := range l.Rows {
			start, end := r.Start[row], r.End[row]
			if r.Lane[row] == 0 || start < w.From || end > w.Until {
				continue
			}
			starts := turns[r.Lane[row]]
			if n := before(starts, start+1); n < len(starts) {
				end = min(end, starts[n])
			}
			c.ran[row] = 0
			t.Clocked(l.Subject, r.Lane[row], start, end, func(_ int64, stack evidence.StackID) {
				if t.View(l.Subject, stack).Request {
					of++
					c.ran[row] += c.period
					c.stack[row] = stack
				}
			})
		}
	}
	if of == 0 {
		return nil
	}
	c.whole = float64(of) >= mostClocked*float64(all)
	return c
}

// part is which part of a request it ran, and where it was last seen to; known says whether it is long enough.
func (c *clocked) part(l *Ledger, row int) (part float64, stack evidence.StackID, known bool) {
	if c == nil {
		return 0, 0, false
	}
	ran, watched := c.ran[row]
	took := l.b.Requests.Latency(row)
	if !watched || took < leastPeriods*c.period {
		return 0, 0, false
	}
	return min(1, float64(ran)/float64(took)), c.stack[row], true
}

// clocked corrects what looks say of a time: runs ns of which they see its threads in parts, seen (ns) of that
// running. What the clock says ran, ran; who seems to run beyond that was ready, which is the time returned.
func (w *walker) clocked(parts []share, dur int64, runs, seen float64) (corrected []share, running float64, ready int64) {
	part, stack, known := w.l.clock.part(w.l, w.row)
	if !known {
		return parts, seen, -1
	}
	whole := float64(dur) * runs
	ran := min(part*float64(dur), whole)
	if ran <= seen {
		if !w.l.clock.whole {
			return parts, seen, -1
		}
		return parts, seen, int64(seen - ran)
	}
	var others float64
	for _, x := range parts {
		if x.mechanism != Own {
			others += x.part * runs
		}
	}
	left := 1.
	if others > 0 {
		left = min(1, (whole-ran)/others)
	}
	corrected = slices.Clone(parts)
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
