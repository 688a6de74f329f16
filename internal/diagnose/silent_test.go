package diagnose

import (
	"testing"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/base/evidence"
)

// A service that answers nothing from some moment on is silent, and not one that is asked no more or that answers with errors.
func TestSilent(t *testing.T) {
	const began = int64(1_795_423_700e9)
	for name, c := range map[string]struct {
		from     int64 // the request from which it is as the outcome says
		outcome  evidence.Outcome
		statuses bool // of failed requests are known
		want     float64
	}{
		"answers":             {1000, evidence.OK, false, 0},
		"hangs":               {600, evidence.Unfinished, false, 40.095},
		"times out":           {600, evidence.TimedOut, false, 40.095},
		"hangs at the end":    {960, evidence.Unfinished, false, 0},
		"gets no connection":  {600, evidence.Failed, false, 40.095},
		"answers with errors": {600, evidence.Failed, true, 0},
	} {
		b := incident.NewBundle()
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "requests.txt"}), "loadresult")
		*p.Clock() = evidence.Clock{Name: "unix"}
		s := p.Subject(evidence.Subject{})
		for i := range int64(1000) {
			at := began + i*100e6
			q := evidence.Request{Subject: s, Route: p.Name("GET /"), Start: at, End: at + 5e6}
			if i >= c.from && c.outcome != evidence.OK {
				q.Outcome, q.End = c.outcome, max(at+5e6, began+100e9)
			}
			p.Request(q)
		}
		p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverRequests, From: began, Until: began + 100e9})
		p.Close()
		i := incident.Of(b, incident.Options{})
		if got := silentFor(i.Bundle, i.Ledgers()[0], c.statuses); got < c.want-.2 || got > c.want+.2 {
			t.Errorf("%s: %g s, want %g", name, got, c.want)
		}
	}
}
