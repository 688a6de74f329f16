package service

import (
	"fmt"
	"maps"
	"slices"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// A call that is sent in two small writes waits until the other end acknowledges the first: the kernel keeps the second back (RFC 896, Nagle), and the other end
// delays its acknowledgement for [delayedAck] as it has nothing to send (RFC 1122, 4.2.3.2).
var delayedAck = check.Threshold{Name: "by how much longer calls in several writes take than those in one", Value: 40e6, Unit: "ns",
	Why: "so long Linux delays an acknowledgement", Source: "TCP_DELACK_MIN, HZ/25 (Linux, include/net/tcp.h)"}

var ackLate = check.Threshold{Name: "by which part later than that the answer may come", Value: .25, Unit: "1",
	Why: "the timer ticks, and two ends must be woken", Source: "arithmetic: two ticks of 4 ms, and 2 ms for threads to be woken"}

// keptBack are calls to a dependency that wait for an acknowledgement.
type keptBack struct {
	alwaysWaited
	parts int   // writes of such a call, median
	extra int64 // ns, by how much longer they take
}

// delayedAcks adds to a verdict that no route waits longer than usual for a dependency a route whose calls always wait for an acknowledgement.
func delayedAcks(c *check.Case, v check.Verdict) check.Verdict {
	x := exchangedOf(c)
	if x == nil || v.Supported() || isDependencyFound(c) {
		return v
	}
	w := findKeptBack(c, x)
	if w == nil {
		return v
	}
	whom := w.describeCall(c)
	held := float64(w.extra) / float64(w.p50) // of such a call's time
	v = check.Verdict{Rule: check.Matters, Weight: w.of * held}
	v.Weigh(float64(w.extra), delayedAck)
	v.Title = fmt.Sprintf("Requests of %s always wait some %s for %s to acknowledge a part of a call: %s of their time. The call is sent in %d small writes.", routeName(c, w.route), units.Time(float64(w.extra)), whom, units.Percent(w.share*held), w.parts)
	v.Summary = fmt.Sprintf("calls in several writes take %s longer than those in one", units.Time(float64(w.extra)))
	v.Evidence = append(v.Evidence,
		c.Figure("call.p50_ms", fmt.Sprintf("median duration of that call, in %s of %s", units.Plural(w.requests, "request"), routeName(c, w.route)), float64(w.p50)/1e6, "ms", x.origin),
		c.Figure("call.one_write_p50_ms", "median duration of calls to it that are sent in one write", float64(w.others)/1e6, "ms", x.origin),
		c.Figure("call.writes", "writes that such a call is sent in, median", float64(w.parts), "count", x.origin))
	fix := check.Fix{Text: "send the whole call in one write (a buffer that is flushed once), or set TCP_NODELAY on the connection: the kernel keeps back a small write until the one before it is acknowledged, which the other end delays for 40 ms"}
	w.addFix(c, &v, fix, x.origin)
	r := &c.Bundle.Requests
	v.Prediction = append(v.Prediction, c.PredictP99(func(row int) int64 {
		if r.Route.At(row) != w.route {
			return 0
		}
		return min(w.extra, r.Latency(row))
	}))
	return v
}

// findKeptBack returns the dependency whose calls in several writes take as much longer than those in one as an acknowledgement is delayed, and take most
// of a route's time; nil if there is none.
func findKeptBack(c *check.Case, x *exchanged) (worst *keptBack) {
	by := make(map[evidence.NameID][]*exchangedCall)
	for i := range x.calls {
		if call := &x.calls[i]; !call.failed && call.answerTime() > 0 {
			by[call.to] = append(by[call.to], call)
		}
	}
	for _, to := range slices.Sorted(maps.Keys(by)) {
		w := &keptBack{alwaysWaited: alwaysWaited{to: to}}
		var one, several, parts []int64
		var calls []*exchangedCall // in several writes
		n := make(map[evidence.NameID]int)
		for _, call := range by[to] {
			if call.parts == 1 {
				one = append(one, call.answerTime())
				continue
			}
			several, parts = append(several, call.answerTime()), append(parts, int64(call.parts))
			calls = append(calls, call)
			n[call.operation]++
		}
		if len(several) < ledger.MinRequests || len(one) < ledger.MinRequests {
			continue
		}
		w.p50, w.others, w.parts = stats.QuantileOf(several, .5), stats.QuantileOf(one, .5), int(stats.QuantileOf(parts, .5))
		w.extra = w.p50 - w.others
		if top := largestName(n); 2*n[top] > len(several) {
			w.operation = top
		}
		least := delayedAck.Value - float64(ackTick)
		if float64(stats.QuantileOf(several, .1)-w.others) < least || float64(w.extra) > (1+ackLate.Value)*delayedAck.Value || !w.findRoute(c, x, calls) || worst != nil && w.of <= worst.of {
			continue
		}
		worst = w
	}
	return worst
}

// ackTick is a tick of the kernel's clock (ns), by which its timer may end earlier than asked for.
const ackTick = int64(4e6)
