package evidence

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPiecesOfARecordingAreOneSeries(t *testing.T) {
	b := NewBundle()
	piece := func(recording string, subject SubjectID, at []int64, v []float64) {
		p := b.Builder(b.AddArtifact(Artifact{Name: recording, Series: recording}), "gopprof")
		p.Series(Series{Subject: subject, Name: "/gc/cycles/total:gc-cycles", T: at, V: v, Origin: p.Origin(1)})
		p.Close()
	}
	b.Subjects = make([]Subject, 2)
	piece("heap", 0, []int64{10, 20}, []float64{1, 2})
	piece("heap", 1, []int64{10}, []float64{7}) // another process
	piece("", 0, []int64{10}, []float64{9})     // on its own
	piece("heap", 0, []int64{5, 20, 30}, []float64{.5, 99, 3})
	b.Align()
	var got []Series
	for _, s := range b.Series {
		got = append(got, Series{Subject: s.Subject, T: s.T, V: s.V})
	}
	want := []Series{
		{T: []int64{5, 10, 20, 30}, V: []float64{.5, 1, 2, 3}},
		{Subject: 1, T: []int64{10}, V: []float64{7}},
		{T: []int64{10}, V: []float64{9}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
