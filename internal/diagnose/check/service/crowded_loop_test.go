package service

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// loopOf is ten seconds of requests that wait for an event loop, in one turn, and so long (ms) for being accepted by it. The process uses so much of
// two CPUs and waits for them with so many threads; others use so many.
func loopOf(accept, wait, cpu, ready, others float64) *check.Case {
	const loop = 7
	own := part{evidence.Segment{Kind: evidence.Unobserved}, 1}
	slow := []part{
		{evidence.Segment{Kind: evidence.BeforeService}, accept},
		{evidence.Segment{Kind: evidence.ThreadWait, Holder: loop, HolderKind: evidence.Unobserved}, wait},
		own,
	}
	return spending("node", 0, slow, []part{own}, func(p *evidence.Builder, s evidence.SubjectID) {
		slow[0].state.Cause = p.Wait(evidence.AcceptQueueOf, "127.0.0.1:80")
		slow[1].state.Cause = p.Wait(evidence.EventLoop, "main-loop")
		p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverExchanges, From: epoch, Until: epoch + 10_000*ms, Origin: p.Origin(1)})
		var at []int64
		for n := range int64(41) {
			at = append(at, epoch+n*250*ms)
		}
		over := func(subject evidence.SubjectID, name string, v float64) {
			all := make([]float64, len(at))
			for i := range all {
				all[i] = v
			}
			p.Series(evidence.Series{Subject: subject, Name: name, T: at, V: all, Origin: p.Origin(1)})
		}
		over(s, evidence.SeriesProcessCPU, cpu)
		over(s, evidence.SeriesProcessRunDelay, ready)
		over(p.Subject(evidence.Subject{Kind: evidence.Host, Runtime: "linux", Name: "host", CPUs: 2}), evidence.SeriesHostCPUBusy, cpu+others)
	})
}

// Beside others that fill the host, a loop is blocked if it would be without them: what remains of the wait is material, and long at a time.
func TestLoopBesideOthers(t *testing.T) {
	for name, x := range map[string]struct {
		wait, cpu, ready, others float64
		state, says              string
	}{
		"a free host": {120, .3, .01, .1, check.Supported, "99 % of slow time."},
		"others use the CPUs for most of its time":   {120, .2, .3, 1.8, check.Supported, "40 % of slow time, without the part in which others use the CPUs"},
		"what remains is short":                      {40, .2, .3, 1.8, check.RuledOut, ""},
		"others use the CPUs for nearly all of it":   {120, .05, .4, 1.95, check.RuledOut, ""},
		"others use the CPUs for a part of its time": {120, .3, .2, 1.7, check.Supported, "99 % of slow time."},
	} {
		c := loopOf(0, x.wait, x.cpu, x.ready, x.others)
		if v := judgeBlockedLoop(c); v.State != x.state || !strings.Contains(v.Title, x.says) {
			t.Errorf("%s: %s: %q %q", name, v.State, v.Title, v.Summary)
		}
	}
}

// A loop that always has work also keeps waiting what it has not accepted; one that is idle for a part of the time does not.
func TestLoopAccepts(t *testing.T) {
	for name, x := range map[string]struct {
		cpu, ready float64
		state      string
	}{
		"always busy":        {.95, .02, check.Supported},
		"busy or ready":      {.7, .25, check.Supported},
		"idle at times":      {.7, .05, check.RuledOut},
		"others of its work": {1.6, .1, check.RuledOut},
	} {
		c := loopOf(200, 20, x.cpu, x.ready, .1)
		v := judgeBlockedLoop(c)
		if v.State != x.state || v.Supported() && !strings.HasPrefix(v.Title, "Requests wait for the event loop main-loop") {
			t.Errorf("%s: %s: %q %q", name, v.State, v.Title, v.Summary)
		}
	}
}
