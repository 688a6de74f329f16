package jvm

import (
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// stalling is a service on ZGC in which threads of some number stall at the same time, for
// a second.
func stalling(threads int, alone bool) *check.Case {
	c := service{collector: "ZGC", cores: 2, rate: 40, demand: 5 * ms, alone: alone}.build()
	p := c.Bundle.Builder(c.Bundle.AddArtifact(evidence.Artifact{Name: "stalls.log"}), "hotspotgc")
	for n := range threads {
		p.Interval(evidence.Interval{Lane: evidence.LaneID(n + 1), Kind: evidence.AllocStall, Start: epoch + 10_000*ms, End: epoch + 11_000*ms, Cause: p.Name("Allocation Stall"), Origin: p.Origin(int64(n + 1))})
	}
	p.Close()
	return c
}

// TestStallsAreNoPauses demands that twenty threads that stall for a second together are a
// second in which some thread stalled, not twenty.
func TestStallsAreNoPauses(t *testing.T) {
	c := stalling(20, true)
	g := collectorOf(c)
	s := g.allocationStalls()
	if s.sum != 20 || s.any.Time() != 1e9 {
		t.Errorf("%v thread seconds in %v ns, want 20 in 1e9", s.sum, s.any.Time())
	}
	v := judgeStall(c)
	if v.State != check.Supported || v.Weight < .016 || v.Weight > .017 {
		t.Errorf("%s, weight %v: want supported, a sixtieth", v.State, v.Weight)
	}
}

// TestStallsOfOthers demands that a request is charged no more than the likelihood that it
// was its thread that stalled.
func TestStallsOfOthers(t *testing.T) {
	c := stalling(1, false)
	l := c.Ledger
	l.Slow = l.Rows
	one := total(c.Ledger.AllocStalls())
	c = stalling(50, false)
	c.Ledger.Slow = c.Ledger.Rows
	all := total(c.Ledger.AllocStalls())
	var inFlight int64
	r := &c.Bundle.Requests
	for _, row := range c.Ledger.Rows {
		inFlight += max(0, min(r.End.At(row), epoch+11_000*ms)-max(r.End.At(row)-r.Latency(row), epoch+10_000*ms))
	}
	if one <= 0 || one > 1e9 || one > all {
		t.Errorf("one thread that stalls for a second costs %d ns, want at most 1e9 and %d", one, all)
	}
	if all != inFlight && (all < inFlight-1000 || all > inFlight+1000) {
		t.Errorf("all threads stall: %d ns, want what requests were under way: %d", all, inFlight)
	}
}

func total(all []int64) (ns int64) {
	for _, v := range all {
		ns += v
	}
	return ns
}
