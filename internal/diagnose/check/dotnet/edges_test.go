package dotnet

import (
	"testing"

	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/diagnose/check/checktest"
)

// A pool is short of threads where half of those that are busy are blocked and work waits for them while CPUs are free.
func TestStarvationEdges(t *testing.T) {
	queued := func(cpu float64, blocked, busy int) incident {
		return incident{version: "9.0.7", cores: 2, threads: flat(float64(blocked + busy)), cpu: cpu, queue: 35, stacks: []stack{{blocked, blocked, socket}, {busy, busy, works}}}
	}
	climbs := func(step float64) incident {
		return incident{version: "8.0.11", cores: 2, threads: ramp(4, step), cpu: 12, queue: 20}
	}
	for about, x := range map[string]struct {
		in   incident
		want string
	}{
		"half of the threads are blocked":           {queued(20, 4, 4), check.Supported},
		"fewer than half, and work waits":           {queued(20, 3, 4), check.Inconclusive},
		"a quarter":                                 {queued(20, 1, 3), check.RuledOut},
		"three quarters of the CPUs are in use":     {queued(74, 4, 4), check.Supported},
		"more than three quarters, so CPU is short": {queued(77, 4, 4), check.RuledOut},
		"it adds a thread a second":                 {climbs(1), check.Supported},
		"without a queue it keeps its size":         {incident{cores: 2, threads: flat(4), cpu: 12}, check.RuledOut},
	} {
		c := x.in.subject(t)
		v := ThreadPoolStarvation.Judge(c)
		if v.State != x.want {
			t.Errorf("%s: %s, want %s: %s %s", about, v.State, x.want, v.Title, v.Summary)
		}
		checktest.Decides(t, "", c, &v)
	}
}

// Without requests, pauses are found by their share of the time.
func TestPauseEdges(t *testing.T) {
	young := collects{every: 200, pause: 1, generation: 0, reason: "small allocations"}
	of := func(pause int64, reason string) heap {
		return heap{collections: []collects{young, {every: 1000, pause: pause, generation: 2, reason: reason}}, live: 100 * mb, none: true}
	}
	for about, x := range map[string]struct {
		cause check.Check
		in    heap
		found bool
	}{
		"induced, 7 % of the time":           {InducedGC, of(70, "induced"), true},
		"induced, 2 % of the time":           {InducedGC, of(20, "induced"), false},
		"for large objects, 7 % of the time": {LOHChurn, of(70, "large allocations"), true},
		"for large objects, 2 % of the time": {LOHChurn, of(20, "large allocations"), false},
		"of gen 2, 7 % of the time":          {Gen2Pause, of(70, "small allocations"), true},
		"of gen 2, 2 % of the time":          {Gen2Pause, of(20, "small allocations"), false},
		"another's":                          {InducedGC, of(70, "large allocations"), false},
	} {
		c := x.in.subject(t)
		v := x.cause.Judge(c)
		if v.Supported() != x.found {
			t.Errorf("%s: %s: %s %s", about, v.State, v.Title, v.Summary)
		}
		checktest.Decides(t, "", c, &v)
	}
}

// Where requests show what collections cost, a quarter of slow time decides; what others take is not the collector's.
func TestCostEdges(t *testing.T) {
	young := collects{every: 200, pause: 1, generation: 0, reason: "small allocations"}
	for about, x := range map[string]struct {
		pause  int64 // ms each second
		others int64 // ms that each hundredth request takes longer
		want   string
	}{
		"all of slow time":                       {80, 0, check.Supported},
		"a part of it, and the rest is not seen": {80, 3000, check.Supported},
		"hardly any of it":                       {10, 3000, check.Inconclusive}, // what queued behind the pauses is not known
	} {
		c := heap{collections: []collects{young, {every: 1000, pause: x.pause, generation: 2, reason: "induced"}}, live: 100 * mb, others: x.others}.subject(t)
		v := InducedGC.Judge(c)
		if v.State != x.want {
			t.Errorf("%s: %s, want %s: %s %s", about, v.State, x.want, v.Title, v.Summary)
		}
		checktest.Decides(t, "", c, &v)
	}
}
