package service

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// Connections that wait to be accepted are a finding where it is not known how long clients wait, and none where all their requests meet the objective.
func TestAcceptQueueUnderObjective(t *testing.T) {
	b := evidence.NewBundle()
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "procfs.txt"}), "procfs")
	s := p.Subject(evidence.Subject{Kind: evidence.Process, Runtime: "php"})
	x := evidence.Series{Subject: s, Name: evidence.SeriesListenQueue + ":unix:/run/php.sock", Unit: "connections", Origin: p.Origin(1)}
	for i := range int64(20) {
		x.T, x.V = append(x.T, epoch+i*500*ms), append(x.V, 4)
	}
	p.Series(x)
	p.Close()
	few := b.Builder(b.AddArtifact(evidence.Artifact{Name: "ss.txt"}), "socketstat")
	quiet := few.Subject(evidence.Subject{Kind: evidence.Process, Runtime: "go"})
	few.Series(evidence.Series{Subject: quiet, Name: evidence.SeriesListenQueue + ":0.0.0.0:80", Unit: "connections", Origin: few.Origin(1), T: x.T, V: make([]float64, len(x.T))})
	few.Close()
	if v := judgeAcceptQueue(&check.Case{Bundle: b, Subject: quiet}); v.Rule != check.TooLittle { // what is unread was not recorded
		t.Errorf("an empty queue: %s %q", v.Rule.Answer, v.Title)
	}
	for _, met := range []bool{false, true} {
		v := judgeAcceptQueue(&check.Case{Bundle: b, Subject: s, ObjectiveMet: met})
		if (v.Rule == check.Matters) == met {
			t.Errorf("objective met %v: %s %q", met, v.Rule, v.Summary)
		}
	}
}

// A queue that was read once shows no mean: it is found where it was full or long, else left open.
func TestAcceptQueueReadOnce(t *testing.T) {
	for _, x := range []struct {
		waiting, backlog float64
		rule             check.Rule
	}{{0, 128, check.OneLook}, {9, 128, check.OneLook}, {10, 128, check.Matters}, {5, 5, check.Matters}} {
		b := evidence.NewBundle()
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "procfs.txt"}), "procfs")
		s := p.Subject(evidence.Subject{Kind: evidence.Process, Runtime: "go"})
		for name, n := range map[string]float64{evidence.SeriesListenQueue: x.waiting, evidence.SeriesListenBacklog: x.backlog, evidence.SeriesUnreadConnections: 0} {
			p.Series(evidence.Series{Subject: s, Name: name + ":127.0.0.1:80", Unit: "connections", Origin: p.Origin(1), T: []int64{epoch}, V: []float64{n}})
		}
		p.Close()
		v := judgeAcceptQueue(&check.Case{Bundle: b, Subject: s})
		if v.Rule != x.rule || strings.Contains(v.Title+v.Summary, "?") {
			t.Errorf("%v of %v: %s %q %q", x.waiting, x.backlog, v.Rule.Answer, v.Title, v.Summary)
		}
	}
}

// Waits at the sockets are another cause's where that stops the process, or the loop that reads, from a share on that could be told.
func TestWhatStopsReading(t *testing.T) {
	for _, x := range []struct {
		found check.Found
		share float64
		stops bool
	}{
		{check.Found{ID: "linux.cpu-throttled", Step: check.StepProcessors}, .24, true},
		{check.Found{ID: "jvm.full-gc", Step: check.StepCollector}, .9, true},
		{check.Found{ID: BlockedLoop.ID, Step: BlockedLoop.Step}, .16, true},
		{check.Found{ID: BlockedLoop.ID, Step: BlockedLoop.Step}, .14, false},
		{check.Found{ID: "jvm.safepoint", Step: check.StepRest, StopsAll: true}, .49, true},
		{check.Found{ID: "jvm.safepoint", Step: check.StepRest, StopsAll: true}, .14, false},
		{check.Found{ID: "jvm.old-gen-leak", Step: check.StepRest}, .9, false},
		{check.Found{ID: "service.dependency-slow", Step: check.StepDependency}, .9, false},
		{check.Found{}, .9, false},
	} {
		by := stopsReading(&check.Case{Found: []check.Found{x.found}}, x.share)
		if by != map[bool]string{true: x.found.ID}[x.stops] {
			t.Errorf("%s, %g: %q", x.found.ID, x.share, by)
		}
	}
}

// The threads that read connections are of the pool that requests queue for where their name begins the pool's, as far as the kernel keeps it.
func TestReadByPool(t *testing.T) {
	for name, x := range map[string]struct {
		loop, pool string
		want       string
	}{
		"the same pool":    {"of 4 threads application-pek", "application-pekko.actor.default-dispatcher", PoolExhausted.ID},
		"cut":              {"application-pe…", "application-pekko.actor.default-dispatcher", PoolExhausted.ID},
		"another pool":     {"of 4 threads application-pek", "printer-pool", ""},
		"too short a name": {"of 2 threads app", "application-pekko.actor.default-dispatcher", ""},
	} {
		slow := []part{{evidence.Segment{Kind: evidence.ThreadWait}, 30}, {evidence.Segment{Kind: evidence.ThreadWait}, 30}}
		c := spending("", 0, slow, []part{{evidence.Segment{Kind: evidence.Running}, 1}}, func(p *evidence.Builder, _ evidence.SubjectID) {
			slow[0].state.Cause, slow[1].state.Cause = p.Wait(evidence.EventLoop, x.loop), p.Wait(evidence.PoolThread, x.pool)
		})
		c.Found = []check.Found{{ID: PoolExhausted.ID, Step: check.StepPool}}
		if got := stopsReading(c, .5); got != x.want {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
	}
}

// Threads of .NET's pool accept connections: what keeps requests waiting for one keeps connections waiting, too.
func TestAcceptedByPool(t *testing.T) {
	behindThreads := func(p *ledger.Place) bool { return p.Linked[ledger.PoolThread] > 0 }
	for _, x := range []struct {
		runtime string
		wait    evidence.Kind
		found   check.Found
		stops   bool
	}{
		{"dotnet", evidence.ThreadWait, check.Found{ID: "lock", Step: check.StepLocks, Verdict: check.Verdict{Explains: behindThreads}}, true},
		{"dotnet", evidence.ThreadWait, check.Found{ID: "lock", Step: check.StepLocks}, false},
		{"dotnet", evidence.ThreadWait, check.Found{ID: "dotnet.threadpool-starvation", Step: check.StepPool}, true},
		{"dotnet", evidence.ThreadWait, check.Found{ID: PoolExhausted.ID, Step: check.StepPool}, false},
		{"dotnet", evidence.LockWait, check.Found{ID: "lock", Step: check.StepLocks, Verdict: check.Verdict{Explains: behindThreads}}, false},
		{"jvm", evidence.ThreadWait, check.Found{ID: "lock", Step: check.StepLocks, Verdict: check.Verdict{Explains: behindThreads}}, false},
	} {
		c := spending(x.runtime, 0, []part{{evidence.Segment{Kind: x.wait}, 30}, {evidence.Segment{Kind: x.wait}, 30}}, []part{{evidence.Segment{Kind: evidence.Running}, 1}}, nil)
		c.Found = []check.Found{x.found}
		if by := stopsReading(c, .5); (by != "") != x.stops {
			t.Errorf("%s, %v: %q", x.runtime, x.wait, by)
		}
	}
}
