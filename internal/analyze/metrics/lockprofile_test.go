package metrics

import (
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
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
	if p, ok := LockProfileOf(b, 0); !ok || p.Waited != 75e9 || p.LongestWait != 70e9 {
		t.Errorf("waited %d ns, %d of it at one place; want 75 s, 70 s", p.Waited, p.LongestWait)
	}
	if _, ok := LockProfileOf(evidence.NewBundle(), 0); ok {
		t.Error("nothing tells of waits")
	}
}
