package exchanges

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/cilium/ebpf"

	"github.com/unstall/unstall/internal/collect/probe"
	"github.com/unstall/unstall/internal/collect/probe/goroutine"
)

// How often goroutines that serve requests are looked at. A round takes at most one part in lookCost of a CPU, unless that would make rounds
// rarer than lookRare.
const (
	lookEach  = 20 * time.Millisecond
	lookRare  = 250 * time.Millisecond
	lookCost  = 200
	lookAfter = int64(2e6) // ns that a request is under way before it is looked at
	lookOn    = int64(1e9) // ns for which a goroutine is looked at that has answered: it may still hold what others wait for
	mostLooks = 64         // in a round
	lookBatch = 1 << 11    // connections whose state is read at once
)

// looks looks at the goroutines that serve requests of a Go program.
type looks struct {
	reader *goroutine.Reader
	starts *goroutine.Starts // nil: it is not known which goroutines these start
	next   time.Time
	keys   []uint64
	states [][stateSize]byte
	begun  []uint64 // goroutines of requests that are under way
	done   []uint64 // of those that were answered just now
	parked []uint64 // of those under way that are parked
}

func newLooks(pid int, release string) *looks {
	return &looks{reader: goroutine.NewReader(pid, release), starts: goroutine.OpenStarts(pid, release), keys: make([]uint64, lookBatch), states: make([][stateSize]byte, lookBatch)}
}

// waitAndLook waits until what the programs told is to be read, and looks at goroutines meanwhile. It returns false if the recording ends.
func (w *watching) waitAndLook(ctx context.Context) bool {
	if w.looks == nil {
		return probe.Wait(ctx, drainEach)
	}
	for until := time.Now().Add(drainEach); ; {
		now := time.Now()
		if !now.Before(w.looks.next) {
			took := w.lookAtGoroutines()
			w.looks.next = now.Add(min(lookRare, max(lookEach, lookCost*took)))
		}
		if now = time.Now(); !now.Before(until) {
			return true
		}
		if !probe.Wait(ctx, max(time.Millisecond, min(until.Sub(now), w.looks.next.Sub(now)))) {
			return false
		}
	}
}

// lookAtGoroutines writes what goroutines do whose requests are under way, of many a part drawn by lot, and what those do that they have started and may wait
// for. It returns how long that took, but for the names of functions, which are looked up once.
func (w *watching) lookAtGoroutines() (took time.Duration) {
	x, began := w.looks, time.Now()
	if !x.findBegun(w) {
		return time.Since(began)
	}
	x.begun = drawUpTo(mostLooks, x.begun)
	at := time.Now().UnixNano()
	look := func(g uint64) (state goroutine.State) {
		state, frames := x.reader.Look(g)
		if state == goroutine.Unknown {
			return state
		}
		stack, names := 0, time.Now()
		if len(frames) > 0 {
			w.buf, stack = w.sites.appendStack(w.buf, frames)
		}
		began = began.Add(time.Since(names))
		w.buf = fmt.Appendf(w.buf, "g %d %d %c %d", at, w.routines.numberOf(g), state, stack)
		return state
	}
	x.parked = x.parked[:0]
	for i, g := range append(x.begun, drawUpTo(max(0, mostLooks-len(x.begun)), x.done)...) {
		state := look(g)
		if state == goroutine.Unknown {
			continue
		}
		if w.buf = append(w.buf, '\n'); state == goroutine.Waiting && i < len(x.begun) {
			x.parked = append(x.parked, g)
		}
	}
	if x.starts == nil || len(x.parked) == 0 {
		return time.Since(began)
	}
	for _, s := range drawUpTo(mostLooks, x.starts.Of(x.parked)) {
		if look(s.Address) != goroutine.Unknown {
			w.buf = fmt.Appendf(w.buf, " %d %d\n", w.routines.numberOf(s.Origin), s.ID)
		}
	}
	return time.Since(began)
}

// drawUpTo returns so many of a list, drawn by lot.
func drawUpTo[T any](n int, all []T) []T {
	if len(all) > n {
		rand.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
		all = all[:n]
	}
	return all
}

// findBegun finds the goroutines whose requests are under way, and those that have just answered. It returns false where no request is.
func (x *looks) findBegun(w *watching) bool {
	x.begun, x.done = x.begun[:0], x.done[:0]
	now := time.Now().UnixNano() - w.offset
	var cursor ebpf.MapBatchCursor
	for {
		n, err := w.keeps.states.BatchLookup(&cursor, x.keys, x.states, nil)
		for i := range n {
			s := x.states[i][:]
			word := func(at int) uint32 { return binary.NativeEndian.Uint32(s[at:]) }
			moment := func(at int) int64 { return int64(binary.NativeEndian.Uint64(s[at:])) }
			g := binary.NativeEndian.Uint64(s[atGoroutine:])
			if word(atRole) != roleServer || g == 0 || !w.sites.isOwn(word(atThread)) {
				continue
			}
			switch phase := word(atPhase); {
			case phase == phaseAsked && now-moment(atBegun) >= lookAfter:
				x.begun = append(x.begun, g)
			case phase == phaseAnswered && now-moment(atLast) < lookOn:
				x.done = append(x.done, g)
			}
		}
		if err != nil { // ErrKeyNotExist: these were the last
			return len(x.begun) > 0 && (errors.Is(err, ebpf.ErrKeyNotExist))
		}
	}
}
