package cause

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/evidence"
)

// Who has recorded a service that answers nobody is not told to do just that.
func TestNoStates(t *testing.T) {
	b := &evidence.Bundle{Subjects: []evidence.Subject{{Runtime: "dotnet"}}}
	c := &Case{Bundle: b}
	if v := c.NoStates(); v.Summary != "no request's states are known" || !strings.HasSuffix(v.Needs[0], "unstall record PID") {
		t.Errorf("nobody watched: %+v", v)
	}
	b.Coverage = []evidence.Coverage{{Kind: evidence.CoverThreads}}
	b.Series = []evidence.Series{{Name: evidence.SeriesRequestsInFlight, T: []int64{1}, V: []float64{0}}}
	if v := c.NoStates(); v.State != Inconclusive || !strings.Contains(v.Needs[0], "--for 5m") {
		t.Errorf("none ended: %+v", v)
	}
	b.Subjects[0].Runtime = "go"
	if v := c.NoStates(); !strings.Contains(v.Needs[0], "execution trace") {
		t.Errorf("Go: %+v", v)
	}
}
