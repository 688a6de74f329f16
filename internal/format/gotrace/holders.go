package gotrace

import (
	"math/bits"

	"github.com/unstall/unstall/internal/base/evidence"
)

// integrals are, per holder, the time (ns) charged to it so far.
type integrals [evidence.NumHolders]int64

// holders knows at every instant what a runnable goroutine waits for, and
// integrates it over time, so that any interval can be split by a subtraction.
//
// While the world is stopped, that is the stop. While a processor is free, it
// is HeldByNobody: the goroutine only waits to be picked up. Else it is the
// goroutines on the processors, in equal parts.
type holders struct {
	count [evidence.NumHolders]int // processors by holder
	some  uint32                   // of which there are any, a bit each
	busy  int                      // their sum
	procs int                      // processors with a thread
	total int                      // GOMAXPROCS, 0 unknown
	stop  int                      // stop-the-world ranges open
	last  int64
	sum   integrals
	all   int64 // of sum
}

// addHolder counts a goroutine that comes onto a processor; removeHolder one that leaves it.
func (h *holders) addHolder(x evidence.Holder) {
	if h.count[x]++; h.count[x] > 0 {
		h.some |= 1 << x
	}
	h.busy++
}

func (h *holders) removeHolder(x evidence.Holder) {
	if h.count[x]--; h.count[x] <= 0 {
		h.some &^= 1 << x
	}
	h.busy--
}

// advanceTo charges the time since the last change.
func (h *holders) advanceTo(t int64) {
	if t > h.last {
		h.chargeElapsed(t)
	}
}

func (h *holders) chargeElapsed(t int64) {
	dt := t - h.last
	h.last = t
	h.all += dt
	if h.stop > 0 {
		h.sum[evidence.HeldByStop] += dt
		return
	}
	busy := h.busy
	if busy == 0 || busy < max(h.procs, h.total) {
		h.sum[evidence.HeldByNobody] += dt
		return
	}
	some := h.some
	last := bits.Len32(some) - 1
	rest := dt
	for some &^= 1 << last; some != 0; some &= some - 1 { // mostly there is one kind, or two
		i := bits.TrailingZeros32(some)
		part := dt * int64(h.count[i])
		if busy == 2 {
			part >>= 1
		} else {
			part /= int64(busy)
		}
		h.sum[i] += part
		rest -= part
	}
	h.sum[last] += rest
}

// sharesSince splits the time since a snapshot.
func (h *holders) sharesSince(at *integrals) (s evidence.Shares) {
	for i := range s {
		s[i] = h.sum[i] - at[i]
	}
	return s
}
