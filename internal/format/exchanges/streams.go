package exchanges

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
)

// findStreamLimits finds limits on how many calls are in progress at a time on connections that carry several: the streams that a server over HTTP/2 allows
// (SETTINGS_MAX_CONCURRENT_STREAMS), or what a client allows itself. Signs are those of a pool whose connections are held: hardly ever are there more, and
// requests that have waited begin their call as another one ends.
func (p *parser) findStreamLimits() {
	byPeer := make(map[evidence.NameID][]int)
	for i := range p.calls {
		if x := &p.calls[i]; x.multiplexed && !x.lookup && !x.behind && x.what != 0 {
			byPeer[x.what] = append(byPeer[x.what], i)
		}
	}
	for _, peer := range slices.SortedFunc(maps.Keys(byPeer), func(a, b evidence.NameID) int { return cmp.Compare(p.b.Text(a), p.b.Text(b)) }) {
		calls := byPeer[peer]
		slices.SortFunc(calls, func(a, b int) int { return cmp.Or(cmp.Compare(p.calls[a].begun, p.calls[b].begun), cmp.Compare(a, b)) })
		p.findStreamLimit(peer, calls)
	}
}

// findStreamLimit charges requests with their waits for one of the calls that may be in progress to a peer.
func (p *parser) findStreamLimit(peer evidence.NameID, calls []int) {
	holds := make([]hold, 0, len(calls))
	ends := make([]int64, 0, len(calls))
	for _, i := range calls {
		done := p.doneAt(&p.calls[i])
		holds = append(holds, hold{from: p.calls[i].begun, until: done})
		ends = append(ends, done)
	}
	slices.Sort(ends)
	size, full := fullTimes(holds)
	if size < 2 { // one at a time may be a lock
		return
	}
	free := make(map[int32]int64) // by request: when its call before had ended
	var queued []int
	waited := 0
	for _, i := range calls {
		x := &p.calls[i]
		if x.request < 0 {
			continue
		}
		from := max(free[x.request], p.requests[x.request].begun)
		if free[x.request] = p.doneAt(x); x.begun-from < heldWait {
			continue
		}
		waited++
		ended, _ := slices.BinarySearch(ends, x.begun+1)
		n, _ := slices.BinarySearchFunc(full, x.begun, func(f [2]int64, at int64) int { return cmp.Compare(f[0], at) })
		if ended == 0 || x.begun-ends[ended-1] > handOver || n == 0 || full[n-1][1] < ends[ended-1] {
			continue
		}
		x.pooled = x.begun - max(from, full[n-1][0])
		queued = append(queued, i)
	}
	chance := min(1, float64(len(ends))*float64(handOver)/float64(max(1, p.until-p.from)))
	taken := float64(len(queued))
	is := len(queued) >= handOvers && taken >= heldTaken*float64(waited) && taken >= notByChance*chance*float64(waited)
	name := evidence.NameID(0)
	if is {
		name = p.b.TellWait(fmt.Sprintf("a limit of %s at a time to %s", units.Plural(size, "call"), p.b.Text(peer)), evidence.Wait{Of: p.b.Text(peer), Places: size})
	}
	for _, i := range queued {
		if x := &p.calls[i]; is && x.pooled >= poolWait {
			x.pool = name
		} else {
			x.pooled = 0
		}
	}
}
