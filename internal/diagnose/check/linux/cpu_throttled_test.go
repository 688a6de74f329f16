package linux

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/diagnose/check/checktest"
)

func TestThrottled(t *testing.T) {
	// Slow requests run through 30 ms in which others begin every 10 ms: silences
	// of 8 ms.
	quota := incident{slow: 30, dilation: 20, run: 1, busy: .7, pressure: .6, process: .6, quota: .6, throttled: 16, stopped: .5}
	with := func(in incident, change func(*incident)) incident { change(&in); return in }
	for _, c := range []struct {
		name                             string
		in                               incident
		throttled, saturation, neighbour string
		says                             string // of the first
	}{
		{"stopped", quota, check.Supported, check.RuledOut, check.RuledOut, "A quota of 0.6 CPUs throttles the process in 16 of 20 periods."},
		{"stopped in bursts that the mean hides", with(quota, func(in *incident) { in.dilation = 1.5; in.process = .95 }),
			check.Supported, check.RuledOut, check.RuledOut, "% of slow time"},
		{"stopped often, of which the trace shows little", with(quota, func(in *incident) { in.dilation, in.process, in.throttled, in.stopped = 1.5, .95, 3, .4 }),
			check.Supported, check.RuledOut, check.RuledOut, "3 of 20 periods"},
		{"stopped beside a neighbour", with(quota, func(in *incident) { in.busy = 3.6; in.others = []float64{2.9} }),
			check.Supported, check.RuledOut, check.RuledOut, "16 of 20 periods"},
		{"starved, and stopped a little", with(quota, func(in *incident) { in.busy = 4; in.others = []float64{3.3}; in.throttled = 1; in.stopped = .02 }),
			check.Inconclusive, check.Supported, check.Supported, "throttled in 5 % of the periods, but the process lost more CPU time"},
		{"starved, and stopped often for moments", with(quota, func(in *incident) { in.busy = 4; in.others = []float64{3.3}; in.stopped = .1 }),
			check.Inconclusive, check.Supported, check.Supported, "throttled in 80 % of the periods, but the process lost more CPU time"},
		{"the host was not recorded", with(quota, func(in *incident) { in.busy = 0 }),
			check.Supported, check.RuledOut, check.Inconclusive, "16 of 20 periods"},
		{"looks starved, but had its CPU time, and the host was not recorded", with(quota, func(in *incident) { in.busy = 0; in.process = .99; in.throttled = 0 }),
			check.RuledOut, check.Inconclusive, check.RuledOut, "0 of 20 periods"},
		{"rarely", with(quota, func(in *incident) { in.throttled = .1; in.process = .99; in.dilation = 1.5 }),
			check.RuledOut, check.RuledOut, check.RuledOut, "0 of 20 periods"},
		{"never", with(quota, func(in *incident) { in.throttled, in.stopped, in.process, in.dilation = 0, 0, .99, 1.5 }),
			check.RuledOut, check.RuledOut, check.RuledOut, "0 of 20 periods"},
		{"no trace", with(quota, func(in *incident) { in.dilation = 0 }),
			check.Supported, check.Inconclusive, check.RuledOut, "16 of 20 periods"},
		{"no trace, stopped for moments", with(quota, func(in *incident) { in.dilation, in.stopped = 0, .001 }),
			check.RuledOut, check.Inconclusive, check.RuledOut, "at most"},
		{"not watched, all run", with(quota, func(in *incident) { in.quota, in.process, in.dilation = 0, .99, 1.5 }),
			check.RuledOut, check.RuledOut, check.RuledOut, "whenever they were runnable"},
		{"not watched, not run", with(quota, func(in *incident) { in.quota = 0 }),
			check.Inconclusive, check.Inconclusive, check.RuledOut, "was not recorded"},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := c.in.subject(t)
			v := judgeThrottled(k)
			checktest.Decides(t, c.name, k, &v)
			if v.State != c.throttled || !strings.Contains(v.Title+v.Summary, c.says) {
				t.Errorf("throttled is %s: %q %q", v.State, v.Title, v.Summary)
			}
			if s := judgeSaturation(k); s.State != c.saturation {
				t.Errorf("saturation is %s: %s", s.State, s.Summary)
			}
			if n := judgeNeighbour(k); n.State != c.neighbour {
				t.Errorf("neighbour is %s: %s", n.State, n.Summary)
			}
			checkVerdict(t, v, float64(k.Ledger.Total)/1e6)
			if v.State != check.Supported {
				return
			}
			k.Found = []check.Found{{ID: CPUThrottled.ID, Step: CPUThrottled.Step, Verdict: v}}
			if s := judgeSaturation(k); s.State == check.Inconclusive { // what the quota explains is not left open
				t.Errorf("saturation beside the quota is %s: %s", s.State, s.Summary)
			}
			if len(v.Prediction) != 1 || !(*v.Prediction[0].Then <= *v.Prediction[0].Now) || *v.Prediction[0].Low > *v.Prediction[0].Then || *v.Prediction[0].High < *v.Prediction[0].Then {
				t.Errorf("predicts %+v", v.Prediction)
			}
		})
	}
}

// What is found never exceeds what the kernel counted, in number or length.
func TestStopsAreBounded(t *testing.T) {
	k := incident{slow: 30, dilation: 20, run: 1, busy: .7, process: .6, quota: .6, throttled: 16, stopped: .5}.subject(t)
	x := throttleOf(k)
	w, _ := chargedWindow(k)
	all := len(findSilences(k, w))
	for _, c := range []struct {
		throttled, stopped float64
		most               int
		ns                 int64
	}{{1e6, 4, all, 8 * second}, {4, 4, 5, 8 * second}, {1e6, .02, all, 40 * ms}, {0, 0, 0, 0}} {
		x.Stopped.Number, x.Waiting.Number = c.throttled, c.stopped
		stops := x.findStops(k, w)
		if n, sum := len(stops), stops.Within(w.From, w.Until); n > c.most || sum > c.ns || n == 0 && c.most > 0 {
			t.Errorf("%v stops of %v processors: found %d in %d ms", c.throttled, c.stopped, n, sum/ms)
		}
	}
	if all < 20 {
		t.Errorf("there are %d silences", all)
	}
}

// One reading of cpu.stat is of all the time since its group was created.
func TestThrottledSinceCreated(t *testing.T) {
	for name, x := range map[string]struct {
		periods, stopped float64
		state, words     string
	}{
		"rarely":     {3076, 34, check.Inconclusive, "34 of 3,076"},
		"mostly":     {3000, 2400, check.Supported, "80 %"},
		"at a start": {20, 18, check.Inconclusive, "18 of 20"},
	} {
		b := evidence.NewBundle()
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "shell.txt"}), "procfs")
		s := p.Subject(evidence.Subject{Kind: evidence.Process})
		p.Fact(evidence.Fact{Subject: s, Key: evidence.FactQuotaPeriods, Number: x.periods, Origin: p.Origin(1)})
		p.Fact(evidence.Fact{Subject: s, Key: evidence.FactQuotaThrottled, Number: x.stopped, Origin: p.Origin(2)})
		p.Close()
		if v := judgeThrottled(&check.Case{Bundle: b, Subject: s}); v.State != x.state || !strings.Contains(v.Summary, x.words) {
			t.Errorf("%s: %s %q", name, v.State, v.Summary)
		}
	}
}
