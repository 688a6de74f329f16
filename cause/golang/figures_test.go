package golang

import (
	"math"
	"testing"

	"github.com/unstall/unstall/evidence"
)

// The longest recording counts: three traces of a second each that are one, not
// the log of two seconds beside them, and not what lies between the traces.
func TestFiguresOf(t *testing.T) {
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
	f, ok := FiguresOf(b, subject)
	if !ok || f.Span != 3 || math.Abs(f.Rate-4) > 1e-9 || math.Abs(f.Assist-.004) > 1e-9 || f.Live != 1<<20 || !math.IsNaN(f.Goal) {
		t.Errorf("%+v, %v", f, ok)
	}
	if _, ok := FiguresOf(evidence.NewBundle(), 0); ok {
		t.Error("figures of nothing")
	}
}
