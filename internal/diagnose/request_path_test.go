package diagnose

import (
	"math"
	"testing"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/base/evidence"
)

// The parts of a route's requests add up to what they took, and another's account of them is left out.
func TestThrough(t *testing.T) {
	b := evidence.NewBundle()
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "access.log"}), "accesslog")
	s := p.Subject(evidence.Subject{Name: "nginx", PID: 7, Runtime: platform.Nginx.ID})
	for i := range int64(10) {
		path := evidence.Path(nil).Append(evidence.Segment{Kind: evidence.PoolWait, Dur: 10e6, Cause: p.TellWait("PHP-FPM workers, pool www", evidence.Wait{Kind: evidence.WorkerPool, By: "PHP-FPM", Of: "www"})}).
			Append(evidence.Segment{Kind: evidence.Running, Dur: 4e6}).Append(evidence.Segment{Kind: evidence.NetWait, Dur: 3e6, Cause: p.Name("10.0.0.7:6379")}).
			Append(evidence.Segment{Kind: evidence.SleepWait, Dur: 2e6}).Append(evidence.Segment{Kind: evidence.Unobserved, Dur: 1e6})
		p.Request(evidence.Request{Subject: s, Route: p.Name("GET /cart"), Start: 1e18 + i*1e8, End: 1e18 + i*1e8 + 20e6, Path: path})
		p.Request(evidence.Request{Subject: s, Route: p.Name("GET /a.css"), Start: 1e18 + i*1e8, End: 1e18 + i*1e8 + 5e5})
	}
	p.Close()
	p = b.Builder(b.AddArtifact(evidence.Artifact{Name: "requests.txt"}), "loadresult")
	p.Request(evidence.Request{Subject: s, Route: p.Name("GET /cart"), Intended: 1e18, Start: 1e18, End: 1e18 + 9e9})
	p.Close()
	got := throughOf(b, s)
	if got == nil || len(got.Routes) != 2 || got.Front != "nginx pid 7" || got.Title != "nginx" {
		t.Fatalf("%+v", got)
	}
	x := got.Routes[0]
	if len(x.Calls) != 1 || x.Calls[0] != (Call{"10.0.0.7:6379", 3}) {
		t.Errorf("calls %+v", x.Calls)
	}
	for name, v := range map[string][2]float64{"mean": {x.MeanMs, 20}, "front": {x.FrontMs, 1}, "wait": {x.WaitMs, 10}, "run": {x.RunMs, 4}, "calls": {x.CallMs, 3}, "kernel": {x.KernelMs, 0}, "store": {x.StoreMs, 0}, "other": {x.OtherMs, 2}} {
		if math.Abs(v[0]-v[1]) > 1e-9 {
			t.Errorf("%s: %v ms, want %v", name, v[0], v[1])
		}
	}
	if x.Route != "GET /cart" || x.Requests != 10 {
		t.Errorf("%d of %s", x.Requests, x.Route)
	}
}

func throughOf(b *evidence.Bundle, front evidence.SubjectID) *RequestPath {
	r := &run{incident: incident.Of(b, incident.Options{}), b: b}
	r.nameSubjects()
	r.name[front] = "nginx pid 7"
	return r.traceWorkerPool()
}

// What users on journeys asked for is told by their steps, with what they waited outside, and what workers called
// by what it is, if that was recorded, too.
func TestThroughByJourneys(t *testing.T) {
	b := evidence.NewBundle()
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "access.log"}), "accesslog")
	s := p.Subject(evidence.Subject{Name: "nginx", PID: 7, Runtime: platform.Nginx.ID})
	const from, n = int64(1.7e18), 200
	took := func(i int64) int64 { // every tenth is slow
		if i%10 == 0 {
			return 400e6
		}
		return 20e6
	}
	for i := range int64(n) {
		path := evidence.Path(nil).Append(evidence.Segment{Kind: evidence.PoolWait, Dur: took(i) - 12e6, Cause: p.TellWait("PHP-FPM workers, pool www", evidence.Wait{Kind: evidence.WorkerPool, By: "PHP-FPM", Of: "www"})}).
			Append(evidence.Segment{Kind: evidence.Running, Dur: 4e6}).Append(evidence.Segment{Kind: evidence.NetWait, Dur: 6e6, Cause: p.Name("unix:/run/redis.sock")}).
			Append(evidence.Segment{Kind: evidence.Unobserved, Dur: 2e6})
		p.Request(evidence.Request{Subject: s, Route: p.Name("GET /cart"), Start: from + i*50e6, End: from + i*50e6 + took(i), Path: path})
	}
	p.Close()
	p = b.Builder(b.AddArtifact(evidence.Artifact{Name: "requests.txt"}), "loadresult")
	for i := range int64(n) {
		step := "buy: cart"
		if i%2 == 1 {
			step = "look: cart"
		}
		p.Request(evidence.Request{Subject: s, Route: p.Name("GET /cart"), Step: p.Name(step), Intended: from + i*50e6 - 1e6, End: from + i*50e6 + took(i) + 1e6})
	}
	p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverRequests, From: from - 1e9, Until: from + 2e10})
	p.Close()
	p = b.Builder(b.AddArtifact(evidence.Artifact{Name: "redis.txt"}), "redis")
	store := p.Subject(evidence.Subject{Name: "redis-server", PID: 9, Runtime: platform.Redis.ID})
	p.Fact(evidence.Fact{Subject: store, Key: evidence.FactListens, Value: evidence.Link + "unix:/run/redis.sock", Number: math.NaN()})
	p.Close()
	got := throughOf(b, s)
	if got == nil || len(got.Journeys) != 2 || len(got.Routes) != 1 || got.Store == nil || got.Store.Title != "Redis" || got.Store.Address != "unix:/run/redis.sock" {
		t.Fatalf("%+v", got)
	}
	buy := got.Journeys[0]
	if buy.Step != "buy: cart" || buy.Requests != n/2 || buy.Slow == nil || buy.Slow.Requests != n/10 || got.Journeys[1].Slow != nil {
		t.Fatalf("%+v", buy)
	}
	told(t, "all", buy.Slow.MeanMs, 402)
	told(t, "outside", buy.Slow.OutsideMs, 2)
	told(t, "wait", buy.Slow.WaitMs, 388)
	told(t, "store", buy.Slow.StoreMs, 6)
	told(t, "calls", buy.Slow.CallMs, 0)
	told(t, "run", buy.Slow.RunMs, 4)
	told(t, "front", buy.Slow.FrontMs, 2)
	told(t, "outside of all", buy.OutsideMs, 2)
}

func told(t *testing.T, name string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-6 {
		t.Errorf("%s: %v ms, want %v", name, got, want)
	}
}
