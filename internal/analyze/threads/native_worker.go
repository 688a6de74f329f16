package threads

import (
	"maps"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
)

// seldomElse is how often, at most, a worker has work while no requests wait for it, relative to while they do: it has no work of its own.
const seldomElse = .5

// oneWorker finds the only thread that does what requests hand over and wait for, in looks that name no function's caller: a thread that
// serves no request itself, and has work whenever requests wait in one function, and hardly ever else. Each request may wait at a word of
// its own.
func (h *holding) oneWorker(bursts [][]*Sample) {
	at := make(map[string]bool)
	for _, burst := range bursts {
		for _, l := range burst {
			if handsOver(l) {
				at[l.View.Owner] = true
			}
		}
	}
	for _, owner := range slices.Sorted(maps.Keys(at)) {
		h.workerOf(owner, bursts)
	}
}

// handsOver reports whether a request's thread waits for another to wake it.
func handsOver(l *Sample) bool {
	return l.View.Kernel && l.View.Request && l.View.State == evidence.SyncWait && evidence.OnFutex(l.View.Pattern)
}

func (h *holding) workerOf(owner string, bursts [][]*Sample) {
	waits := make([][]*Sample, len(bursts))
	looks := 0
	busy := make(map[evidence.LaneID][2]int) // looks in which it had work: without a waiting request, and with one
	for i, burst := range bursts {
		waiting := 0
		for _, l := range burst {
			if handsOver(l) && l.View.Owner == owner {
				waits[i] = append(waits[i], l)
				waiting = 1
			}
		}
		looks += waiting
		for _, l := range burst {
			if v := &l.View; v.Role == threadstack.Other && !v.Request && hasWork(v.State) {
				n := busy[l.Lane]
				n[waiting]++
				busy[l.Lane] = n
			}
		}
	}
	if looks < leastShown {
		return
	}
	var worker evidence.LaneID
	for lane, n := range busy {
		with, without := float64(n[1])/float64(looks), 0.
		if others := len(bursts) - looks; others >= leastShown {
			without = float64(n[0]) / float64(others)
		}
		if with < mostlyFull || without > seldomElse*with {
			continue
		}
		if worker != 0 {
			return
		}
		worker = lane
	}
	if worker == 0 {
		return
	}
	words := h.nameOf(worker, bursts)
	limit := Limit{Place: words, Workers: true, Most: 1}
	did := make(tally)
	waiting := 0
	for i, burst := range bursts {
		n := slices.IndexFunc(burst, func(l *Sample) bool { return l.Lane == worker })
		if len(waits[i]) == 0 || n < 0 || !hasWork(burst[n].View.State) {
			continue
		}
		limit.Looks++
		waiting += len(waits[i])
		did.countDoing(&burst[n].View)
		if limit.Stack == 0 {
			limit.Stack, limit.Origin = burst[n].Stack, burst[n].Origin
		}
		for _, l := range waits[i] {
			h.next[l] = burst[n]
			if words != "" {
				limit.setWait(&l.View)
			}
		}
	}
	if words == "" || limit.Looks == 0 {
		return
	}
	limit.Waiting, limit.Beyond, limit.Doing = float64(waiting)/float64(limit.Looks), 1, did.listDoings()
	h.addLimit(limit)
}

// nameOf returns a thread's name, if it differs from that of serving threads, else the function in which it was seen most; "" unknown.
func (h *holding) nameOf(lane evidence.LaneID, bursts [][]*Sample) string {
	name, shared := "", false
	in := make(map[string]int)
	for _, burst := range bursts {
		for _, l := range burst {
			if l.Lane != lane {
				continue
			}
			name = l.View.Pool
			if l.View.Owner != "" && l.View.State != evidence.Idle {
				in[l.View.Owner]++
			}
		}
	}
	for _, burst := range bursts {
		for _, l := range burst {
			shared = shared || l.Lane != lane && l.View.Pool == name
		}
	}
	if name != "" && !shared {
		return name
	}
	most := ""
	for _, function := range slices.Sorted(maps.Keys(in)) {
		if in[function] > in[most] {
			most = function
		}
	}
	return most
}
