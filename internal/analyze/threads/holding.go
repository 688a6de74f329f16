package threads

import (
	"cmp"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
)

// Holding is what keeps a thread waiting, as far as looks at all threads at that moment tell: the holder of a lock, one of the threads
// beyond a limit, the thread that got the work; and what the last in the chain of holders, the root, does.
type Holding struct {
	Lane  evidence.LaneID  // the first holder; 0: unknown
	State evidence.Kind    // what the root does: Running, or what it waits for
	Cause string           // what the root waits for, and where: "sync I/O: SocketInputStream.read in Db.query()"; "" if it runs
	Waits evidence.Wait    // what is known of Cause beside its words
	Stack evidence.StackID // of the root
	Via   string           // what the holders in between wait for, outermost first, joined by " ← "
}

// Segment returns a look as the state of a request, without a duration.
func (l *Sample) Segment(b *evidence.Bundle) evidence.Segment {
	s := evidence.Segment{Kind: l.View.State, Stack: l.Stack, Cause: l.View.Cause(b.Names)}
	if h := &l.Held; h.Lane != 0 {
		s.Holder, s.HolderKind, s.HolderStack = h.Lane, h.State, h.Stack
		s.HolderCause, s.Via = b.Names.TellWait(h.Cause, h.Waits), b.Names.ID(h.Via)
	}
	return s
}

// Holds returns a look as the holder of what others wait for: as the state of a request that waits for a thread of its pool, for the only thread, or
// for the carrier of a virtual thread.
func (l *Sample) Holds(b *evidence.Bundle, alone bool) evidence.Segment {
	v, h := &l.View, &l.Held
	s := evidence.Segment{Kind: evidence.ThreadWait, HolderKind: v.State, HolderStack: l.Stack, HolderCause: v.Cause(b.Names)}
	switch {
	case v.Virtual:
		s.Cause = b.Names.WaitID(evidence.Wait{Kind: evidence.Carrier})
	case v.Pool == "":
	case alone:
		s.Cause = b.Names.TellWait((&Limit{Place: v.Pool, Workers: true, Most: 1}).Words(), evidence.Wait{Kind: evidence.OneThread})
	default:
		s.Cause = b.Names.WaitID(evidence.Wait{Kind: evidence.PoolThread, Of: v.Pool})
	}
	if h.Lane != 0 {
		via := v.Reason()
		if h.Via != "" {
			via += evidence.Link + h.Via
		}
		s.HolderKind, s.HolderStack, s.HolderCause, s.Via = h.State, h.Stack, b.Names.TellWait(h.Cause, h.Waits), b.Names.ID(via)
	}
	return s
}

// mostHolders bounds a chain; longer ones occur only as circles.
const mostHolders = 8

// findHolders finds, for all looks at a process, the holders of what is waited for.
func (t *Threads) findHolders(s evidence.SubjectID) {
	looks := t.looks[s]
	if len(looks) == 0 || !t.of[t.b.Subjects[s].Runtime].Holds {
		return
	}
	bursts := slices.Concat(t.splitRounds(s)...)
	h := holding{t: t, s: s, next: make(map[*Sample]*Sample), monitors: t.listMonitors(s), told: t.listToldWaits(s)}
	for _, burst := range bursts {
		h.findLockHolders(burst)
	}
	h.findUnnamed(bursts)
	h.findCarriers(bursts)
	h.findTaskWorkers(bursts, func(v *threadstack.View) bool { return v.State == evidence.TaskWait })
	gates := h.findGates(bursts)
	for _, at := range slices.Sorted(maps.Keys(gates)) {
		h.applyGate(gates[at], bursts)
	}
	h.findTaskWorkers(bursts, func(v *threadstack.View) bool { return v.State == evidence.SyncWait })
	for _, burst := range bursts {
		for _, l := range burst {
			h.followHolders(l)
		}
	}
	slices.SortStableFunc(t.limits[s], func(a, b Limit) int { return cmp.Compare(b.Waiting, a.Waiting) })
}

// newestByLane returns the last look at each thread.
func newestByLane(looks []*Sample) []*Sample {
	at := make(map[evidence.LaneID]int)
	var out []*Sample
	for _, l := range looks {
		if i, ok := at[l.Lane]; ok && l.Lane != 0 {
			out[i] = l
			continue
		}
		at[l.Lane] = len(out)
		out = append(out, l)
	}
	return out
}

// monitor is a thread that waits for a monitor, at a moment.
type monitor struct {
	lane evidence.LaneID
	at   int64
}

// listMonitors returns the holders that dumps name.
func (t *Threads) listMonitors(s evidence.SubjectID) map[monitor]evidence.LaneID {
	out := make(map[monitor]evidence.LaneID)
	v := &t.b.Intervals
	for _, i := range v.Select(evidence.LockWait, s) {
		if v.Holder.At(i) != 0 && v.Start[i] == v.End[i] {
			out[monitor{v.Lane.At(i), v.Start[i]}] = v.Holder.At(i)
		}
	}
	return out
}

// listToldWaits returns the waits for locks that the runtime's own events tell of with their
// holders, by thread and start.
func (t *Threads) listToldWaits(s evidence.SubjectID) map[evidence.LaneID][]int {
	out := make(map[evidence.LaneID][]int)
	v := &t.b.Intervals
	for _, i := range v.Select(evidence.LockWait, s) {
		if v.Holder.At(i) != 0 && v.Start[i] < v.End[i] {
			out[v.Lane.At(i)] = append(out[v.Lane.At(i)], i)
		}
	}
	return out
}

type holding struct {
	t        *Threads
	s        evidence.SubjectID
	next     map[*Sample]*Sample // by look: the holder of what it waits for
	monitors map[monitor]evidence.LaneID
	told     map[evidence.LaneID][]int
}

// namedHolder returns the thread that the dump, or an event, names as the holder of what a thread
// waits for, 0 if they name none.
func (h *holding) namedHolder(l *Sample) evidence.LaneID {
	if lane := h.monitors[monitor{l.Lane, l.Time}]; lane != 0 {
		return lane
	}
	v, rows := &h.t.b.Intervals, h.told[l.Lane]
	n := sort.Search(len(rows), func(n int) bool { return v.Start[rows[n]] > l.Time })
	if n == 0 || v.End[rows[n-1]] < l.Time {
		return 0
	}
	return v.Holder.At(rows[n-1])
}

// findLockHolders finds the holders of locks: the thread that the dump names, else the one thread in code called by the waiting function
// that does not wait itself.
func (h *holding) findLockHolders(burst []*Sample) {
	lanes := make(map[evidence.LaneID]*Sample)
	for _, l := range burst {
		lanes[l.Lane] = l
	}
	inside := make(map[way]*Sample)
	within := make(map[string]*Sample)
	for _, l := range burst {
		if l.View.State != evidence.LockWait {
			continue
		}
		if holder := lanes[h.namedHolder(l)]; holder != nil && holder != l {
			h.next[l] = holder
			continue
		}
		if l.View.User < 0 {
			continue
		}
		w := h.t.pathOf(l.Stack).ways[l.View.User]
		holder, asked := inside[w]
		if !asked {
			holder = h.findOnly(burst, func(p *callPath) bool { return slices.Contains(p.ways, w) })
			inside[w] = holder
		}
		if at := h.t.userFunction(l); holder == nil {
			if holder, asked = within[at]; !asked {
				holder = h.findOnly(burst, func(p *callPath) bool { return slices.Contains(p.frames, at) }) // called in any way
				within[at] = holder
			}
		}
		if holder != nil && holder != l {
			h.next[l] = holder
		}
	}
}

// findOnly returns the thread that does not wait for a lock and is in some code; nil if there are several.
func (h *holding) findOnly(burst []*Sample, in func(p *callPath) bool) (only *Sample) {
	for _, l := range burst {
		if l.View.State == evidence.LockWait || l.View.State == evidence.Idle || !in(h.t.pathOf(l.Stack)) {
			continue
		}
		if only != nil {
			return nil
		}
		only = l
	}
	return only
}

// applyGate turns waits at a limit into waits for a pool, held by the threads beyond the limit in turn.
func (h *holding) applyGate(g *gate, bursts [][]*Sample) {
	did := make(tally)
	for _, burst := range bursts {
		beyond := g.listBeyond(burst)
		n := 0
		for _, l := range burst {
			if !g.waiting[l] {
				continue
			}
			l.View.State = evidence.PoolWait
			g.limit.setWait(&l.View)
			if len(beyond) > 0 {
				h.next[l] = beyond[n%len(beyond)]
				n++
			}
		}
		if n > 0 {
			for _, l := range beyond {
				did.countDoing(&l.View)
			}
		}
	}
	g.limit.Doing = did.listDoings()
	h.addLimit(g.limit)
}

func (h *holding) addLimit(l Limit) {
	if h.t.limits == nil {
		h.t.limits = make(map[evidence.SubjectID][]Limit)
	}
	h.t.limits[h.s] = append(h.t.limits[h.s], l)
}

// followHolders goes from holder to holder to the root.
func (h *holding) followHolders(l *Sample) {
	at := h.next[l]
	if at == nil {
		return
	}
	l.Held.Lane = at.Lane
	var via []string
	for n := 0; n < mostHolders && h.next[at] != nil && h.next[at] != l; n++ {
		via = append(via, at.View.Reason())
		at = h.next[at]
	}
	v := &at.View
	l.Held.State, l.Held.Stack, l.Held.Cause, l.Held.Waits, l.Held.Via = v.State, at.Stack, v.Reason(), v.Waits, strings.Join(via, evidence.Link)
}
