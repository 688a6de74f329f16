package service

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/diagnose/check/checktest"
)

const (
	epoch = int64(1_700_000_000e9)
	ms    = int64(1e6)
)

// seen is ten seconds of a service on two processors whose threads were looked at now
// and then: usual requests, and slow ones that spend most of their time in one state.
type seen struct {
	usual, slow int64 // ms
	at          int   // slow ones at once
	kind        evidence.Kind
	cpu         float64 // percent
	queue       float64 // work items
	ready       float64 // threads that waited for a processor, as the kernel counts them; then nobody looked
}

func (in seen) subject(t *testing.T) *check.Case {
	t.Helper()
	b := evidence.NewBundle()
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "shop.nettrace"}), "nettrace")
	s := p.Subject(evidence.Subject{Runtime: "dotnet", CPUs: 2})
	add := func(at, dur int64) {
		r := evidence.Request{Subject: s, Lane: 1, Route: p.Name("GET /"), Start: epoch + at*ms, End: epoch + (at+dur)*ms}
		if in.ready == 0 {
			r.Path = r.Path.Append(evidence.Segment{Kind: evidence.Running, Dur: ms}).Append(evidence.Segment{Kind: in.kind, Dur: (dur - 1) * ms, Cause: p.Name("http db:80")})
		}
		p.Request(r)
	}
	for i := range int64(2400) {
		add(i*4, in.usual)
	}
	for at := int64(0); at+in.slow <= 10_000; at += in.slow {
		for range in.at {
			add(at, in.slow)
		}
	}
	for name, v := range map[string]float64{evidence.SeriesCPU: in.cpu, evidence.SeriesPoolQueue: in.queue, "process.runDelay": in.ready} {
		p.Series(evidence.Series{Subject: s, Name: name, T: []int64{epoch, epoch + 10_000*ms}, V: []float64{v, v}, Origin: p.Origin(1)})
	}
	for _, kind := range []string{evidence.CoverRequests, evidence.CoverStates} {
		p.Cover(evidence.Coverage{Subject: s, Kind: kind, From: epoch, Until: epoch + 10_000*ms, Sampled: ms})
	}
	p.Close()
	l := ledger.Build(b, ledger.Options{})
	return &check.Case{Bundle: b, Subject: s, Ledger: l[0]}
}

func TestJudgedByLooks(t *testing.T) {
	saturates := seen{usual: 10, slow: 200, at: 20, kind: evidence.Running, cpu: 97}
	for _, tt := range []struct {
		name  string
		judge func(*check.Case) check.Verdict
		in    seen
		state string
		says  string
	}{
		{"twenty that run on two processors", judgeCapacity, saturates, check.Supported, "keep 97 % of the CPUs busy"},
		{"processors are idle", judgeCapacity, seen{usual: 10, slow: 200, at: 20, kind: evidence.Running, cpu: 20}, check.RuledOut, "20 % of 2 CPUs busy"},
		{"busy for a queue", judgeCapacity, seen{usual: 10, slow: 200, at: 20, kind: evidence.Awaiting, cpu: 95, queue: 100}, check.Supported, "keep 95 % of the CPUs busy"},
		{"quick inside, and a queue before it", judgeCapacity, seen{usual: 3, slow: 10, at: 1, kind: evidence.Running, cpu: 92, queue: 60}, check.Supported, "other requests wait"},
		{"quick inside, and no queue", judgeCapacity, seen{usual: 3, slow: 10, at: 1, kind: evidence.Running, cpu: 92, queue: 1}, check.RuledOut, "92 % of 2 CPUs busy"},
		{"busy, and waits for others", judgeCapacity, seen{usual: 10, slow: 200, at: 20, kind: evidence.NetWait, cpu: 95}, check.RuledOut, "95 % of 2 CPUs busy"},
		{"nobody looked, its threads wait for a processor", judgeCapacity, seen{usual: 10, slow: 200, at: 20, cpu: 97, ready: 15}, check.Supported, "keeps 97 % of the CPUs busy by itself"},
		{"nobody looked, its threads hardly wait", judgeCapacity, seen{usual: 10, slow: 200, at: 20, cpu: 97, ready: .5}, check.Inconclusive, "what requests waited for was not recorded"},
		{"nobody looked, others use the rest", judgeCapacity, seen{usual: 10, slow: 200, at: 20, cpu: 50, ready: 15}, check.Inconclusive, "what requests waited for was not recorded"},
		{"a dependency, awaited", judgeDependency, seen{usual: 10, slow: 200, at: 20, kind: evidence.NetWait, cpu: 10}, check.Supported, "Slow requests wait for http db:80."},
		{"awaited, of whom is not known", judgeDependency, seen{usual: 10, slow: 200, at: 20, kind: evidence.Awaiting, cpu: 10}, check.Inconclusive, "of slow time is awaiting something, above the usual 9 ms; its target was not recorded"},
		{"queued for a thread", judgeDependency, seen{usual: 10, slow: 200, at: 20, kind: evidence.Awaiting, cpu: 10, queue: 100}, check.RuledOut, "no slow request waited for a dependency"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := tt.in.subject(t)
			v := tt.judge(c)
			checktest.Decides(t, "", c, &v)
			if text := v.Title + " " + v.Summary; v.State != tt.state || !strings.Contains(text, tt.says) {
				t.Errorf("%s: %s, want %s: %s", v.State, text, tt.state, tt.says)
			}
		})
	}
	// Twenty-two seem to run, 1.94 processors were used: of each 200 ms 182 are waits.
	v := judgeCapacity(saturates.subject(t))
	if v.Saves == nil || v.Saves.Value < 170_000 || v.Saves.Value > 185_000 {
		t.Errorf("1,000 requests waited some 180 ms each: %+v", v.Saves)
	}
}
