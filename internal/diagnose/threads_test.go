package diagnose

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
)

// Looks at threads give their requests states, and the diagnosis says what threads did.
func TestThreads(t *testing.T) {
	b := evidence.NewBundle()
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "a.nettrace"}), "test")
	s := p.Subject(evidence.Subject{Name: "Shop", Runtime: "dotnet", Version: "8.0.1", PID: 7, CPUs: 2})
	var frames []evidence.Frame
	for _, f := range []string{"[Native Frames]", "System.Private.CoreLib!System.Threading.Tasks.Task`1[System.__Canon].get_Result()", "Shop!Shop.Cart.Get()",
		"Microsoft.AspNetCore.Routing!Microsoft.AspNetCore.Routing.EndpointMiddleware.Invoke()", "System.Private.CoreLib!System.Threading.ThreadPoolWorkQueue.Dispatch()"} {
		frames = append(frames, evidence.Frame{Func: p.Name(f)})
	}
	stack := p.Stack(frames)
	begin := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC).UnixNano()
	const seconds = 40
	for lane := range evidence.LaneID(2) {
		for i := range int64(seconds) {
			at := begin + i*1e9
			p.Request(evidence.Request{Subject: s, Route: p.Name("GET /cart"), Lane: lane + 1, Start: at, End: at + 9e8})
			for k := range int64(9) {
				p.Sample(evidence.Sample{Subject: s, Time: at + k*1e8 + 5e7, Lane: lane + 1, Stack: stack, Type: p.Name(evidence.SampleThread), Unit: p.Name("count"), Value: 1})
			}
		}
	}
	for _, kind := range []string{evidence.CoverRequests, evidence.CoverThreads} {
		p.Cover(evidence.Coverage{Subject: s, Kind: kind, From: begin, Until: begin + seconds*1e9})
	}
	p.Close()
	d, err := Run(context.Background(), b, Options{SLO: 500 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	all := d.Threads()
	if len(all) != 1 || all[0].Subject != "Shop pid 7" || all[0].Groups[0].Sentence(all[0].Summary) != "2 of 2 pool threads · waiting for a task (.Result) · Shop!Cart.Get()" {
		t.Fatalf("%+v", all)
	}
	if len(d.Ledger) == 0 {
		t.Fatal("no ledger")
	}
	e := d.Ledger[0]
	if e.Mechanism != "task_wait" || e.Detail != ".Result in Shop!Cart.Get()" || e.Method != ledger.MethodSampled || int(e.SlowMs+.5) != 2*seconds*900 {
		t.Errorf("%+v", e)
	}
	if !strings.Contains(d.Requests.LedgerSource, "nettrace") {
		t.Errorf("%+v", d.Requests)
	}
	if d.Forget(); d.Threads() != nil {
		t.Error("it remembers")
	}
}
