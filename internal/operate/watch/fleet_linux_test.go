package watch

import (
	"fmt"
	"testing"
	"time"

	"github.com/unstall/unstall/dev/tools/tooltest"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/operate/fleet"
	"github.com/unstall/unstall/internal/operate/fleet/fleettest"
	"github.com/unstall/unstall/internal/operate/fleet/promql"
	"github.com/unstall/unstall/internal/operate/watch/exporter"
)

// TestFleet checks the way from watchers of eight hosts over a real store to unstall fleet. The report shows where slow
// time went, which cause has most of it, and that a new version on all hosts made it worse.
func TestFleet(t *testing.T) {
	t.Parallel()
	path := tooltest.Find(t, "victoriametrics")
	s, err := fleettest.VictoriaMetrics(t.Context(), path, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	send, err := exporter.RemoteWrite(s.Address+"/api/v1/write", "")
	if err != nil {
		t.Fatal(err)
	}
	const hosts, minutes = 8, 60
	began := time.Now().Truncate(time.Minute).Add(-minutes * time.Minute)
	for h := range hosts {
		now := began
		w, _ := still(t, t.TempDir(), &now)
		w.hostName, w.began = fmt.Sprintf("web-%d", h), began
		x := w.serviceOf("gateway", "go1.26.0")
		x.release = "1.4.1"
		for m := range minutes {
			now = began.Add(time.Duration(m) * time.Minute)
			d := &diagnose.Diagnosis{Requests: &diagnose.Requests{Count: 900, LedgerCount: 300, Slow: 3},
				Ledger: []diagnose.Entry{{Mechanism: "mark_assist", SlowMs: 40 + float64(h)}, {Mechanism: "own", SlowMs: 10}}}
			if m >= minutes/2 {
				x.release = "1.4.2"
				d.Requests.Slow, d.Ledger[0].SlowMs = 30, 500+10*float64(h)
				d.Verdicts = []diagnose.Verdict{{Cause: "go.gc-rate", Verdict: "supported", Saves: &diagnose.Saves{Value: 400}}}
			}
			if m > 0 { // the first state is older than any diagnosis
				w.found.addDiagnosis(x, d)
			}
			body, _ := send.Encode(w.State())
			if err := send.Send(t.Context(), body); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	store, err := promql.Open(s.Address, "")
	if err != nil {
		t.Fatal(err)
	}
	r, err := fleet.Of(t.Context(), store, fleet.Options{Since: time.Hour, Now: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	if r.Hosts != hosts || len(r.Services) != 1 || r.Services[0].Service != "gateway" || len(r.Causes) != 1 || r.Causes[0].Cause != "go.gc-rate" || r.Causes[0].Hosts != hosts {
		t.Errorf("%d hosts, services %+v, causes %+v", r.Hosts, r.Services, r.Causes)
	}
	// Requests and slow seconds cover the same seconds: 300 requests a minute, with ten times the slow time in the new version.
	if n := r.Requests; n == nil || *n < hosts*300*(minutes-10) || *n > hosts*300*minutes {
		t.Errorf("requests: %v", r.Requests)
	}
	if len(r.Versions) != 1 {
		t.Fatalf("versions: %+v", r.Versions)
	}
	if v := r.Versions[0]; v.Version != "1.4.2" || v.Before != "1.4.1" || v.Result != "worse" || v.Of != "hosts" || v.Pairs != hosts || v.Factor == nil || *v.Factor < 8 || *v.Factor > 12 {
		t.Errorf("version: %+v", v)
	}
}
