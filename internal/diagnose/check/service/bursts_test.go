package service

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// inSecond are requests that wait for so long for a processor that others hold in the fourth
// second; all others are quick.
func inSecond(d int64) traced {
	return traced{call(5 * ms), func(n *names, i int) []evidence.Segment {
		if i/100 != 3 {
			return call(5*ms)(n, i)
		}
		s := evidence.Segment{Kind: evidence.Runnable, Dur: d}
		s.Held[evidence.HeldByRequests] = d
		return append([]evidence.Segment{s}, running(5*ms))
	}, 100}
}

// using adds how many processors the process was on, by second.
func using(c *check.Case, cores ...float64) *check.Case {
	x := evidence.Series{Subject: c.Subject, Name: evidence.SeriesProcessCPU}
	var sum float64
	for i, v := range cores {
		x.T, x.V = append(x.T, epoch+int64(i)*1000*ms), append(x.V, v)
		sum += v
	}
	c.Bundle.Series = append(c.Bundle.Series, x)
	c.Bundle.Facts = append(c.Bundle.Facts, evidence.Fact{Subject: c.Subject, Key: evidence.FactRunTime, Number: sum * float64(1000*ms), From: epoch, Until: epoch + int64(len(cores))*1000*ms,
		Origin: check.From(c.Ledger.Source)})
	return c
}

func TestSaturatedWhileSlow(t *testing.T) {
	full := OverCapacity.Judge(using(inSecond(400*ms).subject(t), .1, .1, .1, 1.98, 1.98, .1, .1, .1, .1, .1))
	if full.State != check.Supported || !strings.Contains(full.Title, "while requests are slow") {
		t.Errorf("a second of full CPUs: %s, %s %s", full.State, full.Title, full.Summary)
	}
	half := OverCapacity.Judge(using(inSecond(400*ms).subject(t), .3, .3, .3, 1, .3, .3, .3, .3, .3, .3))
	if half.State != check.RuledOut || !strings.Contains(half.Summary, "bursts") {
		t.Errorf("CPUs half busy while requests are slow: %s, %s %s", half.State, half.Title, half.Summary)
	}
	chance := OverCapacity.Judge(using(inSecond(30*ms).subject(t), .9, .9, .9, 1.8, .9, .9, .9, .9, .9, .9))
	if chance.State != check.RuledOut {
		t.Errorf("a queue of some times what requests take: %s, %s", chance.State, chance.Title)
	}
}

// Where own work fills the CPUs, who waits for GC to go on waits in the same queue.
func TestFullBeforeCollector(t *testing.T) {
	c := using(traced{call(5 * ms), func(*names, int) []evidence.Segment {
		s := evidence.Segment{Kind: evidence.Runnable, Dur: 20 * ms}
		s.Held[evidence.HeldByRequests] = s.Dur
		return []evidence.Segment{{Kind: evidence.GCAssistWait, Dur: 70 * ms}, s, running(5 * ms)}
	}, 80}.subject(t), 1.9, 1.9, 1.9, 1.9, 1.9, 1.9, 1.9, 1.9, 1.9, 1.9)
	if v := OverCapacity.Judge(c); v.State != check.Supported || v.Saves.Value < .8*float64(c.Ledger.Total)/1e6 {
		t.Errorf("%s: %s %s", v.State, v.Title, v.Summary)
	}
}

// A place that requests of all kinds wait at does not hide the next.
func TestNextPlace(t *testing.T) {
	usual := func(n *names, i int) []evidence.Segment {
		if i%2 == 0 { // quick ones wait there as well
			return call(2*ms)(n, i)
		}
		return append(call(2*ms)(n, i), evidence.Segment{Kind: evidence.SyncWait, Dur: 60 * ms, Cause: n.id("chan receive"), Stack: n.stack("runtime.chanrecv", "main.poll", "main.handle")})
	}
	c := traced{usual, func(n *names, i int) []evidence.Segment {
		return append(usual(n, 1), evidence.Segment{Kind: evidence.SleepWait, Dur: 50 * ms, Stack: n.stack("time.Sleep", "main.backOff", "main.handle")})
	}, 45}.subject(t)
	if v := Waiting.Judge(c); v.State != check.Supported || !strings.Contains(v.Title, "main.backOff") {
		t.Errorf("%s: %s %s", v.State, v.Title, v.Summary)
	}
}

func TestBurst(t *testing.T) {
	rates := []float64{51, 44, 58, 49, 53, 40, 62, 47, 50, 55, 610, 590, 602, 598, 615, 604, 49, 57, 43, 52, 46, 60, 51, 48, 54}
	slow := make([]float64, len(rates))
	for i := range slow {
		if slow[i] = 3e6; i >= 10 {
			slow[i] = 900e6
		}
	}
	a := &arrivals{Arrivals: &metrics.Arrivals{Width: 1e9, Rates: rates, Medians: slow}}
	if x, ok := a.findBurst(); !ok || x.at != 10e9 || x.before < 45 || x.before > 55 || x.after < 590 {
		t.Errorf("%+v, %v", x, ok)
	}
	for i := range slow {
		if slow[i] = 3e6; i >= 7 { // slow before more came: they are sent again
			slow[i] = 900e6
		}
	}
	if x, ok := a.findBurst(); ok {
		t.Errorf("a burst of retries: %+v", x)
	}
	if x, ok := (&arrivals{Arrivals: &metrics.Arrivals{Width: 1e9, Rates: rates[:10], Medians: slow[:10]}}).findBurst(); ok {
		t.Errorf("a burst in what comes evenly: %+v", x)
	}
}

// Calls of the usual length make no dependency slow for those who queue for a place to make
// them, though some of the others call nobody.
func TestUsualOfCallers(t *testing.T) {
	c := traced{func(n *names, i int) []evidence.Segment {
		return []evidence.Segment{running(ms / 10)}
	}, waiter(evidence.PoolWait, "pool in main.show", 14*ms, 15*ms, func(n *names, _ int, s *evidence.Segment) {
		s.HolderKind, s.HolderCause = evidence.NetWait, n.id("10.0.0.7:5432")
	}), 85}.subject(t)
	got := found(t, c)
	if len(got) == 0 || got[0].ID != "service.pool-exhausted" {
		t.Errorf("%+v, want service.pool-exhausted", got)
	}
}
