package timeline

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
)

// collector turns the ledger's walk into states. If a request has too many, it draws together neighbours shorter than short until they are that
// long.
type collector struct {
	l      *layout
	states []State
	short  int64 // ns; 0: nothing is drawn together
	told   bool  // a state that stands for several tells what the longest of them waited for

	top        evidence.Segment // the longest of what is open
	topCharges ledger.Charges

	open    bool
	at, dur int64
	number  int
	charges ledger.Charges
	kinds   [256]int64
	last    evidence.Segment
	same    bool // all that is open equals last
}

func (c *collector) addState(at int64, s evidence.Segment, charges *ledger.Charges) {
	if s.Dur >= c.short {
		c.closeState()
		c.states = append(c.states, c.l.buildState(at, &s, charges))
		return
	}
	if !c.open {
		c.open, c.at, c.dur, c.number, c.charges, c.kinds, c.same = true, at, 0, 0, ledger.Charges{}, [256]int64{}, true
		c.top.Dur = 0
	} else if s.Kind != c.last.Kind || s.Stack != c.last.Stack || s.Cause != c.last.Cause || s.Holder != c.last.Holder || s.HolderKind != c.last.HolderKind || s.Lane != c.last.Lane {
		c.same = false
	}
	c.last = s
	if s.Dur > c.top.Dur {
		c.top, c.topCharges = s, *charges
	}
	c.dur += s.Dur
	c.number++
	c.charges.Add(charges)
	c.kinds[s.Kind] += s.Dur
	if c.dur >= c.short {
		c.closeState()
	}
}

// leastSeparateLength returns the length (ns) below which states must be drawn together so that a
// request of length all has no more than most; 0 if it has no more.
func leastSeparateLength(lengths []int64, all int64, most int) int64 {
	if len(lengths) <= most {
		return 0
	}
	// Here one in three at most is long, one in three full, and one ends where a long
	// one begins.
	high := 3*all/int64(most-1) + 1
	for low := int64(1); low+low/64 < high-1; {
		middle := (low + high) / 2
		if low < high/4 {
			middle = int64(math.Sqrt(float64(low) * float64(high)))
		}
		if countDrawn(lengths, middle) <= most {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

// countDrawn returns how many states are left when those below a length are drawn together.
func countDrawn(lengths []int64, short int64) (n int) {
	var open int64
	for _, v := range lengths {
		switch {
		case v >= short:
			if open > 0 {
				n++
			}
			n++
			open = 0
			continue
		default:
			open += v
		}
		if open >= short {
			n++
			open = 0
		}
	}
	if open > 0 {
		n++
	}
	return n
}

// closeState ends a state that stands for several.
func (c *collector) closeState() {
	if !c.open {
		return
	}
	c.open = false
	if c.same {
		s := c.last
		s.Dur, s.Held = c.dur, evidence.Shares{}
		x := c.l.buildState(c.at, &s, &c.charges)
		if c.number > 1 {
			x.Number = c.number
		}
		c.states = append(c.states, x)
		return
	}
	most := 0
	for k, v := range c.kinds {
		if v > c.kinds[most] {
			most = k
		}
	}
	x := State{At: c.at, Dur: c.dur, Number: c.number, Kind: evidence.Kind(most).String()}
	x.Mechanism, x.Parts = partsOf(&c.charges)
	if c.told {
		if top := c.l.buildState(c.at, &c.top, &c.topCharges); top.Mechanism == x.Mechanism {
			x.What, x.Where, x.Holder = top.What, top.Where, top.Holder
		}
	}
	c.states = append(c.states, x)
}

// buildState describes one state in words.
func (l *layout) buildState(at int64, s *evidence.Segment, charges *ledger.Charges) State {
	x := State{At: at, Dur: s.Dur, Kind: s.Kind.String(), What: l.b.Names.Text(s.Cause), Where: l.frames.describeStack(l.b, s.Stack), Holder: l.holderText(s)}
	x.Mechanism, x.Parts = partsOf(charges)
	return x
}

// partsOf returns what most of a state is charged to and, where it is charged to several
// mechanisms, all of them, the largest first.
func partsOf(c *ledger.Charges) (most string, all []Part) {
	for m, v := range c {
		if v > 0 {
			all = append(all, Part{ledger.Mechanism(m).String(), v})
		}
	}
	if len(all) == 0 {
		return ledger.Unexplained.String(), nil
	}
	sorting.Short(all, func(a, b Part) int { return cmp.Compare(b.Dur, a.Dur) })
	if len(all) == 1 {
		return all[0].Mechanism, nil
	}
	return all[0].Mechanism, all
}

// holderText describes what held what a state waited for: a lock, the processors, or the lane
// whose state this is; of a lock also where its holder was.
func (l *layout) holderText(s *evidence.Segment) string {
	text := l.holderState(s)
	if where := l.frames.describeStack(l.b, s.HolderStack); text != "" && where != "" && s.HolderKind != evidence.KindUnknown && s.HolderStack != s.Stack {
		text += ", in " + where
	}
	return text
}

func (l *layout) holderState(s *evidence.Segment) string {
	switch {
	case s.Holder != 0 && s.HolderKind != evidence.KindUnknown:
		return fmt.Sprintf("%s %d: %s", l.laneNoun(), s.Holder, s.HolderKind)
	case s.Holder != 0:
		return fmt.Sprintf("%s %d", l.laneNoun(), s.Holder)
	case s.HolderKind != evidence.KindUnknown:
		return s.HolderKind.String()
	case s.Kind == evidence.Runnable:
		return formatHolders(&s.Held)
	case s.Lane != 0:
		return fmt.Sprintf("%s %d, which it waited for: %s", l.laneNoun(), s.Lane, s.Kind)
	}
	return ""
}

// laneNoun returns what the subject's runtime calls its lanes: "goroutine", "thread".
func (l *layout) laneNoun() string { return platform.ByID(l.b.Subjects[l.subject].Runtime).Lane }

// formatHolders writes who held the processors, the largest share first.
func formatHolders(s *evidence.Shares) string {
	sum := s.Sum()
	if sum <= 0 {
		return ""
	}
	type share struct {
		h evidence.Holder
		v int64
	}
	var all []share
	for h, v := range s {
		if v > 0 {
			all = append(all, share{evidence.Holder(h), v})
		}
	}
	sorting.Short(all, func(a, b share) int { return cmp.Compare(b.v, a.v) })
	if len(all) == 1 {
		return "CPUs: " + holderTitle(all[0].h)
	}
	var text []string
	for _, x := range all {
		if percent := (200*x.v + sum) / (2 * sum); percent > 0 {
			text = append(text, fmt.Sprintf("%s %d %%", holderTitle(x.h), percent))
		}
	}
	return "CPUs: " + strings.Join(text, ", ")
}

// holderTitle returns what held processors, in the words of reports.
func holderTitle(h evidence.Holder) string {
	switch h {
	case evidence.HeldByCollector:
		return "GC"
	case evidence.HeldByIdleMark:
		return "GC on idle CPUs"
	case evidence.HeldByNobody:
		return "idle"
	}
	return h.String()
}
