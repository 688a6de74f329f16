package jvm

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/unstall/unstall/cause"
	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/threads"
)

// locks is what looks at a process's threads show of its locks.
type locks struct {
	looks  int // bursts of them
	mean   float64
	worst  *threads.Summary
	groups []threads.Group // that waited for a lock when most threads had work, largest first
	owner  string          // code that waits most
	class  string          // of the lock it waits for, "" unknown
	holder string          // code that held it meanwhile, "" unknown
	doing  string          // what the holder did
	stands bool            // it waited itself
	told   bool            // the dump says who held it
	times  int             // looks in which the holder was there
	behind float64         // part of the threads that serve requests which waited for one
	circle []string        // code of threads that wait for each other, as far as the dump names holders
	origin evidence.Origin
}

// moment is one thread at one time.
type moment struct {
	lane evidence.LaneID
	at   int64
}

// locksOf reads the looks; nil if nobody looked.
func locksOf(c *cause.Case) *locks {
	of := threads.Of(c.Bundle)
	w := &locks{worst: of.Summary(c.Subject)}
	if w.worst == nil {
		return nil
	}
	w.origin = w.worst.Rows[0].Origin
	for _, g := range w.worst.Groups {
		if g.View.State == evidence.LockWait {
			w.groups = append(w.groups, g)
		}
	}
	bursts := of.Bursts(c.Subject)
	w.looks = len(bursts)
	owners := make(map[string]int)
	at := make(map[moment]*threads.Look)
	waited := 0
	for _, looks := range bursts {
		for i := range looks {
			l := &looks[i]
			at[moment{l.Lane, l.Time}] = l
			if l.View.State == evidence.LockWait {
				waited++
				owners[l.View.Owner]++
			}
		}
	}
	w.mean = float64(waited) / float64(w.looks)
	delete(owners, "")
	w.owner = most(owners)
	w.behind = behind(bursts)
	w.heldBy(c, bursts, at)
	w.around(c, at)
	return w
}

// behind is which part of the threads of the pools that serve requests waited for a lock, in
// the mean: of the requests that wait for a thread, as many wait because of it. One of the
// threads holds the lock.
func behind(bursts [][]threads.Look) float64 {
	serve := make(map[string]bool)
	for _, looks := range bursts {
		for i := range looks {
			if v := &looks[i].View; v.Role == threads.Worker && v.Request {
				serve[v.Pool] = true
			}
		}
	}
	sum := 0.
	for _, looks := range bursts {
		all, waited := 0, 0
		for i := range looks {
			if v := &looks[i].View; v.Role == threads.Worker && serve[v.Pool] {
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

// around finds the code of threads that wait for each other in a circle.
func (w *locks) around(c *cause.Case, at map[moment]*threads.Look) {
	v := &c.Bundle.Intervals
	waitsFor := make(map[moment]evidence.LaneID)
	for _, i := range v.Select(evidence.LockWait, c.Subject) {
		if v.Holder[i] != 0 {
			waitsFor[moment{v.Lane[i], v.Start[i]}] = v.Holder[i]
		}
	}
	for from := range waitsFor {
		lane := waitsFor[from]
		for n := 0; lane != 0 && lane != from.lane && n < len(waitsFor); n++ {
			lane = waitsFor[moment{lane, from.at}]
		}
		if l := at[from]; lane == from.lane && l != nil && l.View.Owner != "" && !slices.Contains(w.circle, l.View.Owner) {
			w.circle = append(w.circle, l.View.Owner)
		}
	}
	slices.Sort(w.circle)
}

// act is what a holder does.
type act struct {
	owner, doing string
	stands       bool
}

// heldBy finds the class of the lock that most wait for, and what its holder was seen doing:
// the thread that the dump names, else one that is in the same code without waiting for it.
func (w *locks) heldBy(c *cause.Case, bursts [][]threads.Look, at map[moment]*threads.Look) {
	v := &c.Bundle.Intervals
	classes := make(map[string]int)
	holders := make(map[act]map[int64]bool)
	saw := func(l *threads.Look) {
		a := act{l.View.Owner, l.View.Doing(), l.View.Waiting()}
		if holders[a] == nil {
			holders[a] = make(map[int64]bool)
		}
		holders[a][l.Time] = true
	}
	for _, i := range v.Select(evidence.LockWait, c.Subject) {
		waits := at[moment{v.Lane[i], v.Start[i]}]
		if waits == nil || waits.View.Owner != w.owner {
			continue
		}
		classes[c.Bundle.Names.Text(v.Cause[i])]++
		if h := at[moment{v.Holder[i], v.Start[i]}]; v.Holder[i] != 0 && h != nil && h.View.Owner != "" {
			w.told = true
			saw(h)
		}
	}
	delete(classes, "")
	w.class = lockName(most(classes))
	if !w.told {
		for _, looks := range bursts {
			for i := range looks {
				if s := looks[i].View.State; s != evidence.LockWait && s != evidence.Idle && w.owner != "" && looks[i].View.Owner == w.owner {
					saw(&looks[i])
				}
			}
		}
	}
	acts := slices.SortedFunc(maps.Keys(holders), func(a, b act) int {
		return cmp.Or(cmp.Compare(len(holders[b]), len(holders[a])), cmp.Compare(a.owner, b.owner), cmp.Compare(a.doing, b.doing))
	})
	if len(acts) > 0 {
		w.holder, w.doing, w.stands, w.times = acts[0].owner, acts[0].doing, acts[0].stands, len(holders[acts[0]])
	}
}

// lockName is a lock's class as people call it: that of java.util.concurrent's synchronizer is
// an inner one, and stands for the lock around it.
func lockName(class string) string {
	if rest, ok := strings.CutPrefix(class, "java.util.concurrent.locks."); ok {
		class, _, _ = strings.Cut(rest, "$")
	}
	return class
}

// most is the key with the largest count, of equals the first; "" of none.
func most(counts map[string]int) (best string) {
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		if counts[k] > counts[best] {
			best = k
		}
	}
	return best
}
