package exchanges

import (
	"cmp"
	"slices"
)

// sharedEnd is how long (ns) after answers were read the last of the requests is answered that waited for them: one follows the other.
const sharedEnd = int64(5e6)

// findShared finds the requests that wait behind a call of another one on a connection that both share. Clients of Redis such as ioredis,
// Lettuce and StackExchange.Redis write what is asked meanwhile behind a call that is not answered yet, and answers come in their order: the kernel
// sees one exchange with several pieces sent. A request without calls of its own that was read while it went on, and was
// answered right after it ended, waited for it.
func (p *parser) findShared() {
	var all []int32 // calls, in the order of their ends
	for i := range p.calls {
		if c := &p.calls[i]; c.shared && c.first > 0 {
			all = append(all, int32(i))
		}
	}
	if len(all) == 0 {
		return
	}
	ended := func(k int32) int64 { return max(p.calls[k].first, p.calls[k].last) }
	slices.SortFunc(all, func(a, b int32) int { return cmp.Or(cmp.Compare(ended(a), ended(b)), cmp.Compare(a, b)) })
	called := make([]bool, len(p.requests))
	for i := range p.calls {
		if r := p.calls[i].request; r >= 0 {
			called[r] = true
		}
	}
	for i := range p.requests {
		x := &p.requests[i]
		if called[i] || x.first == 0 {
			continue
		}
		n, _ := slices.BinarySearchFunc(all, x.first, func(k int32, at int64) int { return cmp.Compare(ended(k), at+1) })
		for n--; n >= 0 && x.first-ended(all[n]) <= sharedEnd; n-- {
			c := p.calls[all[n]]
			if c.begun <= x.begun && x.begun < ended(all[n]) {
				c.begun, c.request, c.behind, c.pool, c.pooled, c.ready = x.begun, int32(i), true, 0, 0, 0
				p.calls = append(p.calls, c)
				break
			}
		}
	}
}
