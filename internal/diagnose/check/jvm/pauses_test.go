package jvm

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
)

func near(x, want, part float64) bool { return math.Abs(x-want) <= part*math.Abs(want) }

// full is a full collection of one thread that frees little.
func full(took int64, after float64) stop {
	return stop{took: took, of: evidence.PauseFull, name: "Pause Full", trigger: "Allocation Failure", before: after + 150, after: after, capacity: 1000, user: took * 95 / 100, system: took / 50}
}

func TestFullCollections(t *testing.T) {
	sick := service{collector: "Serial", cores: 2, rate: 20, demand: 10 * ms, pauses: every(4000*ms, full(900*ms, 850))}
	v := only(t, sick.build(), FullGC.ID)
	if v.Saves == nil || !strings.Contains(v.Fix[0].Setting, "-Xmx1275m") {
		t.Errorf("%+v", v)
	}
	asked := sick
	asked.pauses = every(4000*ms, full(900*ms, 850))
	for i := range asked.pauses {
		asked.pauses[i].trigger = "System.gc()"
	}
	only(t, asked.build(), "")
	alone := sick
	alone.alone = true
	if v := only(t, alone.build(), FullGC.ID); v.Saves != nil || v.Weight < .2 {
		t.Errorf("%+v", v)
	}
	dies := sick
	dies.pauses = every(4000*ms, full(900*ms, 300))
	for i := range dies.pauses {
		dies.pauses[i].before = 950
	}
	if v := judged(t, dies.build(), FullGC); v.State != check.Supported || !strings.Contains(v.Fix[0].Text, "died soon after") {
		t.Errorf("%+v", v)
	}
	one := sick
	one.pauses = []stop{full(200*ms, 300)}
	one.pauses[0].at = 20_000 * ms
	only(t, one.build(), "")
}

func TestLeak(t *testing.T) {
	grows := func(by func(n int) float64) service {
		s := service{collector: "Parallel", cores: 2, rate: 20, demand: 10 * ms, pauses: every(3000*ms, full(600*ms, 0)), facts: map[string]float64{"MaxHeapSize": 1000 * mib}}
		for i := range s.pauses {
			wobble := float64(i*7919%13) - 6
			s.pauses[i].after = 300 + by(i) + wobble
			s.pauses[i].before = s.pauses[i].after + 150
		}
		return s
	}
	v := judged(t, grows(func(n int) float64 { return 30 * float64(n) }).build(), OldGenLeak)
	if v.State != check.Supported || !strings.Contains(v.Title, "MiB per minute") || v.Saves == nil {
		t.Fatalf("%s: %s %s", v.State, v.Title, v.Summary)
	}
	if then := v.Prediction[0].Then; then == nil || *v.Prediction[0].Low > *then || *v.Prediction[0].High < *then || !near(*then, (700-18*30)/30.*3, .35) {
		t.Errorf("exhausted in %+v s", v.Prediction[0])
	}
	for name, by := range map[string]func(int) float64{
		"steady":  func(int) float64 { return 0 },
		"a start": func(n int) float64 { return 400 * (1 - math.Exp(-float64(n)/2)) },
		"shrinks": func(n int) float64 { return -5 * float64(n) },
	} {
		if v := judged(t, grows(by).build(), OldGenLeak); v.State == check.Supported {
			t.Errorf("%s: %s", name, v.Title)
		}
	}
	few := grows(func(n int) float64 { return 30 * float64(n) })
	few.pauses = few.pauses[:3]
	if v := judged(t, few.build(), OldGenLeak); v.State != check.Inconclusive {
		t.Errorf("three points: %s", v.State)
	}
}

func TestKernelTime(t *testing.T) {
	kernel := parnew(400 * ms)
	kernel.user, kernel.system = 40*ms, 350*ms
	s := service{collector: "ParNew+CMS", cores: 2, rate: 20, demand: 10 * ms, pauses: every(4000*ms, kernel), facts: map[string]float64{"MaxHeapSize": 1536 * mib},
		series: map[string]float64{"process.minorFaults": 20_000, "process.majorFaults": 0}}
	v := only(t, s.build(), GCKernelTime.ID)
	if !strings.Contains(v.Title, "touched for the first time") || v.Fix[0].Setting != "-Xms1536m -XX:+AlwaysPreTouch" || v.Saves == nil {
		t.Errorf("%+v", v)
	}
	s.series = map[string]float64{"process.majorFaults": 500, "process.minorFaults": 600}
	if v := judged(t, s.build(), GCKernelTime); v.State != check.Supported || !strings.Contains(v.Title, "swap") {
		t.Errorf("%+v", v)
	}
	s.series = nil
	if v := judged(t, s.build(), GCKernelTime); v.State != check.Supported || len(v.Needs) == 0 {
		t.Errorf("%+v", v)
	}
	untold := parnew(400 * ms)
	untold.user, untold.system = 0, 0
	s.pauses = every(4000*ms, untold)
	for _, k := range []check.Check{GCKernelTime, GCStarved} {
		if v := judged(t, s.build(), k); v.State != check.Inconclusive {
			t.Errorf("%s of a log without CPU times: %s", k.ID, v.State)
		}
	}
}

func TestStarvedCollections(t *testing.T) {
	starved := parnew(400 * ms)
	starved.user, starved.system = 35*ms, 5*ms
	s := service{collector: "ParNew+CMS", cores: 2, rate: 20, demand: 10 * ms, pauses: every(4000*ms, starved), facts: map[string]float64{"ParallelGCThreads": 8, evidence.FactContainerCPU: 2},
		series: map[string]float64{"cgroup.cpu.periods": 10, "cgroup.cpu.throttledPeriods": 6}}
	v := only(t, s.build(), GCStarved.ID)
	if !strings.Contains(v.Title, "a CPU quota throttled the process in 60 %") || v.Fix[0].Setting != "-XX:ParallelGCThreads=2" || v.Saves == nil {
		t.Errorf("%+v", v)
	}
	s.series = nil
	if v := judged(t, s.build(), GCStarved); v.State != check.Supported || len(v.Needs) == 0 {
		t.Errorf("%+v", v)
	}
}

// CMS makes its full collections with one thread, while all make the young ones: that is no
// want of processors.
func TestOneThreadOnPurpose(t *testing.T) {
	young := parnew(40 * ms)
	young.user, young.system = 220*ms, 10*ms
	s := service{collector: "ParNew+CMS", cores: 8, rate: 20, demand: 10 * ms, pauses: every(4000*ms, young)}
	one := full(1500*ms, 850)
	one.at = 21_000 * ms
	s.pauses = append(s.pauses, one)
	slices.SortFunc(s.pauses, func(a, b stop) int { return int(a.at - b.at) })
	if v := judged(t, s.build(), GCStarved); v.State != check.RuledOut {
		t.Errorf("%s: %s %s", v.State, v.Title, v.Summary)
	}
	if v := judged(t, s.build(), FullGC); v.State != check.Supported {
		t.Errorf("%s: %s", v.State, v.Summary)
	}
	if v := judged(t, s.build(), CMSConcurrentModeFailure); v.State != check.RuledOut { // no cycle was under way, and the log says of none that it failed
		t.Errorf("%s: %s", v.State, v.Title)
	}
}

// A call of System.gc() is a young collection and a full one with some collectors: title and
// figures count the same.
func TestExplicitCollectionsAreCountedOnce(t *testing.T) {
	s := service{collector: "Parallel", cores: 2, rate: 20, demand: 10 * ms, pauses: every(4000*ms, full(900*ms, 300))}
	for i := range s.pauses {
		s.pauses[i].trigger = "System.gc()"
	}
	calls := len(s.pauses)
	for _, x := range s.pauses[:calls] {
		young := parnew(20 * ms)
		young.at, young.trigger = x.at-25*ms, x.trigger
		s.pauses = append(s.pauses, young)
	}
	slices.SortFunc(s.pauses, func(a, b stop) int { return int(a.at - b.at) })
	v := judged(t, s.build(), ExplicitGC)
	if want := fmt.Sprintf("in %d pauses: %d full collections", 2*calls, calls); v.State != check.Supported || !strings.Contains(v.Title, want) {
		t.Errorf("%s: %s, want %q", v.State, v.Title, want)
	}
}
