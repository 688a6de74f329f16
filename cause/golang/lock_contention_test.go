package golang

import (
	"testing"

	"github.com/unstall/unstall/cause"
	"github.com/unstall/unstall/evidence"
)

// TestLockProfilesOfOneProcess: a profile counts from the start, so the last of a
// kind holds what the ones before it do.
func TestLockProfilesOfOneProcess(t *testing.T) {
	b := evidence.NewBundle()
	srv := evidence.Subject{Runtime: "go", PID: 7}
	for _, x := range []struct {
		kind  string
		at    int64
		delay int64
	}{{"mutex", 1e9, 3e9}, {"mutex", 9e9, 5e9}, {"block", 9e9, 70e9}, {"block", 1e9, 60e9}} {
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: x.kind}), "gopprof")
		s := p.Subject(srv)
		p.Fact(evidence.Fact{Subject: s, Key: "profile.kind", Value: x.kind, Until: x.at, Origin: p.Origin(0)})
		p.Sample(evidence.Sample{Subject: s, Type: p.Name("delay"), Unit: p.Name("nanoseconds"), Value: x.delay, Origin: p.Origin(1)})
		p.Close()
	}
	b.Unify()
	v := judgeLockByProfile(&cause.Case{Bundle: b})
	if len(v.Evidence) == 0 || *v.Evidence[0].Value != 75 {
		t.Errorf("evidence %+v, want 75 s", v.Evidence)
	}
}
