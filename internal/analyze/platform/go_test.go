package platform

import (
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

func TestGoAtLeastIsTheNewestWhateverTheOrder(t *testing.T) {
	for _, order := range [][]string{{"go1.19", "go1.26"}, {"go1.26", "go1.19"}, {"go1.9", "go1.26", "go1.10"}} {
		b := evidence.NewBundle()
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "a"}), "x")
		s, other := p.Subject(evidence.Subject{}), p.Subject(evidence.Subject{})
		for _, v := range order {
			p.Fact(evidence.Fact{Subject: s, Key: evidence.FactVersionAtLeast, Value: v})
		}
		p.Fact(evidence.Fact{Subject: other, Key: evidence.FactVersionAtLeast, Value: "go1.27"})
		p.Close()
		if got, ok := Go.AtLeast(b, s); !ok || got != "go1.26" {
			t.Errorf("of %v it is %q", order, got)
		}
	}
	if got, ok := Go.AtLeast(evidence.NewBundle(), 0); ok {
		t.Errorf("of nothing it is %q", got)
	}
}
