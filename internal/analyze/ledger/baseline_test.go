package ledger

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unstall/unstall/internal/base/evidence"
)

func ascending(n int, step int64) (v []int64) {
	for i := range int64(n) {
		v = append(v, (i+1)*step)
	}
	return v
}

func TestBaseline(t *testing.T) {
	good := newBundle(evidence.Subject{})
	s := newSource(good, "access.log", coarse(1000*ms), 0)
	s.traffic("often", ascending(200, 100e3)...) // 0.1 to 20 ms
	s.traffic("seldom", append(repeat(30, 2*ms), 40*ms)...)
	s.traffic("hardly", repeat(19, ms)...)
	baseline := BaselineOf(good, Options{})
	if d := cmp.Diff(Baseline{"often": 19800 * time.Microsecond, "seldom": 6 * time.Millisecond}, baseline); d != "" {
		t.Error(d)
	}

	for _, tt := range []struct {
		name      string
		opt       Options
		rule      string
		threshold int64
		slow      []int64
	}{
		{"against it", Options{Baseline: baseline}, RuleBaseline, 19800e3, append(repeat(40, 20*ms), 7*ms, 10*ms)},
		{"without it nothing is slow but one", Options{}, RuleFloor, 60 * ms, []int64{10 * ms}},
		{"the objective comes first", Options{Baseline: baseline, SLO: 15 * time.Millisecond}, RuleSLO, 15 * ms, repeat(40, 20*ms)},
	} {
		now := newBundle(evidence.Subject{})
		s := newSource(now, "access.log", coarse(1000*ms), 0)
		s.traffic("often", repeat(40, 20*ms)...) // all of them took twice as long: no floor of theirs shows it
		s.traffic("seldom", 7*ms, 5*ms)
		s.traffic("new", append(repeat(30, 3*ms), 10*ms)...)
		l := one(t, now, tt.opt)
		var slow []int64
		for _, i := range l.Slow {
			slow = append(slow, now.Requests.Latency(i))
		}
		if d := cmp.Diff(count(tt.slow), count(slow)); d != "" || l.Rule != tt.rule || l.Threshold != tt.threshold {
			t.Errorf("%s: %s %d, want %s %d\n%s", tt.name, l.Rule, l.Threshold, tt.rule, tt.threshold, d)
		}
	}
}

func count(v []int64) map[int64]int {
	out := make(map[int64]int)
	for _, x := range v {
		out[x]++
	}
	return out
}

func TestABaselineOfOtherRoutesIsSaid(t *testing.T) {
	b := newBundle(evidence.Subject{})
	newSource(b, "access.log", coarse(1000*ms), 0).traffic("a", repeat(40, 5*ms)...)
	l := one(t, b, Options{Baseline: Baseline{"b": time.Millisecond}})
	if l.Rule != RuleFloor || len(b.Warnings) != 1 || !strings.Contains(b.Warnings[0].Text, "baseline") {
		t.Errorf("%s, %v", l.Rule, b.Warnings)
	}
}
