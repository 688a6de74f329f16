package reading

import (
	"math"
	"testing"

	"github.com/unstall/unstall/evidence"
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
