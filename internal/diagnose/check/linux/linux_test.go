package linux

import (
	"math"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/diagnose/check/checktest"
)

const (
	epoch  = int64(1_700_000_000e9)
	second = int64(1e9)
	ms     = int64(1e6)
)

// incident is two seconds of a service on a host of 4 CPUs: 90 requests of 1 ms
// and 10 of slow ms, all on processors as far as the runtime knows.
type incident struct {
	slow     int64   // ms
	dilation float64 // of short calls; 0: no trace
	run      float64 // cores the runtime had

	busy, peak, steal float64 // of the host; busy 0: not recorded
	pressure          float64
	process           float64   // cores; NaN: not recorded
	others            []float64 // cores of each neighbour
	late              bool      // the host was recorded a minute later

	quota              float64 // CPUs; 0: cpu.stat was not recorded
	throttled, stopped float64 // periods of the 20, and processors in the mean

	delay float64 // threads of the process that waited for a processor; 0: not recorded

	faults, system float64 // of the process; faults 0: not recorded
	grows          bool    // the heap, all the time
	untold         bool    // nothing tells of the heap
}

func (in incident) subject(t *testing.T) *check.Case {
	t.Helper()
	b := evidence.NewBundle()
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "trace.out"}), "gotrace")
	s := p.Subject(evidence.Subject{Runtime: "go", CPUs: 4})
	until := epoch + 2*second
	for i := range int64(100) {
		dur := ms
		if i%10 == 9 {
			dur = in.slow * ms
		}
		q := evidence.Request{Subject: s, Route: p.Name("GET /"), Start: epoch + i*10*ms, End: epoch + i*10*ms + dur}
		if in.dilation > 0 {
			q.Path = evidence.Path(nil).Append(evidence.Segment{Kind: evidence.Running, Dur: dur})
		}
		p.Request(q)
	}
	p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverRequests, From: epoch, Until: until})
	if in.dilation > 0 {
		for key, v := range map[string]float64{evidence.FactShortCalls: 1000, evidence.FactShortCallMedian: 1000, evidence.FactShortCallMean: 1000 * in.dilation,
			evidence.FactRunTime: in.run * float64(until-epoch), evidence.FactLongRuns: 0} {
			p.Fact(evidence.Fact{Subject: s, Key: key, Number: v, From: epoch, Until: until, Origin: p.Origin(0)})
		}
	}
	heap := evidence.Series{Subject: s, Name: "/memory/classes/heap/objects:bytes", Unit: "bytes"}
	for i := range int64(200) {
		heap.T = append(heap.T, epoch+i*10*ms)
		v := 1e8
		if in.grows {
			v += float64(i) * 1e6
		}
		heap.V = append(heap.V, v)
	}
	if !in.untold {
		p.Series(heap)
	}
	p.Close()

	p = b.Builder(b.AddArtifact(evidence.Artifact{Name: "host.txt"}), "procfs")
	series := func(of evidence.SubjectID, name string, v, peak float64) {
		if math.IsNaN(v) {
			return
		}
		from := epoch - second/2
		if in.late {
			from += 60 * second
		}
		x := evidence.Series{Subject: of, Name: name, Origin: p.Origin(1)}
		for i := range int64(13) {
			x.T = append(x.T, from+i*second/4)
			x.V = append(x.V, v+(peak-v)*float64(1-i%2*2)) // as far above the mean as below
		}
		p.Series(x)
	}
	if in.busy > 0 {
		host := p.Subject(evidence.Subject{Kind: evidence.Host, CPUs: 4})
		series(host, "host.cpu.busy", in.busy, max(in.busy, in.peak))
		series(host, "host.cpu.steal", in.steal, in.steal)
		series(host, "host.pressure.cpu.some", in.pressure, in.pressure)
		series(s, "process.cpu", in.process, in.process)
		if in.delay > 0 {
			series(s, "process.runDelay", in.delay, in.delay)
		}
		for i, cores := range in.others {
			series(p.Subject(evidence.Subject{Name: "batch", PID: 100 + i}), "process.cpu", cores, cores)
		}
	}
	if in.quota > 0 {
		if in.busy == 0 {
			series(s, "process.cpu", in.process, in.process)
		}
		series(s, "cgroup.cpu.periods", 10, 10)
		series(s, "cgroup.cpu.throttledPeriods", in.throttled/2, in.throttled/2)
		series(s, "cgroup.cpu.throttled", in.stopped, in.stopped)
		p.Fact(evidence.Fact{Subject: s, Key: evidence.FactContainerCPU, Number: in.quota, Origin: p.Origin(2)})
	}
	if in.faults > 0 {
		series(s, "process.minorFaults", in.faults, in.faults)
		if in.system > 0 { // unknown otherwise
			series(s, "process.cpu.system", in.system, in.system)
		}
	}
	p.Close()
	l := ledger.Build(b, ledger.Options{})
	if len(l) != 1 || len(l[0].Slow) < 10 {
		t.Fatalf("%d ledgers, or fewer than 10 slow requests", len(l))
	}
	return &check.Case{Bundle: b, Subject: s, Ledger: l[0]}
}

func TestHost(t *testing.T) {
	none := math.NaN()
	quiet := incident{slow: 10, dilation: 1.5, run: 1, busy: 1.1, pressure: .1, process: 1.02}
	starved := incident{slow: 30, dilation: 20, run: 2, busy: 4, pressure: .9, process: .8, others: []float64{3.1}}
	with := func(in incident, change func(*incident)) incident { change(&in); return in }
	for _, c := range []struct {
		name                  string
		in                    incident
		saturation, neighbour string
		says                  string // in the summary or title of either
	}{
		{"quiet", quiet, check.RuledOut, check.RuledOut, "other processes use 0.08 of 4 CPUs"},
		{"busy neighbour that is not in the way", with(quiet, func(in *incident) { in.busy = 3; in.others = []float64{1.9} }),
			check.RuledOut, check.RuledOut, "the host ran the threads"},
		{"starved by one", starved, check.Supported, check.Supported, "batch uses the CPUs that this service needs: 3.1 of 4 CPUs"},
		{"starved by many", with(starved, func(in *incident) { in.others = []float64{.8, .8, .8, .7} }),
			check.Supported, check.Supported, "none of them more than 0.8 of 4 CPUs; most is used by batch (4 processes)"},
		{"starved by some that were not recorded", with(starved, func(in *incident) { in.others = nil }),
			check.Supported, check.Supported, "Other processes use the CPUs that this service needs: 3.2 of 4 CPUs"},
		{"starved by other virtual machines", with(starved, func(in *incident) { in.others = nil; in.busy = 1; in.steal = 3 }),
			check.Supported, check.Supported, "the hypervisor gave them 3 of 4 CPUs"},
		{"measured, though short calls stay short", with(starved, func(in *incident) { in.dilation = 2 }),
			check.Supported, check.Supported, "60 % of its run time"},
		{"starved by itself", with(starved, func(in *incident) { in.run = 5.5; in.process = 3.5; in.others = []float64{.5} }),
			check.Supported, check.RuledOut, "it uses up the host's CPUs itself"},
		{"nobody else, not run", with(starved, func(in *incident) { in.busy = .9; in.others = nil }),
			check.Inconclusive, check.RuledOut, "it may be a CPU quota"},
		{"others at work, processors free, not run", with(starved, func(in *incident) { in.busy = 2.2; in.others = []float64{1.4} }),
			check.Inconclusive, check.RuledOut, "it may be a CPU quota"},
		{"looks starved, but had its CPU time", with(starved, func(in *incident) { in.process = 1.99; in.others = []float64{2} }),
			check.Inconclusive, check.Inconclusive, "the process had CPU time for all of its run time"},
		{"the figures of another process", with(starved, func(in *incident) { in.process = .01; in.others = []float64{3.9} }),
			check.Supported, check.Inconclusive, "cannot be the one that was traced"},
		{"the process was not recorded", with(starved, func(in *incident) { in.process = none }),
			check.Supported, check.Inconclusive, "which one was not recorded"},
		{"the host was not recorded", with(starved, func(in *incident) { in.busy = 0 }), check.Supported, check.Inconclusive, "which one was not recorded"},
		{"the host was recorded at another time", with(starved, func(in *incident) { in.late = true }), check.Supported, check.Inconclusive, "which one was not recorded"},
		{"no trace, calm host", with(quiet, func(in *incident) { in.dilation = 0; in.pressure = .02 }), check.RuledOut, check.RuledOut, "tasks waited for a CPU for at most"},
		{"no trace, full host", with(starved, func(in *incident) { in.dilation = 0 }), check.Inconclusive, check.Inconclusive, "the host uses 4 of 4 CPUs"},
		{"no trace, full host, its threads were run", with(starved, func(in *incident) { in.dilation = 0; in.delay = .001 }), check.RuledOut, check.RuledOut, "% of the slow time"},
		{"no trace, full host, its threads waited", with(starved, func(in *incident) { in.dilation = 0; in.delay = 2 }), check.Supported, check.Supported, "batch uses the CPUs that this service needs: 3.1 of 4 CPUs"},
		{"no trace, full host, its threads waited as long as a busy host's do", with(starved, func(in *incident) { in.dilation = 0; in.delay = .6 }), check.Inconclusive, check.Inconclusive, "the process's threads waited for a CPU for up to"},
		{"no trace, full host, its threads waited for milliseconds", with(starved, func(in *incident) { in.dilation = 0; in.delay = 2; in.slow = 5 }), check.RuledOut, check.RuledOut, "take only milliseconds"},
		{"no trace, its own threads use the host up", with(starved, func(in *incident) { in.dilation = 0; in.delay = 8; in.process = 3.5; in.others = []float64{.5} }),
			check.Inconclusive, check.Inconclusive, "the process's threads waited for a CPU for up to 100 % of the slow time"},
		{"no trace, a host with free CPUs on which tasks wait at times", with(quiet, func(in *incident) { in.dilation = 0; in.pressure = .16 }), check.Inconclusive, check.RuledOut,
			"on average, but some task waited for one for 16 % of the time; whether these requests did was not recorded"},
		{"neither", with(starved, func(in *incident) { in.dilation = 0; in.busy = 0 }), check.Inconclusive, check.Inconclusive, "was not recorded"},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := c.in.subject(t)
			s := judgeSaturation(k)
			checktest.Decides(t, c.name, k, &s)
			n := judgeNeighbour(k)
			checktest.Decides(t, c.name, k, &n)
			if s.State != c.saturation {
				t.Errorf("saturation is %s (%s)", s.State, s.Summary)
			}
			if n.State != c.neighbour {
				t.Errorf("neighbour is %s (%s)", n.State, n.Summary)
			}
			said := strings.Join([]string{s.Title, s.Summary, n.Title, n.Summary}, "\n")
			if !strings.Contains(said, c.says) {
				t.Errorf("nothing says %q:\n%s", c.says, said)
			}
			for _, v := range []check.Verdict{s, n} {
				checkVerdict(t, v, float64(k.Ledger.Total)/1e6)
			}
			if s.Saves != nil && n.Saves != nil && (n.Saves.Value == s.Saves.Value) == strings.HasPrefix(n.Title, "Many") {
				t.Errorf("%q saves %v ms of %v", n.Title, n.Saves.Value, s.Saves.Value)
			}
		})
	}
}

// check holds what must be so of every verdict.
func checkVerdict(t *testing.T, v check.Verdict, total float64) {
	t.Helper()
	switch v.State {
	case check.Supported:
		if s := v.Saves; s == nil || s.Value <= 0 || s.Value > total || s.Low != nil && *s.Low > s.Value || s.High != nil && (*s.High < s.Value || *s.High > total*1.001) {
			t.Errorf("saves %+v of %v ms", s, total)
		}
		if v.Title == "" || len(v.Fix) == 0 {
			t.Errorf("no title or fix: %+v", v)
		}
	case check.Inconclusive:
		if len(v.Needs) == 0 && v.Summary == "" {
			t.Errorf("inconclusive, and nothing is asked for: %+v", v)
		}
	case check.RuledOut:
		if len(v.Evidence) == 0 {
			t.Errorf("ruled out without a figure: %q", v.Summary)
		}
	}
	for _, e := range v.Evidence {
		if e.Value == nil || e.Origin == "" {
			t.Errorf("%q has no value or origin", e.Text)
		}
	}
	if strings.Contains(v.Summary+v.Title, "NaN") {
		t.Errorf("says %q %q", v.Title, v.Summary)
	}
}

func TestPageFaults(t *testing.T) {
	filling := incident{slow: 10, dilation: 1.5, run: 1, faults: 150_000, system: .5, grows: true}
	with := func(in incident, change func(*incident)) incident { change(&in); return in }
	for _, c := range []struct {
		name  string
		in    incident
		state string
		says  string
	}{
		{"filling", filling, check.Supported, "150,000 page faults/s take about 49 %"},
		{"in a virtual machine whose host has to find each page", with(filling, func(in *incident) { in.faults = 40_000; in.system = .6 }), check.Supported, "40,000 page faults/s take about 59 %"},
		{"bounded by the kernel's time", with(filling, func(in *incident) { in.system = .2 }), check.RuledOut, "about 20 %"},
		{"few", with(filling, func(in *incident) { in.faults = 400 }), check.RuledOut, "400 minor page faults/s"},
		{"some", with(filling, func(in *incident) { in.faults = 3000; in.system = .02 }), check.RuledOut, "about 1 %"},
		{"perhaps", with(filling, func(in *incident) { in.faults = 40_000; in.system = 0 }), check.Inconclusive, "about 8 %"},
		{"the heap has its size", with(filling, func(in *incident) { in.grows = false }), check.Inconclusive, "returned to the system"},
		{"as ever, and over soon", with(filling, func(in *incident) { in.untold = true; in.slow = 9 }), check.RuledOut, "as before and after"},
		{"as ever, and long", with(filling, func(in *incident) { in.untold = true; in.slow = 30 }), check.Supported, "150,000 page faults/s"},
		{"starved", with(filling, func(in *incident) { in.slow = 30; in.dilation = 20 }), check.RuledOut, "did not run the process all the time"},
		{"no trace", with(filling, func(in *incident) { in.dilation = 0 }), check.Inconclusive, "what requests waited for was not recorded"},
		{"not recorded", with(filling, func(in *incident) { in.faults = 0 }), check.Inconclusive, "no other requests to compare"},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := c.in.subject(t)
			v := judgeFaults(k)
			checktest.Decides(t, c.name, k, &v)
			if v.State != c.state || !strings.Contains(v.Title+v.Summary, c.says) {
				t.Errorf("%s: %q %q", v.State, v.Title, v.Summary)
			}
			checkVerdict(t, v, float64(k.Ledger.Total)/1e6)
		})
	}
}

// Whether memory is taken for the first time or again decides what helps.
func TestMemoryTakenAgain(t *testing.T) {
	brought := 100_000 * 4096.0 * 10 // bytes that the faults of ten seconds make resident
	for _, c := range []struct {
		name  string
		grew  float64
		again bool
	}{
		{"all of it stays", brought, false},
		{"most of it stays", .6 * brought, false},
		{"most is given back", .4 * brought, true},
		{"it shrinks", -brought, true},
		{"unknown", math.NaN(), false},
	} {
		f := faults{rate: 100_000, seconds: 10, grew: c.grew, run: 1, system: .5}
		if f.isMemoryRecycled() != c.again {
			t.Errorf("%s: taken again is %t", c.name, f.isMemoryRecycled())
		}
		if says := strings.HasPrefix(f.titleText(), "Memory is returned"); says != c.again {
			t.Errorf("%s: says %q", c.name, f.titleText())
		}
		if keep := f.chooseFix().Text == keeps.Text; keep != c.again {
			t.Errorf("%s: %q helps", c.name, f.chooseFix().Text)
		}
	}
}
