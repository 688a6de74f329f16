package evidence

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// logged packs spans of one processor and reads them again.
func logged(l *ProcessorLog, from, until int64) (*Bundle, *Builder) {
	b := NewBundle()
	p := b.Builder(b.AddArtifact(Artifact{Name: "trace"}), "trace")
	p.Processors(p.Subject(Subject{Runtime: "go"}), l, from, until)
	p.Close()
	return b, p
}

func spansOf(b *Bundle, lane int) []ProcessorSpan {
	return slices.Collect(b.Processors[0].Spans(lane))
}

func TestProcessorSpansAreKept(t *testing.T) {
	want := []ProcessorSpan{
		{From: 1000, To: 1500, Work: WorkRequest, Lane: 7, Name: 3, Serves: 7, Number: 1},
		{From: 1500, To: 1501, Work: WorkRequestAssist, Lane: 7, Name: 3, Serves: 7, Number: 1},
		{From: 1600, To: 5e9, Work: WorkDedicated, Lane: 1 << 40, Name: 9, Number: 1},
		{From: 5e9, To: 6e9, Work: WorkStopped, Number: 1},
		{From: 6e9, To: 7e9, Work: WorkRequest, Lane: 12, Serves: 7, Number: 1},
		{From: 7e9, To: 8e9, Work: WorkRequest, Lane: 12, Name: 5, Serves: 12, Number: 1},
		{From: 8e9, To: 8e9 + 100, Work: WorkStopped, Number: 3, Mix: Works{WorkIdle: 10, WorkStopped: 60, WorkRuntime: 30}},
		{From: 9e9, To: 9e9 + 100, Work: WorkRequest, Lane: 4, Name: 1, Serves: 4, Number: 3, Mix: Works{WorkIdle: 10, WorkRequest: 90}},
	}
	var l ProcessorLog
	n := l.Lane(1, 900)
	for i := range want {
		n.Add(&want[i])
	}
	n.Add(&ProcessorSpan{From: 9e9 + 100, To: 9e9 + 100, Work: WorkRuntime}) // nothing
	l.Lane(0, 900)
	b, _ := logged(&l, 900, 1e10)
	if x := b.Processors[0].Lanes; len(x) != 2 || x[0].Number != 0 || x[1].Number != 1 {
		t.Fatalf("lanes %+v", x)
	}
	if got := spansOf(b, 1); !slices.Equal(got, want) {
		t.Errorf("read   %+v\nwanted %+v", got, want)
	}
	if got := spansOf(b, 0); got != nil {
		t.Errorf("a processor that did nothing: %+v", got)
	}
}

// Clocks are moved, subjects become one and the window is narrowed after a
// trace was read.
func TestProcessorsMoveAndClip(t *testing.T) {
	var l ProcessorLog
	n := l.Lane(0, 0)
	const each = 1000
	for i := range int64(3000) { // several blocks
		n.Add(&ProcessorSpan{From: i * each, To: i*each + 900, Work: WorkRequest, Lane: LaneID(i), Serves: LaneID(i), Name: 1})
	}
	n.Add(&ProcessorSpan{From: 3000 * each, To: 3010 * each, Work: WorkRequest, Number: 10, Mix: Works{WorkIdle: 2 * each, WorkRequest: 5 * each, WorkRuntime: 3 * each}})
	b, p := logged(&l, 0, 4000*each)
	other := b.Builder(b.AddArtifact(Artifact{Name: "profile"}), "profile")
	other.Subject(Subject{Runtime: "go", Name: "srv"})
	other.Close()
	loose := b.Builder(b.AddArtifact(Artifact{Name: "loose"}), "profile")
	loose.Clock().Error = Unanchored
	loose.Processors(loose.Subject(Subject{Runtime: "jvm"}), new(ProcessorLog), 0, 1)
	loose.Close()
	*p.Clock() = Clock{Offset: 1e18, Error: 100}
	b.Unify()
	if got := b.Subjects[b.Processors[0].Subject].Name; got != "srv" {
		t.Errorf("it is of %q", got)
	}
	b.Align()
	all := spansOf(b, 0)
	if x := b.Processors[0]; x.From != 1e18 || x.Until != 1e18+4000*each || all[0].From != 1e18 || all[1].From != 1e18+each {
		t.Fatalf("moved to %d–%d, the first span at %d", x.From, x.Until, all[0].From)
	}
	for _, c := range []struct {
		from, until int64
		n           int
	}{{0, 4000 * each, 3001}, {-5, 1, 1}, {500, 1500, 2}, {950, 990, 0}, {1_999_500, 2_000_500, 2}, {3_002_000, 3_007_000, 1}, {3_500_000, 3_600_000, 0}} {
		x := *b
		x.Clip(1e18+c.from, 1e18+c.until)
		if len(x.Processors) != 1 {
			t.Fatalf("%d are left of one within and one of unknown time", len(x.Processors))
		}
		got := slices.Collect(x.Processors[0].Spans(0))
		if len(got) != c.n {
			t.Errorf("%d–%d: %d spans, want %d", c.from, c.until, len(got), c.n)
		}
		var sum int64
		for _, s := range all {
			sum += max(0, min(s.To, 1e18+c.until)-max(s.From, 1e18+c.from))
		}
		for _, s := range got {
			if s.From < 1e18+c.from || s.To > 1e18+c.until {
				t.Errorf("%d–%d: holds %d–%d", c.from, c.until, s.From-1e18, s.To-1e18)
			}
			if s.Number > 1 && s.Mix.Sum() != s.To-s.From {
				t.Errorf("%d–%d: parts of %d in %d", c.from, c.until, s.Mix.Sum(), s.To-s.From)
			}
			sum -= s.To - s.From
		}
		if sum != 0 {
			t.Errorf("%d–%d: %d ns are missing", c.from, c.until, sum)
		}
	}
	b.Clip(2e18, 0)
	if len(b.Processors) != 0 {
		t.Error("what lies before is left")
	}
}

// A flood of short spans is kept in bounded memory: no time is lost, what lasts
// is as it was, and what was joined is no coarser than it must be.
func TestProcessorsAreBounded(t *testing.T) {
	const limit, lanes = 30, 3
	l := ProcessorLog{limit: limit}
	rng := rand.New(rand.NewPCG(1, 2))
	type lane struct {
		log  *LaneLog
		at   int64
		want Works
		long []ProcessorSpan
		n    int64
	}
	var all [lanes]lane
	for i := range all {
		all[i].log = l.Lane(i, 1e12)
		all[i].at = 1e12
	}
	const long = 5_000_000
	most := 0
	for range 200_000 {
		x := &all[rng.IntN(lanes)]
		if rng.IntN(3) == 0 {
			gap := 1 + rng.Int64N(3000)
			x.want[WorkIdle] += gap
			x.at += gap
		}
		s := ProcessorSpan{From: x.at, To: x.at + 1 + rng.Int64N(20_000), Work: 1 + Work(rng.IntN(int(NumWorks)-1)), Lane: 1 + LaneID(rng.IntN(100)), Name: 1 + NameID(rng.IntN(5)), Number: 1}
		if rng.IntN(10_000) == 0 {
			s.To = s.From + long
			s.Serves = s.ownServes()
			x.long = append(x.long, s)
		}
		x.log.Add(&s)
		x.want[s.Work] += s.To - s.From
		x.at = s.To
		x.n++
		most = max(most, l.blocks)
	}
	if most > limit {
		t.Errorf("%d blocks were used, %d are allowed", most, limit)
	}
	if held := l.blocks + len(l.free); held > limit+lanes {
		t.Errorf("%d blocks are held, %d are allowed", held, limit+lanes)
	}
	quantum := l.quantum
	b, _ := logged(&l, 1e12, 1e12+1e12)
	if quantum == 0 || quantum >= long {
		t.Fatalf("joined below %d ns", quantum)
	}
	p := &b.Processors[0]
	spans := 0
	for i := range all {
		x := &all[i]
		var sum Works
		var n int64
		at := int64(1e12)
		found := make(map[int64]ProcessorSpan)
		for s := range p.Spans(i) {
			if s.From < at {
				t.Fatalf("P%d: %+v begins before %d", i, s, at)
			}
			sum[WorkIdle] += s.From - at
			at = s.To
			n += s.Number
			spans++
			for w, d := range s.Each {
				sum[w] += d
			}
			if s.Number > 1 {
				if s.To-s.From >= 3*quantum {
					t.Fatalf("P%d: %+v is joined, the quantum is %d", i, s, quantum)
				}
				if d := s.Mix.Sum(); d != s.To-s.From || s.Mix[s.Work] != slices.Max(s.Mix[:]) {
					t.Fatalf("P%d: %+v has parts of %d", i, s, d)
				}
			}
			found[s.From] = s
		}
		if sum != x.want {
			t.Errorf("P%d: was spent on %v, not on %v", i, sum, x.want)
		}
		if n != x.n {
			t.Errorf("P%d: stands for %d spans, not for %d", i, n, x.n)
		}
		for _, s := range x.long {
			if found[s.From] != s {
				t.Errorf("P%d: %+v became %+v", i, s, found[s.From])
			}
		}
	}
	// A joined span takes up to 80 bytes here, one of three for each quantum 10.
	if least := limit * processorBlockSize / 2 / 80; spans < least {
		t.Errorf("%d spans are left, there is room for %d", spans, least)
	}
}

// Many traces have a bound together, and a trace that is to take less loses no time.
func TestTracesAreBoundedTogether(t *testing.T) {
	b := NewBundle()
	if n := b.processorBlocks(); n != maxBundleBlocks {
		t.Errorf("the first has room for %d blocks", n)
	}
	b.Processors = []Occupancy{{Lanes: []ProcessorLane{{blocks: make([]processorBlock, 100)}, {blocks: make([]processorBlock, 50)}}}}
	if n := b.processorBlocks(); n != maxBundleBlocks-150 {
		t.Errorf("the second has room for %d blocks", n)
	}
	b.Processors = append(b.Processors, Occupancy{Lanes: []ProcessorLane{{blocks: make([]processorBlock, maxBundleBlocks)}}})
	if n := b.processorBlocks(); n != leastBlocks {
		t.Errorf("the third has room for %d blocks", n)
	}

	var l ProcessorLog
	n := l.Lane(0, 0)
	var want Works
	for i := range int64(20_000) {
		s := ProcessorSpan{From: i * 1000, To: i*1000 + 1 + i%997, Work: 1 + Work(i%5), Lane: LaneID(i % 50)}
		n.Add(&s)
		want[s.Work] += s.To - s.From
	}
	before := l.blocks
	l.fitBlocks(before)
	if l.quantum != 0 {
		t.Error("joined though there is room")
	}
	l.fitBlocks(before / 4)
	x, _ := logged(&l, 0, 20_000*1000)
	var got Works
	for s := range x.Processors[0].Spans(0) {
		for w, v := range s.Each {
			got[w] += v
		}
	}
	got[WorkIdle] = 0
	if held := len(x.Processors[0].Lanes[0].blocks); held > before/4 || got != want || x.Processors[0].Quantum == 0 {
		t.Errorf("%d of %d blocks are left, %v instead of %v", held, before, got, want)
	}
}

func TestServing(t *testing.T) {
	b := NewBundle()
	for range 2 { // a second trace of the same process numbers its goroutines alike
		p := b.Builder(b.AddArtifact(Artifact{Name: "trace"}), "trace")
		s := p.Subject(Subject{})
		for _, r := range []Request{{Lane: 5, Start: 100, End: 200}, {Lane: 4, Start: 50, End: 300}, {Lane: 5, Start: 210, End: 400}, {Lane: 0, Start: 1, End: 1000}} {
			r.Subject = s
			p.Request(r)
		}
		p.Close()
	}
	for _, c := range []struct {
		lane     LaneID
		from, to int64
		want     RequestID
	}{
		{5, 100, 150, 5}, {5, 90, 100, 0}, {5, 200, 210, 0}, {5, 0, 1000, 7}, {5, 150, 215, 5}, {5, 399, 500, 7},
		{4, 0, 1000, 6}, {3, 0, 1000, 0}, {6, 0, 1000, 0}, {0, 0, 1000, 0},
	} {
		if got := b.Serving(1).At(c.lane, c.from, c.to); got != c.want {
			t.Errorf("lane %d from %d to %d: request %d, want %d", c.lane, c.from, c.to, got, c.want)
		}
	}
}

// What is known of a goroutine only after it ran holds for all it did.
func TestProcessorsLearn(t *testing.T) {
	var l ProcessorLog
	n := l.Lane(0, 0)
	for i, w := range []Work{WorkBackground, WorkBackgroundAssist, WorkDedicated} {
		for lane := range LaneID(4) {
			at := int64(i)*1000 + int64(lane)*10
			n.Add(&ProcessorSpan{From: at, To: at + 10, Work: w, Lane: lane})
		}
	}
	l.Learn(1, WorkRequest, 0)
	l.Learn(1, WorkIdle, 7)
	l.Learn(2, WorkRuntime, 8)
	b, _ := logged(&l, 0, 1e9)
	var got []ProcessorSpan
	for s := range b.Processors[0].Spans(0) {
		got = append(got, ProcessorSpan{Work: s.Work, Lane: s.Lane, Name: s.Name, Serves: s.Serves})
	}
	want := []ProcessorSpan{
		{Work: WorkBackground}, {Work: WorkRequest, Lane: 1, Name: 7, Serves: 1}, {Work: WorkRuntime, Lane: 2, Name: 8}, {Work: WorkBackground, Lane: 3},
		{Work: WorkBackgroundAssist}, {Work: WorkRequestAssist, Lane: 1, Name: 7, Serves: 1}, {Work: WorkBackgroundAssist, Lane: 2, Name: 8}, {Work: WorkBackgroundAssist, Lane: 3},
		{Work: WorkDedicated}, {Work: WorkDedicated, Lane: 1, Name: 7}, {Work: WorkDedicated, Lane: 2, Name: 8}, {Work: WorkDedicated, Lane: 3},
	}
	if !slices.Equal(got, want) {
		t.Errorf("read   %+v\nwanted %+v", got, want)
	}
}

// BenchmarkProcessorFlood adds what a trace of some 500 MB tells: spans as short as
// those of a busy scheduler, far more than there is room for.
func BenchmarkProcessorFlood(b *testing.B) {
	const lanes, spans = 8, 8_000_000
	dur := make([]int64, 1<<16)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range dur {
		dur[i] = 200 + int64(rng.ExpFloat64()*4000)
	}
	b.ReportAllocs()
	for b.Loop() {
		var l ProcessorLog
		var logs [lanes]*LaneLog
		var at [lanes]int64
		for i := range logs {
			logs[i] = l.Lane(i, 0)
		}
		for i := range spans {
			n := i % lanes
			d := dur[i%len(dur)]
			s := ProcessorSpan{From: at[n] + d/4, To: at[n] + d/4 + d, Work: 1 + Work(d%3), Lane: 1 + LaneID(d%512), Name: 1 + NameID(d%16), Number: 1}
			logs[n].Add(&s)
			at[n] = s.To
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/spans, "ns/span")
}
