package metrics

import (
	"cmp"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
)

// MutexQueue is the goroutines of one dump that wait for one mutex.
type MutexQueue struct {
	Address int64    // of the mutex; 0: unknown, so that the queue is by place
	Waiting int      // goroutines
	All     bool     // the dumps show no other goroutines
	Shown   int      // goroutines that the dumps show
	Least   int64    // ns that each goroutine shown has waited at least, for whatever, in whole minutes
	Longest int64    // ns that the first of them has waited, in whole minutes; 0: less than one
	Untimed bool     // it comes from a profile, which does not tell how long they have waited
	At      []string // functions that lock the mutex, most waiting first
	Origin  evidence.Origin
	Holder  *MutexHolder // nil: not in the dump

	// Beside is a method of the type whose methods lock the mutex, in which another goroutine of the few that are shown is without waiting for a mutex; "" if there
	// is none, or many are shown.
	Beside string
}

// MutexHolder is a goroutine in a function that locks a mutex, past the lock. A dump does not tell a mutex's holder, so the
// goroutine may already have unlocked it.
type MutexHolder struct {
	Goroutine int64
	In        string // the function that locks
	At        string // the innermost function of the program
	State     string
	Waiting   int64 // ns in this state, in whole minutes
	Origin    evidence.Origin
}

// goroutine is one of a dump.
type goroutine struct {
	artifact evidence.ArtifactID
	lane     evidence.LaneID
	stack    evidence.StackID
	state    string
	waiting  int64 // ns
	mutex    int64
	origin   evidence.Origin
	count    int    // goroutines with this stack: more than one in a profile, and where a tool put together those with one stack
	locker   string // the function that locks the mutex it waits for, "": it waits for none
	key      mutexKey
}

// mutexKey identifies a mutex: by address, else by the function that locks it.
type mutexKey struct {
	artifact evidence.ArtifactID
	address  int64
	locker   string
}

// MutexQueuesOf reads which goroutines wait for which mutex in a process's dumps, the queue with the longest wait first.
// Implements tells which functions belong to the runtime or wait for others; these do not count as the program's.
func MutexQueuesOf(b *evidence.Bundle, subject evidence.SubjectID, implements func(function string) bool) []MutexQueue {
	all := goroutinesOf(b, subject)
	total, least := 0, int64(0)
	for i := range all {
		if total += all[i].count; i == 0 || all[i].waiting < least {
			least = all[i].waiting
		}
	}
	queues := make(map[mutexKey]*MutexQueue)
	lockers := make(map[mutexKey]map[string]int)
	for i := range all {
		g := &all[i]
		g.locker = lockerOf(b, g, implements)
		if g.locker == "" {
			continue
		}
		g.key = mutexKey{artifact: g.artifact, address: g.mutex}
		if g.mutex == 0 {
			g.key.locker = g.locker
		}
		q := queues[g.key]
		if q == nil {
			q = &MutexQueue{Address: g.mutex, Untimed: g.lane == 0, Origin: g.origin}
			queues[g.key], lockers[g.key] = q, make(map[string]int)
		}
		q.Waiting += g.count
		lockers[g.key][g.locker] += g.count
		if g.waiting > q.Longest {
			q.Longest, q.Origin = g.waiting, g.origin
		}
	}
	var out []MutexQueue
	keys := make(map[evidence.Origin]mutexKey)
	for k, q := range queues {
		q.At = sortedByCount(lockers[k])
		q.All, q.Shown, q.Least = q.Waiting == total, total, least
		if total <= mostBeside {
			q.Beside = besideOf(b, all, k, q.At, implements)
		}
		keys[q.Origin] = k
		out = append(out, *q)
	}
	slices.SortFunc(out, func(x, y MutexQueue) int {
		return cmp.Or(cmp.Compare(y.Longest, x.Longest), cmp.Compare(y.Waiting, x.Waiting), cmp.Compare(x.Origin, y.Origin))
	})
	looked := 0
	for i := range out {
		if q := &out[i]; q.Waiting > 1 && !q.Untimed && looked < maxHolders {
			looked++
			k := keys[q.Origin]
			q.Holder = holderOf(b, all, k, lockers[k], implements)
		}
	}
	return out
}

// maxHolders is the number of mutexes for which a holder is searched, because each search reads the whole dump.
const maxHolders = 8

// goroutinesOf reads the goroutines of a process's dumps.
func goroutinesOf(b *evidence.Bundle, subject evidence.SubjectID) (all []goroutine) {
	kind, waiting, mutex := b.Names.Lookup("goroutine"), b.Names.Lookup(evidence.SampleWaiting), b.Names.Lookup(evidence.SampleMutex)
	if kind == 0 {
		return nil
	}
	type place struct {
		artifact evidence.ArtifactID
		lane     evidence.LaneID
	}
	rows := make(map[place]int)
	s := &b.Samples
	for i := range s.Len() {
		t := s.Type[i]
		if t == 0 || t != kind && t != waiting && t != mutex || s.Lane[i] == 0 && t != kind || s.Subject[i] != subject && !b.Agree(b.Subjects[s.Subject[i]], b.Subjects[subject]) {
			continue
		}
		a, _ := s.Origin[i].Artifact()
		if s.Lane[i] == 0 { // of a profile, which counts those with the same stack
			all = append(all, goroutine{artifact: a, stack: s.Stack[i], count: int(min(s.Value[i], 1<<40)), origin: s.Origin[i]})
			continue
		}
		at := place{a, s.Lane[i]}
		n, known := rows[at]
		switch {
		case t == kind && !known:
			rows[at] = len(all)
			all = append(all, goroutine{artifact: a, lane: s.Lane[i], stack: s.Stack[i], count: int(min(s.Value[i], 1<<40)), state: b.Names.Text(s.Class[i]), origin: s.Origin[i]})
		case t == waiting && known:
			all[n].waiting = s.Value[i]
		case t == mutex && known:
			all[n].mutex = s.Value[i]
		}
	}
	return all
}

// lockerOf returns the program's function that locks the mutex a goroutine waits for; "" if it waits for none.
func lockerOf(b *evidence.Bundle, g *goroutine, implements func(string) bool) string {
	sleeps := g.lane != 0 // a profile has no states: a goroutine in the slow path of a lock may still run
	if sleeps && !evidence.WaitsForMutex(g.state) {
		return ""
	}
	locks := sleeps && g.state != "semacquire"
	for _, f := range b.Stacks.Frames(g.stack) {
		name := b.Names.Text(f.Func)
		switch {
		case strings.Contains(name, "emacquire"): // runtime_SemacquireMutex, semacquire1
			sleeps = true
		case evidence.LocksMutex(name):
			locks = sleeps
		case implements(name):
		case locks:
			return name
		default:
			return ""
		}
	}
	return ""
}

// holderOf finds the goroutine that has been longest in a function that locks a mutex without waiting for it.
func holderOf(b *evidence.Bundle, all []goroutine, k mutexKey, lockers map[string]int, implements func(string) bool) (h *MutexHolder) {
	for i := range all {
		g := &all[i]
		if g.artifact != k.artifact || g.key == k || h != nil && g.waiting <= h.Waiting {
			continue
		}
		at := ""
		for _, f := range b.Stacks.Frames(g.stack) {
			name := b.Names.Text(f.Func)
			if at == "" && !implements(name) {
				at = name
			}
			if lockers[name] > 0 {
				h = &MutexHolder{Goroutine: int64(g.lane), In: name, At: at, State: g.state, Waiting: g.waiting, Origin: g.origin}
				break
			}
		}
	}
	return h
}

// mostBeside is how many goroutines may be shown where [MutexQueue.Beside] is looked for: in a whole program many are in methods of one type.
const mostBeside = 16

// besideOf finds what another goroutine does in a method of the type that one of the lockers is a method of.
func besideOf(b *evidence.Bundle, all []goroutine, k mutexKey, lockers []string, implements func(string) bool) string {
	for i := range all {
		g := &all[i]
		if g.artifact != k.artifact || g.locker != "" {
			continue
		}
		for _, f := range b.Stacks.Frames(g.stack) {
			name := b.Names.Text(f.Func)
			if implements(name) {
				continue
			}
			of := receiverOf(name)
			if of != "" && slices.ContainsFunc(lockers, func(l string) bool { return receiverOf(l) == of && l != name }) {
				return name
			}
			break // what it waits for is of another type
		}
	}
	return ""
}

// receiverOf returns the type of a method, with its package: "shop/db.(*Cache)" of "shop/db.(*Cache).Get"; "" of a function without one.
func receiverOf(function string) string {
	end := strings.LastIndex(function, ").")
	if end < 0 || !strings.Contains(function[:end], ".(*") {
		return ""
	}
	return function[:end+1]
}

func sortedByCount(counts map[string]int) (names []string) {
	for name := range counts {
		names = append(names, name)
	}
	slices.SortFunc(names, func(x, y string) int { return cmp.Or(cmp.Compare(counts[y], counts[x]), cmp.Compare(x, y)) })
	return names
}
