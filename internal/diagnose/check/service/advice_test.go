package service

import (
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack/stacktest"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// part is a state of requests and how long it lasts, ms.
type part struct {
	state evidence.Segment
	ms    float64
}

// spending is ten seconds of requests, one each 10 ms, of which one in three is slow. It spends its time in the parts of slow, the others in
// those of usual.
func spending(runtime string, slo time.Duration, slow, usual []part, add func(p *evidence.Builder, s evidence.SubjectID)) *check.Case {
	b := evidence.NewBundle()
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "looks"}), "looks")
	s := p.Subject(evidence.Subject{Runtime: runtime, CPUs: 4})
	if add != nil {
		add(p, s)
	}
	for i := range int64(1000) {
		parts := usual
		if i%3 == 0 {
			parts = slow
		}
		at := epoch + i*10*ms
		end, path := at, evidence.Path(nil)
		for _, x := range parts {
			x.state.Dur = int64(x.ms * 1e6)
			end, path = end+x.state.Dur, path.Append(x.state)
		}
		p.Request(evidence.Request{Subject: s, Lane: evidence.LaneID(1 + i%40), Route: p.Name("GET /"), Start: at, End: end, Path: path})
	}
	for _, kind := range []string{evidence.CoverRequests, evidence.CoverStates} {
		p.Cover(evidence.Coverage{Subject: s, Kind: kind, From: epoch, Until: epoch + 10_000*ms, Sampled: ms})
	}
	p.Close()
	return &check.Case{Bundle: b, Subject: s, Ledger: ledger.Build(b, ledger.Options{SLO: slo})[0]}
}

// Own work that is most of slow time is found from 15 % beyond what is usual, if no other cause is.
func TestOwnWorkBeyondUsual(t *testing.T) {
	own, call := evidence.Segment{Kind: evidence.Running}, evidence.Segment{Kind: evidence.NetWait}
	other := []check.Found{{ID: "go.gc-rate", Step: check.StepCollector}}
	for name, x := range map[string]struct {
		slow, usual []part
		found       []check.Found
		rule        check.Rule
	}{
		"a fifth beyond, all of it":             {[]part{{own, 60}}, []part{{own, 48}}, nil, check.Matters},
		"a fifth beyond, two thirds of it":      {[]part{{own, 45}, {call, 20}}, []part{{own, 32}, {call, 16}}, nil, check.Matters},
		"a third beyond":                        {[]part{{own, 60}}, []part{{own, 40}}, other, check.Matters},
		"a fifth beyond, and another cause":     {[]part{{own, 60}}, []part{{own, 48}}, other, check.Usual},
		"a tenth beyond":                        {[]part{{own, 60}}, []part{{own, 54}}, nil, check.Usual},
		"a fifth beyond, less than half of all": {[]part{{own, 28}, {call, 32}}, []part{{own, 16}, {call, 32}}, nil, check.Usual},
	} {
		c := spending("go", 57*time.Millisecond, x.slow, x.usual, nil)
		c.Found = x.found
		if v := judgeOwnWork(c); v.Answer != x.rule.Answer {
			t.Errorf("%s: %s: %s %s", name, v.Answer, v.Title, v.Summary)
		}
	}
}

// While requests are served one at a time, what the process runs most is what they wait for, if it runs at all.
func TestTurnRuns(t *testing.T) {
	for name, x := range map[string]struct {
		cpus    float64
		samples int // each 50 ms: three of four in sum, the others in encode
		code    string
	}{
		"it computes":              {.9, 180, "main.sum"},
		"it computes, hardly seen": {.9, 6, ""},
		"it waits itself":          {.05, 180, ""},
	} {
		c := spending("go", 0, []part{{evidence.Segment{Kind: evidence.SyncWait}, 60}, {evidence.Segment{Kind: evidence.Unobserved}, 5}}, []part{{evidence.Segment{Kind: evidence.Unobserved}, 5}},
			func(p *evidence.Builder, s evidence.SubjectID) {
				for i := range x.samples {
					function := "main.sum"
					if i%4 == 0 {
						function = "main.encode"
					}
					stack := p.Stack([]evidence.Frame{{Func: p.Name(function)}, {Func: p.Name("main.serve")}})
					p.Sample(evidence.Sample{Subject: s, Lane: 7, Time: epoch + int64(i)*50*ms, Stack: stack, Type: p.Name(evidence.SampleOnCPU), Value: 10 * ms, Origin: p.Origin(1)})
				}
				p.Series(evidence.Series{Subject: s, Name: evidence.SeriesProcessCPU, T: []int64{epoch, epoch + 10_000*ms}, V: []float64{x.cpus, x.cpus}, Origin: p.Origin(1)})
			})
		var v check.Verdict
		if code := turnRuns(c, &v); code != x.code || (code != "") != strings.Contains(evidenceOf(v), "while slow requests were under way: main.sum") {
			t.Errorf("%s: %q, %s", name, code, evidenceOf(v))
		}
	}
}

// A pool of which as many threads were seen as its requests need is not advised to have more.
func TestPoolWithEnoughThreads(t *testing.T) {
	frames := []string{"java.net.SocketInputStream.socketRead0", "java.net.SocketInputStream.read", "mill.Hand.work", "java.util.concurrent.ThreadPoolExecutor$Worker.run", "java.lang.Thread.run", "[hands]"}
	for seen, advised := range map[int]bool{2: true, 12: false} {
		slow := []part{{evidence.Segment{Kind: evidence.PoolWait}, 100}, {evidence.Segment{Kind: evidence.Running}, 20}}
		c := spending("jvm", 0, slow, []part{{evidence.Segment{Kind: evidence.Running}, 20}}, func(p *evidence.Builder, s evidence.SubjectID) {
			slow[0].state.Cause = p.Wait(evidence.PoolThread, "hands")
			for round := range int64(5) {
				for k := range seen {
					p.Sample(evidence.Sample{Subject: s, Time: epoch + round*1000*ms, Lane: evidence.LaneID(100 + k), Stack: stacktest.Intern(p, stacktest.Of(frames...)),
						Type: p.Name(evidence.SampleThread), Unit: p.Name("count"), Value: 1})
				}
			}
		})
		wait := func(_ *evidence.Segment, ch *ledger.Charges) (ledger.Mechanism, int64) {
			return ledger.Pool, ch[ledger.Pool]
		}
		var v check.Verdict
		if needed, _ := estimateNeeded(c, &v, slow[0].state.Cause, wait); (needed > 0) != advised {
			t.Errorf("of %d threads %g places are advised", seen, needed)
		}
	}
}

// Many calls are asked for at once in the words of what is called.
func TestAskOnce(t *testing.T) {
	for to, want := range map[string]string{"PostgreSQL at 10.0.0.7:5432": "join", "Redis at 10.0.0.7:6379": "MGET", "10.0.0.7:80": "an endpoint that takes a list", "http [::1]:80": "an endpoint that takes a list",
		"database/sql": "a batch endpoint or a pipeline"} {
		if got := askOnce(to); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", to, got, want)
		}
	}
}
