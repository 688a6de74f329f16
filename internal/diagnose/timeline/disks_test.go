package timeline

import (
	"slices"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Disks that idle are left out, as is memory that nobody takes back.
func TestDisks(t *testing.T) {
	b := evidence.NewBundle()
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "procfs.txt"}), "procfs")
	host := p.Subject(evidence.Subject{Kind: evidence.Host})
	for name, v := range map[string]float64{
		evidence.SeriesDiskBusy + ":sda": .5, evidence.SeriesDiskBusy + ":sdb": .9, evidence.SeriesDiskBusy + ":sdc": .01,
		evidence.SeriesHostReclaimDirect: 0, evidence.SeriesHostSwapIn: 12,
	} {
		p.Series(evidence.Series{Subject: host, Name: name, T: []int64{1e9, 2e9, 3e9}, V: []float64{0, v, v}})
	}
	p.Close()
	l := &layout{b: b, subject: -1, placed: []bool{true}, t: &Timeline{From: 1e9, To: 3e9}}
	l.addDiskChart()
	l.addNonzeroChart("reclaim", "memory taken back", "pages/s", figures{{evidence.SeriesHostReclaimDirect, "direct", ""}, {evidence.SeriesHostSwapIn, "swap-in", ""}})
	var got []string
	for _, c := range l.t.Charts {
		for _, x := range c.Curves {
			got = append(got, c.ID+" "+x.ID)
		}
	}
	if want := []string{"disks disk-sdb", "disks disk-sda", "reclaim swap-in"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
