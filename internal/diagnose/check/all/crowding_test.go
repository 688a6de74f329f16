package all_test

import (
	"testing"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/diagnose/check/linux"
	"github.com/unstall/unstall/internal/diagnose/check/service"
)

// onFullHost is a service whose requests call a database of the same host. A tenth of the calls take 120 ms, others 5, while the host's two
// CPUs are full: of other programs, or of the database itself. Ready is how many threads of the database waited for a CPU.
func onFullHost(t *testing.T, others, database, ready float64) *check.Case {
	t.Helper()
	const epoch, ms = int64(1_700_000_000e9), int64(1e6)
	const until = epoch + 30_000*ms
	const address = "127.0.0.1:5432"
	b := evidence.NewBundle()
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "exchanges.txt", Vantage: evidence.FromKernel}), "exchanges")
	*p.Clock() = evidence.Clock{Name: "unix", Error: 1e5}
	s := p.Subject(evidence.Subject{Kind: evidence.Process, Name: "shop", PID: 7, CPUs: 2})
	called := p.Name("PostgreSQL at " + address)
	for i := range int64(1000) {
		at, took := epoch+i*30*ms, 5*ms
		if i%10 == 3 {
			took = 120 * ms
		}
		p.Request(evidence.Request{Subject: s, Route: p.Name("GET /orders/{id}"), Start: at, End: at + took + 2*ms, Origin: p.Origin(i + 1),
			Path: evidence.Path(nil).Append(evidence.Segment{Kind: evidence.Running, Dur: ms}).Append(evidence.Segment{Kind: evidence.NetWait, Dur: took, Cause: called}).Append(evidence.Segment{Kind: evidence.Running, Dur: ms})})
	}
	for _, kind := range []string{evidence.CoverRequests, evidence.CoverStates} {
		p.Cover(evidence.Coverage{Subject: s, Kind: kind, From: epoch, Until: until, Origin: p.Origin(1)})
	}
	p.Close()

	p = b.Builder(b.AddArtifact(evidence.Artifact{Name: "procfs.txt"}), "procfs")
	*p.Clock() = evidence.Clock{Name: "unix", Error: 1e5}
	s = p.Subject(evidence.Subject{Kind: evidence.Process, Name: "shop", PID: 7, CPUs: 2})
	host := p.Subject(evidence.Subject{Kind: evidence.Host, CPUs: 2})
	batch := p.Subject(evidence.Subject{Kind: evidence.Process, Name: "batch", PID: 9})
	postgres := p.Subject(evidence.Subject{Kind: evidence.Process, Name: "postgres", PID: 11})
	series := func(of evidence.SubjectID, name string, v float64) {
		x := evidence.Series{Subject: of, Name: name, Unit: "1", Origin: p.Origin(1)}
		for at := epoch; at <= until; at += 250 * ms {
			x.T, x.V = append(x.T, at), append(x.V, v)
		}
		p.Series(x)
	}
	series(host, evidence.SeriesHostCPUBusy, others+database+.1)
	series(s, evidence.SeriesProcessCPU, .1)
	series(s, evidence.SeriesProcessRunDelay, .02)
	series(batch, evidence.SeriesProcessCPU, others)
	series(postgres, evidence.SeriesProcessCPU, database)
	series(postgres, evidence.SeriesProcessRunDelay, ready)
	series(postgres, evidence.SeriesListenQueue+":"+address, 0)
	p.Close()
	b.Unify()
	b.Align()
	for _, l := range ledger.Build(b, ledger.Options{}) {
		if len(l.Slow) == 100 {
			return &check.Case{Bundle: b, Subject: l.Subject, Ledger: l}
		}
	}
	t.Fatal("no ledger with the slow requests")
	return nil
}

// A database that others keep from running is not what is slow; one that takes the CPUs itself is, and so is one that is not kept waiting.
func TestCrowding(t *testing.T) {
	for _, c := range []struct {
		name                    string
		others, database, ready float64
		neighbour, dependency   bool
	}{
		{"others take the CPUs", 1.8, .1, .5, true, false},
		{"others take them, and the database waits for something else", 1.8, .1, .01, false, true},
		{"the database takes them", .1, 1.8, .5, false, true},
		{"the host has CPUs to spare", .5, .1, .5, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := onFullHost(t, c.others, c.database, c.ready)
			if v := linux.NoisyNeighbour.Judge(k); v.Supported() != c.neighbour {
				t.Errorf("neighbour is %s: %s", v.State, v.Summary)
			}
			if v := service.DependencySlow.Judge(k); v.Supported() != c.dependency {
				t.Errorf("dependency is %s: %s", v.State, v.Summary)
			}
		})
	}
}
