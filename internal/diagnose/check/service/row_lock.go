package service

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// RowLock is requests whose statements wait for the end of another request's transaction.
var RowLock = check.Check{
	ID:    "service.row-lock",
	Title: "statements wait for a row that another transaction has locked",
	Step:  check.StepDependency,
	Doc: `A transaction locks the rows it changes (UPDATE, DELETE, SELECT … FOR UPDATE) until it
commits. Requests that change the same row wait in the database until then, one after the
other. The database is idle until then: what they wait for is what the service itself does
before it commits, most often a call to another service, in the middle of the transaction.

How to tell it from similar problems: a slow query takes long whatever others do
(service.dependency-slow). A statement that waits for a lock is answered at the moment in
which a transaction on another connection ends, and hardly ever at another. Each
connection's calls show that: with their statements and the database's own word on whether
a transaction is open, or, where the connection is encrypted, by their sizes and times. The
row may be one of another table that a foreign key names.

What helps: the call to others before the transaction begins or after it commits; the
contended row changed last, right before COMMIT; a shorter transaction; several rows
instead of one (a counter in parts); SKIP LOCKED for queues. What does not help: a faster
database, a larger pool of connections, an index.`,
	Least: "20 calls of 5 ms and of 5 times what is usual at their dependency, 3 of 10 of which are answered within 2 ms of the end of another connection's transaction, 3 times as many as by chance; where only sizes and times are known, or the tables differ, 7 of 10; and 25 % of slow time waited so; by a database's own words alone, a wait for a lock of a second, a deadlock, or at one look 3 statements that wait for the lock of a whole table",
	Thresholds: []check.Threshold{check.TwoKinds, aSecond, aboveChance, atGap, fewQueued, givenUp, leastLongCalls, longCall, longTimes, mostByShape, mostHolders, mostOfGap, mostReleased,
		releasedWithin, tenSeconds, check.Material, check.Noticeable, check.SlowShare, check.SomeSlow},

	Needs: "the calls on each connection (as root, unstall record PID)",
	Applies: func(c *check.Case) bool {
		return c.Ledger != nil && exchangedOf(c) != nil && len(exchangedOf(c).calls) > 0
	},
	Judge:     judgeRowLock,
	JudgeHost: judgeLocked,
}

var (
	longCall = check.Threshold{Name: "length of a call that may wait for a row lock", Value: 5e6, Unit: "ns",
		Why: "a statement on rows that are not locked takes less, and so does the commit of another", Source: "judgement: half of a call that is noticed"}
	longTimes = check.Threshold{Name: "length of such a call over a usual one of the same dependency", Value: 5, Unit: "times",
		Why: "of two calls of a request one may wait", Source: "arithmetic: of times that vary exponentially 3 % are five times their median (2⁻⁵)"}
	leastLongCalls = check.Threshold{Name: "such calls", Value: 20, Unit: "count",
		Why: "of 20 a share is known within a tenth", Source: "binomial error: a share of one half is known within 11 % (√(0.5·0.5/20))"}
	releasedWithin = check.Threshold{Name: "time from the end of another transaction to the answer", Value: 2e6, Unit: "ns",
		Why: "to wake up, to do its own work, and the way", Source: "judgement: weighs the way of an answer and the work after a wait against ends that lie close by chance; the check computes that chance for each recording"}
	mostReleased = check.Threshold{Name: "part of the long calls that end so, by the database's own word on transactions", Value: .3, Unit: "1",
		Why: "others may be long for another reason", Source: "judgement: weighs locks among calls that are long for several reasons against chance, which the check computes"}
	mostByShape = check.Threshold{Name: "part of the long calls that end so, by sizes and times, or where the statements name different tables", Value: .7, Unit: "1",
		Why: "these are less sure than the database's own word on one table", Source: "judgement: weighs what only sizes and times show, or a foreign key that is not known, against calls that are long for another reason"}
	aboveChance = check.Threshold{Name: "how many times as many end so as by chance", Value: 3, Unit: "times",
		Why: "chance makes some", Source: "arithmetic: two thirds of them are then no chance (1 − 1/3)"}
)

// lockWait is a call that waited for the end of another connection's transaction.
type lockWait struct {
	call, ender *exchangedCall
	before      *exchangedCall // the holder's call that took the lock, or the one before the longest time in which it made none
	holder      []*exchangedCall
	elsewhere   bool // the holder's statements name other tables
}

// rowLocks are the waits for locks at one dependency.
type rowLocks struct {
	to       evidence.NameID
	long     int // calls that are long
	chance   float64
	told     bool // by the database's report, else by sizes and times
	waits    []lockWait
	ns       int64  // of all waits
	held     int64  // ns, median, weighed by the waits: from the taking of the lock to the transaction's end
	away     int64  // ns, median, weighed by the waits: the part of held without a call to the database
	calling  string // what holders call during that time, "" unknown
	callTook int64  // ns, median of such a call
}

func judgeRowLock(c *check.Case) check.Verdict {
	v := check.Verdict{Rule: check.Absent, Summary: "calls that take long do not end with another connection's transaction"}
	x, l := exchangedOf(c), c.Ledger
	locks := check.Once(c, findRowLocks)
	if locks == nil || len(locks.waits) == 0 {
		return v
	}
	v.Rule = check.TooLittle
	wait := locks.waitOf(c, x)
	per, usual, share := c.Excess(l.Rows, l.Slow, wait)
	to := c.Bundle.Names.Text(locks.to)
	what := locks.mainOperation(c)
	if what != "" {
		to += " (" + what + ")"
	}
	part := float64(len(locks.waits)) / float64(locks.long)
	v.Evidence = append(v.Evidence,
		c.Figure("calls.released_share", fmt.Sprintf("share of the %s of %s or more to %s that were answered as another connection's transaction ended (by chance %s)", units.Plural(locks.long, "call"), units.Time(longCall.Value), to, units.Percent(locks.chance)), part, "1", x.origin),
		c.Figure("transaction.held_ms", "median time from when such a transaction has its lock until it ends, each weighed by how long others waited for it", float64(locks.held)/1e6, "ms", x.origin))
	if locks.calling != "" {
		v.Evidence = append(v.Evidence, c.Figure("transaction.call_share", "share of that time in a call to "+locks.calling, min(1, float64(locks.callTook)/float64(max(1, locks.held))), "1", x.origin))
	}
	v.Summary = fmt.Sprintf("waits for locks of other transactions are %s of slow time", units.Percent(share))
	v.Weigh(share, check.Material)
	if !c.Slow() || share < check.Material.Value || !c.UserVisible(check.Noticeable) {
		v.Rule = c.Cleared(share)
		return v
	}
	v.Rule = check.Matters
	v.Title = fmt.Sprintf("Requests wait for a row that another transaction has locked, in %s: %s of slow time.", to, units.Percent(share))
	fix := check.Fix{Text: "make the transaction shorter: change the contended row last, right before the commit, and do nothing else while it is locked; or spread what is counted in one row over several"}
	less := func(row int) int64 { return 0 }
	if locks.calling != "" {
		v.Title = fmt.Sprintf("%s The transaction calls %s while it holds the lock, for %s.", v.Title, locks.calling, units.Time(float64(locks.held)))
		fix.Text = fmt.Sprintf("call %s before the transaction begins, or after it commits, so that the row is locked for the statements alone; change the contended row last, right before the commit", locks.calling)
		stays := float64(max(0, locks.held-locks.away)) / float64(max(1, locks.held))
		less = func(row int) int64 { return int64((1 - stays) * float64(max(0, wait(row)-usual))) }
	}
	if locks.calling == "" && locks.held > 0 {
		v.Title = fmt.Sprintf("%s The transaction holds the lock for %s, %s of it between its statements.", v.Title, units.Time(float64(locks.held)), units.Time(float64(locks.away)))
	}
	v.Saves = c.Save(per, -1, -1)
	v.Fix = append(v.Fix, fix)
	if locks.calling != "" {
		v.Prediction = append(v.Prediction, c.PredictFreed(less))
	}
	return v
}

// mainOperation returns what most of the waiting calls ask for, "" if unknown.
func (k *rowLocks) mainOperation(c *check.Case) string {
	n := make(map[evidence.NameID]int)
	for i := range k.waits {
		n[k.waits[i].call.operation]++
	}
	top := largestName(n)
	if 2*n[top] < len(k.waits) {
		return ""
	}
	return c.Bundle.Names.Text(top)
}

// waitOf returns a function that says how long (ns) a request waits for locks: by its own calls;
// else by the share that locks have in the wait for the dependency among requests whose calls are
// known.
func (k *rowLocks) waitOf(c *check.Case, x *exchanged) func(row int) int64 {
	waits := make([]*exchangedCall, len(k.waits))
	for i := range k.waits {
		waits[i] = k.waits[i].call
	}
	own := x.partOf(c, k.to, waits)
	pool := k.ofPool(c)
	if pool == 0 {
		return own
	}
	return func(row int) int64 {
		charges := c.Ledger.Of(row)
		return own(row) + int64(pool*float64(charges[ledger.Pool]))
	}
}

// ofPool returns the part of the waits for a connection that the locks cause: connections are held
// while their statements wait.
func (k *rowLocks) ofPool(c *check.Case) float64 {
	details := c.Details(ledger.Pool)
	if len(details) == 0 {
		return 0
	}
	name := c.Bundle.Names.Text(details[0].Detail)
	if !strings.Contains(name, c.Bundle.Names.Text(k.to)) && !strings.Contains(strings.ToLower(name), "connection") {
		return 0
	}
	held := k.ns
	seen := make(map[*exchangedCall]bool)
	for i := range k.waits {
		if w := &k.waits[i]; !seen[w.ender] && w.before != nil {
			seen[w.ender] = true
			held += w.ender.end - w.before.arrived
		}
	}
	return float64(k.ns) / float64(max(1, held))
}

// findRowLocks returns the dependency with the longest waits for locks; nil if there are none.
func findRowLocks(c *check.Case) *rowLocks {
	x := exchangedOf(c)
	if x == nil {
		return nil
	}
	by := make(map[evidence.NameID][]*exchangedCall)
	for i := range x.calls {
		by[x.calls[i].to] = append(by[x.calls[i].to], &x.calls[i])
	}
	var found *rowLocks
	for _, to := range slices.Sorted(maps.Keys(by)) {
		if k := lockedAt(c, by[to], x.until-x.from); k != nil && (found == nil || k.ns > found.ns) {
			k.to = to
			found = k
		}
	}
	if found != nil {
		found.describeHolders(c, x)
	}
	return found
}

// kindOf is what calls that end transactions have in common: the database's word, else how many bytes they are.
type kindOf struct {
	ends bool
	sent int64
}

// lockedAt finds the calls to one dependency that waited until a transaction on another connection ended.
func lockedAt(c *check.Case, calls []*exchangedCall, watched int64) *rowLocks {
	k := &rowLocks{}
	took := make([]int64, len(calls))
	for i, x := range calls {
		took[i] = x.answerTime()
		k.told = k.told || x.ends != transactionUnknown
	}
	slices.Sort(took)
	least := max(longCall.Int64(), longTimes.Int64()*stats.Quantile(took, .25))
	on := make(map[int64][]*exchangedCall) // by connection
	place := make(map[*exchangedCall]int)
	for _, x := range calls {
		place[x] = len(on[x.port])
		on[x.port] = append(on[x.port], x)
	}
	kinds := make(map[*exchangedCall]kindOf)
	counts := make(map[kindOf]int)
	for _, of := range on {
		open := false
		for _, x := range of {
			kind, is := kindOf{sent: x.sent}, true
			if k.told {
				kind, is = kindOf{ends: true}, open && x.ends == transactionNone
				open = x.ends == transactionOpen || open && x.ends == transactionUnknown
			} else if place[x] == 0 || x.answerTime() >= least { // it ends nothing that was seen, or waits itself
				is = false
			}
			if is {
				kinds[x] = kind
				counts[kind]++
			}
		}
	}
	var long []*exchangedCall
	for _, x := range calls {
		if _, ends := kinds[x]; x.answerTime() >= least && !x.failed && !(k.told && ends) { // a commit waits for the disk
			long = append(long, x)
		}
	}
	if k.long = len(long); k.long < leastLongCalls.Int() || watched <= 0 {
		return nil
	}
	released := make(map[kindOf][]lockWait)
	for _, x := range long {
		best := make(map[kindOf]lockWait) // of several that end at about that time the one that held its lock for most of the wait
		// Calls are sorted by time: these began while this one waited.
		first := sort.Search(len(calls), func(i int) bool { return calls[i].begun >= x.arrived-releasedWithin.Int64()-least })
		for _, y := range calls[first:] {
			if y.begun > x.arrived {
				break
			}
			kind, is := kinds[y]
			if !is || y.port == x.port || y.begun <= x.begun || y.arrived+releasedWithin.Int64() < x.arrived || 2*y.answerTime() > x.answerTime() {
				continue
			}
			w := lockWait{call: x, ender: y, holder: transactionOf(on[y.port], place[y], k.told)}
			if len(w.holder) < 2 {
				continue
			}
			if w.elsewhere = !w.sameTable(c); w.elsewhere && !(k.told && w.isReferenced(c)) {
				continue
			}
			w.before = w.tookLock()
			if other, seen := best[kind]; !seen || w.heldFor(x) > other.heldFor(x) {
				best[kind] = w
			}
		}
		for kind, w := range best {
			released[kind] = append(released[kind], w)
		}
	}
	for _, kind := range slices.SortedFunc(maps.Keys(released), func(a, b kindOf) int { return cmp.Compare(a.sent, b.sent) }) {
		waits := released[kind]
		n := float64(len(waits))
		enough := mostByShape.Value
		if k.told && !areElsewhere(waits) {
			enough = mostReleased.Value
		}
		chance := min(1, float64(counts[kind])*releasedWithin.Value/float64(watched))
		if n < enough*float64(k.long) || n < aboveChance.Value*chance*float64(k.long) {
			continue
		}
		if len(waits) > len(k.waits) || len(waits) == len(k.waits) && chance < k.chance {
			k.waits, k.chance = waits, chance
		}
	}
	for i := range k.waits {
		k.ns += k.waits[i].call.answerTime()
	}
	if len(k.waits) == 0 {
		return nil
	}
	return k
}

// transactionOf returns the calls on a connection that belong to the transaction which one of them
// ends: as the database reports, else those of the same request.
func transactionOf(of []*exchangedCall, end int, told bool) []*exchangedCall {
	from := end - 1
	for from > 0 {
		if before := of[from-1]; told && before.ends != transactionOpen || !told && (before.request < 0 || before.request != of[end].request) {
			break
		}
		from--
	}
	return of[max(0, from) : end+1]
}

// sameTable says whether the holder's statements may concern the table that the waiting statement
// names.
func (w *lockWait) sameTable(c *check.Case) bool {
	table := tableOf(c, w.call)
	if table == "" {
		return true
	}
	named := false
	for _, x := range w.holder {
		switch tableOf(c, x) {
		case table:
			return true
		case "":
		default:
			named = true
		}
	}
	return !named
}

// isReferenced says whether the holder may have locked a row of another table that the waiting statement's row refers to, or that refers to it: to change a
// row with a foreign key, databases lock the row that the key names, and to change that one they look for rows that name it.
func (w *lockWait) isReferenced(c *check.Case) bool {
	return changesRows(c, w.call) && slices.ContainsFunc(w.holder, func(x *exchangedCall) bool { return changesRows(c, x) && tableOf(c, x) != "" })
}

// areElsewhere says whether most of the waits are for rows of tables that the waiting statement does not name.
func areElsewhere(waits []lockWait) bool {
	n := 0
	for i := range waits {
		if waits[i].elsewhere {
			n++
		}
	}
	return 2*n > len(waits)
}

// changesRows says whether a statement changes rows, or locks them to do so.
func changesRows(c *check.Case, x *exchangedCall) bool {
	if x.operation == 0 {
		return false
	}
	text := strings.TrimPrefix(c.Bundle.Names.Text(x.operation), "PREPARE ")
	verb, _, _ := strings.Cut(text, " ")
	return slices.Contains([]string{"INSERT", "UPDATE", "DELETE", "REPLACE", "MERGE"}, verb) || strings.HasSuffix(text, " FOR UPDATE")
}

// tableOf returns the table that a statement names, "" if it names none.
func tableOf(c *check.Case, x *exchangedCall) string {
	if x.operation == 0 {
		return ""
	}
	words := strings.Fields(strings.TrimPrefix(strings.TrimSuffix(c.Bundle.Names.Text(x.operation), " FOR UPDATE"), "PREPARE "))
	if len(words) < 2 {
		return ""
	}
	return words[1]
}

// tookLock returns the holder's call that took the lock: the one with the same operation, else the
// one before the longest time without a call.
func (w *lockWait) tookLock() (at *exchangedCall) {
	if w.call.operation != 0 {
		for _, x := range w.holder[:len(w.holder)-1] {
			if x.operation == w.call.operation {
				return x
			}
		}
	}
	longest := int64(-1)
	for i, x := range w.holder[:len(w.holder)-1] {
		if gap := w.holder[i+1].begun - x.end; gap > longest {
			at, longest = x, gap
		}
	}
	return at
}

var (
	mostOfGap = check.Threshold{Name: "part of a gap in a transaction that a call fills", Value: .5, Unit: "1",
		Why: "the larger part decides", Source: "arithmetic: half"}
	atGap = check.Threshold{Name: "time by which a call may exceed such a gap", Value: 200e3, Unit: "ns",
		Why: "readings of the kernel differ by less", Source: "judgement: weighs what two clocks of the kernel differ by against a call beside the gap"}
	mostHolders = check.Threshold{Name: "part of the transactions that make such a call", Value: .5, Unit: "1",
		Why: "the larger part decides", Source: "arithmetic: half"}
)

// callWithin returns the call to anything but this database that fills a gap between two calls to
// it; nil if none does.
func (x *exchanged) callWithin(from, until int64, not evidence.NameID, request int) (best *exchangedCall) {
	if until-from < longCall.Int64()/longTimes.Int64() {
		return nil
	}
	first := sort.Search(len(x.calls), func(i int) bool { return x.calls[i].begun >= from-atGap.Int64() })
	for i := first; i < len(x.calls) && x.calls[i].begun < until; i++ {
		call := &x.calls[i]
		if call.to == not || call.end > until+atGap.Int64() || float64(call.answerTime()) < mostOfGap.Value*float64(until-from) || call.request >= 0 && request >= 0 && call.request != request {
			continue
		}
		if best == nil || cmp.Compare(call.answerTime(), best.answerTime()) > 0 {
			best = call
		}
	}
	return best
}
