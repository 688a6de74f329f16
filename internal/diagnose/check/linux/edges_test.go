package linux

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/diagnose/check/checktest"
)

// Each cause of the host is decided at its threshold: what lies just below it is not found, or not cleared.
func TestHostEdges(t *testing.T) {
	quiet := incident{slow: 30, dilation: 1.5, run: 1, busy: 1.1, pressure: .05, process: 1.02}
	untraced := incident{slow: 30, run: 2, busy: 4, pressure: .9, process: .8, others: []float64{3.1}, delay: 2}
	with := func(in incident, change func(*incident)) incident { change(&in); return in }
	for _, x := range []struct {
		about string
		judge func(*check.Case) check.Verdict
		in    incident
		want  string
		says  string
	}{
		{"others use less than a tenth of the CPUs", judgeNeighbour, with(untraced, func(in *incident) { in.busy, in.others = 1.18, []float64{.38} }), check.RuledOut, "0.38 of 4 CPUs"},
		{"others use more than a tenth of them, and the host has free ones", judgeNeighbour, with(untraced, func(in *incident) { in.busy, in.others = 1.24, []float64{.44} }), check.Inconclusive, "0.44 of 4 CPUs"},
		{"its threads waited for less than a quarter of slow time", judgeNeighbour, with(untraced, func(in *incident) { in.delay = .05 }), check.RuledOut, "of the slow time"},
		{"its threads waited for as long as they ran", judgeNeighbour, with(untraced, func(in *incident) { in.delay = .82 }), check.Supported, "batch"},
		{"its threads waited for not quite as long as they ran", judgeNeighbour, with(untraced, func(in *incident) { in.delay = .78 }), check.Inconclusive, "waited for a CPU for up to"},
		{"a calm host without a trace", judgeSaturation, with(quiet, func(in *incident) { in.dilation, in.pressure = 0, .09 }), check.RuledOut, "at most 9 % of the time"},
		{"a host that is not calm", judgeSaturation, with(quiet, func(in *incident) { in.dilation, in.pressure = 0, .11 }), check.Inconclusive, "the host uses"},
		{"a calm host that was full for a moment", judgeSaturation, with(quiet, func(in *incident) { in.dilation, in.pressure, in.busy, in.peak = 0, .09, 2, 3.7 }), check.Inconclusive, "the host uses"},
		{"a quarter of its run time withheld", judgeSaturation, with(quiet, func(in *incident) { in.busy, in.others, in.process, in.pressure = 4, []float64{3.2}, .74, .9 }), check.Supported, "did not run the process"},
		{"not quite a quarter of its run time withheld", judgeSaturation, with(quiet, func(in *incident) { in.busy, in.others, in.process, in.pressure = 4, []float64{3.2}, .77, .9 }), check.RuledOut, "23 % of its run time"},
		{"a quota in less than a hundredth of its periods", judgeThrottled, with(quiet, func(in *incident) { in.quota, in.throttled, in.stopped = 1, .19, .5 }), check.RuledOut, "throttled in"},
		{"a quota that stops nothing", judgeThrottled, with(quiet, func(in *incident) { in.quota = 4 }), check.RuledOut, "0 of 20 periods"},
	} {
		k := x.in.subject(t)
		v := x.judge(k)
		if v.State != x.want || !strings.Contains(v.Title+" "+v.Summary, x.says) {
			t.Errorf("%s: %s, want %s: %s %s", x.about, v.State, x.want, v.Title, v.Summary)
		}
		checkVerdict(t, v, float64(k.Ledger.Total)/1e6)
		checktest.Decides(t, x.about, k, &v)
	}
}

// Faults cost what the kernel needed for them: their number alone finds nothing and clears them only where they are few.
func TestFaultEdges(t *testing.T) {
	filling := incident{slow: 30, dilation: 1.5, run: 1, faults: 150_000, system: .5, grows: true}
	with := func(in incident, change func(*incident)) incident { change(&in); return in }
	for _, x := range []struct {
		about string
		in    incident
		want  string
	}{
		{"fewer than 500/s", with(filling, func(in *incident) { in.faults = 490 }), check.RuledOut},
		{"a quarter of the run time", with(filling, func(in *incident) { in.system = .29 }), check.Supported},
		{"less than a quarter of it", with(filling, func(in *incident) { in.system = .24 }), check.RuledOut},
		{"fewer than 5,000/s, untraced", with(filling, func(in *incident) { in.dilation, in.faults = 0, 4900 }), check.RuledOut},
		{"more than 5,000/s, untraced", with(filling, func(in *incident) { in.dilation, in.faults = 0, 5100 }), check.Inconclusive},
	} {
		k := x.in.subject(t)
		v := judgeFaults(k)
		if v.State != x.want {
			t.Errorf("%s: %s, want %s: %s %s", x.about, v.State, x.want, v.Title, v.Summary)
		}
		checktest.Decides(t, x.about, k, &v)
	}
}
