package junit

import (
	"io"
	"strings"

	"github.com/unstall/unstall/internal/operate/compare"
	"github.com/unstall/unstall/internal/present/sentence"
)

// Compare renders a comparison: a case for each metric that fails a comparison if it regresses, and before them one that fails if the
// loads differ, so that a comparison of nothing does not pass. That one also says which causes either run has, as its output.
func Compare(w io.Writer, c *compare.Comparison) error {
	s := suite{Name: "unstall: " + sentence.Compared(c)}
	loads := test{Class: "unstall.compare", Name: "comparable"}
	switch {
	case c.Refused():
		loads.Failure = &problem{"the loads differ", c.Why}
	case len(c.Metrics) == 0:
		loads.Failure = &problem{"no metric is known for both sides", sentence.Compared(c)}
	case c.Comparable == nil:
		loads.Skipped = &problem{Message: c.Why}
	}
	loads.Output = strings.Join(sentence.CauseLines(c), "\n")
	s.addCase(loads)
	for i := range c.Metrics {
		m := &c.Metrics[i]
		if !m.Gate {
			continue
		}
		x := test{Class: "unstall.compare", Name: m.Name}
		figures := m.Title + " " + sentence.Both(m)
		if change := sentence.Changed(m); change != "" {
			figures += ", " + change
		}
		switch m.Result {
		case compare.Regressed:
			x.Failure = &problem{m.Title + " regressed", figures}
		case compare.Unclear:
			x.Skipped = &problem{"unclear: " + m.Why, figures}
		}
		s.addCase(x)
	}
	return writeXML(w, s)
}
