package diagnose

import (
	"context"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
)

// Routes are told with their own figures, those first that lost most; p99 only of those with enough requests.
func TestRoutes(t *testing.T) {
	b := evidence.NewBundle()
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "access.log"}), "accesslog")
	s := p.Subject(evidence.Subject{Kind: evidence.Process, Name: "shop"})
	at := int64(time.Hour)
	add := func(route string, n int, took time.Duration) {
		for range n {
			at += int64(10 * time.Millisecond)
			p.Request(evidence.Request{Subject: s, Route: b.Names.ID(route), Start: at - int64(took), End: at})
		}
	}
	add("GET /often", 300, 10*time.Millisecond)
	add("GET /slow", 100, 10*time.Millisecond)
	add("GET /slow", 50, 200*time.Millisecond)
	add("GET /rare", 5, 10*time.Millisecond)
	p.Close()
	d, err := Run(context.Background(), b, Options{SLO: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Routes) != 3 || d.RoutesLeft != 0 {
		t.Fatalf("%+v", d.Routes)
	}
	slow, often, rare := d.Routes[0], d.Routes[1], d.Routes[2]
	if slow.Route != "GET /slow" || slow.Requests != 150 || slow.Slow != 50 || slow.SlowMs != 10000 || *slow.P50Ms != 10 || *slow.P99Ms != 200 || *slow.LimitMs != 100 ||
		slow.Mechanism != ledger.Unobserved.String() || *slow.Share != 1 {
		t.Errorf("%+v", slow)
	}
	if often.Route != "GET /often" || often.Slow != 0 || often.Share != nil || often.Mechanism != "" {
		t.Errorf("%+v", often)
	}
	if rare.Route != "GET /rare" || rare.P99Ms != nil || *rare.P50Ms != 10 {
		t.Errorf("of five requests there is no p99: %+v", rare)
	}
}
