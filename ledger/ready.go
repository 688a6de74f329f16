package ledger

import (
	"cmp"
	"slices"

	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/reading"
)

// ready shares out, of the time in which nobody saw what requests did, what they waited for a
// processor: the kernel counts between two readings of /proc how long the process's threads
// were ready and did not run. Looks at threads see what these wait for but for that: a thread
// that is ready looks as if it ran, and a request whose bytes wait for the server's own thread
// to read them is on none. So a request that is nowhere is at a thread that runs or is ready,
// and these were ready for that part of their time; but all requests together waited for no
// longer than all threads that serve them did, unless a quota stopped these all at once.
//
// Where the process fills all processors, whoever is nowhere and does not run waits for its
// turn, be it in a queue of the runtime's. It says nothing of a single request, and what it
// gives is a share.
type ready struct {
	cells []readyCell
}

// readyCell is the time between two readings.
type readyCell struct {
	from, to int64
	part     float64 // of the time that nobody saw
	own      float64 // of that, while the process's own threads held the processors
	runs     float64 // of all time of requests, that threads which serve them ran
	denied   float64 // of the time its threads were ready or ran, in which they did not run
}

// fullFrom is the part of the processors from which a process leaves none free: readings of
// counters at different moments show a little less than all.
const fullFrom = .9

// readied is nil where threads were not looked at, so that requests may wait for anything, or
// not followed by the kernel.
func (l *Ledger) readied() *ready {
	if l.occupancy == nil || len(l.Rows) == 0 {
		return nil
	}
	began := l.From
	for _, row := range l.Rows {
		began = min(began, l.came(row))
	}
	w := reading.Window{From: began, Until: l.To}
	waits, used := reading.RunDelay(l.b, l.Subject, w), reading.ProcessorTime(l.b, l.Subject, w)
	if !waits.Known() || !used.Known() {
		return nil
	}
	host, stopped := reading.HostOf(l.b, l.Subject, w), reading.Stops(l.b, l.Subject, w)
	cores := float64(l.b.CPUsOf(l.Subject))
	until := l.underWayUntil()
	r := &ready{}
	for i := range len(waits.T) - 1 {
		c := readyCell{from: waits.T[i], to: waits.T[i+1]}
		if c.to <= w.From || c.from >= w.Until || c.to <= c.from {
			continue
		}
		at := reading.Window{From: c.from, Until: c.to}
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
		c.denied = waited / (waited + ran.Number)
		c.runs = l.occupancy.serves * ran.Number / inFlight
		c.part = min(c.denied, l.occupancy.serves*waited/inFlight)
		if held && !l.occupancy.unseen { // it stops all at once, and who is in no thread's hands with them
			c.part = min(c.denied, waited/min(1, inFlight))
		}
		if cores > 0 && ran.Number >= fullFrom*cores {
			c.part = max(c.part, 1-ran.Number/inFlight)
		}
		if sum := ran.Number + taken; !held && sum > 0 {
			c.own = ran.Number / sum
		}
		r.cells = append(r.cells, c)
	}
	return r
}

// nowhere is what a request did in the time that nobody saw of it, ns.
type nowhere struct {
	behind, others float64 // it waited for a processor: for its own process's threads, and for others
	ran            float64
}

// over shares out the time of a request of [at, at+dur) that nobody saw, of rest ns; it was
// seen to run for seen ns, as one who is ready seems to.
func (r *ready) over(at, dur, rest, seen int64) (n nowhere) {
	if r == nil || dur <= 0 {
		return n
	}
	i, _ := slices.BinarySearchFunc(r.cells, at, func(c readyCell, t int64) int { return cmp.Compare(c.to, t) })
	for ; i < len(r.cells) && r.cells[i].from < at+dur; i++ {
		c := &r.cells[i]
		d := float64(min(c.to, at+dur) - max(c.from, at))
		unseen, known := d*float64(rest)/float64(dur), d*float64(seen)/float64(dur)
		n.behind += c.part * c.own * unseen
		n.others += c.part * (1 - c.own) * unseen
		n.ran += min((1-c.part)*unseen, max(0, c.runs*d-(1-c.denied)*known))
	}
	return n
}

// readying charges, of a time of which rest (ns) was in no state and seen was running, what
// threads did that nobody saw; from and dur are all of it.
func (w *walker) readying(from, dur int64, at *int64, s *evidence.Segment, rest, seen int64) {
	n := w.l.ready.over(from, dur, rest, seen)
	for _, x := range []struct {
		m  Mechanism
		ns float64
	}{{RequestsCPU, n.behind}, {HostCPU, n.others}, {Own, n.ran}} {
		part := *s
		part.Dur = min(int64(x.ns), s.Dur)
		if part.Dur <= 0 {
			continue
		}
		w.c = Charges{}
		w.c[x.m] = part.Dur
		w.yield(*at, part, &w.c, false)
		*at += part.Dur
		s.Dur -= part.Dur
	}
}
