package metrics

import (
	"math"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Each disk is read by its own series, and what took how long by Little's law.
func TestEachDisk(t *testing.T) {
	b := evidence.NewBundle()
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "diskstats"}), "test")
	host := p.Subject(evidence.Subject{Kind: evidence.Host, CPUs: 4})
	for name, v := range map[string]float64{
		evidence.SeriesDiskBusy + ":sda": .5, evidence.SeriesDiskReads + ":sda": 100, evidence.SeriesDiskReading + ":sda": .4, evidence.SeriesDiskWrites + ":sda": 0, evidence.SeriesDiskWriting + ":sda": 0,
		evidence.SeriesDiskBusy + ":sdb": .1, evidence.SeriesHostCPUBusy: 3,
	} {
		p.Series(evidence.Series{Subject: host, Name: name, T: []int64{1e9, 2e9}, V: []float64{v, v}})
	}
	p.Close()
	s := ShownOf(b)
	if len(s.Disks) != 2 || s.Busy.Number != .75 {
		t.Fatalf("%d disks, busy %g", len(s.Disks), s.Busy.Number)
	}
	for _, d := range s.Disks {
		read := math.NaN()
		if d.Name == "sda" {
			read = .004
		}
		if got := d.ReadTook.Number; math.Abs(got-read) > 1e-9 || math.IsNaN(got) != math.IsNaN(read) {
			t.Errorf("a read of %s took %g s, want %g", d.Name, got, read)
		}
		if d.WriteTook.Known() {
			t.Errorf("a write of %s took %g s, and there was none", d.Name, d.WriteTook.Number)
		}
	}
}
