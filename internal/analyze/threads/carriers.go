package threads

import (
	"slices"
	"sort"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
)

// keepsCarrier reports whether a virtual thread keeps a carrier: a parked one gives it back, unless a monitor or a native frame pins it.
// https://docs.oracle.com/en/java/javase/21/core/virtual-threads.html
func keepsCarrier(frames []string) (keeps, pinned bool) {
	for _, f := range frames {
		switch {
		case strings.HasPrefix(f, "java.lang.VirtualThread.parkOnCarrierThread"):
			return true, true
		case strings.HasPrefix(f, "java.lang.VirtualThread.park"), strings.HasPrefix(f, "java.lang.VirtualThread.yieldContinuation"):
			return false, false
		}
	}
	return true, false
}

// findCarriers finds the threads that keep the carriers, for which virtual threads that never ran wait in turn, and whether the waiting ones are
// requests, as the program's other virtual threads are.
func (h *holding) findCarriers(bursts [][]*Sample) {
	serve := false
	for _, burst := range bursts {
		serve = serve || slices.ContainsFunc(burst, func(l *Sample) bool { return l.View.Virtual && l.View.Request })
	}
	if !serve {
		return
	}
	x := Limit{Carriers: true}
	did := make(tally)
	waiting, beyond, pinned := 0, 0, 0
	at := make(map[int]int) // looks by the number of kept carriers
	var waits []*Sample
	unread := h.t.unreadAnswers(h.s)
	for _, burst := range bursts {
		var keep, wait, parked []*Sample
		stuck := 0
		for _, l := range burst {
			switch {
			case l.View.State == evidence.ThreadWait:
				wait = append(wait, l)
			case l.View.Virtual:
				keeps, fast := keepsCarrier(h.t.pathOf(l.Stack).frames)
				if keeps {
					keep = append(keep, l)
				} else if l.View.Request && l.View.State == evidence.NetWait {
					parked = append(parked, l)
				}
				if fast {
					stuck++
					if x.Pins == "" {
						x.Pins = pinningFunctions(h.t, l)
					}
				}
			}
		}
		if len(keep) == 0 {
			continue
		}
		stuck += h.markEntering(keep)
		if len(keep) >= max(x.Most, leastKept) {
			wait = append(wait, lateOf(parked, unread)...)
		}
		if len(wait) == 0 {
			continue
		}
		x.Looks++
		if at[len(keep)]++; at[len(keep)] > at[x.Most] { // a dump takes time: it may show one that leaves, and its successor
			x.Most = len(keep)
		}
		waiting, beyond, pinned = waiting+len(wait), beyond+len(keep), pinned+stuck
		if x.Looks == 1 {
			x.Stack, x.Origin = keep[0].Stack, keep[0].Origin
		}
		for n, l := range wait {
			l.View.Request, l.View.State = true, evidence.ThreadWait
			h.next[l] = keep[n%len(keep)]
		}
		for _, l := range keep {
			did.countDoing(&l.View)
		}
		waits = append(waits, wait...)
	}
	if x.Looks < leastShown {
		return
	}
	x.Waiting, x.Beyond, x.Doing = float64(waiting)/float64(x.Looks), float64(beyond)/float64(x.Looks), did.listDoings()
	x.Pinned = float64(pinned) / float64(beyond)
	for _, l := range waits {
		x.setWait(&l.View)
	}
	h.addLimit(x)
}

// leastKept is the least number of carriers, unless looks show fewer: a virtual machine makes as many as processors.
const leastKept = 1

// markEntering marks threads that keep a carrier and seem to run as waiting for a lock, if they are at the very beginning of code that a pinned
// thread is in: dumps of virtual threads do not show a wait to enter a monitor, which keeps the carrier. It returns the number of such threads.
func (h *holding) markEntering(keep []*Sample) (n int) {
	for _, l := range keep {
		if l.View.State != evidence.Running || l.View.User != 0 {
			continue
		}
		function := h.t.pathOf(l.Stack).frames[0]
		for _, other := range keep {
			frames := h.t.pathOf(other.Stack).frames
			if _, pinned := keepsCarrier(frames); other != l && pinned && slices.Contains(frames[1:], function) {
				l.View.State, l.View.Pattern = evidence.LockWait, "lock"
				h.next[l] = other
				n++
				break
			}
		}
	}
	return n
}

// lateOf returns the threads parked for an answer that has arrived: a share of them, by the calls that the kernel saw at that time. Such threads wait
// only for a carrier; the share does not tell which threads they are.
func lateOf(parked []*Sample, unread func(at int64) (share float64, known bool)) []*Sample {
	if len(parked) == 0 {
		return nil
	}
	share, known := unread(parked[0].Time)
	if !known {
		return nil
	}
	return parked[:min(len(parked), int(share*float64(len(parked))+.5))]
}

// unreadAnswers returns the share of the calls under way at a moment with an answer that was not read yet; 1 without calls.
func (t *Threads) unreadAnswers(s evidence.SubjectID) func(at int64) (float64, bool) {
	windows := t.b.Covered(s, evidence.CoverExchanges)
	if len(windows) == 0 {
		return func(int64) (float64, bool) { return 0, false }
	}
	v := &t.b.Intervals
	rows := slices.DeleteFunc(v.Select(evidence.Call, s), func(i int) bool { // calls that took long enough to be met
		a, ok := v.Origin.At(i).Artifact()
		return !ok || !slices.ContainsFunc(windows, func(w evidence.Coverage) bool { return isFrom(w.Origin, a) }) || v.End[i]-v.Start[i] < leastMet
	})
	var longest int64
	for _, i := range rows {
		longest = max(longest, v.End[i]-v.Start[i])
	}
	return func(at int64) (float64, bool) {
		if !slices.ContainsFunc(windows, func(w evidence.Coverage) bool { return w.From <= at && at < w.Until }) {
			return 0, false
		}
		asked, there := 0, 0
		first := sort.Search(len(rows), func(n int) bool { return v.Start[rows[n]] >= at-longest })
		for _, i := range rows[first:] {
			if v.Start[i] > at {
				break
			}
			if v.End[i] <= at {
				continue
			}
			asked++
			if unread, ok := v.Get(i, evidence.UnreadTime); ok && v.End[i]-int64(unread) <= at {
				there++
			}
		}
		if asked == 0 {
			return 1, true
		}
		return float64(there) / float64(asked), true
	}
}

// leastMet is how long (ns) a call must be under way for a look to meet it by more than chance.
const leastMet = int64(1e6)

func isFrom(o evidence.Origin, a evidence.ArtifactID) bool {
	of, ok := o.Artifact()
	return ok && of == a
}

// Kept returns the number of moments with virtual threads that kept their carrier while they waited, and in how many of all some had not run yet.
func (t *Threads) Kept(s evidence.SubjectID) (pinned, fresh, moments int) {
	for looks := t.looks[s]; len(looks) > 0; {
		n := burstLength(looks)
		virtual, fast, waits := false, false, false
		for i := range looks[:n] {
			switch l := &looks[i]; {
			case !l.View.Virtual:
			case l.View.State == evidence.ThreadWait:
				virtual, waits = true, true
			default:
				_, is := keepsCarrier(t.pathOf(l.Stack).frames)
				virtual, fast = true, fast || is
			}
		}
		if virtual {
			moments++
		}
		if fast {
			pinned++
		}
		if waits {
			fresh++
		}
		looks = looks[n:]
	}
	return pinned, fresh, moments
}

// pinningFunctions returns the program's own functions of a pinned thread, innermost first, as text: one of them is synchronized, or called by
// native code.
func pinningFunctions(t *Threads, l *Sample) string {
	v, frames := &l.View, t.pathOf(l.Stack).frames
	var names []string
	for i := v.User; i >= 0 && i <= v.Outer && len(names) < mostPins; i++ {
		if threadstack.IsFunction(frames[i]) {
			names = append(names, threadstack.Bare(threadstack.Short(frames[i])))
		}
	}
	return strings.Join(names, evidence.Link)
}

const mostPins = 3
