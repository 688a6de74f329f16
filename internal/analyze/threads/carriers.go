package threads

import (
	"slices"
	"sort"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
)

// keepsCarrier says whether a virtual thread keeps a carrier: one that parks gives it back, but
// where it is pinned, by a monitor or a native frame.
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

// findCarriers finds what the virtual threads that never ran wait for: those that keep the
// carriers, in turn; and whether they are requests, as others of the program's are.
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
	at := make(map[int]int) // looks with so many
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
		if at[len(keep)]++; at[len(keep)] > at[x.Most] { // a dump takes its time: one may be seen leaving, and its successor
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

// leastKept is how many carriers there are at least, unless the looks show fewer: a virtual machine makes as many as processors.
const leastKept = 1

// markEntering makes threads that keep a carrier and seem to run wait for a lock, if they are at
// the very beginning of what a pinned thread is inside: dumps of virtual threads do not say that a
// thread waits to enter a monitor, and it keeps its carrier meanwhile. It returns how many these
// are.
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

// lateOf are those of threads parked until an answer comes whose answer is there: a share of them, as the kernel saw calls at that time.
// Nothing but a carrier is what they wait for; which of them that are it does not tell.
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

// unreadAnswers says of a moment which share of the calls under way had their answer, but it was not read yet; of no calls, all that is
// waited for is there.
func (t *Threads) unreadAnswers(s evidence.SubjectID) func(at int64) (float64, bool) {
	windows := t.b.Covered(s, evidence.CoverExchanges)
	if len(windows) == 0 {
		return func(int64) (float64, bool) { return 0, false }
	}
	v := &t.b.Intervals
	rows := slices.DeleteFunc(v.Select(evidence.Call, s), func(i int) bool { // those that waited for long enough to be met
		a, ok := v.Origin[i].Artifact()
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

// leastMet is how long (ns) a call is under way that a look meets by more than chance.
const leastMet = int64(1e6)

func isFrom(o evidence.Origin, a evidence.ArtifactID) bool {
	of, ok := o.Artifact()
	return ok && of == a
}

// Kept says in how many moments virtual threads were seen that kept their carrier while they waited, and in how
// many of all some had not run yet.
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

// pinningFunctions returns the program's own functions of a pinned thread, innermost first, as
// text: one of them is synchronized, or called by native code.
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
