package ledger

import (
	"cmp"
	"slices"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
)

// runQueue estimates how much of the time in which requests were not seen they waited for a processor. The kernel counts
// between two readings of /proc how long the process's threads were ready and did not run. Looks at threads do not show
// this: a ready thread looks as if it ran, and a request whose bytes wait for the server's thread to read them is on no
// thread. So a request without a place counts as being at a thread that runs or is ready, and these were ready for that
// part of their time. All requests together waited at most for as long as all threads that serve them, unless a quota
// stopped these all at once.
//
// Where the process fills all processors, a request without a place that does not run waits for its turn, perhaps in a
// queue of the runtime. Nor did requests run for longer than the process used processors: time seen running beyond that
// was ready. The result is a share and says nothing of a single request.
type runQueue struct {
	cells []readyCell
	runs  float64 // as readyCell.runs, over all cells
}

// readyCell is the time between two readings.
type readyCell struct {
	from, to int64
	part     float64 // waiting part of the unseen time
	own      float64 // of that, the part while the process's own threads held the processors
	runs     float64 // of all time of requests, the part that threads which serve them ran
	waits    float64 // of all time of requests, the part that threads which serve them were ready
	denied   float64 // of the time that its threads were ready or ran, the part that they did not run
	ready    float64 // threads that were ready, on average
}

// fullFrom is the part of the processors from which a process leaves none free: counters that are read at different
// moments show a little less than all.
const fullFrom = .9

// buildRunQueue returns nil where threads were not looked at, because requests may then wait for anything, or where the
// kernel's account of the threads was not recorded.
func (l *Ledger) buildRunQueue() *runQueue {
	if l.occupancy == nil || len(l.Rows) == 0 {
		return nil
	}
	began := l.From
	for _, row := range l.Rows {
		began = min(began, l.sentAt(row))
	}
	w := metrics.Window{From: began, Until: l.To}
	waits, used := metrics.RunDelay(l.b, l.Subject, w), metrics.ProcessorTime(l.b, l.Subject, w)
	if !waits.Known() || !used.Known() {
		return nil
	}
	host, stopped := metrics.HostOf(l.b, l.Subject, w), metrics.ThrottledQueues(l.b, l.Subject, w)
	cores := float64(l.b.CPUsOf(l.Subject))
	until := l.underWayUntil()
	r := &runQueue{}
	var ranAll, inFlightAll float64
	for i := range len(waits.T) - 1 {
		c := readyCell{from: waits.T[i], to: waits.T[i+1]}
		if c.to <= w.From || c.from >= w.Until || c.to <= c.from {
			continue
		}
		at := metrics.Window{From: c.from, Until: c.to}
		ran, waited := used.Over(at), waits.V[i]
		inFlight := (until(c.to) - until(c.from)) / float64(c.to-c.from)
		if !ran.Known() || !(waited > 0) || inFlight <= 0 {
			continue
		}
		others := host.OthersOver(at)
		taken := 0.
		if others.Known() {
			taken = others.Number
		}
		held := false
		if quota := stopped.Over(at); quota.Known() {
			held = quota.Number > 0
		}
		c.denied, c.ready = waited/(waited+ran.Number), waited
		c.runs = l.occupancy.serves * ran.Number / inFlight
		c.waits = min(1, l.occupancy.serves*waited/inFlight)
		ranAll, inFlightAll = ranAll+c.runs*inFlight*float64(c.to-c.from), inFlightAll+inFlight*float64(c.to-c.from)
		c.part = min(c.denied, l.occupancy.serves*waited/inFlight)
		if held && !l.occupancy.unseen { // a quota stops all threads at once, and with them requests that no thread has read
			c.part = min(c.denied, waited/min(1, inFlight))
			c.waits = 1
		}
		if cores > 0 && ran.Number >= fullFrom*cores {
			c.part = max(c.part, 1-ran.Number/inFlight)
		}
		if sum := ran.Number + taken; !held && sum > 0 {
			c.own = ran.Number / sum
		}
		r.cells = append(r.cells, c)
	}
	if inFlightAll > 0 {
		r.runs = ranAll / inFlightAll
	}
	return r
}

// splitRunning returns how much (ns) of the time that a request was seen running within [at, at+dur) it waited for a
// processor, behind its own process's threads and behind others: the time beyond what the process ran, as far as its
// threads were ready. Counters are read some ms before or after their stamp, so a cell's bound is never below that of all
// cells.
func (r *runQueue) splitRunning(at, dur, running int64) (behind, others int64) {
	if r == nil || dur <= 0 || running <= 0 {
		return 0, 0
	}
	var known, most, waits, own float64
	i, _ := slices.BinarySearchFunc(r.cells, at, func(c readyCell, t int64) int { return cmp.Compare(c.to, t) })
	for ; i < len(r.cells) && r.cells[i].from < at+dur; i++ {
		c := &r.cells[i]
		d := float64(min(c.to, at+dur) - max(c.from, at))
		known += d
		most += max(c.runs, r.runs) * d
		waits += c.waits * d
		own += c.own * c.waits * d
	}
	most += float64(dur) - known // time without readings
	ready := min(float64(running)-most, waits)
	if ready <= 0 {
		return 0, 0
	}
	behind = int64(ready * own / waits)
	return behind, int64(ready) - behind
}

// splitWoken returns parts (ns of [at, at+dur), of which the world ran for the part runs) with ready time taken out of time
// that looks show as waits for the network: the kernel wakes a thread when its answer is there, and until the thread runs,
// a look finds it where it waited. Ready is the time that parts seen running (ns) are known to have waited for a processor.
// The rest of the threads' ready time was that of woken threads. Holders of a pool's threads share in both.
func (r *runQueue) splitWoken(parts []share, at, dur int64, runs, running float64, ready int64) []share {
	if r == nil {
		return parts
	}
	woken, waiting := r.mostReady(at, dur)-float64(ready), 0.
	for i := range parts {
		switch x := &parts[i]; {
		case x.mechanism == HostCPU:
			woken -= x.part * runs
		case x.mechanism == Dependency && x.Kind == evidence.NetWait:
			waiting += x.part * runs
		}
	}
	ofWaiting, ofRunning := 0., 0.
	if waiting > 0 {
		ofWaiting = min(1, max(0, woken)/waiting)
	}
	if running > 0 {
		ofRunning = min(1, float64(ready)/running)
	}
	if ofWaiting == 0 && ofRunning == 0 {
		return parts
	}
	own := int64(1e6 * r.ownShare(at, dur))
	split := make([]share, 0, len(parts)+len(parts)/2)
	for _, x := range parts {
		part := 0.
		switch {
		case x.mechanism == Dependency && x.Kind == evidence.NetWait, x.mechanism == PoolThread && x.HolderKind == evidence.NetWait:
			part = ofWaiting * x.part
		case x.mechanism == PoolThread && x.HolderKind == evidence.Running:
			part = ofRunning * x.part
		}
		if x.part -= part; x.part > 0 {
			split = append(split, x)
		}
		if part == 0 {
			continue
		}
		x.part = part
		if x.mechanism == PoolThread {
			x.HolderKind, x.HolderCause = evidence.Runnable, 0
			x.Held = evidence.Shares{evidence.HeldByRequests: own, evidence.HeldByOthers: 1e6 - own}
		} else {
			x.mechanism, x.Segment = HostCPU, evidence.Segment{Kind: evidence.Runnable, Stack: x.Stack}
		}
		split = append(split, x)
	}
	return split
}

// mostReady returns how long (ns) the threads that serve a request can have waited for a processor within [at, at+dur), by
// the kernel's account; 0 where ready time was not counted.
func (r *runQueue) mostReady(at, dur int64) (ns float64) {
	i, _ := slices.BinarySearchFunc(r.cells, at, func(c readyCell, t int64) int { return cmp.Compare(c.to, t) })
	for ; i < len(r.cells) && r.cells[i].from < at+dur; i++ {
		ns += r.cells[i].waits * float64(min(r.cells[i].to, at+dur)-max(r.cells[i].from, at))
	}
	return ns
}

// mostWait returns how long (ns) a request can have waited for a processor within [at, at+dur); all of it where ready time
// was not counted.
func (r *runQueue) mostWait(at, dur int64) (ns float64) {
	if r == nil {
		return float64(dur)
	}
	var known float64
	i, _ := slices.BinarySearchFunc(r.cells, at, func(c readyCell, t int64) int { return cmp.Compare(c.to, t) })
	for ; i < len(r.cells) && r.cells[i].from < at+dur; i++ {
		d := float64(min(r.cells[i].to, at+dur) - max(r.cells[i].from, at))
		known += d
		ns += r.cells[i].waits * d
	}
	return ns + float64(dur) - known
}

// ownShare returns the part of [at, at+dur) in which the process's own threads held the processors, of those that were not
// free; 0 where unknown.
func (r *runQueue) ownShare(at, dur int64) float64 {
	if r == nil || dur <= 0 {
		return 0
	}
	var known, own float64
	i, _ := slices.BinarySearchFunc(r.cells, at, func(c readyCell, t int64) int { return cmp.Compare(c.to, t) })
	for ; i < len(r.cells) && r.cells[i].from < at+dur; i++ {
		d := float64(min(r.cells[i].to, at+dur) - max(r.cells[i].from, at))
		known += d
		own += r.cells[i].own * d
	}
	if known == 0 {
		return 0
	}
	return own / known
}

// deniedTime returns how long (ns) within [at, at+dur) a thread of the process with work waited for a processor at most:
// behind its own process's threads, and behind others.
func (r *runQueue) deniedTime(at, dur int64) (own, others int64) {
	if r == nil || dur <= 0 {
		return 0, 0
	}
	var behind, all float64
	i, _ := slices.BinarySearchFunc(r.cells, at, func(c readyCell, t int64) int { return cmp.Compare(c.to, t) })
	for ; i < len(r.cells) && r.cells[i].from < at+dur; i++ {
		c := &r.cells[i]
		d := min(c.denied, c.ready) * float64(min(c.to, at+dur)-max(c.from, at)) // the thread may have waited for something else all the time
		all += d
		behind += c.own * d
	}
	return int64(behind), int64(all) - int64(behind)
}

// nowhere is what a request did in the time in which it was not seen, ns.
type nowhere struct {
	behind, others float64 // waits for a processor: behind its own process's threads, and behind others
	ran            float64
}

// shareUnseen splits the unseen time (rest, ns) of a request within [at, at+dur). The request was seen running for seen ns,
// which includes ready time, and of these waited for a processor for waited ns.
func (r *runQueue) shareUnseen(at, dur, rest, seen, waited int64) (n nowhere) {
	if r == nil || dur <= 0 {
		return n
	}
	i, _ := slices.BinarySearchFunc(r.cells, at, func(c readyCell, t int64) int { return cmp.Compare(c.to, t) })
	charged := float64(waited) / float64(dur)
	for ; i < len(r.cells) && r.cells[i].from < at+dur; i++ {
		c := &r.cells[i]
		d := float64(min(c.to, at+dur) - max(c.from, at))
		unseen, known := d*float64(rest)/float64(dur), d*float64(seen)/float64(dur)
		part := c.part
		if charged > 0 {
			part = min(part, max(0, c.waits-charged))
		}
		n.behind += part * c.own * unseen
		n.others += part * (1 - c.own) * unseen
		n.ran += min((1-part)*unseen, max(0, c.runs*d-(1-c.denied)*known))
	}
	return n
}

// chargeRunQueue charges what threads did unseen in the free time: waits for a processor behind the process's own threads
// and behind others, and running.
func (w *walker) chargeRunQueue(f *freeTime) {
	rest := f.s.Dur - f.stopped
	if rest <= 0 {
		return
	}
	n := w.l.ready.shareUnseen(f.from, f.dur, rest, f.seenRun, f.seenWait)
	if part, _, known := w.l.clock.ranShare(w.l, w.row); known && w.l.clock.whole { // the request ran at most as long as the clock says
		n.ran = min(n.ran, max(0, part*float64(f.dur)-float64(f.seenRun-f.seenWait)))
	}
	for _, x := range []struct {
		m  Mechanism
		ns float64
	}{{RequestsCPU, n.behind}, {HostCPU, n.others}, {Own, n.ran}} {
		w.chargeBeginning(f, *f.s, int64(x.ns), x.m)
	}
}
