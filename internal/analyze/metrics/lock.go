package metrics

import (
	"cmp"
	"maps"
	"slices"

	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
)

// Locks holds which threads of a process waited for locks, and what the holders did meanwhile, for runtimes whose requests run
// on threads. It has two sources: [LockEvents] reads a runtime's events of waits and samples of its threads (.NET), [LockDumps]
// reads thread dumps that name each lock's holder (JVM).
type Locks struct {
	Waiting Value // mean number of threads that waited for a lock; NaN: not watched
	Looks   int   // number of looks at the threads
	Waits   int   // waits in the runtime's events
	Waited  int64 // ns, total of these waits

	// Behind is the share (0…1) of the requests queued for the pool that wait because its threads wait for a lock, or hold it
	// while others wait.
	Behind float64

	// Apart means that no request waits for the waiting threads, as far as dumps show: they belong to no pool and to no
	// request, and the threads that serve requests hardly wait.
	Apart bool

	Owner  string   // code that waits most, "" unknown
	Within string   // the code under the lock, where waiting threads have no code of their own on their stacks (inlined, as into Lazy<T>)
	Class  string   // of the lock that Owner waits for, "" unknown
	Holder Holder   // of that lock
	AtOne  int      // threads that wait for one lock with a known holder, in one dump
	Queue  int      // threads that wait for one thread that waits for no lock, directly or behind others, in one dump
	Alone  bool     // there is one dump, whose threads all wait, and none of which works or waits for work
	All    bool     // there is one dump, and each of its threads waits for a lock, or holds one that others wait for
	Circle []string // code of threads that wait for each other in a circle, as far as holders are known

	Worst  *threads.Summary // what threads did when most of them had work; nil: no looks
	Groups []threads.Group  // the threads of Worst that waited for a lock, largest group first
	Looked evidence.Origin  // of the looks at threads
}

// Holder is what the holder of a lock was seen doing while others waited for it.
type Holder struct {
	Owner  string // its code, "" unknown
	Doing  string // in words
	Stands bool   // the holder waited itself
	Upon   bool   // the holder waited for other threads of the process, in most dumps
	Idle   bool   // the holder waited for work, in most dumps: threads of a pool take turns at a queue or a socket
	Told   bool   // the dump names the holder; else it is a thread in the same code that does not wait
	Beside bool   // the holder is a guess: code that was on a stack whenever others waited, and hardly ever otherwise
	Seen   int    // dumps that show it
}

// LockEvents reads contention events, each with its thread's stack and, since .NET 8, its holder. Where there are none, or
// they show fewer waits than looks do, it counts the pool's threads that looks show waiting: a wait that began before the
// recording and never ended has no event.
func LockEvents(b *evidence.Bundle, of *threads.Threads, subject evidence.SubjectID, p *ThreadPool) *Locks {
	l := &Locks{Waiting: Unknown, Worst: p.Worst, Looked: p.Looks}
	v := &b.Intervals
	owners := make(map[string]int64)
	holders := make(map[evidence.LaneID]int64)
	var origin evidence.Origin
	var contended, until int64 // ns in which at least one thread waited
	for _, i := range v.Select(evidence.LockWait, subject) {
		if v.Lane.At(i) == evidence.AllLanes {
			continue
		}
		contended += max(0, v.End[i]-max(until, v.Start[i]))
		until = max(until, v.End[i])
		d := v.End[i] - v.Start[i]
		l.Waited += d
		l.Waits++
		origin = v.Origin.At(i)
		owners[of.View(subject, v.Stack.At(i)).Owner] += d
		holders[v.Holder.At(i)] += d
	}
	var watched int64
	held := 0. // mean number of threads that hold a lock while others wait
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
	if delete(owners, ""); len(owners) == 0 { // the look with most work met no waiting thread
		owners = seen
	}
	if n := p.Usual(); n > 1 && l.Waiting.Known() {
		l.Behind = min(1, (l.Waiting.Number+held)/n)
		if part, looks := lockedWhileExhausted(of.Moments(subject)); looks >= exhaustedLooks {
			l.Behind = part
		}
	}
	l.Owner = largestKey(owners)
	delete(holders, 0)
	if lane := largestKey(holders); lane == 0 {
		l.guessHolder(slices.Concat(of.Moments(subject)...))
	} else if l.seenHolding(of.Samples(subject), lane); l.Owner == "" {
		l.Within = outermostCode(of, subject, lane)
	}
	return l
}

// exhaustedLooks is the least number of looks at a pool without an idle thread that say what its threads do then: of 5 a half is known within 22 %
// (√(0.5·0.5/5)).
const exhaustedLooks = 5

// lockedWhileExhausted returns which part of the pool's threads waits for a lock, or holds one, at the moments at which none of them is idle: only
// then do requests wait for a thread. It also returns the number of these moments.
func lockedWhileExhausted(bursts [][][]threads.Sample) (part float64, looked int) {
	for _, moments := range bursts {
		for _, looks := range moments {
			pool, idle, locked := 0, 0, 0
			for i := range looks {
				v := &looks[i].View
				if v.Role != threadstack.Worker {
					continue
				}
				switch pool++; v.State {
				case evidence.Idle:
					idle++
				case evidence.LockWait:
					locked++
				}
			}
			if pool < 2 || idle > 0 {
				continue
			}
			if looked++; locked > 0 {
				part += min(1, float64(locked+1)/float64(pool))
			}
		}
	}
	return part / float64(max(1, looked)), looked
}

// countLocked returns the mean number of the pool's threads that waited for a lock per look, and by code the number of
// looks.
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

// seenHolding finds what the thread that the runtime names as the holder was seen doing, while it did not wait for a lock itself.
func (l *Locks) seenHolding(looks []threads.Sample, lane evidence.LaneID) {
	seen := make(map[act]int)
	for i := range looks {
		if x := &looks[i]; x.Lane == lane && x.View.State != evidence.LockWait && x.View.State != evidence.Idle && x.View.Owner != "" {
			seen[actOf(&x.View)]++
		}
	}
	l.Holder.Told = true
	l.setHolder(seen)
}

// A holder that nothing names must be in most of the looks in which others wait for the lock, in at least two of them, and
// at least this many times as often as in the other looks unless it is in the code that takes the lock.
const (
	leastBeside = 2
	oftener     = 3
)

// guessHolder takes for the holder what a thread did that did not wait in most looks in which others waited for the lock: in code that hardly ever
// runs otherwise, or else in the code that takes the lock. Other code than that of the waiting threads may hold a lock without a known
// owner, such as a shared one of java.util.concurrent, or one within a ConcurrentDictionary.
func (l *Locks) guessHolder(rounds [][]threads.Sample) {
	if l.Owner == "" {
		return
	}
	var waited, free int // rounds
	with, without := make(map[act]int), make(map[act]int)
	same, inside := make(map[act]int), 0
	for _, looks := range rounds {
		waits := slices.ContainsFunc(looks, func(x threads.Sample) bool {
			return x.View.State == evidence.LockWait && x.View.Owner == l.Owner
		})
		into := without
		if free++; waits {
			into = with
			free--
			waited++
		}
		once, met := make(map[act]bool), false
		for i := range looks {
			v := &looks[i].View
			if v.State == evidence.LockWait || v.State == evidence.Idle || v.Owner == "" {
				continue
			}
			a := actOf(v)
			if once[a] {
				continue
			}
			once[a] = true
			if into[a]++; waits && v.Owner == l.Owner {
				same[a]++
				met = true
			}
		}
		if met {
			inside++
		}
	}
	maps.DeleteFunc(with, func(a act, n int) bool { // without free looks, a thread that is always present is no more likely than others
		return free == 0 || n < leastBeside || 2*n < waited || n*free < oftener*without[a]*waited
	})
	switch {
	case len(with) > 0:
		l.setHolder(with)
		l.Holder.Beside = l.Holder.Owner != l.Owner
	case 2*inside >= waited:
		l.setHolder(same)
	}
}

// outermostCode returns the outermost user code in which a thread was seen most often while it did not wait for a lock.
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

// setHolder sets the holder to what holders were seen doing most often.
func (l *Locks) setHolder(seen map[act]int) {
	if len(seen) == 0 {
		return
	}
	a := slices.MinFunc(slices.Collect(maps.Keys(seen)), func(a, b act) int {
		return cmp.Or(cmp.Compare(seen[b], seen[a]), cmp.Compare(a.owner, b.owner), cmp.Compare(a.doing, b.doing))
	})
	l.Holder.Owner, l.Holder.Doing, l.Holder.Stands, l.Holder.Seen = a.owner, a.doing, a.stands, seen[a]
}

// largestKey returns the key with the largest sum, of equals the first; the zero key of an empty map.
func largestKey[K cmp.Ordered, N cmp.Ordered](sums map[K]N) (best K) {
	for _, k := range slices.Sorted(maps.Keys(sums)) {
		if sums[k] > sums[best] {
			best = k
		}
	}
	return best
}
