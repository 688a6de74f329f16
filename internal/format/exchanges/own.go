package exchanges

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Signs that a process calls itself, as a gateway does that serves gRPC over HTTP in the same process: the peer's port is one on which the process has
// requests, and nearly all calls to it have a request of their own there, which comes when the call is sent, is answered before its answer is read, and
// has as many bytes.
const (
	ownSlack = int64(1e6) // ns by which the two ends' times may differ: they are read in different system calls
	ownMost  = .9         // of the calls
	ownLeast = 10         // calls
)

// ownCall is a call that a request of the same process serves.
type ownCall struct{ call, serves int32 }

// followOwnCalls makes the requests that the process sends to itself parts of the requests that send them: they are no requests of others, and what they wait
// for is what the others wait for.
func (p *parser) followOwnCalls() {
	var all []ownCall
	byPort := p.callsToOwnPorts()
	for _, port := range slices.Sorted(maps.Keys(byPort)) {
		all = append(all, p.pairOwnCalls(port, byPort[port])...)
	}
	if len(all) == 0 {
		return
	}
	inner := make(map[int32]bool, len(all))
	for _, o := range all {
		inner[o.serves] = true
	}
	p.linkOwnCalls(all, inner)
	of := make(map[int32]int32) // by request that the process sent to itself: the one that sent it
	for _, o := range all {
		if r := p.calls[o.call].request; r >= 0 && r != o.serves {
			of[o.serves] = r
		}
	}
	outermost := func(r int32) int32 {
		for range mostNested {
			by, nested := of[r]
			if !nested {
				return r
			}
			r = by
		}
		return -1 // around in a circle: times were misread
	}
	left := make([]exchange, 0, len(p.requests))
	at := make([]int32, len(p.requests))
	for i := range p.requests {
		at[i] = -1
		if _, nested := of[int32(i)]; !nested {
			at[i] = int32(len(left))
			left = append(left, p.requests[i])
		}
	}
	for _, o := range all {
		if _, nested := of[o.serves]; nested {
			c := &p.calls[o.call]
			served := p.requests[o.serves]
			c.serves, c.what, c.behind = &served, p.b.Wait(evidence.ArrivedAt, p.listenerText(served.port)), true
		}
	}
	for i := range p.calls {
		if c := &p.calls[i]; c.request >= 0 {
			if c.request = outermost(c.request); c.request >= 0 {
				c.request = at[c.request]
			}
		}
	}
	p.requests = left
}

// mostNested bounds how deep a process calls itself.
const mostNested = 8

// callsToOwnPorts returns the answered calls to ports on which the process itself has requests, in the order in which they begin.
func (p *parser) callsToOwnPorts() map[int64][]int32 {
	has := make(map[int64]bool)
	for i := range p.requests {
		has[p.requests[i].port] = true
	}
	ports := make(map[evidence.NameID]int64)
	calls := make(map[int64][]int32)
	for _, i := range p.byBeginning() {
		c := &p.calls[i]
		if c.first == 0 || c.lookup || c.what == 0 {
			continue
		}
		port, known := ports[c.what]
		if !known {
			name := p.b.Text(c.what)
			if at, err := netip.ParseAddrPort(name[strings.LastIndexByte(name, ' ')+1:]); err == nil && has[int64(at.Port())] {
				port = int64(at.Port())
			}
			ports[c.what] = port
		}
		if port > 0 {
			calls[port] = append(calls[port], int32(i))
		}
	}
	return calls
}

// pairOwnCalls returns calls to a port with the requests there that serve them; none unless nearly all have one.
func (p *parser) pairOwnCalls(port int64, calls []int32) (pairs []ownCall) {
	var requests []int32
	for i := range p.requests {
		if p.requests[i].port == port && p.requests[i].first > 0 {
			requests = append(requests, int32(i))
		}
	}
	slices.SortFunc(requests, func(a, b int32) int {
		return cmp.Or(cmp.Compare(p.requests[a].came, p.requests[b].came), cmp.Compare(a, b))
	})
	taken := make(map[int32]bool)
	for _, k := range calls {
		c := &p.calls[k]
		best := int32(-1)
		first, _ := slices.BinarySearchFunc(requests, c.begun-ownSlack, func(r int32, at int64) int { return cmp.Compare(p.requests[r].came, at) })
		for _, r := range requests[first:] {
			x := &p.requests[r]
			if x.came > c.begun+ownSlack {
				break
			}
			if taken[r] || x.first > c.first+ownSlack || x.in != c.out || x.out != c.in {
				continue
			}
			if best < 0 || timeBetween(x.came, c.begun)+timeBetween(x.first, c.first) < timeBetween(p.requests[best].came, c.begun)+timeBetween(p.requests[best].first, c.first) {
				best = r
			}
		}
		if best >= 0 {
			taken[best] = true
			pairs = append(pairs, ownCall{k, best})
		}
	}
	if len(pairs) < ownLeast || float64(len(pairs)) < ownMost*float64(len(calls)) {
		return nil
	}
	return pairs
}

func timeBetween(a, b int64) int64 { return max(a-b, b-a) }

// linkOwnCalls links calls that the process makes to itself to the requests around them: where goroutines write for others, threads mostly tell it, and times
// do better if a request begins hardly before and is answered hardly after.
func (p *parser) linkOwnCalls(all []ownCall, inner map[int32]bool) {
	var outer []int32
	for i := range p.requests {
		if !inner[int32(i)] && p.requests[i].first > 0 {
			outer = append(outer, int32(i))
		}
	}
	slices.SortFunc(outer, func(a, b int32) int {
		return cmp.Or(cmp.Compare(p.requests[a].begun, p.requests[b].begun), cmp.Compare(a, b))
	})
	taken := make(map[int32]bool)
	for _, o := range all {
		c := &p.calls[o.call]
		if c.served {
			continue
		}
		done := p.doneAt(c)
		best := int32(-1)
		rest := func(r int32) int64 { return c.begun - p.requests[r].begun + p.requests[r].first - done }
		n, _ := slices.BinarySearchFunc(outer, c.begun, func(r int32, at int64) int { return cmp.Compare(p.requests[r].begun, at+1) })
		for n--; n >= 0 && c.begun-p.requests[outer[n]].begun <= later; n-- {
			r := outer[n]
			if first := p.requests[r].first; !taken[r] && first >= done && first-done <= later && (best < 0 || rest(r) < rest(best)) {
				best = r
			}
		}
		if best >= 0 {
			c.request, taken[best] = best, true
		}
	}
}
