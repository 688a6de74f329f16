package timeline

import (
	"testing"

	"github.com/unstall/unstall/evidence"
)

// The type of what is allocated is the innermost frame, of a process that was asked who
// allocates; what a Go heap profile has allocated is not shown.
func TestAllocationFlames(t *testing.T) {
	b := evidence.NewBundle()
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "threads.nettrace"}), "nettrace")
	s := p.Subject(evidence.Subject{Runtime: "dotnet", Name: "Shop"})
	stack := p.Stack([]evidence.Frame{{Func: p.Name("Shop!OrderBook.Statement()")}, {Func: p.Name("Shop!Program.Main()")}})
	for _, typ := range []string{evidence.SampleAllocated, evidence.SampleLargeAllocated} {
		p.Sample(evidence.Sample{Subject: s, Stack: stack, Type: p.Name(typ), Unit: p.Name("bytes"), Class: p.Name("System.Byte[]"), Value: 100})
	}
	p.Close()
	if f := Of(b, nil, s).Flames; len(f) != 0 {
		t.Fatalf("%d flames of a process that nobody asked", len(f))
	}
	b.Coverage = append(b.Coverage, evidence.Coverage{Subject: s, Kind: evidence.CoverAllocation, From: 1, Until: 2})
	f := Of(b, nil, s).Flames
	if len(f) != 2 || f[0].ID != "large-objects" || f[0].Unit != "bytes" || f[0].Total != 100 {
		t.Fatalf("%+v", f)
	}
	if n := f[0].Nodes; len(n) != 4 || n[3].Name != "System.Byte[]" || n[3].Parent != 2 || n[3].Value != 100 {
		t.Errorf("%+v", n)
	}
}
