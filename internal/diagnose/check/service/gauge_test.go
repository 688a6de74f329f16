package service

import (
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// TestSingleReading judges pools by one reading of their gauges: a queue at least half as long as the pool is large, as with several readings.
func TestSingleReading(t *testing.T) {
	for name, c := range map[string]struct {
		used, size, waiting float64
		found               bool
	}{
		"12 wait for 20":             {20, 20, 12, true},
		"9 wait for 10":              {10, 10, 9, false},
		"12 wait for 30":             {30, 30, 12, false},
		"12 wait, 9 of 20 are free":  {11, 20, 12, false},
		"120 wait for 200":           {200, 200, 120, true},
		"none waits for a full pool": {20, 20, 0, false},
	} {
		b := evidence.NewBundle()
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "gauges.txt"}), "gauges")
		s := p.Subject(evidence.Subject{Service: "shop", Runtime: "jvm"})
		for series, v := range map[string]float64{evidence.SeriesClientPoolUsed: c.used, evidence.SeriesClientPoolMax: c.size, evidence.SeriesClientPoolWaits: c.waiting} {
			p.Series(evidence.Series{Subject: s, Name: series + ":shop", Unit: "connections", T: []int64{epoch}, V: []float64{v}, Origin: p.Origin(2)})
		}
		p.Close()
		if v := judgePool(&check.Case{Bundle: b, Subject: s}); v.Supported() != c.found {
			t.Errorf("%s: %s %q %q", name, v.State, v.Title, v.Summary)
		}
	}
}

// TestRoomAtFailure judges pools by the message of a request that gave up, which tells how many were in use then.
func TestRoomAtFailure(t *testing.T) {
	for name, c := range map[string]struct {
		used, size float64
		found      bool
	}{
		"all of 60":  {60, 60, true},
		"54 of 60":   {54, 60, true},
		"53 of 60":   {53, 60, false},
		"38 of 60":   {38, 60, false},
		"none of 80": {0, 80, false},
	} {
		b := evidence.NewBundle()
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "app.log"}), "hikaricp")
		s := p.Subject(evidence.Subject{Service: "shop", Runtime: "jvm"})
		for series, v := range map[string]float64{evidence.SeriesClientPoolUsed: c.used, evidence.SeriesClientPoolMax: c.size} {
			p.Series(evidence.Series{Subject: s, Name: series + ":Druid", Unit: "connections", T: []int64{epoch}, V: []float64{v}, Origin: p.Origin(2)})
		}
		p.FactAt(s, evidence.FactPoolTimedOut, "Druid", 1, 2)
		p.Close()
		v := judgePool(&check.Case{Bundle: b, Subject: s})
		if v.Supported() != c.found || v.RuledOut() {
			t.Errorf("%s: %s %q %q", name, v.State, v.Title, v.Summary)
		}
	}
}
