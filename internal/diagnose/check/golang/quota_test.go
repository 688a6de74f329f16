package golang

import (
	"context"
	"math"
	"testing"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/gotrace"
)

// A quota that stops the process often makes the collector look slow.
func TestStoppedByAQuotaIsNotTheCollector(t *testing.T) {
	for stopped, want := range map[float64]string{0: check.Supported, .05: check.Supported, .4: check.Inconclusive} {
		b := evidence.NewBundle()
		if err := format.Read(context.Background(), []format.Format{gotrace.Format}, format.File("../testdata/go.gc-rate/sick/trace.out.gz"), b); err != nil {
			t.Fatal(err)
		}
		l := ledger.Build(b, ledger.Options{})[0]
		c := &check.Case{Bundle: b, Subject: l.Subject, Ledger: l}
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "host.txt"}), "procfs")
		for name, v := range map[string]float64{"cgroup.cpu.periods": 10, "cgroup.cpu.throttledPeriods": 10 * stopped} {
			p.Series(evidence.Series{Subject: l.Subject, Name: name, T: []int64{l.From - 1e9, l.To, l.To + 1e9}, V: []float64{v, 0, 0}})
		}
		p.Close()
		if got := c.Stopped(); math.Abs(got-stopped) > 1e-9 {
			t.Errorf("stopped in %v of the periods, want %v", got, stopped)
		}
		if v := judgeGCRate(c); v.State != want || v.State == check.Inconclusive && len(v.Needs) == 0 {
			t.Errorf("%v of the periods: %s, %s", stopped, v.State, v.Summary)
		}
	}
}
