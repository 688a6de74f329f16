package service

import (
	"cmp"
	"slices"
	"sort"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// alikeBytes is the part by which questions of one kind may differ in their length: the same statement with other values.
const alikeBytes = .1

// usualCalls knows how long calls of a kind usually wait for their answer: the same operation at the same dependency, asked in about as many bytes.
type usualCalls struct {
	of   map[operationAt][]*exchangedCall // by the bytes sent
	byOf map[*exchangedCall]int64
	most map[int]*exchangedCall // by request: the call that waited longest

	asEver float64 // share of slow time in calls that are forgiven although they always take [alwaysLong] and more
}

type operationAt struct{ to, operation evidence.NameID }

func readUsualCalls(c *check.Case) *usualCalls {
	u := &usualCalls{of: make(map[operationAt][]*exchangedCall), byOf: make(map[*exchangedCall]int64), most: make(map[int]*exchangedCall)}
	x := exchangedOf(c)
	if x == nil {
		return u
	}
	for i := range x.calls {
		call := &x.calls[i]
		k := operationAt{call.to, call.operation}
		u.of[k] = append(u.of[k], call)
		if most := u.most[call.request]; call.request >= 0 && (most == nil || call.answerTime() > most.answerTime()) {
			u.most[call.request] = call
		}
	}
	for _, calls := range u.of {
		slices.SortFunc(calls, func(a, b *exchangedCall) int { return cmp.Compare(a.sent, b.sent) })
	}
	return u
}

// usualTime returns the median time (ns) of calls like this one; 0 where there are too few of them.
func (u *usualCalls) usualTime(call *exchangedCall) int64 {
	if ns, known := u.byOf[call]; known {
		return ns
	}
	calls := u.of[operationAt{call.to, call.operation}]
	least, most := float64(call.sent)*(1-alikeBytes), float64(call.sent)*(1+alikeBytes)
	from := sort.Search(len(calls), func(i int) bool { return float64(calls[i].sent) >= least })
	to := sort.Search(len(calls), func(i int) bool { return float64(calls[i].sent) > most })
	var ns int64
	if to-from >= ledger.MinRequests {
		took := make([]int64, 0, to-from)
		for _, like := range calls[from:to] {
			took = append(took, like.answerTime())
		}
		ns = stats.QuantileOf(took, .5)
	}
	u.byOf[call] = ns
	return ns
}

// forgiveUsualCalls takes from what slow requests wait beyond others of their route (per, ns) what their longest call always takes: routes answer
// different questions, as those of GraphQL do, and what some ask for may take longer each time; others answer from a cache what they need not ask for. A
// call that always takes as long as [alwaysLong] is forgiven if it may, and the user does not say what is too slow. It returns what is left as a share of
// slow time.
func forgiveUsualCalls(c *check.Case, wait func(row int) int64, per []int64, share float64) float64 {
	u := check.Once(c, readUsualCalls)
	if len(u.most) == 0 {
		return share
	}
	var sum, ever int64
	for n, row := range c.Ledger.Slow {
		call := u.most[row]
		for in := range c.Ledger.Inside(row) {
			if call == nil {
				call = u.most[in]
			}
		}
		if call != nil {
			if usual := u.usualTime(call); usual < alwaysLong.Int64() || c.Ledger.Rule == ledger.RuleFloor && mayTakeLong(c, call) {
				left := min(per[n], max(0, wait(row)-usual))
				if usual >= alwaysLong.Int64() {
					ever += per[n] - left
				}
				per[n] = left
			}
		}
		sum += per[n]
	}
	u.asEver = float64(ever) / float64(max(1, c.Ledger.Total))
	return float64(sum) / float64(max(1, c.Ledger.Total))
}

// mayTakeLong says whether a call that always takes long may do so by its nature: a statement of a database lacks an index then, a name that is looked up
// is known or not at once, and a call that fails was waited for in vain.
func mayTakeLong(c *check.Case, call *exchangedCall) bool {
	return !call.failed && c.Bundle.Names.Wait(call.to).Kind != evidence.NameServer && !isDatabase(c.Bundle.Names.Text(call.to))
}
