package jvm

import (
	"cmp"
	"math/rand/v2"
	"testing"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/model/queue"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/diagnose/check/checktest"
)

const (
	epoch = int64(1_700_000_000e9)
	ms    = int64(1e6)
	mib   = float64(1 << 20)
	span  = 60_000 * ms
)

// service is a JVM of some processors under an open load, whose pauses are as listed: its
// log, the rows of its clients, the CPU time of its process.
type service struct {
	collector string
	cores     int
	rate      float64 // requests/s
	demand    int64   // ns of a processor for each request, in the mean
	pauses    []stop
	facts     map[string]float64
	series    map[string]float64 // over the whole span
	alone     bool               // only the log
	watched   int64              // how long the log is, 0: the span
}

// stop is a pause, from its offset to the span's beginning.
type stop struct {
	at, took                        int64
	of                              evidence.Pause
	name, trigger, failure          string
	before, after, capacity         float64 // MiB, of the heap
	youngBefore, youngAfter, youngC float64 // MiB; 0 unknown
	metaBefore, metaAfter           float64 // MiB, of class metadata; 0 unknown
	user, system                    int64   // ns; 0 unknown
}

func (s service) build() *check.Case {
	b := evidence.NewBundle()
	b.Subjects = []evidence.Subject{{Kind: evidence.Process, Runtime: "jvm", Name: "service", PID: 4711, Version: "11.0.13", CPUs: s.cores}}
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "gc.log"}), "hotspotgc")
	p.Fact(evidence.Fact{Key: evidence.FactCollector, Value: s.collector, Origin: p.Origin(1)})
	for k, v := range s.facts {
		p.Fact(evidence.Fact{Key: k, Number: v, Origin: p.Origin(1)})
	}
	line := queue.Queue{Servers: s.cores}
	for i, x := range s.pauses {
		v := evidence.Interval{Lane: evidence.AllLanes, Kind: evidence.StopTheWorld, Start: epoch + x.at, End: epoch + x.at + x.took, Cause: p.Name(x.name), Origin: p.Origin(int64(i + 1))}
		put := func(k evidence.Key, value float64) { v.Extra = append(v.Extra, evidence.Extra{Key: k, Value: value}) }
		put(evidence.PauseOf, float64(x.of))
		put(evidence.Trigger, float64(p.Name(x.trigger)))
		put(evidence.Failure, float64(p.Name(x.failure)))
		put(evidence.HeapBefore, x.before*mib)
		if x.metaBefore > 0 {
			put(evidence.MetaBefore, x.metaBefore*mib)
			put(evidence.MetaAfter, x.metaAfter*mib)
		}
		put(evidence.HeapAfter, x.after*mib)
		put(evidence.HeapCapacity, x.capacity*mib)
		if x.youngBefore > 0 {
			put(evidence.YoungBefore, x.youngBefore*mib)
			put(evidence.YoungAfter, x.youngAfter*mib)
			put(evidence.YoungCapacity, x.youngC*mib)
		}
		if x.user+x.system > 0 {
			put(evidence.UserCPU, float64(x.user))
			put(evidence.SystemCPU, float64(x.system))
		}
		p.Interval(v)
		line.Stops = append(line.Stops, queue.Stop{From: x.at, To: x.at + x.took})
	}
	p.Cover(evidence.Coverage{Kind: evidence.CoverGC, From: epoch, Until: epoch + cmp.Or(s.watched, span)})
	p.Close()
	if s.alone {
		return &check.Case{Bundle: b}
	}

	r := rand.New(rand.NewPCG(1, 2))
	var arrive, demand []int64
	var work float64
	for at := 0.; at < float64(span); at += r.ExpFloat64() * 1e9 / s.rate {
		d := int64(float64(s.demand) * (.5 + r.Float64()))
		arrive, demand = append(arrive, int64(at)), append(demand, d)
		work += float64(d)
	}
	times, err := line.Open(arrive, demand)
	if err != nil {
		panic(err)
	}
	p = b.Builder(b.AddArtifact(evidence.Artifact{Name: "requests.csv"}), "loadresult")
	for i, at := range arrive {
		p.Request(evidence.Request{Route: p.Name("GET /"), Start: epoch + at, End: epoch + at + times.Latency[i]})
	}
	p.Cover(evidence.Coverage{Kind: evidence.CoverRequests, From: epoch, Until: epoch + span})
	p.Close()
	p = b.Builder(b.AddArtifact(evidence.Artifact{Name: "host.txt"}), "procfs")
	add := func(name string, v float64) {
		p.Series(evidence.Series{Name: name, T: []int64{epoch, epoch + span}, V: []float64{v, v}, Origin: p.Origin(1)})
	}
	var collected float64
	for _, x := range s.pauses {
		collected += float64(x.user + x.system)
	}
	add("process.cpu", min(work/float64(span), float64(s.cores)*(1-stopped(s.pauses)))+collected/float64(span))
	for name, v := range s.series {
		add(name, v)
	}
	p.Close()
	l := ledger.Build(b, ledger.Options{SLO: 300e6})[0]
	return &check.Case{Bundle: b, Ledger: l}
}

func stopped(p []stop) (share float64) {
	for _, x := range p {
		share += float64(x.took) / float64(span)
	}
	return share
}

// every makes pauses at intervals.
func every(d int64, x stop) (all []stop) {
	for at := d; at+x.took < span; at += d {
		x.at = at
		all = append(all, x)
	}
	return all
}

// parnew is a young collection as of the article's service, scaled: eden of 576 MiB.
func parnew(took int64) stop {
	return stop{took: took, of: evidence.PauseYoung, name: "ParNew", trigger: "Allocation Failure", before: 900, after: 324, capacity: 1472,
		youngBefore: 600, youngAfter: 24, youngC: 640, user: 2 * took * 9 / 10, system: took / 10}
}

func judged(t *testing.T, c *check.Case, k check.Check) check.Verdict {
	t.Helper()
	if !k.Applies(c) {
		t.Fatalf("%s does not apply", k.ID)
	}
	v := k.Judge(c)
	checktest.Decides(t, k.ID, c, &v)
	if v.State == check.Inconclusive && len(v.Needs) == 0 {
		t.Errorf("%s: inconclusive (%s), and nothing is asked for", k.ID, v.Summary)
	}
	return v
}

// mine are the causes of this file's package that judge pauses by what they cost.
var mine = []check.Check{YoungGCRate, FullGC, OldGenLeak, GCKernelTime, GCStarved}

// only expects one cause of them, first by what it saves, and the others not supported but
// for those named.
func only(t *testing.T, c *check.Case, want string, also ...string) check.Verdict {
	t.Helper()
	var found check.Verdict
	for _, k := range mine {
		v := judged(t, c, k)
		t.Logf("%-22s %-12s %s | %s | saves %v", k.ID, v.State, v.Title, v.Summary, saved(v))
		if k.ID == want {
			found = v
		}
		allowed := k.ID == want
		for _, a := range also {
			allowed = allowed || a == k.ID
		}
		if v.State == check.Supported && !allowed {
			t.Errorf("%s is supported: %s", k.ID, v.Summary)
		}
	}
	if want != "" && found.State != check.Supported {
		t.Errorf("%s: %s, %s", want, found.State, found.Summary)
	}
	return found
}

func saved(v check.Verdict) float64 {
	if v.Saves == nil {
		return 0
	}
	return v.Saves.Value
}
