package metrics

import (
	"cmp"
	"maps"
	"slices"

	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
)

// Locks is who waited for the locks of a process, and who held them meanwhile, of runtimes
// whose requests run on threads. Two sources tell: [LockEvents], a runtime's own events
// about waits beside looks at its threads (.NET), and [LockDumps], dumps that name each
// lock's holder (JVM).
type Locks struct {
	Waiting Value // threads that waited for one, in the mean; NaN: nobody watched
	Looks   int   // how many times threads were looked at
	Waits   int   // waits that the runtime told of
	Waited  int64 // ns, of all those together

	// Behind is which part of the requests that wait for a thread of the pool wait because
	// its threads wait for a lock, 0…1. One of its threads holds it, and is counted while
	// others wait.
	Behind float64

	// Apart says that they who wait are none that requests wait for, as far as looks tell: they
	// are in no pool and on no request, while threads of a pool serve requests and hardly wait.
	Apart bool

	Owner  string   // code that waits most, "" unknown
	Within string   // where those who wait have no code on their stacks (a compiler inlined it, as into Lazy<T>): what runs under the lock
	Class  string   // of the lock it waits for, "" unknown
	Holder Holder   // of that lock
	AtOne  int      // threads that wait for one lock whose holder is named, at one look
	All    bool     // there is one look, and each thread of it waits for a lock, or holds one that others wait for
	Circle []string // code of threads that wait for each other, as far as holders are named

	Worst  *threads.Summary // what threads did when most of them had work; nil: nobody looked
	Groups []threads.Group  // of those, they that waited for a lock, largest first
	Looked evidence.Origin  // of what looks at threads tell
}

// Holder is what the thread that held a lock was seen doing while others waited for it.
type Holder struct {
	Owner  string // its code, "" unknown
	Doing  string // in words
	Stands bool   // it waited itself
	Upon   bool   // it waited for other threads of the process, in most looks of those that the source names
	Idle   bool   // it waited for work, in most looks: a pool whose threads take turns at a queue or a socket
	Told   bool   // the source says that it held the lock; else it was in the same code without waiting
	Beside bool   // nor that: it was there whenever others waited, and hardly ever else
	Seen   int    // looks in which it was there
}

// LockEvents reads contention events, each with its thread's stack and, since .NET 8, its
// holder; where none were recorded, or fewer wait by them, how many of the pool's threads
// looks at them show waiting: a wait that had begun before, and never ended, is in no event.
func LockEvents(b *evidence.Bundle, of *threads.Threads, subject evidence.SubjectID, p *ThreadPool) *Locks {
	l := &Locks{Waiting: Unknown, Worst: p.Worst, Looked: p.Looks}
	v := &b.Intervals
	owners := make(map[string]int64)
	holders := make(map[evidence.LaneID]int64)
	var origin evidence.Origin
	var contended, until int64 // ns in which somebody waited
	for _, i := range v.Select(evidence.LockWait, subject) {
		if v.Lane[i] == evidence.AllLanes {
			continue
		}
		contended += max(0, v.End[i]-max(until, v.Start[i]))
		until = max(until, v.End[i])
		d := v.End[i] - v.Start[i]
		l.Waited += d
		l.Waits++
		origin = v.Origin[i]
		owners[of.View(subject, v.Stack[i]).Owner] += d
		holders[v.Holder[i]] += d
	}
	var watched int64
	held := 0. // threads that hold one while others wait, in the mean
	for _, s := range b.Covered(subject, evidence.CoverWaits) {
		if s.Until > s.From {
			watched += s.Until - s.From
			origin = s.Origin
		}
	}
	if watched > 0 {
		l.Waiting = Value{Number: float64(l.Waited) / float64(watched), Origin: origin, Watched: 1}
		held = min(1, float64(contended)/float64(watched))
	}
	var seen map[string]int64
	if p.Worst != nil {
		var locked float64
		locked, seen = l.countLocked(of.Moments(subject))
		if !l.Waiting.Known() || locked > l.Waiting.Number {
			l.Waiting, held = Value{Number: locked, Origin: p.Looks, Watched: 1}, min(1, locked)
		}
		for _, g := range p.Worst.Groups {
			if g.Pool == 0 || g.View.State != evidence.LockWait {
				continue
			}
			l.Groups = append(l.Groups, g)
			if g.View.Owner != "" || len(owners) == 0 {
				owners[g.View.Owner] += int64(g.Pool) * 1e9
			}
		}
	}
	if delete(owners, ""); len(owners) == 0 { // the look at which most had work met none who waits
		owners = seen
	}
	if n := p.Usual(); n > 1 && l.Waiting.Known() {
		l.Behind = min(1, (l.Waiting.Number+held)/n)
	}
	l.Owner = largestKey(owners)
	delete(holders, 0)
	l.seenHolding(of.Samples(subject), largestKey(holders))
	if l.Owner == "" && l.Holder.Told {
		l.Within = outermostCode(of, subject, largestKey(holders))
	}
	return l
}

// countLocked returns how many of the pool's threads waited for a lock at a look, in the mean, and
// in which code, in looks.
func (l *Locks) countLocked(bursts [][][]threads.Sample) (mean float64, owners map[string]int64) {
	l.Looks, owners = len(bursts), make(map[string]int64)
	for _, moments := range bursts {
		locked := 0
		for _, looks := range moments {
			for i := range looks {
				if v := &looks[i].View; v.Role == threadstack.Worker && v.State == evidence.LockWait {
					locked++
					if v.Owner != "" {
						owners[v.Owner]++
					}
				}
			}
		}
		mean += float64(locked) / float64(len(moments))
	}
	return mean / float64(l.Looks), owners
}

// act is what a holder does.
type act struct {
	owner, doing string
	stands       bool
}

func actOf(v *threadstack.View) act { return act{v.Owner, v.Doing(), v.Waiting()} }

// seenHolding finds what the holder was seen doing: the thread that the runtime names (0:
// none), else one that is in the same code without waiting for the lock.
func (l *Locks) seenHolding(looks []threads.Sample, lane evidence.LaneID) {
	seen := make(map[act]int)
	for i := range looks {
		x := &looks[i]
		if x.View.State == evidence.LockWait || x.View.State == evidence.Idle || x.View.Owner == "" {
			continue
		}
		if lane != 0 && x.Lane == lane || lane == 0 && x.View.Owner == l.Owner {
			seen[actOf(&x.View)]++
		}
	}
	l.Holder.Told = lane != 0
	l.heldBy(seen)
}

// outermostCode returns the outermost code of the user's in which a thread was seen most often
// while it did not wait for a lock itself.
func outermostCode(of *threads.Threads, subject evidence.SubjectID, lane evidence.LaneID) string {
	seen := make(map[string]int)
	for _, x := range of.Samples(subject) {
		if x.Lane == lane && x.View.State != evidence.LockWait && x.View.State != evidence.Idle {
			seen[of.Outermost(subject, &x)]++
		}
	}
	delete(seen, "")
	return largestKey(seen)
}

// heldBy takes what holders were seen doing most often.
func (l *Locks) heldBy(seen map[act]int) {
	if len(seen) == 0 {
		return
	}
	a := slices.MinFunc(slices.Collect(maps.Keys(seen)), func(a, b act) int {
		return cmp.Or(cmp.Compare(seen[b], seen[a]), cmp.Compare(a.owner, b.owner), cmp.Compare(a.doing, b.doing))
	})
	l.Holder.Owner, l.Holder.Doing, l.Holder.Stands, l.Holder.Seen = a.owner, a.doing, a.stands, seen[a]
}

// largestKey returns the key with the largest sum, of equals the first; the zero key of none.
func largestKey[K cmp.Ordered, N cmp.Ordered](sums map[K]N) (best K) {
	for _, k := range slices.Sorted(maps.Keys(sums)) {
		if sums[k] > sums[best] {
			best = k
		}
	}
	return best
}
