package goheap

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/model"
)

// gateway is a service of 41 MiB live and 500 MiB/s of garbage on two processors,
// under GOGC=100: figures of the recording in lab/go-ballast.
func gateway() *Heap {
	h := &Heap{Setting: Default, Told: true, Minor: 26, Exact: true, Procs: 2, Span: 10, Paced: 8.4, Marking: .4, Alloc: 497 * mib,
		RSS: 142 * mib, Process: 1.17, P99: math.NaN()}
	for i := range 80 {
		w := 1 + .1*float64(i%5-2)/2
		h.Cycles = append(h.Cycles, Cycle{Mark: .048 * w, Assist: .0273 * w, Background: .0257 * w, Idle: .0072 * w,
			Before: 100 * mib, After: (100 + 17.4*w) * mib, Marked: (41 + 17.4*w) * mib, Goal: 118 * mib, Alloc: 497 * mib * w})
	}
	return h
}

func predicted(t *testing.T, h *Heap, s Setting) Outcome {
	t.Helper()
	o, err := h.Predict(Scenario{Setting: s})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestGoal(t *testing.T) {
	for _, c := range []struct {
		name                   string
		minor                  int
		setting                Setting
		marked, roots, nonHeap float64
		want                   float64
		by                     string
	}{
		{"a ratio", 26, Setting{GOGC: 100}, 60, 0, 0, 120, ByGOGC},
		{"stacks and globals count", 26, Setting{GOGC: 200}, 60, 10, 0, 200, ByGOGC},
		{"before 1.18 they did not", 17, Setting{GOGC: 200}, 60, 10, 0, 180, ByGOGC},
		{"4 MiB at GOGC=100", 26, Setting{GOGC: 100}, 1, 0, 0, 4, ByMinimum},
		{"2 MiB at GOGC=50", 26, Setting{GOGC: 50}, 1, 0, 0, 2, ByMinimum},
		{"a limit less what is not heap, less 3 %", 26, Setting{GOGC: Off, Limit: 800 * mib}, 60, 0, 10, .97 * 790, ByLimit},
		{"less 1 MiB where that is more", 26, Setting{GOGC: Off, Limit: 30 * mib}, 6, 0, 10, 19, ByLimit},
		{"never below what is marked", 26, Setting{GOGC: Off, Limit: 50 * mib}, 60, 0, 10, 60, ByLimit},
		{"the lower of both", 26, Setting{GOGC: 100, Limit: 800 * mib}, 60, 0, 10, 120, ByGOGC},
		{"there was no limit before 1.19", 18, Setting{GOGC: 100, Limit: 70 * mib}, 60, 0, 10, 120, ByGOGC},
	} {
		goal, by := pacer{c.minor}.nextGoal(c.setting, c.marked*mib, c.roots*mib, c.nonHeap*mib)
		if math.Abs(goal/mib-c.want) > 1e-6 || by != c.by {
			t.Errorf("%s: goal %.2f MiB by %s, want %.2f by %s", c.name, goal/mib, by, c.want, c.by)
		}
	}
}

func TestTrigger(t *testing.T) {
	for _, c := range []struct {
		name                       string
		minor                      int
		marked, goal, runway, want float64
	}{
		{"the runway before the goal", 26, 100, 1000, 200, 800},
		{"not before 45/64 of the way", 26, 100, 740, 1000, 550},
		{"not after 61/64 of the way", 26, 10, 74, 0, 71},
		{"up to 4 MiB before a distant goal", 26, 100, 1000, 0, 996},
		{"which 1.18 did not do", 18, 100, 740, 0, 710},
		{"at once if all is live", 26, 100, 100, 50, 100},
	} {
		if got := (pacer{c.minor}).triggerSize(c.marked*mib, c.goal*mib, c.runway*mib) / mib; math.Abs(got-c.want) > 1e-6 {
			t.Errorf("%s: %.2f MiB, want %.2f", c.name, got, c.want)
		}
	}
}

// The model gives back what it is calibrated on.
func TestModelReproducesItsRun(t *testing.T) {
	h := gateway()
	o := predicted(t, h, h.Setting)
	m := h.Measured()
	for _, c := range []struct {
		name      string
		got, want model.Estimate
		off       float64
	}{{"cycles", o.Cycles, m.Cycles, .05}, {"collector", o.Collector, m.Collector, .05}, {"marking", o.Marking, m.Marking, .1},
		{"assist", o.Assist, m.Assist, .2}, {"goal", o.Goal, m.Goal, .05}, {"resident", o.RSS, m.RSS, .05}} {
		if math.Abs(c.got.Value/c.want.Value-1) > c.off {
			t.Errorf("%s: %.4g, measured %.4g", c.name, c.got.Value, c.want.Value)
		}
		if !c.got.Ranged() || c.got.Low > c.got.Value || c.got.High < c.got.Value {
			t.Errorf("%s: %.4g is not within %.4g–%.4g", c.name, c.got.Value, c.got.Low, c.got.High)
		}
	}
}

// More headroom never makes more cycles, nor less memory where the limit holds.
func TestMoreHeadroomFewerCycles(t *testing.T) {
	h := gateway()
	for name, way := range map[string][]Setting{
		"GOGC":    {{GOGC: 50}, {GOGC: 75}, {GOGC: 100}, {GOGC: 150}, {GOGC: 200}, {GOGC: 400}, {GOGC: 800}, {GOGC: 3000}},
		"limit":   {{GOGC: Off, Limit: 80 * mib}, {GOGC: Off, Limit: 90 * mib}, {GOGC: Off, Limit: 110 * mib}, {GOGC: Off, Limit: 150 * mib}, {GOGC: Off, Limit: 400 * mib}, {GOGC: Off, Limit: 4096 * mib}},
		"ballast": {{GOGC: 100}, {GOGC: 100, Ballast: 64 * mib}, {GOGC: 100, Ballast: 256 * mib}, {GOGC: 100, Ballast: 1024 * mib}, {GOGC: 100, Ballast: 8192 * mib}},
	} {
		last := Outcome{Cycles: model.Exactly(math.Inf(1)), RSS: model.Exactly(0)}
		for _, s := range way {
			o := predicted(t, h, s)
			// A heap that outgrows a tight limit is larger than one that a wider limit holds.
			if o.Cycles.Value > last.Cycles.Value || o.RSS.Value < last.RSS.Value && !last.Limiter {
				t.Errorf("%s, %s: %.3g cycles/s in %.0f MiB after %.3g in %.0f", name, s, o.Cycles.Value, o.RSS.Value/mib, last.Cycles.Value, last.RSS.Value/mib)
			}
			last = o
		}
	}
}

// GOGC=off under a limit is the limit's goal, and a GOGC that asks for more than the
// limit gives is the same.
func TestLimitDecidesAlone(t *testing.T) {
	h := gateway()
	off, high := predicted(t, h, Setting{GOGC: Off, Limit: 300 * mib}), predicted(t, h, Setting{GOGC: 5000, Limit: 300 * mib})
	if off.Cycles.Value != high.Cycles.Value || off.Bound != ByLimit || high.Bound != ByLimit {
		t.Errorf("%.4g by %s, %.4g by %s", off.Cycles.Value, off.Bound, high.Cycles.Value, high.Bound)
	}
	// …and one that the limit does not reach is as without it.
	with, without := predicted(t, h, Setting{GOGC: 100, Limit: 8 << 30}), predicted(t, h, Setting{GOGC: 100})
	if with.Cycles.Value != without.Cycles.Value || with.Bound != ByGOGC {
		t.Errorf("%.4g by %s, without a limit %.4g", with.Cycles.Value, with.Bound, without.Cycles.Value)
	}
}

// A ballast gives the cycles of the GOGC that leaves the same headroom, and is not
// resident.
func TestBallastIsHeadroom(t *testing.T) {
	h := gateway()
	ballast := predicted(t, h, Setting{GOGC: 100, Ballast: 512 * mib})
	headroom := ballast.Alloc / ballast.Cycles.Value
	ratio := predicted(t, h, h.calibrateCycles().settingFor(byRatio, headroom))
	if math.Abs(ballast.Cycles.Value/ratio.Cycles.Value-1) > .1 {
		t.Errorf("%.3g cycles/s, by the ratio %.3g", ballast.Cycles.Value, ratio.Cycles.Value)
	}
	if off := math.Abs(ballast.RSS.Value/ratio.RSS.Value - 1); off > .1 {
		t.Errorf("%.0f MiB resident, by the ratio %.0f", ballast.RSS.Value/mib, ratio.RSS.Value/mib)
	}
}

func TestScenario(t *testing.T) {
	h := gateway()
	now := predicted(t, h, h.Setting)
	twice, err := h.Predict(Scenario{Setting: h.Setting, Live: 2 * h.Live()})
	if err != nil {
		t.Fatal(err)
	}
	if r := twice.Cycles.Value / now.Cycles.Value; r > .75 || r < .4 {
		t.Errorf("with twice as much live %.2f times the cycles", r)
	}
	half, err := h.Predict(Scenario{Setting: h.Setting, Alloc: h.Alloc / 2})
	if err != nil {
		t.Fatal(err)
	}
	if r := half.Cycles.Value / now.Cycles.Value; r < .45 || r > .75 { // a cycle finds less allocated: there is less headroom, too
		t.Errorf("with half the allocation %.2f times the cycles", r)
	}
	idle, err := h.Predict(Scenario{Setting: Setting{GOGC: 100, Ballast: 4 << 30}, Alloc: mib})
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(idle.Cycles.Value-1./forcedEvery) > 1e-4 || idle.Bound != ByClock {
		t.Errorf("%.4g cycles/s by %s where one is forced every two minutes", idle.Cycles.Value, idle.Bound)
	}
}

func TestImpossible(t *testing.T) {
	h := gateway()
	h.Most, h.Who = 900*mib, "container"
	for _, c := range []struct {
		s    Setting
		want string
	}{
		{Setting{GOGC: Off, Limit: 50 * mib}, "the live heap is 58.4 MiB"},
		{Setting{GOGC: Off, Limit: 50 * mib}, "the limit is below the live heap"},
		{Setting{GOGC: 100, Limit: 62 * mib}, "and memory outside the heap is"}, // above the live heap, but not with what else there is
		{Setting{GOGC: Off, Limit: 50 * mib}, "the lowest limit that leaves enough room is GOMEMLIMIT="},
		{Setting{GOGC: Off, Limit: 500 * mib, Ballast: 1024 * mib}, "the ballast is 1,024 MiB"},
		{Setting{GOGC: Off}, "after 2 s it fills all that the container allows"},
		{Setting{GOGC: 0}, "at least 1"},
	} {
		_, err := h.Predict(Scenario{Setting: c.s})
		var impossible *Impossible
		if !errors.As(err, &impossible) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.s, err, c.want)
			continue
		}
		if impossible.Least > 0 {
			if o, err := h.Predict(Scenario{Setting: Setting{GOGC: c.s.GOGC, Limit: impossible.Least, Ballast: c.s.Ballast}}); err != nil {
				t.Errorf("%s: the least it names cannot be either: %v %v", c.s, o, err)
			} else if o.Limiter {
				t.Errorf("%s: the least it names, %s, leaves no room", c.s, o.Setting)
			}
		}
	}
	h.Minor = 17
	if _, err := h.Predict(Scenario{Setting: Setting{GOGC: Off, Limit: 400 * mib}}); err == nil || !strings.Contains(err.Error(), "new in 1.19") {
		t.Errorf("Go 1.17 takes a limit: %v", err)
	}
}

// Where the collector meets its cap the heap outgrows the limit: it is never said to be
// smaller than what is live, nor is anything said to be certain.
func TestBeyondTheCap(t *testing.T) {
	h := gateway()
	s := Setting{GOGC: Off, Limit: 74 * mib}
	o, err := h.Predict(Scenario{Setting: s, Alloc: 1.2 * h.Alloc})
	if err != nil {
		t.Fatal(err)
	}
	if !o.Limiter {
		t.Fatalf("%s leaves room: %.2f cores", s, o.Collector.Value)
	}
	for name, e := range map[string]model.Estimate{"peak": o.Peak, "resident": o.RSS, "goal": o.Goal} {
		if e.Value < h.Live() || e.Low < h.Live() {
			t.Errorf("%s %.1f MiB (%.1f–%.1f) with %.1f live", name, e.Value/mib, e.Low/mib, e.High/mib, h.Live()/mib)
		}
	}
	for name, e := range map[string]model.Estimate{"peak": o.Peak, "resident": o.RSS, "collector": o.Collector, "process": o.Process, "share": o.Share} {
		if e.Ranged() && e.High-e.Low < .01*e.Value {
			t.Errorf("%s is certain: %.4g (%.4g–%.4g)", name, e.Value, e.Low, e.High)
		}
	}
	if p99 := Latency(func(_, _ Outcome) model.Estimate { return model.Exactly(7) }).p99Of(o, o); p99.Known() {
		t.Errorf("p99 %.3g ms of requests that pile up", p99.Value)
	}
}

// The margin is that of the setting that was asked for, not of the advice.
func TestMarginOfASetting(t *testing.T) {
	wanted, err := model.ParseSets([]*model.Model{Model}, []string{"GOGC=off GOMEMLIMIT=150MiB", "GOGC=off GOMEMLIMIT=3GiB"})
	if err != nil {
		t.Fatal(err)
	}
	a, err := gateway().Ask("", wanted, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := a.Own.(*Prediction)
	tight, wide := p.Settings[0].Margin, p.Settings[1].Margin
	if tight.Live != p.Measured.Live || tight.Quarter <= 0 || wide.Quarter < 10*tight.Quarter {
		t.Errorf("%+v under 150 MiB, %+v under 3 GiB", tight, wide)
	}
}

func TestFrontier(t *testing.T) {
	h := gateway()
	f, err := h.Frontier("gateway", nil)
	if err != nil {
		t.Fatal(err)
	}
	at, ok := f.Recommended()
	if !ok || at.Setting.GOGC >= 0 || at.Setting.Limit < 400*mib || at.Setting.Limit > 2048*mib {
		t.Fatalf("recommended is %s: %s", at.Setting, f.Why)
	}
	for i := 1; i < len(f.Points); i++ {
		if f.Points[i].RSS.Value <= f.Points[i-1].RSS.Value || f.Points[i].Collector.Value >= f.Points[i-1].Collector.Value {
			t.Errorf("point %d, %s, is not beyond %s", i, f.Points[i].Setting, f.Points[i-1].Setting)
		}
	}
	if f.Margin == nil || f.Margin.Quarter < 2*f.Margin.Live || f.Margin.Half < f.Margin.Quarter {
		t.Errorf("margin %+v", f.Margin)
	}
	// The live heap at the margin takes what the margin says.
	o, err := h.Predict(Scenario{Setting: at.Setting, Live: f.Margin.Quarter})
	if err != nil || math.Abs(o.Collector.Value-.25*h.Procs) > .1 {
		t.Errorf("at the margin the collector takes %.2f of %g processors (%v)", o.Collector.Value, h.Procs, err)
	}

	t.Run("in a container", func(t *testing.T) {
		h := gateway()
		h.Most, h.Who = 270*mib, "container"
		f, _ := h.Frontier("", nil)
		if at, ok := f.Recommended(); !ok || !f.Capped || max(at.Setting.Limit, at.RSS.Value) > h.Most {
			t.Errorf("%s of %.0f MiB: %s", at.Setting, h.Most/mib, f.Why)
		}
		h.Most = 150 * mib
		if f, _ = h.Frontier("", nil); f.Knee >= 0 || !strings.Contains(f.Why, "no room") {
			t.Errorf("knee %d: %s", f.Knee, f.Why)
		}
	})
	t.Run("before 1.19", func(t *testing.T) {
		h := gateway()
		h.Minor = 17
		f, _ := h.Frontier("", nil)
		if at, ok := f.Recommended(); !ok || at.Setting.Ballast < 128*mib || at.Setting.Limit > 0 {
			t.Errorf("%s: %s", at.Setting, f.Why)
		}
	})
	t.Run("enough already", func(t *testing.T) {
		h := gateway()
		h.Cycles = h.Cycles[:1]
		h.Paced, h.Marking = .05, .002
		h.Setting = Setting{GOGC: Off, Limit: 10 << 30}
		h.Cycles[0].Goal, h.Cycles[0].Before, h.Cycles[0].After = 9.9*1024*mib, 9.8*1024*mib, 9.8*1024*mib+17*mib
		if f, _ := h.Frontier("", nil); f.Knee >= 0 {
			t.Errorf("advises %s for a collector that does nothing", f.Points[f.Knee].Setting)
		}
	})
	t.Run("p99 decides, too", func(t *testing.T) {
		slow := func(_, then Outcome) model.Estimate { return model.Exactly(2 + 30*math.Sqrt(then.Cycles.Value)) }
		g, _ := gateway().Frontier("", slow)
		if len(g.Points) < 2 || g.Knee < f.Knee {
			t.Errorf("the knee is %d where p99 falls slowly, %d without", g.Knee, f.Knee)
		}
	})
}

func TestNoCycles(t *testing.T) {
	h := gateway()
	h.Cycles = nil
	if _, err := h.Predict(Scenario{Setting: Default}); !errors.Is(err, ErrCycles) {
		t.Error(err)
	}
	if _, err := h.Frontier("", nil); !errors.Is(err, ErrCycles) {
		t.Error(err)
	}
}
