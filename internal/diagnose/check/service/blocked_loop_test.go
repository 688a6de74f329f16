package service

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
	"github.com/unstall/unstall/internal/base/threadstack/stacktest"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// loopKept is ten seconds in which requests wait for an event loop, which serves so many others in turns meanwhile. Of ten looks at it while it has work, so many
// are in one function of that name.
func loopKept(wait float64, turns, inOne int, name string, slo time.Duration) *check.Case {
	const loop = 7
	own := part{evidence.Segment{Kind: evidence.Unobserved}, 2}
	var slow []part
	for range turns {
		slow = append(slow, part{evidence.Segment{Kind: evidence.ThreadWait, Holder: loop, HolderKind: evidence.Unobserved}, wait / float64(turns)})
	}
	slow = append(slow, own)
	return spending("", slo, slow, []part{own}, func(p *evidence.Builder, s evidence.SubjectID) {
		for i := range turns {
			slow[i].state.Cause, slow[i].state.Via = p.Wait(evidence.EventLoop, "main-loop"), p.Name(fmt.Sprintf("GET /%d", i%2))
		}
		for i := range 300 {
			function := "loop_step_" + string(rune('a'+i%10))
			if i%10 < inOne {
				function = name
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
		name  string
		slo   time.Duration
		state string
		turns int
	}{
		"120 ms, in turns of 15 ms":            {120, 1, "match_expression", 0, check.Inconclusive, 8},
		"120 ms, in turns of 20 ms":            {120, 1, "match_expression", 0, check.Supported, 6},
		"120 ms, in turns, for an objective":   {120, 1, "match_expression", 10 * time.Millisecond, check.Supported, 8},
		"120 ms, in turns, one function":       {120, 6, "match_expression", 0, check.Supported, 8},
		"30 ms, many functions":                {30, 1, "match_expression", 0, check.Inconclusive, 1},
		"30 ms, one function":                  {30, 6, "match_expression", 0, check.Supported, 1},
		"30 ms against an objective":           {30, 1, "match_expression", 10 * time.Millisecond, check.Supported, 1},
		"120 ms, many functions":               {120, 1, "match_expression", 0, check.Supported, 1},
		"8 ms, one function":                   {8, 6, "match_expression", 0, check.RuledOut, 1},
		"30 ms, an interpreter of Python":      {30, 6, "_PyEval_EvalFrameDefault", 0, check.Inconclusive, 1},
		"30 ms, an interpreter of JavaScript":  {30, 6, "Builtins_InterpreterEntryTrampoline", 0, check.Inconclusive, 1},
		"8 ms, one function, for an objective": {8, 6, "match_expression", 5 * time.Millisecond, check.Supported, 1},
	} {
		c := loopKept(x.wait, x.turns, x.inOne, x.name, x.slo)
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

// What slow requests compute on their loop counts with the waits for it, where these are no small part: one thread does both.
func TestLoopWorkAndWaits(t *testing.T) {
	const loop = 7
	for name, x := range map[string]struct {
		wait, own, other float64 // ms of each slow request
		state            string
	}{
		"waits alone":               {60, 10, 30, check.Supported},
		"waits and work":            {20, 50, 30, check.Supported},
		"hardly any waits":          {6, 64, 30, check.RuledOut},
		"waits and work, of little": {20, 20, 60, check.RuledOut},
	} {
		wait := part{evidence.Segment{Kind: evidence.ThreadWait, Holder: loop, HolderKind: evidence.Unobserved}, x.wait}
		slow := []part{wait, {evidence.Segment{Kind: evidence.Running}, x.own}, {evidence.Segment{Kind: evidence.Unobserved}, x.other}}
		c := spending("", 10*time.Millisecond, slow, []part{{evidence.Segment{Kind: evidence.Running}, 2}}, func(p *evidence.Builder, s evidence.SubjectID) {
			slow[0].state.Cause = p.Wait(evidence.EventLoop, "main-loop")
			p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverExchanges, From: epoch, Until: epoch + 10_000*ms, Origin: p.Origin(1)})
		})
		v := judgeBlockedLoop(c)
		if v.State != x.state || strings.HasPrefix(v.Title, "Requests compute on") != (name == "waits and work") {
			t.Errorf("%s: %s: %s %s", name, v.State, v.Title, v.Summary)
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

// loopOfCalls is a service of one event loop whose requests make so many calls one after the other, each of which costs the loop 300 µs; when the last
// is answered, the loop works on the request for a while (ns).
func loopOfCalls(calls int, after int64) []byte {
	const seconds, cost, database = 25, int64(300_000), int64(500_000)
	type step struct {
		ready      int64 // when the request has come, or the last call's answer
		of, number int
		sent       int64
	}
	s := newKernelSaw()
	var waiting []step
	for i, at := range s.arrivals(13, seconds) {
		waiting = append(waiting, step{ready: at, of: i})
	}
	came, read := make(map[int]int64), make(map[int]int64)
	now := int64(0)
	for len(waiting) > 0 {
		next := 0
		for i := range waiting {
			if waiting[i].ready < waiting[next].ready {
				next = i
			}
		}
		x := waiting[next]
		waiting = slices.Delete(waiting, next, next+1)
		now = max(now, x.ready)
		if x.number == 0 {
			came[x.of], read[x.of] = x.ready, now
		} else {
			s.lines = append(s.lines, line{now, fmt.Sprintf("k %d %d %d 0 90 80 1 1 %d %[4]d %d 10.0.0.7:5432 postgresql idle SELECT products", x.sent, now-x.ready, now-x.sent, firstThread, 40000+x.of%40)})
		}
		now += cost
		if x.number < calls {
			waiting = append(waiting, step{now + database, x.of, x.number + 1, now})
			continue
		}
		now += after
		s.lines = append(s.lines, line{now, fmt.Sprintf("q %d %d %d 0 180 220 1 1 %d %[4]d 8080/%d - http 200 GET /lists", came[x.of], read[x.of]-came[x.of], now-read[x.of], firstThread, 1+x.of%40)})
	}
	return s.bytes(seconds)
}

// A loop that is busy with the many calls of its requests is told by these; one that computes after a few or many calls is blocked.
func TestLoopBusyWithCalls(t *testing.T) {
	for name, x := range map[string]struct {
		calls   int
		after   int64
		blocked bool
	}{
		"200 calls":                    {200, 0, false},
		"1 call, then 65 ms of work":   {1, 65 * ms, true},
		"12 calls, then 60 ms of work": {12, 60 * ms, true},
	} {
		c := caseOf(t, loopOfCalls(x.calls, x.after))
		v, chatty := judgeBlockedLoop(c), judgeChatty(c)
		if v.Supported() != x.blocked || !x.blocked && (v.Rule != check.Explained || !chatty.Supported()) {
			t.Errorf("%s: %v %s %s; %s %s", name, v.Rule, v.Title, v.Summary, chatty.Title, chatty.Summary)
		}
	}
}

// A wait within a library that writes a log is told as such, another one on the same loop is not.
func TestLogsThere(t *testing.T) {
	b := evidence.NewBundle()
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "syscalls.txt"}), "syscalls")
	of := func(frames ...string) evidence.StackID {
		return stacktest.Intern(p, threadstack.Stack{Frames: frames, ThreadInfo: evidence.ThreadInfo{Name: "node"}})
	}
	logs := of("sleep (node_modules/atomic-sleep/index.js)", "release (node_modules/sonic-boom/index.js)", "use (src/log.ts)")
	asks := of("ask (src/ask.ts)")
	p.Close()
	for n, want := range map[float64]bool{3: true, 1: false} {
		if got := logsThere(b, map[evidence.StackID]float64{logs: n, asks: 1}); got != want {
			t.Errorf("%v of %v looks: %v", n, n+1, got)
		}
	}
}
