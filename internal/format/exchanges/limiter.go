package exchanges

import (
	"fmt"
	"math"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/base/units"
)

// Signs of a limit of calls per second: calls that their requests waited for begin at equal distances, however long the calls take.
const (
	pacedWait  = int64(5e6) // ns that a request is idle before such a call
	pacedLeast = 10         // calls
	pacedGap   = int64(2e6) // ns between their beginnings, at least
	pacedNear  = .1         // the relative difference that they may have
	pacedMost  = .8         // the part of them that must be so
	pacedIdle  = .2         // the last call ends within this part of the distance
	pacedMore  = 1.2        // the distances may vary this many times as much as what remains of them without the last call
)

// findLimiters finds peers whose calls pass a rate limiter, and for calls how long their requests waited for it. Calls
// are linked, and waits for pools are known.
func (p *parser) findLimiters() {
	p.eachPeer(func(peer evidence.NameID, calls []int) {
		free := make(map[int32]int64) // by request: when its last call had ended
		var waited []pacedCall
		var gaps, rests, arrivals []int64
		for n, i := range calls {
			x := &p.calls[i]
			if x.request < 0 {
				continue
			}
			from := max(free[x.request], p.requests[x.request].begun)
			free[x.request] = p.doneAt(x)
			if n == 0 || x.pooled > 0 || x.begun-from < pacedWait {
				continue
			}
			before := &p.calls[calls[n-1]]
			gap := x.begun - before.begun
			waited = append(waited, pacedCall{i, x.begun - from, gap})
			gaps, rests = append(gaps, gap), append(rests, gap-(p.doneAt(before)-before.begun))
			if before.request >= 0 {
				arrivals = append(arrivals, p.requests[x.request].begun-p.requests[before.request].begun)
			}
		}
		if len(waited) < pacedLeast || len(arrivals) < pacedLeast {
			return
		}
		gap := stats.QuantileOf(gaps, .5)
		near := func(w pacedCall) bool { return float64(max(w.gap-gap, gap-w.gap)) <= pacedNear*float64(gap) }
		met := 0
		for _, w := range waited {
			if near(w) {
				met++
			}
		}
		// Calls of evenly arriving requests are as even themselves. Behind a lock that is held over the call, the next one begins when the last has
		// ended: then hardly any of the distance remains, or the rest varies less.
		evenly := float64(middleSpread(gaps))
		asCome := near(pacedCall{gap: stats.QuantileOf(arrivals, .5)}) && float64(middleSpread(arrivals)) <= 2*evenly
		behind := evenly > float64(middleSpread(rests))/2 && float64(stats.QuantileOf(rests, .5)) < pacedIdle*float64(gap)
		if gap < pacedGap || asCome || behind || evenly > pacedMore*float64(middleSpread(rests)) || float64(met) < pacedMost*float64(len(waited)) {
			p.markWindows(peer, calls, waited)
			return
		}
		what := p.b.Text(peer)
		name := p.b.TellWait(fmt.Sprintf("a limit of %s calls a second to %s", units.Num(1e9/float64(gap)), what), evidence.Wait{Kind: evidence.RateLimit, Of: what})
		for _, w := range waited {
			if near(w) {
				x := &p.calls[w.call]
				x.pool, x.pooled, x.paced = name, w.waited, true
			}
		}
	})
}

// Signs of a limit of calls in each window of time, such as those of Resilience4j and of .NET's FixedWindowRateLimiter: calls that their
// requests waited for begin when a window does, and windows that end with requests waiting have all the same number of calls.
const (
	windowPhase = .9 // the mean vector of the phases of these calls (Rayleigh's test; R² n is far above its bound for chance)
	windowCame  = .5 // likewise of when they began to wait, at most: those of requests that come as evenly are no less together
	windowNear  = .1 // of the window: how late after its beginning such a call may begin
	windowsFull = 5  // windows
	windowsMost = .8 // the part of them with that number
)

// windowLengths lists the windows (ns) that are looked for: people set round ones.
var windowLengths = []int64{5e9, 2e9, 1e9, 5e8, 25e7, 2e8, 1e8, 5e7, 2e7, 1e7}

// markWindows finds the window of a limit, and for calls how long their requests waited for it.
func (p *parser) markWindows(peer evidence.NameID, calls []int, waited []pacedCall) {
	for _, length := range windowLengths {
		if p.until-p.from < windowsFull*length {
			continue
		}
		together, at := meanPhase(waited, length, func(w pacedCall) int64 { return p.calls[w.call].begun })
		came, _ := meanPhase(waited, length, func(w pacedCall) int64 { return p.calls[w.call].begun - w.waited })
		if together < windowPhase || came > windowCame {
			continue
		}
		phase := int64((at - windowNear/2) * float64(length)) // before windows begin: of those at their beginning some are early for the mean
		window := func(at int64) int64 { return (at - phase) / length }
		counts, awaited := make(map[int64]int), make(map[int64]bool)
		for _, i := range calls {
			counts[window(p.calls[i].begun)]++
		}
		near := func(w pacedCall) bool {
			at := p.calls[w.call].begun
			return float64((at-phase)%length) <= 2*windowNear*float64(length)
		}
		for _, w := range waited {
			if near(w) {
				awaited[window(p.calls[w.call].begun)] = true
			}
		}
		full := make(map[int]int) // by number of calls: windows at whose end requests waited
		n, most := 0, 0
		for at := range awaited {
			if c := counts[at-1]; c > 0 {
				n++
				full[c]++
				if full[c] > full[most] || full[c] == full[most] && c > most {
					most = c
				}
			}
		}
		if n < windowsFull || float64(full[most]) < windowsMost*float64(n) {
			return
		}
		what := p.b.Text(peer)
		name := p.b.TellWait(fmt.Sprintf("a limit of %s in each %s to %s", units.Plural(most, "call"), units.Time(float64(length)), what), evidence.Wait{Kind: evidence.RateLimit, Of: what})
		for _, w := range waited {
			if near(w) {
				c := &p.calls[w.call]
				c.pool, c.pooled, c.paced = name, w.waited, true
			}
		}
		return
	}
}

// meanPhase returns the length of the mean vector of the phases of moments within windows, 1 if they are all the same, and its direction as a
// part of the window.
func meanPhase(all []pacedCall, window int64, moment func(pacedCall) int64) (length, at float64) {
	x, y := 0., 0.
	for _, w := range all {
		sin, cos := math.Sincos(2 * math.Pi * float64(moment(w)%window) / float64(window))
		x, y = x+cos, y+sin
	}
	return math.Hypot(x, y) / float64(len(all)), math.Atan2(y, x) / (2 * math.Pi)
}

// pacedCall is a call before which its request waited, with the time (ns) since the previous call to the same peer began.
type pacedCall struct {
	call        int
	waited, gap int64
}

// middleSpread returns the distance (ns) between the 10th and the 90th percentile.
func middleSpread(all []int64) int64 { return stats.QuantileOf(all, .9) - stats.QuantileOf(all, .1) }
