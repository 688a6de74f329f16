package service

import (
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
	"github.com/unstall/unstall/internal/base/threadstack/stacktest"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// loopKept is ten seconds in which requests wait for an event loop. Of ten looks at it while it has work, so many are in one function.
func loopKept(wait float64, inOne int, slo time.Duration) *check.Case {
	const loop = 7
	own := part{evidence.Segment{Kind: evidence.Unobserved}, 2}
	slow := []part{{evidence.Segment{Kind: evidence.ThreadWait, Holder: loop, HolderKind: evidence.Unobserved}, wait}, own}
	return spending("", slo, slow, []part{own}, func(p *evidence.Builder, s evidence.SubjectID) {
		slow[0].state.Cause = p.Wait(evidence.EventLoop, "main-loop")
		for i := range 300 {
			function := "loop_step_" + string(rune('a'+i%10))
			if i%10 < inOne {
				function = "match_expression"
			}
			stack := threadstack.Stack{Frames: []string{function, "main"}, ThreadInfo: evidence.ThreadInfo{Name: "main-loop", Call: evidence.CallRunning}}
			p.Sample(evidence.Sample{Subject: s, Time: epoch + int64(i)*30*ms, Lane: loop, Stack: stacktest.Intern(p, stack), Type: p.Name(evidence.SampleThread), Unit: p.Name("count"), Value: 1, Origin: p.Origin(1)})
		}
		p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverExchanges, From: epoch, Until: epoch + 10_000*ms, Origin: p.Origin(1)})
	})
}

// A loop that keeps requests for some ms each is a fault if one function does, or if they miss an objective.
func TestLoopKeepsBriefly(t *testing.T) {
	for name, x := range map[string]struct {
		wait  float64
		inOne int
		slo   time.Duration
		state string
	}{
		"30 ms, many functions":                {30, 1, 0, check.Inconclusive},
		"30 ms, one function":                  {30, 6, 0, check.Supported},
		"30 ms against an objective":           {30, 1, 10 * time.Millisecond, check.Supported},
		"120 ms, many functions":               {120, 1, 0, check.Supported},
		"8 ms, one function":                   {8, 6, 0, check.RuledOut},
		"8 ms, one function, for an objective": {8, 6, 5 * time.Millisecond, check.Supported},
	} {
		c := loopKept(x.wait, x.inOne, x.slo)
		v := judgeBlockedLoop(c)
		if v.State != x.state {
			t.Errorf("%s: %s: %s %s", name, v.State, v.Title, v.Summary)
		}
		if x.state == check.Inconclusive && (!strings.Contains(v.Summary, "no single function keeps it busy") || len(v.Needs) == 0) {
			t.Errorf("%s: %q, needs %v", name, v.Summary, v.Needs)
		}
		if w := judgeWaiting(c); w.Supported() && x.state == check.Inconclusive {
			t.Errorf("%s: yet %s", name, w.Title)
		}
	}
}

// A loop's thread in its own poll blocks nothing, whatever its requests wait for; in another call it does.
func TestLoopInItsPoll(t *testing.T) {
	for _, c := range []struct {
		view threadstack.View
		want bool
	}{
		{threadstack.View{State: evidence.SyncWait, Pattern: "epoll_wait"}, true},
		{threadstack.View{State: evidence.SyncWait, Pattern: "futex mutex at 0x1c045a80"}, false},
		{threadstack.View{State: evidence.NetWait, Pattern: "poll"}, false}, // of its own call
		{threadstack.View{State: evidence.Running}, false},
	} {
		if got := standsInPoll(&c.view); got != c.want {
			t.Errorf("%v %q: %v", c.view.State, c.view.Pattern, got)
		}
	}
}
