package service

import (
	"testing"

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
	for _, met := range []bool{false, true} {
		v := judgeAcceptQueue(&check.Case{Bundle: b, Subject: s, ObjectiveMet: met})
		if (v.Rule == check.Matters) == met {
			t.Errorf("objective met %v: %s %q", met, v.Rule, v.Summary)
		}
	}
}
