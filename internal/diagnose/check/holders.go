package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/base/units"
)

// Behind is the waits of slow requests in a mechanism that others hold, a lock or a pool, and what the holders do during them,
// down to the root of the chain.
type Behind struct {
	Total int64          // ns of slow requests
	Roots ledger.Charges // Total by roots; what the holders did on a processor stays with the mechanism
	// Own is the part of each slow request's wait (ns, in the order of Ledger.Slow) that would not have been with a free
	// lock or pool. The rest is due to the holders' own trouble: the collector, short processors, a dependency that is slow
	// by itself.
	Own []int64

	held bool // a holder is known
}

// elsewhere are roots that other causes judge, whichever thread holds what. A system call that holders wait for is a place of
// its own.
var elsewhere = []ledger.Mechanism{ledger.StopTheWorld, ledger.MarkAssist, ledger.AllocationStall, ledger.CollectorCPU, ledger.RequestsCPU, ledger.BackgroundCPU, ledger.HostCPU,
	ledger.Kernel}

// Wait returns how much of a state (ns) is a wait that a cause is about, and its mechanism.
type Wait func(s *evidence.Segment, ch *ledger.Charges) (m ledger.Mechanism, ns int64)

// BehindMechanism returns any wait that is charged to a mechanism.
func BehindMechanism(m ledger.Mechanism) Wait {
	return func(_ *evidence.Segment, ch *ledger.Charges) (ledger.Mechanism, int64) { return m, ch[m] }
}

// BehindFor is [Case.BehindOf] for any wait that is charged to a mechanism.
func (c *Case) BehindFor(m ledger.Mechanism) Behind {
	known := Once(c, func(*Case) map[ledger.Mechanism]Behind { return make(map[ledger.Mechanism]Behind) })
	b, ok := known[m]
	switch {
	case ok:
	case c.Ledger.Charges[m] == 0: // no request waits
		b.Own = make([]int64, len(c.Ledger.Slow))
	default:
		b = c.BehindOf(BehindMechanism(m))
	}
	known[m] = b
	return b
}

// BehindOf follows the chains of holders that begin with a wait.
func (c *Case) BehindOf(wait Wait) (b Behind) {
	others := elsewhere
	if c.AnswersLate() {
		others = append(slices.Clone(others), ledger.Dependency)
	}
	b.Own = make([]int64, len(c.Ledger.Slow))
	for n, row := range c.Ledger.Slow {
		c.walkChains(row, wait, func(s *evidence.Segment, ns int64, roots *ledger.Charges) {
			b.Total += ns
			b.held = b.held || s.HolderKind != evidence.KindUnknown
			b.Roots.Add(roots)
			b.Own[n] += ns
			for _, o := range others {
				b.Own[n] -= roots[o]
			}
		})
	}
	return b
}

// walkChains yields the states of a request that are a wait, with their roots.
func (c *Case) walkChains(row int, wait Wait, yield func(s *evidence.Segment, ns int64, roots *ledger.Charges)) {
	c.Ledger.Walk(row, func(_ int64, s evidence.Segment, ch *ledger.Charges) {
		m, ns := wait(&s, ch)
		if ns == 0 {
			return
		}
		only := ledger.Charges{}
		only[m] = ns
		roots := ledger.Rooted(&s, &only)
		yield(&s, ns, &roots)
	})
}

// Mine returns the part of the wait (ns) whose chain ends with the lock or pool.
func (b *Behind) Mine() (ns int64) {
	for _, v := range b.Own {
		ns += v
	}
	return ns
}

// AnswersLate reports whether a dependency is slow by itself, where requests wait for a lock or a pool that is held during calls
// to it: most of the time in calls is in calls far longer than usual, or half of the slow requests would miss the objective by
// their own calls alone. Otherwise calls take their usual time, and the problem is holding the lock or pool during them.
func (c *Case) AnswersLate() bool {
	return bool(Once(c, func(c *Case) late { return late(c.answersLate()) }))
}

type late bool

// FarLonger × its median makes a call late by itself.
var FarLonger = Threshold{Name: "how many times its median a call takes that is late by itself", Value: 3, Unit: "times",
	Why: "as what is slow among requests", Source: "judgement: the factor from which a request is slow (docs/report.md); of times that vary exponentially one in eight is longer (2⁻³)"}

func (c *Case) answersLate() bool {
	l := c.Ledger
	if !l.Traced {
		return c.callsLong()
	}
	if l.Charges[ledger.Lock]+l.Charges[ledger.Pool] == 0 {
		return false // no request waits for such a holder
	}
	if c.waitsForUnreadPeers() {
		return true
	}
	held, alone := 0, 0
	var calls []int64
	isSlow := evidence.NewRows(c.Bundle.Requests.Len())
	for _, row := range l.Slow {
		isSlow.Add(row)
	}
	for _, row := range l.KnownRows() {
		ch := l.Of(row)
		if ch[ledger.Dependency] > 0 {
			calls = append(calls, ch[ledger.Dependency])
		}
		if isSlow.Has(row) && ch[ledger.Lock]+ch[ledger.Pool] > 0 {
			held++
			if ch[ledger.Dependency] >= l.Threshold {
				alone++
			}
		}
	}
	if held == 0 || len(calls) == 0 {
		return false
	}
	usual := stats.QuantileOf(calls, .5)
	var all, long int64
	for _, v := range calls {
		all += v
		if v > FarLonger.Int64()*usual {
			long += v
		}
	}
	return l.Rule != ledger.RuleFloor && 2*alone >= held || 2*long >= all
}

// waitsForUnreadPeers reports whether holders of locks or pools mostly wait in writes for the other end to read. Such a wait
// always counts as late, because there is no usual time for the other end of a connection to make room.
func (c *Case) waitsForUnreadPeers() bool {
	var all, unread int64
	for _, m := range []ledger.Mechanism{ledger.Lock, ledger.Pool} {
		if c.Ledger.Charges[m] == 0 {
			continue
		}
		for _, row := range c.Ledger.Slow {
			c.walkChains(row, BehindMechanism(m), func(s *evidence.Segment, _ int64, roots *ledger.Charges) {
				all += roots[ledger.Dependency]
				if c.Bundle.Names.Wait(s.HolderCause).Kind == evidence.UnreadPeer {
					unread += roots[ledger.Dependency]
				}
			})
		}
	}
	return all > 0 && 2*unread >= all
}

// callsLong reports whether calls take far too long, where thread samples show only the time that all requests together spend
// in calls (Little's law). The limit is the time that calls would take if they filled the quickest tenth of each route's
// requests. Pools and locks lengthen requests and never shorten a call. Calls that were recorded one by one must also take far
// longer than others of their operation: the quickest requests may be those that make no call.
func (c *Case) callsLong() bool {
	if long, known := c.recordedCallsLong(); known && !long {
		return false
	}
	l := c.Ledger
	var called, most int64
	known := make(map[evidence.NameID]int64)
	for _, row := range l.KnownRows() {
		ch := l.Of(row)
		called += ch[ledger.Dependency]
		known[c.Bundle.Requests.Route.At(row)]++
	}
	for route, took := range l.LatenciesByRoute() {
		most += known[route] * stats.QuantileOf(took, quickest)
	}
	return called > FarLonger.Int64()*most
}

// recordedCallsLong reports whether most of the time in calls is in calls far longer than the median of their operation, where
// calls were recorded one by one.
func (c *Case) recordedCallsLong() (long, known bool) {
	type operation struct{ of, name evidence.NameID }
	took := make(map[operation][]int64)
	v := &c.Bundle.Intervals
	for i, k := range v.Kind {
		if k == evidence.Call && v.Subject.At(i) == c.Subject && v.Request.At(i) > 0 {
			of := operation{v.Cause.At(i), v.NameOf(i, evidence.Operation)}
			took[of] = append(took[of], v.End[i]-v.Start[i])
		}
	}
	var all, late int64
	for _, of := range took {
		usual := stats.QuantileOf(of, .5)
		for _, ns := range of {
			all += ns
			if ns > FarLonger.Int64()*usual {
				late += ns
			}
		}
	}
	return 2*late >= all, all > 0
}

// quickest is the part of a route's requests that nothing much delayed.
const quickest = .1

// WorthTelling is the share of the holders' time from which an activity is reported.
var WorthTelling = Threshold{Name: "share of what holders did from which it is reported", Value: .05, Unit: "1",
	Why: "a report has room for some", Source: "arithmetic: at most twenty places can have it"}

// Chain returns what the holders did while slow requests waited for them, largest first.
func (c *Case) Chain(wait Wait, b *Behind) (out []Evidence) {
	if b.Total == 0 || !b.held {
		return nil
	}
	var ms []ledger.Mechanism
	for k, v := range b.Roots {
		if float64(v) >= WorthTelling.Value*float64(b.Total) {
			ms = append(ms, ledger.Mechanism(k))
		}
	}
	sorting.Short(ms, func(x, y ledger.Mechanism) int { return cmp.Compare(b.Roots[y], b.Roots[x]) })
	for _, k := range ms {
		text := "share of that time in which the holder was " + k.Title()
		switch k {
		case ledger.Lock, ledger.Pool, ledger.PoolThread, ledger.Goroutine, ledger.TaskWait:
			text = "share of that time in which the holder ran or was not observed"
		case ledger.Kernel:
			text = "share of that time in which the holder was in system calls"
		}
		if at := c.HolderPlace(wait, k); at != "" {
			text += ": " + at
		}
		out = append(out, c.Figure("holder.state_share", text, float64(b.Roots[k])/float64(b.Total), "1", From(c.Ledger.StatesFrom())))
	}
	return out
}

// HolderPlace returns where most of the holders were while their waits ended in a mechanism, and who called that:
// "main.(*cache).load ← main.(*cache).refresh ← 10.0.0.7:5432"; "" if that is not known.
func (c *Case) HolderPlace(wait Wait, root ledger.Mechanism) string {
	type key struct {
		via, cause evidence.NameID
		at         evidence.StackID
	}
	sums := make(map[key]int64)
	for _, row := range c.Ledger.Slow {
		c.walkChains(row, wait, func(s *evidence.Segment, _ int64, roots *ledger.Charges) {
			if roots[root] > 0 {
				sums[key{s.Via, s.HolderCause, s.HolderStack}] += roots[root]
			}
		})
	}
	var top key
	for k, v := range sums {
		if v > sums[top] || v == sums[top] && (k.via < top.via || k.via == top.via && (k.cause < top.cause || k.cause == top.cause && k.at < top.at)) {
			top = k
		}
	}
	var parts []string
	site := c.SiteOf(top.at)
	for _, p := range []string{c.Bundle.Names.Text(top.via), site.String(), site.Callers[0], c.Bundle.Names.Text(top.cause)} {
		if p != "" && !slices.ContainsFunc(parts, func(q string) bool { return strings.Contains(q, p) }) {
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, evidence.Link)
}

// Root returns a clause that says what the holders mostly waited for, where that belongs to
// another cause: ", while the holders were runnable, CPU busy with GC (81 % of that)"; "" if less
// than half of it does.
func (b *Behind) Root() string {
	top := elsewhere[0]
	for _, m := range append(slices.Clone(elsewhere), ledger.Dependency) {
		if b.Roots[m] > b.Roots[top] {
			top = m
		}
	}
	if b.Total == 0 || 2*b.Roots[top] < b.Total {
		return ""
	}
	return fmt.Sprintf(", while the holders were %s (%s of that)", top.Title(), units.Percent(float64(b.Roots[top])/float64(b.Total)))
}

// BehindCall is the share of slow time in which requests wait for calls that other requests make, from which a verdict says so.
var BehindCall = Threshold{Name: "share of slow time in which requests wait for calls that other requests make", Value: Material.Value, Unit: "1",
	Why: "so much would go without the wait for one another, however long a call takes", Source: Material.Source}

// behindCalls is the time (ns) in which each slow request, in the order of Ledger.Slow, waited for another request's call.
type behindCalls []int64

// BehindCalls returns for each slow request, in the order of Ledger.Slow, for how long (ns) it waited for another request's call to a
// dependency without a call of its own, and went on right after it: for a lock that is held over the call, or for its result. The share is
// that of slow time.
func (c *Case) BehindCalls() (per []int64, share float64) {
	per = Once(c, func(c *Case) behindCalls {
		of := make(behindCalls, len(c.Ledger.Slow))
		for n, row := range c.Ledger.Slow {
			c.Ledger.Walk(row, func(_ int64, s evidence.Segment, ch *ledger.Charges) {
				if s.Kind == evidence.NetWait && s.HolderKind == evidence.NetWait {
					of[n] += ch[ledger.Dependency]
				}
			})
		}
		return of
	})
	var sum int64
	for _, ns := range per {
		sum += ns
	}
	return per, float64(sum) / float64(max(1, c.Ledger.Total))
}
