package diagnose

import (
	"slices"
	"testing"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/base/evidence"
)

// A warning that something is missing says nothing where another source has it.
func TestCoveredWarning(t *testing.T) {
	for name, c := range map[string]struct {
		requests, states bool
		want             int
	}{"nothing else": {false, false, 2}, "requests of another source": {true, false, 1}, "dumps with states": {false, true, 1}, "both": {true, true, 0}} {
		b := incident.NewBundle()
		log := b.Builder(b.AddArtifact(evidence.Artifact{Name: "app.log"}), "accesslog")
		log.WarnUnless(evidence.CoverRequests, 0, "no durations")
		s := log.Subject(evidence.Subject{PID: 7})
		log.Close()
		cover := func(name, kind string, stateless bool) *evidence.Builder {
			p := b.Builder(b.AddArtifact(evidence.Artifact{Name: name}), "x")
			*p.Clock() = evidence.Clock{Name: "unix"}
			p.Cover(evidence.Coverage{Subject: s, Kind: kind, From: 1e18, Until: 1e18 + 5e9, Origin: p.Origin(1)})
			if stateless {
				p.FactAt(s, evidence.FactStateless, "", 1, 1)
				p.WarnUnless(evidence.CoverThreads, 1, "no states")
			}
			return p
		}
		cover("virtual-1.txt", evidence.CoverThreads, true).Close()
		cover("virtual-2.txt", evidence.CoverThreads, true).Close()
		if c.states {
			cover("threads.txt", evidence.CoverThreads, false).Close()
		}
		if c.requests {
			p := cover("rows.txt", evidence.CoverRequests, false)
			for i := range int64(30) {
				p.Request(evidence.Request{Subject: s, Route: p.Name("GET /"), Start: 1e18 + i*1e8, End: 1e18 + i*1e8 + 5e6})
			}
			p.Close()
		}
		i := incident.Of(b, incident.Options{})
		r := &run{b: i.Bundle, incident: i}
		left := slices.DeleteFunc(slices.Clone(i.Bundle.Warnings), func(w evidence.Warning) bool { return r.isCovered(&w) })
		if len(left) != c.want {
			t.Errorf("%s: %v, want %d", name, left, c.want)
		}
	}
}
