package threads

import (
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
)

// mounted says whether a virtual thread keeps a carrier: one that parks gives it back, but
// where it is pinned, by a monitor or a native frame.
// https://docs.oracle.com/en/java/javase/21/core/virtual-threads.html
func mounted(frames []string) (keeps, pinned bool) {
	for _, f := range frames {
		switch {
		case f == threadstack.NotMounted:
			return false, false
		case strings.HasPrefix(f, "java.lang.VirtualThread.parkOnCarrierThread"):
			return true, true
		case strings.HasPrefix(f, "java.lang.VirtualThread.park"), strings.HasPrefix(f, "java.lang.VirtualThread.yieldContinuation"):
			return false, false
		}
	}
	return true, false
}

// carriers finds what the virtual threads that never ran wait for: those that keep the
// carriers, in turn; and whether they are requests, as others of the program's are.
func (h *holding) carriers(bursts [][]*Sample) {
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
	for _, burst := range bursts {
		var keep, wait []*Sample
		stuck := 0
		for _, l := range burst {
			switch {
			case l.View.State == evidence.ThreadWait:
				wait = append(wait, l)
			case l.View.Virtual:
				if keeps, fast := mounted(h.t.pathOf(l.Stack).frames); keeps {
					keep = append(keep, l)
					if fast {
						stuck++
						if x.Pins == "" {
							x.Pins = pins(h.t, l)
						}
					}
				}
			}
		}
		if len(wait) == 0 || len(keep) == 0 {
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
			l.View.Request = true
			h.next[l] = keep[n%len(keep)]
		}
		for _, l := range keep {
			did.add(&l.View)
		}
		waits = append(waits, wait...)
	}
	if x.Looks < leastShown {
		return
	}
	x.Waiting, x.Beyond, x.Doing = float64(waiting)/float64(x.Looks), float64(beyond)/float64(x.Looks), did.most()
	x.Pinned = float64(pinned) / float64(beyond)
	words := x.Words()
	for _, l := range waits {
		l.View.Limit = words
	}
	h.limit(x)
}

// Kept says in how many moments virtual threads were seen that kept their carrier while they waited, and in how
// many of all some had not run yet.
func (t *Threads) Kept(s evidence.SubjectID) (pinned, fresh, moments int) {
	for looks := t.looks[s]; len(looks) > 0; {
		n := burst(looks)
		virtual, fast, waits := false, false, false
		for i := range looks[:n] {
			switch l := &looks[i]; {
			case !l.View.Virtual:
			case l.View.State == evidence.ThreadWait:
				virtual, waits = true, true
			default:
				_, is := mounted(t.pathOf(l.Stack).frames)
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

// pins are the program's own functions of a pinned thread, innermost first: one of them is
// synchronized, or called by native code.
func pins(t *Threads, l *Sample) string {
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
