package ledger

import (
	"cmp"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Place is slow request time at one place: in one mechanism, for one cause, in one function of the program. Mechanisms
// tell what kind of wait it was; places tell where to look. A wait for a resource that others hold is at the place of the
// last holder in the chain, the root, if that waited itself.
type Place struct {
	Mechanism Mechanism     // of the root
	What      string        // the lock, pool or dependency, or the runtime's reason: "chan receive"; "": unknown
	Wait      evidence.Wait // what is known of What beside its name
	Where     string        // the program's function at this place; "": unknown
	Stack     evidence.StackID
	From      string   // the program's function in which requests waited for the holders for most of the time; "": none
	Through   []string // the chain of what requests waited for before the root, outermost first, for most of the time
	Linked    Charges  // ns that requests spent here while they waited for a holder, by what they waited for
	Ns        int64
	Requests  int     // requests that were here
	Per       []int64 // ns, in the order of the requests asked for: [Ledger.Slow] for [Ledger.Places]

	not Claimed
}

// Claimed lists mechanisms that other causes explain: time in them, and time that requests spent at a place while waiting
// for holders in them, counts for no place.
type Claimed [NumMechanisms]bool

// spot identifies a place.
type spot struct {
	m           Mechanism
	what, where string
}

// Site returns the program's own function in a stack, and the function it called; "" if there is none. Libraries wait for
// many things, so that their functions identify no place.
type Site func(evidence.StackID) (function, callee string)

// Places returns where slow requests spent their time, the longest first, without what is claimed.
func (l *Ledger) Places(site Site, not Claimed) []Place { return l.PlacesOf(l.Slow, site, not) }

// PlacesOf returns where requests of any latency, by row, spent their time, the longest first, without what is claimed.
func (l *Ledger) PlacesOf(rows []int, site Site, not Claimed) []Place {
	at := make(map[spot]*Place)
	through := make(map[spot]map[[2]evidence.NameID]int64)
	from := make(map[spot]map[string]int64)
	in := func(Mechanism) bool { return true }
	for n, row := range rows {
		l.eachSpot(row, site, not, in, func(k spot, s *evidence.Segment, root bool, v int64) {
			p := at[k]
			if p == nil {
				p = &Place{Mechanism: k.m, What: k.what, Wait: l.b.Names.Wait(l.b.Names.Lookup(k.what)), Where: k.where, Stack: s.Stack, Per: make([]int64, len(rows)), not: not}
				if root {
					p.Stack = s.HolderStack
				}
				at[k] = p
				through[k] = make(map[[2]evidence.NameID]int64)
				from[k] = make(map[string]int64)
			}
			if p.Per[n] == 0 {
				p.Requests++
			}
			p.Per[n] += v
			p.Ns += v
			if of, held := heldBy(s.Kind); root && held {
				p.Linked[of] += v
				through[k][[2]evidence.NameID{s.Cause, s.Via}] += v
				function, _ := site(s.Stack)
				from[k][function] += v
			}
		})
	}
	out := make([]Place, 0, len(at))
	for k, p := range at {
		p.Through = l.mainChain(through[k], p.Ns)
		for function, v := range from[k] {
			if 2*v > p.Ns {
				p.From = function
			}
		}
		out = append(out, *p)
	}
	slices.SortStableFunc(out, func(a, b Place) int {
		return cmp.Or(cmp.Compare(b.Ns, a.Ns), cmp.Compare(a.Mechanism, b.Mechanism), cmp.Compare(a.What, b.What), cmp.Compare(a.Where, b.Where))
	})
	return out
}

// mainChain returns the chain of holders that accounts for most of a place's time, nil if it accounts for less than half.
func (l *Ledger) mainChain(by map[[2]evidence.NameID]int64, of int64) (chain []string) {
	var top [2]evidence.NameID
	for k, v := range by {
		if v > by[top] || v == by[top] && (k[0] < top[0] || k[0] == top[0] && k[1] < top[1]) {
			top = k
		}
	}
	if 2*by[top] < of {
		return nil
	}
	for _, id := range top {
		if text := l.b.Names.Text(id); text != "" {
			chain = append(chain, text)
		}
	}
	return chain
}

// At returns the time (ns) that a request of any latency spent at a place.
func (l *Ledger) At(row int, p *Place, site Site) (ns int64) {
	in := func(m Mechanism) bool { return m == p.Mechanism } // skip other mechanisms: naming places is most of the work
	l.eachSpot(row, site, p.not, in, func(k spot, _ *evidence.Segment, _ bool, v int64) {
		if k == (spot{p.Mechanism, p.What, p.Where}) {
			ns += v
		}
	})
	return ns
}

// eachSpot yields the places of one request in some mechanisms; root tells whether a holder was there.
func (l *Ledger) eachSpot(row int, site Site, not Claimed, in func(Mechanism) bool, yield func(k spot, s *evidence.Segment, root bool, v int64)) {
	at := func(m Mechanism, cause evidence.NameID, stack evidence.StackID) spot {
		k := spot{m: m, what: l.b.Names.Text(cause)}
		var callee string
		if k.where, callee = site(stack); k.what == "" && m == Kernel {
			k.what = callee // one function makes several system calls
		}
		return k
	}
	l.walkStates(row, func(_ int64, s *evidence.Segment, c *Charges, _ derivation) {
		roots := Rooted(s, c)
		of, held := heldBy(s.Kind)
		for m, v := range roots {
			switch m := Mechanism(m); {
			case v <= 0, not[m], held && not[of], !in(m):
			case held && m != of && c[m] == 0:
				yield(at(m, s.HolderCause, s.HolderStack), s, true, v)
			default:
				stack := s.Stack
				if s.Kind == evidence.ThreadWait { // for a thread that runs
					stack = s.HolderStack
				}
				yield(at(m, s.Cause, stack), s, false, v)
			}
		}
	})
}
