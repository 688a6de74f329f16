package service

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// What it takes to say of a process without any requests that it stands still at one place: so
// much of the looks at its threads with work, and so many of them in the mean.
var (
	mostlyStands = check.Threshold{Name: "share of samples of threads with work, that show them at one place", Value: .5, Unit: "1",
		Why: "the larger part decides", Source: "arithmetic: half"}
	leastStands = check.Threshold{Name: "threads at that place on average", Value: .5, Unit: "threads",
		Why: "a thread for half of the time", Source: "Little's law, L = λW: a thread stands there for half of the time"}
	alwaysStands = check.Threshold{Name: "share of samples at a place, of a process that serves nothing as far as is known", Value: .9, Unit: "1",
		Why: "it may be there by design", Source: "binomial: of 20 samples 18 or more show it by chance in 0.02 % of recordings, where it is so half of the time"}
	leastMoments = check.Threshold{Name: "samples of its threads", Value: 20, Unit: "count",
		Why: "of 20 a share is known within a tenth", Source: "binomial error: a share of one half is known within 11 % (√(0.5·0.5/20))"}
)

// stand is looks at threads that wait for the same.
type stand struct {
	reason string
	waits  evidence.Wait // what is known of that
	looks  int
	lanes  map[evidence.LaneID]bool
	view   threadstack.View
	root   bool // it is what the holder of a lock waits for
	origin evidence.Origin
}

// judgeStanding judges a process without requests by what its threads, or those that serve if
// there are any, wait for in the kernel or at a lock whenever they have work. Waits to be woken
// and for answers may be waits for work, and do not count.
func judgeStanding(c *check.Case) (v check.Verdict, ok bool) {
	if c.Ledger != nil || !platform.ByID(c.Runtime()).Native() {
		return v, false
	}
	looks := c.Threads().Samples(c.Subject)
	moments := make(map[int64]bool)
	serves := slices.ContainsFunc(looks, func(l threads.Sample) bool { return l.View.Request })
	at := make(map[string]*stand)
	work := 0
	for i := range looks {
		l := &looks[i]
		moments[l.Time] = true
		if v := &l.View; v.State == evidence.Idle || serves && !v.Request {
			continue
		}
		work++
		reason, waits := standsAt(l)
		if reason == "" {
			continue
		}
		s := at[reason]
		if s == nil {
			s = &stand{reason: reason, waits: waits, lanes: make(map[evidence.LaneID]bool), view: l.View, root: l.View.State == evidence.LockWait && l.Held.State == evidence.Syscall, origin: l.Origin}
			at[reason] = s
		}
		s.looks++
		s.lanes[l.Lane] = true
	}
	var top *stand
	for _, s := range at {
		if top == nil || cmp.Or(cmp.Compare(s.looks, top.looks), cmp.Compare(top.reason, s.reason)) > 0 {
			top = s
		}
	}
	if top == nil || len(moments) < leastMoments.Int() {
		return v, false
	}
	mean, share := float64(top.looks)/float64(len(moments)), float64(top.looks)/float64(work)
	place := ledger.Place{Mechanism: standing[top.view.State], What: top.reason, Wait: top.waits}
	if place.Mechanism == ledger.Lock && top.root {
		place.Mechanism = ledger.Kernel
	}
	if spokenFor(c, &place) {
		return v, false
	}
	if share < mostlyStands.Value || mean < leastStands.Value || !serves && mean < alwaysStands.Value {
		return v, false
	}
	who := "threads"
	if serves {
		who = "threads that serve requests"
	}
	v = check.Verdict{Rule: check.Matters, Weight: min(1, mean), Summary: fmt.Sprintf("%s of samples of its %s that have work show them there", units.Percent(share), who),
		Title: fmt.Sprintf("The process waits at one place: %s, %s of the time in which its %s are busy.", top.reason, units.Percent(share), who)}
	v.Evidence = append(v.Evidence,
		c.Figure("wait.threads_mean", "threads waiting there, on average", mean, "count", top.origin),
		c.Figure("wait.threads_seen", "threads seen waiting there", float64(len(top.lanes)), "count", top.origin),
		c.Figure("wait.looks_share", "share of samples of "+who+" with work", share, "1", top.origin))
	v.Fix = append(v.Fix, check.Fix{Text: fixOf(standing[top.view.State], top.waits), Code: c.Threads().PathTo(c.Subject, top.view.Owner)})
	return v, true
}

var standing = map[evidence.Kind]ledger.Mechanism{evidence.Syscall: ledger.Kernel, evidence.LockWait: ledger.Lock}

// standsAt returns what a thread waits for in the kernel or, at a lock, what its holder waits for
// in the kernel, else the lock.
func standsAt(l *threads.Sample) (reason string, waits evidence.Wait) {
	switch {
	case l.View.State == evidence.LockWait && l.Held.State == evidence.Syscall:
		return l.Held.Cause, l.Held.Waits
	case l.View.State == evidence.LockWait, l.View.State == evidence.Syscall:
		return l.View.Reason(), l.View.Waits
	}
	return "", waits
}
