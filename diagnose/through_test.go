package diagnose

import (
	"math"
	"testing"

	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/runtime"
)

// The parts of a route's requests add up to what they took, and another's account of them is left out.
func TestThrough(t *testing.T) {
	b := evidence.NewBundle()
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "access.log"}), "accesslog")
	s := p.Subject(evidence.Subject{Name: "nginx", PID: 7, Runtime: runtime.Nginx.ID})
	for i := range int64(10) {
		path := evidence.Path(nil).Append(evidence.Segment{Kind: evidence.PoolWait, Dur: 10e6, Cause: p.Name("PHP-FPM" + evidence.WorkerPool + "www")}).
			Append(evidence.Segment{Kind: evidence.Running, Dur: 4e6}).Append(evidence.Segment{Kind: evidence.NetWait, Dur: 3e6, Cause: p.Name("10.0.0.7:6379")}).
			Append(evidence.Segment{Kind: evidence.SleepWait, Dur: 2e6}).Append(evidence.Segment{Kind: evidence.Unobserved, Dur: 1e6})
		p.Request(evidence.Request{Subject: s, Route: p.Name("GET /cart"), Start: 1e18 + i*1e8, End: 1e18 + i*1e8 + 20e6, Path: path})
		p.Request(evidence.Request{Subject: s, Route: p.Name("GET /a.css"), Start: 1e18 + i*1e8, End: 1e18 + i*1e8 + 5e5})
	}
	p.Close()
	p = b.Builder(b.AddArtifact(evidence.Artifact{Name: "requests.txt"}), "loadresult")
	p.Request(evidence.Request{Subject: s, Route: p.Name("GET /cart"), Intended: 1e18, Start: 1e18, End: 1e18 + 9e9})
	p.Close()
	got := (&run{b: b, name: map[evidence.SubjectID]string{s: "nginx pid 7"}}).through()
	if got == nil || len(got.Routes) != 2 || got.Front != "nginx pid 7" || got.Title != "nginx" {
		t.Fatalf("%+v", got)
	}
	x := got.Routes[0]
	if len(x.Calls) != 1 || x.Calls[0] != (Call{"10.0.0.7:6379", 3}) {
		t.Errorf("calls %+v", x.Calls)
	}
	for name, v := range map[string][2]float64{"mean": {x.MeanMs, 20}, "front": {x.FrontMs, 1}, "wait": {x.WaitMs, 10}, "run": {x.RunMs, 4}, "calls": {x.CallMs, 3}, "kernel": {x.KernelMs, 0}, "other": {x.OtherMs, 2}} {
		if math.Abs(v[0]-v[1]) > 1e-9 {
			t.Errorf("%s: %v ms, want %v", name, v[0], v[1])
		}
	}
	if x.Route != "GET /cart" || x.Requests != 10 {
		t.Errorf("%d of %s", x.Requests, x.Route)
	}
}
