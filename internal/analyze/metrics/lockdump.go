package metrics

import (
	"cmp"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
)

// moment is one thread at one time.
type moment struct {
	lane evidence.LaneID
	at   int64
}

// dumps are thread dumps that name the waiting threads and the holder of each lock.
type dumps struct {
	*Locks
	b       *evidence.Bundle
	subject evidence.SubjectID
	bursts  [][]threads.Sample
	at      map[moment]*threads.Sample
}

// LockDumps reads which threads the dumps show blocked and, if a dump names it, by which holder. Waiting is NaN without
// dumps.
func LockDumps(b *evidence.Bundle, of *threads.Threads, subject evidence.SubjectID) *Locks {
	l := &Locks{Waiting: Unknown, Worst: of.Summary(subject)}
	if l.Worst == nil {
		return l
	}
	l.Looked = l.Worst.Rows[0].Origin
	for _, g := range l.Worst.Groups {
		if g.View.State == evidence.LockWait {
			l.Groups = append(l.Groups, g)
		}
	}
	d := dumps{Locks: l, b: b, subject: subject, bursts: of.Rounds(subject), at: make(map[moment]*threads.Sample)}
	l.Looks = len(d.bursts)
	owners := make(map[string]int)
	waited := 0
	for _, looks := range d.bursts {
		for i := range looks {
			x := &looks[i]
			d.at[moment{x.Lane, x.Time}] = x
			if x.View.State == evidence.LockWait {
				waited++
				owners[x.View.Owner]++
			}
		}
	}
	l.Waiting = Value{Number: float64(waited) / float64(l.Looks), Origin: l.Looked, Watched: 1}
	for _, i := range b.Intervals.Select(evidence.LockWait, subject) {
		if ns := b.Intervals.End[i] - b.Intervals.Start[i]; ns > 0 { // a wait in a dump has no duration
			l.Waits++
			l.Waited += ns
		}
	}
	delete(owners, "")
	l.Owner = d.frontOf(owners)
	l.Behind, l.Apart = lockedShare(d.bursts), isApart(d.bursts)
	d.findHolder()
	d.findCircle()
	d.countAtOneLock()
	return l
}

// mostExcerpt is how many threads somebody copies from a dump, at most, to show which ones matter.
const mostExcerpt = 8

// countAtOneLock finds the most threads that wait for one lock in the same dump, by holder.
func (d *dumps) countAtOneLock() {
	v := &d.b.Intervals
	n := make(map[moment]int)
	last := d.bursts[len(d.bursts)-1]
	held := make(map[evidence.LaneID]bool)
	waitsFor := d.holderOfEach()
	queues := make(map[moment]int)
	waits := make(map[evidence.LaneID]bool) // whose stack may be cut, so that it does not tell whose thread it is
	for _, i := range v.Select(evidence.LockWait, d.subject) {
		if v.Start[i] <= last[0].Time && v.End[i] >= last[0].Time {
			waits[v.Lane.At(i)] = true
		}
		if v.Holder.At(i) == 0 || v.End[i] > v.Start[i] {
			continue
		}
		m := moment{v.Holder.At(i), v.Start[i]}
		n[m]++
		d.AtOne = max(d.AtOne, n[m])
		if root, ok := rootOf(waitsFor, m); ok {
			queues[root]++
			d.Queue = max(d.Queue, queues[root])
		}
		if v.Start[i] == last[0].Time {
			held[v.Holder.At(i)] = true
		}
	}
	d.Alone = len(d.bursts) == 1 && len(last) <= mostExcerpt
	for i := range last {
		d.Alone = d.Alone && (last[i].View.State == evidence.LockWait || last[i].View.State == evidence.SyncWait || waits[last[i].Lane])
	}
	d.All = len(d.bursts) == 1 // more than one dump comes from a recorder, which shows all threads
	for i := range last {
		v := &last[i].View
		idle := v.Role == threadstack.Runtime && v.State == evidence.Idle // of the runtime or of a logger: it has no lock of the service
		if !idle && v.State != evidence.LockWait && !held[last[i].Lane] && !waits[last[i].Lane] {
			d.All = false
		}
	}
}

// lockedShare returns the mean share of the serving pools' threads that waited for a lock, over the dumps.
func lockedShare(bursts [][]threads.Sample) float64 {
	serve := make(map[string]bool)
	for _, looks := range bursts {
		for i := range looks {
			if v := &looks[i].View; v.Role == threadstack.Worker && v.Request {
				serve[v.Pool] = true
			}
		}
	}
	sum := 0.
	for _, looks := range bursts {
		all, waited := 0, 0
		for i := range looks {
			if v := &looks[i].View; v.Role == threadstack.Worker && serve[v.Pool] {
				if all++; v.State == evidence.LockWait {
					waited++
				}
			}
		}
		if all > 1 {
			sum += min(1, float64(waited)/float64(all-1))
		}
	}
	return sum / float64(len(bursts))
}

// handedOn is the least mean number of serving threads that wait for other threads of the process, from which on requests may
// depend on those.
const handedOn = .1

// isApart reports whether the threads that wait for a lock serve no requests. No dump shows one of them on a request or in a
// pool, which requests may be handed to, and the serving threads hardly wait for others.
func isApart(bursts [][]threads.Sample) bool {
	served, waits := false, 0
	for _, looks := range bursts {
		for i := range looks {
			v := &looks[i].View
			serves := v.Role == threadstack.Worker && v.Request
			if v.State == evidence.LockWait && (v.Request || v.Role != threadstack.Other) {
				return false
			}
			served = served || serves
			if serves && slices.Contains([]evidence.Kind{evidence.SyncWait, evidence.TaskWait, evidence.PoolWait}, v.State) {
				waits++
			}
		}
	}
	return served && float64(waits) < handedOn*float64(len(bursts))
}

// frontOf returns the code that waits most; of codes that wait as much, one whose lock's holder does not wait for a lock itself.
func (d *dumps) frontOf(owners map[string]int) string {
	best := largestKey(owners)
	waitsFor := d.holderOfEach()
	front := make(map[string]int)
	for from, holder := range waitsFor {
		if _, waits := waitsFor[moment{holder, from.at}]; waits {
			continue
		}
		if x := d.at[from]; x != nil && owners[x.View.Owner] == owners[best] {
			front[x.View.Owner]++
		}
	}
	delete(front, "")
	if len(front) == 0 {
		return best
	}
	return largestKey(front)
}

// holderOfEach returns which thread holds the lock that a thread waits for, as far as it is known.
func (d *dumps) holderOfEach() map[moment]evidence.LaneID {
	v := &d.b.Intervals
	waitsFor := make(map[moment]evidence.LaneID)
	for _, i := range v.Select(evidence.LockWait, d.subject) {
		if v.Holder.At(i) != 0 {
			waitsFor[moment{v.Lane.At(i), v.Start[i]}] = v.Holder.At(i)
		}
	}
	return waitsFor
}

// rootOf follows the holders of locks from one on to a thread that waits for none; false in a circle.
func rootOf(waitsFor map[moment]evidence.LaneID, from moment) (moment, bool) {
	for range len(waitsFor) + 1 {
		next, waits := waitsFor[from]
		if !waits {
			return from, true
		}
		from.lane = next
	}
	return from, false
}

// findCircle finds the code of threads that wait for each other in a circle (deadlock).
func (d *dumps) findCircle() {
	waitsFor := d.holderOfEach()
	for from := range waitsFor {
		lane := waitsFor[from]
		for n := 0; lane != 0 && lane != from.lane && n < len(waitsFor); n++ {
			lane = waitsFor[moment{lane, from.at}]
		}
		if x := d.at[from]; lane == from.lane && x != nil && x.View.Owner != "" && !slices.Contains(d.Circle, x.View.Owner) {
			d.Circle = append(d.Circle, x.View.Owner)
		}
	}
	slices.Sort(d.Circle)
}

// findHolder finds the class of the lock with most waiting threads, and what its holder was seen doing: the thread that the
// dump names, else a thread in the same code that does not wait for the lock.
func (d *dumps) findHolder() {
	v := &d.b.Intervals
	classes := make(map[string]int)
	looks := make(map[act]map[int64]bool)
	saw := func(x *threads.Sample) {
		a := actOf(&x.View)
		if looks[a] == nil {
			looks[a] = make(map[int64]bool)
		}
		looks[a][x.Time] = true
	}
	idle, upon, told := 0, 0, 0
	for _, i := range v.Select(evidence.LockWait, d.subject) {
		at := v.Start[i]
		if v.End[i] > at {
			at = d.lookDuring(v.Lane.At(i), v.Holder.At(i), at, v.End[i])
		}
		waits := d.at[moment{v.Lane.At(i), at}]
		if waits == nil || waits.View.Owner != d.Owner {
			continue
		}
		classes[d.b.Names.Text(v.Cause.At(i))]++
		h := d.at[moment{v.Holder.At(i), at}]
		if v.Holder.At(i) == 0 || h == nil || v.End[i] > v.Start[i] && h.View.State == evidence.LockWait { // a previous holder is in the queue again
			continue
		}
		told++
		switch h.View.State {
		case evidence.Idle:
			idle++
		case evidence.SyncWait, evidence.PoolWait, evidence.TaskWait:
			upon++
		}
		if h.View.Owner != "" {
			d.Holder.Told = true
			saw(h)
		}
	}
	d.Holder.Idle = told > 0 && 2*idle > told
	d.Holder.Upon = told > 0 && 2*upon > told
	delete(classes, "")
	d.Class = lockName(largestKey(classes))
	if !d.Holder.Told {
		d.guessHolder(d.bursts)
		return
	}
	seen := make(map[act]int)
	for a, times := range looks {
		seen[a] = len(times)
	}
	d.setHolder(seen)
}

// lookDuring returns the last moment during a wait (ns) at which both threads were sampled and the reported holder did not wait
// for a lock itself, because queued threads hold the lock in turn. Without such a moment it returns the last sample of the
// waiting thread, 0 if there was none.
func (d *dumps) lookDuring(lane, holder evidence.LaneID, from, until int64) (at int64) {
	both := false
	n, _ := slices.BinarySearchFunc(d.bursts, from, func(burst []threads.Sample, t int64) int { return cmp.Compare(burst[0].Time, t) })
	for ; n < len(d.bursts) && d.bursts[n][0].Time < until; n++ {
		t := d.bursts[n][0].Time
		h := d.at[moment{holder, t}]
		if d.at[moment{lane, t}] == nil {
			continue
		}
		if held := h != nil && h.View.State != evidence.LockWait; held || !both {
			at, both = t, both || held
		}
	}
	return at
}

// lockName returns the usual name of a lock's class: java.util.concurrent's synchronizer is an inner class and stands for
// the lock around it.
func lockName(class string) string {
	if rest, ok := strings.CutPrefix(class, "java.util.concurrent.locks."); ok {
		class, _, _ = strings.Cut(rest, "$")
	}
	return class
}
