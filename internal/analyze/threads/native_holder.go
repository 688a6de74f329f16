package threads

import (
	"maps"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
)

// leastPresent is the part of the looks with a waiting thread in which an activity must be seen to be the holder's.
const leastPresent = .6

// findUnnamed finds the holder of what threads wait for where no stack tells: of a mutex, or the thread that wakes them. While threads
// wait, one thread holds it: the one that most of these looks show alone in the same activity; if that differs, the only thread with work
// at that moment that does not wait for it.
func (h *holding) findUnnamed(bursts [][]*Sample) {
	if h.t.of[h.t.b.Subjects[h.s].Runtime].Settle == nil {
		return
	}
	h.oneWorker(bursts)
	waits := make(map[string]bool)
	for _, burst := range bursts {
		for _, l := range burst {
			if waitsUnnamed(l) && h.next[l] == nil {
				waits[l.View.Pattern] = true
			}
		}
	}
	for _, on := range slices.Sorted(maps.Keys(waits)) {
		if !h.findPlaceLimit(on, bursts) {
			h.findLoneHolder(on, bursts)
		}
		h.inFunction(on, bursts)
	}
}

// inFunction finds the holder of a mutex where the program's functions are known: of the threads that did not run then, the only one in the
// locking function past the lock. What such a holder waits for is more precise than what holders do most of the time.
func (h *holding) inFunction(on string, bursts [][]*Sample) {
	for _, burst := range bursts {
		locks := make(map[string]*Sample) // by locking function: the only thread past the lock
		for _, l := range burst {
			if l.View.State == evidence.LockWait && l.View.Pattern == on && l.View.Owner != "" {
				locks[l.View.Owner] = nil
			}
		}
		for at := range locks {
			locks[at] = h.beyondLock(at, on, burst)
		}
		for _, l := range burst {
			if l.View.State == evidence.LockWait && l.View.Pattern == on && locks[l.View.Owner] != nil {
				h.next[l] = locks[l.View.Owner]
			}
		}
	}
}

// beyondLock returns the only thread that waits for something else in a function that locks a mutex; nil if there are none or several.
func (h *holding) beyondLock(at, on string, burst []*Sample) (only *Sample) {
	for _, l := range burst {
		if !l.View.Waiting() || l.View.State == evidence.ClientWait || l.View.Pattern == on || !slices.ContainsFunc(h.t.framesOf(l.Stack), func(f string) bool { return tidyName(f) == at }) {
			continue
		}
		if only != nil {
			return nil
		}
		only = l
	}
	return only
}

// leastPlaces is the number of threads admitted at a time from which it is a limit; a single one is a holder.
const leastPlaces = 2

// findPlaceLimit reports whether what threads wait to be woken at is a limit: during the waits, always about as many others are at
// requests, whatever they do.
func (h *holding) findPlaceLimit(on string, bursts [][]*Sample) bool {
	g := &gate{waiting: make(map[*Sample]bool), passes: func(*Sample) bool { return true }}
	for _, burst := range bursts {
		for _, l := range burst {
			if l.View.State == evidence.SyncWait && l.View.Request && l.View.Pattern == on {
				g.waiting[l] = true
				if g.first == nil {
					g.first = l
				}
			}
		}
	}
	if g.first == nil || !g.isFull(bursts) || g.limit.Most < leastPlaces {
		return false
	}
	g.limit.Place, g.limit.Pattern = g.first.View.Reason(), "" // with the function, if known
	h.applyGate(g, bursts)
	return true
}

func waitsUnnamed(l *Sample) bool {
	return l.View.State == evidence.LockWait || l.View.State == evidence.SyncWait && l.View.Request
}

// findLoneHolder finds the activity of the only thread that others wait for.
func (h *holding) findLoneHolder(on string, bursts [][]*Sample) {
	present := make(map[string]int) // looks in which one thread did that
	looks := 0
	for _, burst := range bursts {
		if !someWait(on, burst) {
			continue
		}
		looks++
		for did, l := range singleDoers(on, burst) {
			if l != nil {
				present[did]++
			}
		}
	}
	does, most := "", 0
	for did, n := range present {
		if n > most || n == most && did < does {
			does, most = did, n
		}
	}
	if looks < leastShown {
		return
	}
	one := float64(most) >= leastPresent*float64(looks)
	for _, burst := range bursts {
		if !someWait(on, burst) {
			continue
		}
		holder := onlyBusy(on, burst)
		if one {
			holder = singleDoers(on, burst)[does]
		}
		for _, l := range burst {
			if holder != nil && holder != l && waitsUnnamed(l) && l.View.Pattern == on && h.next[l] == nil {
				h.next[l] = holder
			}
		}
	}
}

// onlyBusy returns the thread with work that does not wait for it; nil if there are several.
func onlyBusy(on string, burst []*Sample) (one *Sample) {
	for _, l := range burst {
		switch {
		case l.View.State == evidence.Idle || waitsUnnamed(l) && l.View.Pattern == on:
		case one != nil:
			return nil
		default:
			one = l
		}
	}
	return one
}

func someWait(on string, burst []*Sample) bool {
	for _, l := range burst {
		if waitsUnnamed(l) && l.View.Pattern == on {
			return true
		}
	}
	return false
}

// singleDoers returns the threads whose activity no other thread shares at that moment, by activity; nil for shared ones.
func singleDoers(on string, burst []*Sample) map[string]*Sample {
	out := make(map[string]*Sample)
	for _, l := range burst {
		if l.View.State == evidence.Idle || waitsUnnamed(l) && l.View.Pattern == on {
			continue
		}
		did := l.View.Doing()
		if _, several := out[did]; several {
			out[did] = nil
			continue
		}
		out[did] = l
	}
	return out
}
