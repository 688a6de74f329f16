package linux

import (
	"testing"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// between is a Go service of which a second is traced in each five, with rows of all its
// requests, on a host of 2 CPUs. In one second of each five, none that is traced, somebody
// takes both CPUs or a quota stops it: then requests take 200 ms instead of 5.
func between(t *testing.T, traced, neighbour, stops bool) *check.Case {
	t.Helper()
	b := evidence.NewBundle()
	until := epoch + 30*second
	slowIn := func(at int64) bool { return (at-epoch)/second%5 == 3 }
	var s evidence.SubjectID
	if traced {
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "trace.out"}), "gotrace")
		s = p.Subject(evidence.Subject{Runtime: "go", PID: 7, CPUs: 2})
		for at := epoch; at < epoch+second; at += 20 * ms {
			dur := 5 * ms
			if (at-epoch)/ms%200 == 0 {
				dur = 25 * ms
			}
			p.Request(evidence.Request{Subject: s, Route: p.Name("GET /"), Start: at, End: at + dur, Path: evidence.Path(nil).Append(evidence.Segment{Kind: evidence.Running, Dur: dur})})
		}
		p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverRequests, From: epoch, Until: epoch + second})
		for key, v := range map[string]float64{evidence.FactShortCalls: 1000, evidence.FactShortCallMedian: 1000, evidence.FactShortCallMean: 1500,
			evidence.FactRunTime: .25 * float64(second), evidence.FactLongRuns: 0} {
			p.Fact(evidence.Fact{Subject: s, Key: key, Number: v, From: epoch, Until: epoch + second, Origin: p.Origin(0)})
		}
		p.Close()
	}
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "load.rows"}), "loadresult")
	s = p.Subject(evidence.Subject{Runtime: "go", PID: 7, CPUs: 2})
	for at := epoch; at < until; at += 20 * ms {
		dur := 5 * ms
		if slowIn(at) {
			dur = min(200*ms, second-(at-epoch)%second+5*ms)
		}
		p.Request(evidence.Request{Subject: s, Route: p.Name("GET /"), Start: at, End: at + dur, Intended: at})
	}
	p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverRequests, From: epoch, Until: until})
	p.Close()

	p = b.Builder(b.AddArtifact(evidence.Artifact{Name: "procfs.txt"}), "procfs")
	s = p.Subject(evidence.Subject{Runtime: "go", PID: 7, CPUs: 2})
	host := p.Subject(evidence.Subject{Kind: evidence.Host, CPUs: 2})
	batch := p.Subject(evidence.Subject{Name: "batch", PID: 9})
	series := func(of evidence.SubjectID, name string, usually, then float64) {
		x := evidence.Series{Subject: of, Name: name, Origin: p.Origin(1)}
		for at := epoch; at <= until; at += second / 4 {
			v := usually
			if slowIn(at) {
				v = then
			}
			x.T, x.V = append(x.T, at), append(x.V, v)
		}
		p.Series(x)
	}
	load, busy, ran, waits := .1, .4, .26, .01
	if neighbour {
		load, busy, ran, waits = 1.9, 2, .1, 9
	}
	series(host, evidence.SeriesHostCPUBusy, .4, busy)
	series(batch, evidence.SeriesProcessCPU, .1, load)
	stopped, queues := 0., 0.
	if stops {
		stopped, queues, waits = 9, 1.6, 9
	}
	series(s, evidence.SeriesProcessCPU, .26, ran)
	series(s, evidence.SeriesProcessRunDelay, .01, waits)
	series(s, evidence.SeriesCgroupCPUPeriods, 10, 10)
	series(s, evidence.SeriesCgroupCPUThrottledPeriods, 0, stopped)
	series(s, evidence.SeriesCgroupCPUThrottled, 0, queues)
	p.Close()
	b.Unify()
	for _, l := range ledger.Build(b, ledger.Options{}) {
		if l.Traced == traced && len(l.All.Slow) > 200 {
			return &check.Case{Bundle: b, Subject: l.Subject, Ledger: l}
		}
	}
	t.Fatal("no ledger")
	return nil
}

// TestSecondsBetweenTraces: who or what makes requests slow between traces is found, and never
// cleared by the seconds that are traced.
func TestSecondsBetweenTraces(t *testing.T) {
	for _, c := range []struct {
		name                     string
		traced, neighbour, stops bool
		blames, throttles        string
	}{
		{"neighbour", true, true, false, check.Supported, check.RuledOut},
		{"neighbour, no trace", false, true, false, check.Supported, check.RuledOut},
		{"something else", true, false, false, check.RuledOut, check.RuledOut},
		{"quota", true, false, true, check.RuledOut, check.Supported},
		{"quota, no trace", false, false, true, check.RuledOut, check.Supported},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := between(t, c.traced, c.neighbour, c.stops)
			n, q := judgeNeighbour(k), judgeThrottled(k)
			if n.State != c.blames {
				t.Errorf("neighbour is %s: %s", n.State, n.Summary)
			}
			if q.State != c.throttles {
				t.Errorf("quota is %s: %s", q.State, q.Summary)
			}
			for _, v := range []check.Verdict{n, q, judgeSaturation(k)} {
				checkVerdict(t, v, float64(k.Ledger.Total)/1e6)
			}
		})
	}
}
