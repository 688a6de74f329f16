package service

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack/stacktest"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// crowdedPool is ten seconds of a JVM on two CPUs with six threads that serve: two compute and four call a data base. Usual
// requests come one after the other; for the second half forty clients wait at once.
type crowdedPool struct {
	cpu   float64 // CPUs that the service uses
	ready float64 // of its threads, on average, waited for a CPU
}

func (in crowdedPool) subject() *check.Case {
	const server = " javax.servlet.http.HttpServlet.service java.util.concurrent.ThreadPoolExecutor$Worker.run java.lang.Thread.run [http-nio-8080-exec]"
	b := evidence.NewBundle()
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "load.txt"}), "loadresult")
	s := p.Subject(evidence.Subject{Kind: evidence.Process, Runtime: "jvm", Name: "shop", PID: 7, CPUs: 2})
	add := func(at, dur int64) {
		p.Request(evidence.Request{Subject: s, Route: p.Name("GET /"), Intended: epoch + at*ms, Start: epoch + at*ms, End: epoch + (at+dur)*ms})
	}
	for at := int64(0); at < 5000; at += 20 {
		add(at, 20)
	}
	for at := int64(5000); at < 9000; at += 100 {
		add(at, 1000)
		add(at, 1000)
		add(at, 1000)
		add(at, 1000)
	}
	p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverRequests, From: epoch, Until: epoch + 10_000*ms, Sampled: ms})
	p.Close()
	p = b.Builder(b.AddArtifact(evidence.Artifact{Name: "threads.txt"}), "threaddump")
	s = p.Subject(evidence.Subject{Kind: evidence.Process, Runtime: "jvm", Name: "shop", PID: 7, CPUs: 2})
	for n := range int64(50) {
		for i, top := range []string{"java.util.HashMap.put shop.Cart.total", "java.util.HashMap.put shop.Cart.total", "java.net.SocketInputStream.socketRead0 shop.Prices.ask",
			"java.net.SocketInputStream.socketRead0 shop.Prices.ask", "java.net.SocketInputStream.socketRead0 shop.Prices.ask", "java.net.SocketInputStream.socketRead0 shop.Prices.ask"} {
			p.Sample(evidence.Sample{Subject: s, Time: epoch + n*200*ms, Lane: evidence.LaneID(i + 1), Stack: stacktest.Intern(p, stacktest.Of(strings.Fields(top+server)...)),
				Type: p.Name(evidence.SampleThread), Value: 1, Origin: p.Origin(n + 1)})
		}
	}
	p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverThreads, From: epoch, Until: epoch + 10_000*ms})
	p.Close()
	p = b.Builder(b.AddArtifact(evidence.Artifact{Name: "procfs.txt"}), "procfs")
	s = p.Subject(evidence.Subject{Kind: evidence.Process, Runtime: "jvm", Name: "shop", PID: 7, CPUs: 2})
	var at []int64
	for n := range int64(41) {
		at = append(at, epoch+n*250*ms)
	}
	over := func(subject evidence.SubjectID, name string, v float64) {
		all := make([]float64, len(at))
		for i := range all {
			all[i] = v
		}
		p.Series(evidence.Series{Subject: subject, Name: name, T: at, V: all, Origin: p.Origin(1)})
	}
	over(s, evidence.SeriesProcessCPU, in.cpu)
	over(s, evidence.SeriesProcessRunDelay, in.ready)
	host := p.Subject(evidence.Subject{Kind: evidence.Host, Runtime: "linux", Name: "host", CPUs: 2})
	over(host, evidence.SeriesHostCPUBusy, in.cpu)
	p.Close()
	b.Unify()
	b.Align()
	c := &check.Case{Bundle: b, Subject: s}
	if all := ledger.Build(b, ledger.Options{Stacks: platform.Stacks()}); len(all) > 0 {
		c.Ledger, c.Subject = all[0], all[0].Subject
	}
	return c
}

// Threads that run, or were woken and wait for one of the CPUs that they all fill, serve no more requests if there are more
// of them; threads that wait for answers do.
func TestPoolAtFullCPUs(t *testing.T) {
	for _, test := range []struct {
		name                string
		in                  crowdedPool
		pool, capacity      string
		saysPool, saysSaved string
	}{
		{"the CPUs are full, and threads that were woken wait for them", crowdedPool{cpu: 1.7, ready: 4}, check.RuledOut, check.Supported, "holders were runnable, CPU busy with other requests", "85 % of the CPUs busy"},
		{"the CPUs are full, and as many threads run", crowdedPool{cpu: 1.7, ready: 1.8}, check.RuledOut, check.Supported, "whose threads run or wait for a CPU", "85 % of the CPUs busy"},
		{"the CPUs are full, and threads wait for answers", crowdedPool{cpu: 1.7, ready: .1}, check.Supported, check.Supported, "Requests wait for a free thread of", "85 % of the CPUs busy"},
		{"CPUs are free", crowdedPool{cpu: .6}, check.Supported, check.RuledOut, "Requests wait for a free thread of", "30 % of 2 CPUs busy"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := test.in.subject()
			if c.Ledger == nil {
				t.Fatal("there is no ledger")
			}
			for _, x := range []struct {
				v           check.Verdict
				state, says string
			}{{judgePool(c), test.pool, test.saysPool}, {judgeCapacity(c), test.capacity, test.saysSaved}} {
				if text := x.v.Title + " " + x.v.Summary; x.v.State != x.state || !strings.Contains(text, x.says) {
					t.Errorf("%s: %s, want %s: %s", x.v.State, text, x.state, x.says)
				}
			}
		})
	}
}
