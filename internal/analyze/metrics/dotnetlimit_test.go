package metrics

import (
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

func TestHeapHardLimit(t *testing.T) {
	for _, c := range []struct {
		key, value string
		want       float64 // 0 unknown
	}{
		{"DOTNET_GCHeapHardLimit", "C800000", 200 << 20},
		{"COMPlus_GCHeapHardLimit", "0x80000000", 2 << 30},
		{"DOTNET_GCHeapHardLimit", "", 0},
		{"DOTNET_GCHeapHardLimit", "much", 0},
		{"DOTNET_GCHeapHardLimit", "0", 0},
		{"DOTNET_gcServer", "1", 0},
	} {
		b := evidence.NewBundle()
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "procfs.txt"}), "procfs")
		s := p.Subject(evidence.Subject{Runtime: "dotnet"})
		p.Fact(evidence.Fact{Subject: s, Key: c.key, Value: c.value})
		p.Close()
		got := HeapHardLimit(b, s)
		if got.Known() != (c.want > 0) || got.Known() && got.Number != c.want {
			t.Errorf("%s=%s is %v, want %v", c.key, c.value, got.Number, c.want)
		}
	}
}
