package ledger

import (
	"cmp"
	"slices"

	"github.com/unstall/unstall/evidence"
)

// Place is slow request time at one place: in one mechanism, for one thing, in one function
// of the program. Where the mechanisms say what kind of wait it was, places say where to look.
type Place struct {
	Mechanism Mechanism
	What      string // the lock, pool or dependency, or the runtime's reason: "chan receive"; "" unknown
	Where     string // the function of the program that was there, "" unknown
	Stack     evidence.StackID
	Ns        int64
	Requests  int     // slow ones that were there
	Per       []int64 // ns, in the order of [Ledger.Slow]
	Roots     Charges // the time by roots, where somebody held what was waited for
}

// Places are where slow requests spent their time, the longest first. Where names the
// program's own function in a stack, "" if there is none: libraries wait for many things.
func (l *Ledger) Places(where func(evidence.StackID) string) []Place {
	type key struct {
		m           Mechanism
		what, where string
	}
	at := make(map[key]*Place)
	owners := make(map[evidence.StackID]string)
	for n, row := range l.Slow {
		l.walk(row, func(_ int64, s evidence.Segment, c *Charges, _ bool) {
			owner, known := owners[s.Stack]
			if !known && s.Stack != 0 {
				owner = where(s.Stack)
				owners[s.Stack] = owner
			}
			for m, v := range c {
				if v == 0 {
					continue
				}
				only := Charges{}
				only[m] = v
				root := Rooted(&s, &only)
				k := key{Mechanism(m), l.b.Names.Text(s.Cause), owner}
				p := at[k]
				if p == nil {
					p = &Place{Mechanism: k.m, What: k.what, Where: owner, Stack: s.Stack, Per: make([]int64, len(l.Slow))}
					at[k] = p
				}
				if p.Per[n] == 0 {
					p.Requests++
				}
				p.Per[n] += v
				p.Ns += v
				p.Roots.Add(&root)
			}
		})
	}
	out := make([]Place, 0, len(at))
	for _, p := range at {
		out = append(out, *p)
	}
	slices.SortFunc(out, func(a, b Place) int {
		return cmp.Or(cmp.Compare(b.Ns, a.Ns), cmp.Compare(a.Mechanism, b.Mechanism), cmp.Compare(a.What, b.What), cmp.Compare(a.Where, b.Where))
	})
	return out
}

// At is the time (ns) a request of any latency was at a place.
func (l *Ledger) At(row int, p *Place, where func(evidence.StackID) string) (ns int64) {
	l.walk(row, func(_ int64, s evidence.Segment, c *Charges, _ bool) {
		if c[p.Mechanism] > 0 && l.b.Names.Text(s.Cause) == p.What && (s.Stack == p.Stack || where(s.Stack) == p.Where) {
			ns += c[p.Mechanism]
		}
	})
	return ns
}
