package evidence

import "testing"

func TestVersionAtLeastIsTheNewestWhateverTheOrder(t *testing.T) {
	for _, order := range [][]string{{"go1.19", "go1.26"}, {"go1.26", "go1.19"}, {"go1.9", "go1.26", "go1.10"}} {
		b := NewBundle()
		p := b.Builder(b.AddArtifact(Artifact{Name: "a"}), "x")
		s, other := p.Subject(Subject{}), p.Subject(Subject{})
		for _, v := range order {
			p.Fact(Fact{Subject: s, Key: FactVersionAtLeast, Value: v})
		}
		p.Fact(Fact{Subject: other, Key: FactVersionAtLeast, Value: "go1.27"})
		p.Close()
		if got, ok := b.VersionAtLeast(s); !ok || got != "go1.26" {
			t.Errorf("of %v it is %q", order, got)
		}
	}
	if got, ok := NewBundle().VersionAtLeast(0); ok {
		t.Errorf("of nothing it is %q", got)
	}
}
