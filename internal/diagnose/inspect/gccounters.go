package inspect

import (
	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
)

// counterTables returns the collector's counters of an artifact with what they mean, where no
// artifact has GC events of the subject.
func counterTables(b *evidence.Bundle, a evidence.ArtifactID) (out []Table) {
	told := make(map[evidence.SubjectID]bool)
	for i := range b.Series {
		s := &b.Series[i]
		if of, ok := s.Origin.Artifact(); !ok || of != a || told[s.Subject] {
			continue
		}
		told[s.Subject] = true
		if len(b.Covered(s.Subject, evidence.CoverGC)) > 0 {
			continue
		}
		g := metrics.ReadGCCounters(b, s.Subject, metrics.Whole)
		if g == nil {
			continue
		}
		title := "GC counters"
		if name := b.Subjects[s.Subject].Name; name != "" {
			title += " of " + name
		}
		t := Table{Title: title, Columns: []string{"counter", "mean", "meaning"}}
		for _, f := range g.Findings() {
			mean := units.Num(f.Value.Number) + " /s"
			if f.Value == g.Time {
				mean = units.Percent(f.Value.Number / 100)
			}
			t.Rows = append(t.Rows, []string{f.Counter, mean, f.Text})
		}
		if len(t.Rows) == 0 {
			t.Rows = [][]string{{"all", "", "nothing stands out"}}
		}
		out = append(out, t)
	}
	return out
}
