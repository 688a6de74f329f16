package dotnet

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/diagnose/check/checktest"
)

const (
	start = int64(1_700_000_000e9)
	milli = int64(1e6)
	mb    = 1e6
)

// collects is a collection of some length that comes again and again.
type collects struct {
	every, pause int64 // ms
	lasts        int64 // ms, in the background; 0: no longer than it pauses
	generation   int
	reason       string
	kind         evidence.Collection
	stack        []string // of who brings it on, innermost first
	kept         float64  // bytes that gen 1 hands on
	first        float64  // bytes of gen 0 that it hands on to gen 1
	condemned    float64
}

// heap is twenty seconds of a service, as its collector's events and its requests tell of it.
type heap struct {
	collections []collects
	live, grows float64 // bytes that live after the first gen 2 collection, and more after each
	waits       int64   // ms that threads wait for a large object, twice a second
	stalls      int64   // ms that requests take longer that come while a collection lasts, or as long after it
	others      int64   // ms that each hundredth request takes longer, whatever else is
	heaps       float64
	quota       float64 // CPUs; 0 none
	throttled   float64 // share of the periods
	inPauses    bool    // these are in pauses
	large       []string
	rss         float64
	outside     bool // requests that arrive in a pause begin after it, as a server sees them
	none        bool // no requests at all
	stays       bool // what gen 1 hands on lives for ever
	finalizes   int  // looks of ten that meet the finalizer thread in a finalizer; 0: nobody looked
}

func (in heap) subject(t *testing.T) *check.Case {
	t.Helper()
	b := evidence.NewBundle()
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "shop.nettrace"}), "nettrace")
	p.Clock().Name = "unix"
	const lasts = 20_000
	s := p.Subject(evidence.Subject{Runtime: "dotnet", Name: "Shop", CPUs: 2})
	stackOf := func(functions []string) evidence.StackID {
		var frames []evidence.Frame
		for _, f := range functions {
			frames = append(frames, evidence.Frame{Func: p.Name(f)})
		}
		return p.Stack(frames)
	}
	stopped := make(map[int64]int64)     // ms: when the world goes on
	besideUntil := make(map[int64]int64) // ms: when one in the background is over
	number, live, goesOn := 0., in.live, int64(0)
	for at := int64(0); at < lasts; at++ {
		for i, k := range in.collections {
			if at < goesOn || at%k.every != k.every/2+int64(i)*17 {
				continue
			}
			number++
			goesOn = at + k.pause
			stopped[at] = goesOn
			from, to := start+at*milli, start+(at+k.pause)*milli
			ended := to - 1
			if k.lasts > 0 {
				besideUntil[at], ended = at+k.lasts, start+(at+k.lasts)*milli
			}
			extra := []evidence.Extra{{Key: evidence.CycleNumber, Value: number}, {Key: evidence.Generation, Value: float64(k.generation)}, {Key: evidence.CollectionKind, Value: float64(k.kind)},
				{Key: evidence.PauseTime, Value: float64(to - from)}, {Key: evidence.HeapCount, Value: max(in.heaps, 1)}, {Key: evidence.CondemnReasons, Value: k.condemned}, {Key: evidence.Trigger, Value: float64(p.Name(k.reason))}}
			if strings.HasPrefix(k.reason, "induced") {
				extra = append(extra, evidence.Extra{Key: evidence.Forced, Value: 1})
			}
			switch k.generation {
			case evidence.Gen2:
				live += in.grows
				extra = append(extra, evidence.Extra{Key: evidence.HeapAfter, Value: live}, evidence.Extra{Key: evidence.GenAfter.In(evidence.Gen2), Value: live})
			case evidence.Gen1:
				if in.stays {
					live += k.kept
					extra = append(extra, evidence.Extra{Key: evidence.HeapAfter, Value: live})
				}
				extra = append(extra, evidence.Extra{Key: evidence.GenSurvived.In(evidence.Gen1), Value: k.kept}, evidence.Extra{Key: evidence.GenSurvived.In(evidence.Gen0), Value: k.first})
			}
			p.Interval(evidence.Interval{Subject: s, Lane: evidence.AllLanes, Kind: evidence.StopTheWorld, Start: from, End: to, Cause: p.Name("gc"), Origin: p.Origin(int64(number))})
			p.Interval(evidence.Interval{Subject: s, Kind: evidence.GCCycle, Start: from + 1, End: ended, Extra: extra, Stack: stackOf(k.stack), Origin: p.Origin(int64(number))})
		}
	}
	if in.waits > 0 {
		for at := int64(0); at < lasts; at += 500 {
			for lane := range evidence.LaneID(30) {
				p.Interval(evidence.Interval{Subject: s, Lane: lane, Kind: evidence.AllocStall, Start: start + at*milli, End: start + (at+in.waits)*milli, Cause: p.Name("large object"), Origin: p.Origin(1)})
			}
		}
		p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverLargeWaits, From: start, Until: start + lasts*milli, Origin: p.Origin(1)})
	}
	for i, class := range in.large {
		p.Sample(evidence.Sample{Subject: s, Time: start + int64(i), Type: p.Name(evidence.SampleLargeAllocated), Class: p.Name(class), Value: int64(100 * mb), Stack: stackOf([]string{"System.Private.CoreLib!System.Collections.Generic.List`1.set_Capacity(int)", "Shop!Shop.Basket.Sum()"}), Origin: p.Origin(1)})
	}
	if in.finalizes > 0 {
		at := stackOf([]string{"[Native Frames]", "System.Net.Sockets!System.Net.Sockets.NetworkStream.Read(unsigned int8[],int32,int32)", "Shop!Shop.Basket.Finalize()", "System.Private.CoreLib!System.GC.RunFinalizers()"})
		rests := stackOf([]string{"[Native Frames]", "System.Private.CoreLib!System.GC.RunFinalizers()"})
		for i := range int64(100) { // ten looks a burst
			stack := at
			if int(i%10) >= in.finalizes {
				stack = rests
			}
			p.Sample(evidence.Sample{Subject: s, Time: start + i/10*2000*milli + i%10*milli, Lane: 5, Stack: stack, Type: p.Name("thread"), Unit: p.Name("count"), Value: 1, Origin: p.Origin(1)})
		}
		p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverThreads, From: start, Until: start + lasts*milli, Origin: p.Origin(1)})
	}
	if in.large != nil {
		p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverAllocation, From: start, Until: start + lasts*milli, Origin: p.Origin(1)})
	}
	resumes, runs := int64(0), int64(-1)
	for at := int64(0); at < lasts && !in.none; at += 10 {
		for k := max(0, at-9); k <= at; k++ {
			resumes = max(resumes, stopped[k])
			if until, ok := besideUntil[k]; ok {
				runs = until
			}
		}
		took := int64(2)
		if runs >= 0 && at < runs+in.stalls {
			took += in.stalls
		}
		if at%1000 == 990 {
			took += in.others
		}
		if at < resumes {
			if took += resumes - at; in.outside {
				continue
			}
		}
		if in.waits > 0 && at%500 < in.waits {
			took += in.waits - at%500
		}
		p.Request(evidence.Request{Subject: s, Lane: 1, Route: p.Name("GET /"), Start: start + at*milli, End: start + (at+took)*milli, Origin: p.Origin(1)})
	}
	for _, kind := range []string{evidence.CoverRequests, evidence.CoverGC} {
		if !in.none || kind == evidence.CoverGC {
			p.Cover(evidence.Coverage{Subject: s, Kind: kind, From: start, Until: start + lasts*milli, Origin: p.Origin(1)})
		}
	}
	p.Close()
	p = b.Builder(b.AddArtifact(evidence.Artifact{Name: "procfs.txt"}), "procfs")
	p.Clock().Name = "unix"
	series := func(name string, v ...float64) {
		x := evidence.Series{Subject: s, Name: name, Origin: p.Origin(1)}
		for i := range 40 {
			x.T, x.V = append(x.T, start+int64(i)*500*milli), append(x.V, v[i*len(v)/40])
		}
		p.Series(x)
	}
	if in.rss > 0 {
		series(evidence.SeriesProcessRSS, in.rss)
		p.Fact(evidence.Fact{Subject: p.Subject(evidence.Subject{Kind: evidence.Host}), Key: evidence.FactHostMemory, Number: 2 * in.rss, Origin: p.Origin(1)})
	}
	if in.quota > 0 {
		p.Fact(evidence.Fact{Subject: s, Key: evidence.FactContainerCPU, Number: in.quota, Origin: p.Origin(1)})
		series("cgroup.cpu.periods", 10)
		series("cgroup.cpu.throttledPeriods", 10*in.throttled)
		stops := []float64{in.throttled}
		if in.inPauses { // every two seconds, from the middle of the second on
			stops = nil
			for i := range 40 {
				stops = append(stops, map[bool]float64{true: 1}[i%4 == 2])
			}
		}
		series("cgroup.cpu.throttled", stops...)
	}
	p.Close()
	c := &check.Case{Bundle: b, Subject: s}
	if l := ledger.Build(b, ledger.Options{}); len(l) > 0 {
		c.Ledger = l[0]
	}
	return c
}

func TestCollectorsCauses(t *testing.T) {
	induces := collects{every: 1000, pause: 80, generation: 2, reason: "induced", stack: []string{"System.Private.CoreLib!System.GC.Collect()", "Guard!Guard.Observer.RequestGC()", "Guard!Guard.Monitor.Check()", "System.Private.CoreLib!System.Threading.TimerQueueTimer.Fire(bool)"}}
	pressed := induces
	pressed.stack = []string{"System.Private.CoreLib!System.GC.AddMemoryPressure(int64)", "Glass!Glass.Pane..ctor(int32)", "Glass!Glass.Window.Show()"}
	young := collects{every: 200, pause: 1, generation: 0, reason: "small allocations"}
	gen1 := collects{every: 1000, pause: 2, generation: 1, reason: "small allocations", kept: mb}
	large := collects{every: 500, pause: 60, generation: 2, reason: "large allocations"}
	beside := collects{every: 4000, pause: 1, lasts: 1000, generation: 2, reason: "large allocations", kind: evidence.CollectionBackground}
	long := beside
	long.lasts = 2200
	usual := heap{collections: []collects{young, gen1}, live: 100 * mb}
	with := func(in heap, more ...collects) heap {
		in.collections = append(append([]collects(nil), in.collections...), more...)
		return in
	}
	change := func(in heap, f func(*heap)) heap { f(&in); return in }
	stay := change(with(heap{live: 100 * mb}, young, collects{every: 250, pause: 30, generation: 1, reason: "small allocations", kept: 20 * mb}, collects{every: 6000, pause: 60, generation: 2, reason: "small allocations"}), func(in *heap) { in.grows = 480 * mb })
	slow := func(c collects, pause int64) collects { c.pause = pause; return c }
	for _, tt := range []struct {
		name  string
		in    heap
		of    check.Check
		state string
		says  []string
	}{
		{"a timer collects", with(usual, induces), InducedGC, check.Supported, []string{"Observer.RequestGC", "20 induced collections", "timer", "Monitor.Check", "remove the call"}},
		{"memory outside the heap makes it collect", change(with(usual, pressed), func(in *heap) { in.rss = 1300 * mb }), InducedGC, check.Supported, []string{"Pane.ctor(int) tells the collector of memory outside the heap", "RemoveMemoryPressure in Dispose"}},
		{"it collects, and the server sees nothing of it", change(with(usual, induces), func(in *heap) { in.outside = true }), InducedGC, check.Supported, []string{"its own figures do not show the wait"}},
		{"it collects at its limit", change(with(usual, induces), func(in *heap) { in.rss = 1300 * mb }), InducedGC, check.Supported, []string{"raise the limit", "50 % of the host's memory"}},
		{"it collects in no time", with(usual, slow(induces, 2)), InducedGC, check.RuledOut, []string{"induced collections"}},
		{"nobody asks", with(usual, large), InducedGC, check.RuledOut, []string{"no induced collections"}},
		{"nobody asks, without requests", change(with(usual, large), func(in *heap) { in.none = true }), InducedGC, check.RuledOut, []string{"no induced collections"}},
		{"it collects, without requests", change(with(usual, induces), func(in *heap) { in.none = true }), InducedGC, check.Supported, []string{"8 % of the time"}},

		{"large objects, blocking", change(with(usual, large), func(in *heap) { in.large = []string{"System.Byte[]", "System.Int32[]"} }), LOHChurn, check.Supported, []string{"System.Byte[], System.Int32[]", "120 gen 2 collections per minute", "Basket.Sum", "ChunkedList", "rent the buffer"}},
		{"large objects, nobody asked which", with(usual, large), LOHChurn, check.Supported, []string{"120 gen 2 collections per minute"}},
		{"large objects, in the background", change(with(usual, slow(large, 2)), func(in *heap) { in.waits = 300 }), LOHChurn, check.Supported, []string{"waits of threads to allocate a large object"}},
		{"large objects, in the background, and nobody tells of waits", with(heap{live: 100 * mb, stalls: 300}, young, gen1, beside), LOHChurn, check.Supported, []string{"share of slow time during background gen 2 collections", "until the backlog was answered"}},
		{"one of gen 1 first, each time", with(heap{live: 100 * mb, stalls: 300}, young, collects{every: 4000, pause: 1, generation: 1, reason: "large allocations"}, beside), LOHChurn, check.Supported, []string{"trigger 15 gen 2 collections per minute"}},
		{"it runs most of the time, with threads that wait meanwhile", change(with(heap{live: 100 * mb, others: 3000}, young, gen1, long), func(in *heap) { in.waits = 300 }), LOHChurn, check.Supported, []string{"until the backlog was answered"}},
		{"seldom beside gen 1, at most of the slow time", with(heap{live: 100 * mb, stalls: 300}, young, collects{every: 200, pause: 2, generation: 1, reason: "small allocations", kept: mb}, beside), LOHChurn, check.Supported, nil},
		{"it runs most of the time", with(heap{live: 100 * mb, stalls: 300}, young, gen1, long), LOHChurn, check.Supported, []string{"share of slow time during background gen 2 collections"}},
		{"others are slow at any time", with(heap{live: 100 * mb, others: 300}, young, gen1, beside), LOHChurn, check.RuledOut, nil},
		{"few large objects", with(usual, collects{every: 15_000, pause: 60, generation: 2, reason: "large allocations"}), LOHChurn, check.RuledOut, nil},
		{"large objects in no time", with(usual, slow(large, 1)), LOHChurn, check.RuledOut, nil},
		{"a timer collects: no churn", with(usual, induces), LOHChurn, check.RuledOut, nil},

		{"blocking, for small allocations", with(usual, collects{every: 1000, pause: 90, generation: 2, reason: "small allocations"}), Gen2Pause, check.Supported, []string{"20 gen 2 collections", "Concurrent=true"}},
		{"blocking, memory is short", with(usual, collects{every: 1000, pause: 90, generation: 2, reason: "low memory", condemned: 1 << 2}), Gen2Pause, check.Supported, []string{"high memory load", "more memory"}},
		{"in the background", with(usual, collects{every: 1000, pause: 2, generation: 2, reason: "small allocations", kind: evidence.CollectionBackground}), Gen2Pause, check.RuledOut, nil},
		{"for large objects: not its own", with(usual, large), Gen2Pause, check.RuledOut, []string{"no gen 2 collections but 40 for large objects"}},
		{"none of its own at all", with(usual, large, induces), Gen2Pause, check.RuledOut, []string{"no gen 2 collections but 40 for large objects and 20 induced"}},
		{"none of gen 2", usual, Gen2Pause, check.RuledOut, []string{"no gen 2 collections\n"}},

		{"they die in gen 2", with(heap{live: 100 * mb}, young, collects{every: 250, pause: 30, generation: 1, reason: "small allocations", kept: 20 * mb}, collects{every: 2000, pause: 60, generation: 2, reason: "small allocations"}), MidLife, check.Supported, []string{"80 MB/s", "100 % of that is garbage", "GCgen0size"}},
		{"they stay", change(with(heap{live: 100 * mb}, young, collects{every: 250, pause: 30, generation: 1, reason: "small allocations", kept: 20 * mb}, collects{every: 2000, pause: 60, generation: 2, reason: "small allocations"}), func(in *heap) { in.grows = 160 * mb }), MidLife, check.RuledOut, nil},
		{"they stay, and are kept by gen 0 before", change(with(heap{live: 100 * mb}, young, collects{every: 250, pause: 30, generation: 1, reason: "small allocations", kept: 20 * mb, first: 20 * mb}, collects{every: 2000, pause: 60, generation: 2, reason: "small allocations"}), func(in *heap) { in.grows = 140 * mb }), MidLife, check.RuledOut, nil},
		{"nothing tells what survives long pauses", heap{live: 100 * mb, collections: []collects{slow(young, 90)}}, MidLife, check.Inconclusive, []string{"too few collections to show"}},
		{"nothing tells what survives short ones", heap{live: 100 * mb, collections: []collects{young}}, MidLife, check.RuledOut, []string{"collections of gen 0 and gen 1"}},
		{"hardly anything gets there", with(usual, collects{every: 2000, pause: 60, generation: 2, reason: "small allocations"}), MidLife, check.RuledOut, nil},

		{"it grows", change(with(usual, collects{every: 2000, pause: 30, generation: 2, reason: "small allocations"}), func(in *heap) { in.grows = 5 * mb }), HeapLeak, check.Supported, []string{"grows by", "dotnet-gcdump"}},
		{"it grows a little", change(with(usual, collects{every: 2000, pause: 30, generation: 2, reason: "small allocations"}), func(in *heap) { in.grows = .1 * mb }), HeapLeak, check.RuledOut, nil},
		{"it keeps its size", with(usual, large), HeapLeak, check.RuledOut, nil},
		{"too few to tell", change(with(usual, collects{every: 10_000, pause: 30, generation: 2, reason: "small allocations"}), func(in *heap) { in.grows = 50 * mb }), HeapLeak, check.Inconclusive, []string{"grew by 47.7 MiB from the first to the last of 2 gen 2 collections"}},
		{"two, and it keeps its size", with(usual, collects{every: 10_000, pause: 30, generation: 2, reason: "small allocations"}), HeapLeak, check.RuledOut, []string{"almost no requests are slow"}},
		{"none, and nothing tells what stays", heap{live: 100 * mb, collections: []collects{slow(young, 90)}}, HeapLeak, check.Inconclusive, []string{"0 gen 2 collections: too few to show a trend"}},
		{"none, which cost nothing", heap{live: 100 * mb, collections: []collects{young}}, HeapLeak, check.RuledOut, []string{"collections"}},
		{"a list grows, before any gen 2 collection", heap{live: 100 * mb, stays: true, collections: []collects{young, {every: 250, pause: 30, generation: 1, reason: "small allocations", kept: 3 * mb}}}, HeapLeak, check.Supported, []string{"almost nothing that they kept died", "grows by"}},
		{"a list grows, without requests", heap{live: 60 * mb, stays: true, none: true, collections: []collects{{every: 500, pause: 45, generation: 1, reason: "small allocations", kept: 8 * mb}}}, HeapLeak, check.Supported, []string{"grows by"}},
		{"a list grows in no time", heap{live: 100 * mb, stays: true, collections: []collects{young, {every: 250, pause: 2, generation: 1, reason: "small allocations", kept: 3 * mb}}}, HeapLeak, check.Inconclusive, []string{"too few to distinguish a leak from a start"}},
		{"the finalizer thread never ends", change(stay, func(in *heap) { in.finalizes = 10 }), HeapLeak, check.Supported, []string{"always in Basket.Finalize (waiting for the network", "77 MiB/s", "GC.SuppressFinalize"}},
		{"the finalizer thread rests half of the time", change(stay, func(in *heap) { in.finalizes = 5 }), HeapLeak, check.Inconclusive, []string{"too few to distinguish a leak from a start"}},
		{"the finalizer thread never ends, and nothing is kept", change(usual, func(in *heap) { in.finalizes = 10 }), HeapLeak, check.RuledOut, nil},

		{"eight heaps on half a CPU", change(with(usual, collects{every: 500, pause: 120, generation: 1, reason: "small allocations"}), func(in *heap) { in.heaps, in.quota, in.throttled = 8, .5, .4 }), GCStarved, check.Supported, []string{"8 GC threads share a quota of 0.5 CPUs", "gcServer=0", "HeapCount=1"}},
		{"one heap, stopped in its pauses", change(with(usual, collects{every: 2000, pause: 500, generation: 1, reason: "small allocations"}), func(in *heap) { in.heaps, in.quota, in.throttled, in.inPauses = 1, .5, .1, true }), GCStarved, check.Supported, []string{"Collections use up a quota of 0.5 CPUs", "raise the quota"}},
		{"one heap on half a CPU", change(with(usual, collects{every: 500, pause: 120, generation: 1, reason: "small allocations"}), func(in *heap) { in.heaps, in.quota, in.throttled = 1, .5, .4 }), GCStarved, check.RuledOut, nil},
		{"eight heaps, not stopped", change(with(usual, collects{every: 500, pause: 120, generation: 1, reason: "small allocations"}), func(in *heap) { in.heaps, in.quota, in.throttled = 8, 2, 0 }), GCStarved, check.RuledOut, nil},
		{"eight heaps, and its cgroup was not recorded", change(usual, func(in *heap) { in.heaps = 8 }), GCStarved, check.Inconclusive, []string{"whether its cgroup has a CPU quota was not recorded"}},
	} {
		t.Run(tt.of.ID+": "+tt.name, func(t *testing.T) {
			c := tt.in.subject(t)
			v := tt.of.Judge(c)
			checktest.Decides(t, "", c, &v)
			texts := []string{v.Title, v.Summary}
			for _, e := range v.Evidence {
				texts = append(texts, e.Text)
			}
			for _, f := range v.Fix {
				texts = append(texts, f.Text, f.Setting, f.Code)
			}
			said := strings.Join(texts, "\n")
			if v.State != tt.state {
				t.Fatalf("%s, want %s:\n%s", v.State, tt.state, said)
			}
			for _, part := range tt.says {
				if !strings.Contains(said, part) {
					t.Errorf("nothing says %q:\n%s", part, said)
				}
			}
			if strings.Contains(said, "NaN") || v.State == check.Supported && len(v.Fix) == 0 || v.State == check.RuledOut && len(v.Evidence) == 0 {
				t.Errorf("%+v", v)
			}
		})
	}
}
