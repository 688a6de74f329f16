package check

import (
	"testing"

	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/base/evidence"
)

// Who has recorded a service that answers nobody is not told to do just that.
func TestNoStates(t *testing.T) {
	b := evidence.NewBundle()
	b.Subjects = []evidence.Subject{{Runtime: "dotnet"}}
	c := &Case{Bundle: b}
	if v := c.NoStates(); v.Summary != "what requests waited for was not recorded" || v.Needs[0].Command != "unstall record PID" {
		t.Errorf("nobody watched: %+v", v)
	}
	b.Coverage = []evidence.Coverage{{Kind: evidence.CoverThreads}}
	b.Series = []evidence.Series{{Name: evidence.SeriesRequestsInFlight, T: []int64{1}, V: []float64{0}}}
	if v := c.NoStates(); v.State != Inconclusive || v.Needs[0].Command != "unstall record PID --for 5m" {
		t.Errorf("none ended: %+v", v)
	}
	if n := c.Trace("a longer recording", ""); n.Command != "unstall record PID --for 5m" {
		t.Errorf("the threads were recorded: the same again is %q", n.Command)
	}
	b.Subjects[0].Runtime = "go"
	if n := c.NoStates().Needs[0]; n.What != "an execution trace of a few seconds under load" || n.Command != platform.GoTrace {
		t.Errorf("Go: %+v", n)
	}
	b.Subjects[0].Runtime = "redis" // which has no pprof to ask
	if n := c.NoStates().Needs[0]; n.Command != "" {
		t.Errorf("Redis: %+v", n)
	}
}
