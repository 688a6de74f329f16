package metrics

import (
	"math"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// The longest recording counts: three traces of a second each that are one, not
// the log of two seconds beside them, and not what lies between the traces.
func TestGoCollectorOfTheWhole(t *testing.T) {
	b := evidence.NewBundle()
	const s = int64(1e9)
	var subject evidence.SubjectID
	record := func(name, series string, from, until int64, cycles int64) {
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: name, Series: series}), name)
		if len(b.Subjects) == 0 {
			subject = p.Subject(evidence.Subject{Runtime: "go"})
		}
		for i := range cycles {
			at := from + i*(until-from)/cycles
			p.Interval(evidence.Interval{Subject: subject, Kind: evidence.GCCycle, Start: at, End: at + s/100, Origin: p.Origin(i + 1),
				Extra: []evidence.Extra{{Key: evidence.AssistTime, Value: 1e6}, {Key: evidence.HeapLive, Value: 1 << 20}}})
		}
		p.Cover(evidence.Coverage{Subject: subject, Kind: evidence.CoverGC, From: from, Until: until})
		p.Close()
	}
	record("trace-1", "trace", 10*s, 11*s, 4)
	record("trace-2", "trace", 20*s, 21*s, 8)
	record("trace-3", "trace", 30*s, 31*s, 0)
	record("gctrace", "", 10*s, 12*s, 100)
	g := GoCollector(b, subject, Scope{Whole: true})
	if g == nil || g.Span != 3 || math.Abs(g.Rate.Number-4) > 1e-9 || math.Abs(g.Assist.Number-.004) > 1e-9 || g.Live.Number != 1<<20 || g.Goal.Known() {
		t.Errorf("%+v", g)
	}
	nothing := evidence.NewBundle()
	nothing.Subjects = []evidence.Subject{{Runtime: "go"}}
	if g := GoCollector(nothing, 0, Scope{Whole: true}); g != nil {
		t.Errorf("figures of nothing: %+v", g)
	}
}

// What a trace saw comes before a longer log, the requests' own trace before others; of a log
// with many cycles the first third, a process's start, is left out.
func TestGoCollectorPicks(t *testing.T) {
	for name, c := range map[string]struct {
		traces int
		source evidence.ArtifactID
		cycles int
		from   int64 // s
	}{
		"a log alone":           {0, -1, 20, 20},
		"a log and traces":      {2, -1, 4, 20},
		"the requests' trace":   {2, 2, 4, 30},
		"requests of the log":   {2, 0, 4, 20},
		"requests of the first": {2, 1, 4, 20},
	} {
		b := evidence.NewBundle()
		record := func(format string, from, until, cycles int64) {
			p := b.Builder(b.AddArtifact(evidence.Artifact{Name: format}), format)
			subject := p.Subject(evidence.Subject{Runtime: "go", PID: 4711})
			for i := range cycles {
				at := from*second + i*(until-from)*second/cycles
				p.Interval(evidence.Interval{Subject: subject, Kind: evidence.GCCycle, Start: at, End: at + second/100, Origin: p.Origin(i + 1)})
			}
			p.Cover(evidence.Coverage{Subject: subject, Kind: evidence.CoverGC, From: from * second, Until: until * second})
			if format == "gotrace" {
				p.Cover(evidence.Coverage{Subject: subject, Kind: evidence.CoverStates, From: from * second, Until: until * second})
			}
			p.Close()
		}
		record("gctrace", 10, 40, 30)
		for i := range int64(c.traces) {
			record("gotrace", 20+10*i, 21+10*i, 4)
		}
		b.Unify()
		g := GoCollector(b, 0, Scope{Beside: &Beside{Source: c.source}})
		if g == nil || len(g.Cycles) != c.cycles || g.From != c.from*second || g.Live.Known() || g.Assist.Known() {
			t.Errorf("%s: %+v", name, g)
		}
	}
}

// TestSkippedCycles reads a log that lacks cycles: their number makes the rate, and their time
// is not watched.
func TestSkippedCycles(t *testing.T) {
	for name, c := range map[string]struct {
		numbers       []int64
		rate, marking float64 // per second, share
		span, missing float64
	}{
		"all are there":      {[]int64{50, 51, 52, 53, 54}, .5, .5, 10, 0},
		"a hole":             {[]int64{50, 51, 61, 62, 63}, 1.4, .61, 8.2, 9},
		"one of two":         {[]int64{50, 52, 54, 56, 58}, .9, .83, 6, 4},
		"it began again":     {[]int64{50, 51, 1, 2, 3}, .5, .5, 10, 0},
		"not told by itself": {[]int64{0, 0, 0, 0, 0}, .5, .5, 10, 0},
	} {
		b := evidence.NewBundle()
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "gctrace"}), "gctrace")
		subject := p.Subject(evidence.Subject{Runtime: "go"})
		for i, n := range c.numbers {
			at := second + int64(i)*2*second
			p.Interval(evidence.Interval{Subject: subject, Kind: evidence.GCCycle, Start: at, End: at + second, Origin: p.Origin(int64(i + 1)),
				Extra: []evidence.Extra{{Key: evidence.CycleNumber, Value: float64(n)}, {Key: evidence.MarkTime, Value: 1e9}}})
		}
		p.Cover(evidence.Coverage{Subject: subject, Kind: evidence.CoverGC, From: second, Until: 11 * second})
		p.Close()
		g := GoCollector(b, subject, Scope{})
		near := func(a, b float64) bool { return math.Abs(a-b) < .01 }
		if !near(g.Rate.Number, c.rate) || !near(g.Marking.Number, c.marking) || !near(g.Span, c.span) || !near(g.Missing, c.missing) {
			t.Errorf("%s: %.3f/s, marking %.3f, of %.3f s, %.2f missing; want %+v", name, g.Rate.Number, g.Marking.Number, g.Span, g.Missing, c)
		}
	}
}
