package jvm

import (
	"slices"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// TestReasons holds each pause to the one cause that explains it.
func TestReasons(t *testing.T) {
	type row struct {
		at               int64 // ms
		of               evidence.Pause
		cause            string
		trigger, failure string
		want             reason
	}
	for _, x := range []struct {
		collector string
		rows      []row
	}{
		{"G1", []row{
			{0, evidence.PauseYoung, "Pause Young (Normal)", "G1 Evacuation Pause", "", ordinary},
			{1000, evidence.PauseYoung, "Pause Young (Normal)", "G1 Evacuation Pause", "evacuation Failure: Allocation", evacuation},
			{1011, evidence.PauseFull, "Pause Full", "G1 Compaction Pause", "", evacuation}, // in its wake
			{2000, evidence.PauseYoung, "Pause Young (Concurrent Start)", "G1 Humongous Allocation", "", humongous},
			{2100, evidence.PauseRemark, "Pause Remark", "", "", humongous}, // of the cycle it began
			{2500, evidence.PauseYoung, "Pause Young (Normal)", "GCLocker", "evacuation failure: pinned", ordinary},
			{3000, evidence.PauseFull, "Pause Full", "G1 Compaction Pause", "", ordinary},
			{4000, evidence.PauseYoung, "GC pause (young)", "G1 Evacuation Pause", "to-space exhausted", evacuation},
			{4500, evidence.PauseFull, "Pause Full", "G1 Compaction Pause", "", evacuation}, // the next one, whatever its stamp
			{5000, evidence.PauseFull, "Pause Full", "System.gc()", "", requested},
			{6000, evidence.PauseYoung, "Pause Young (Concurrent Start)", "Metadata GC Threshold", "", metadata},
		}},
		{"ParNew+CMS", []row{
			{0, evidence.PauseYoung, "ParNew", "Allocation Failure", "promotion failed", fellBack},
			{1000, evidence.PauseFull, "Full GC", "Allocation Failure", "concurrent mode failure", fellBack},
			{2000, evidence.PauseFull, "Full GC", "System.gc()", "concurrent mode interrupted", requested},
			{3000, evidence.PauseYoung, "ParNew", "Allocation Failure", "", ordinary},
		}},
		{"Parallel", []row{
			{0, evidence.PauseFull, "Full GC", "Ergonomics", "", ordinary},
			{1000, evidence.PauseFull, "Full GC", "Permanent Generation Full", "", metadata},
			{2000, evidence.PauseFull, "Full GC", "Heap Inspection Initiated GC", "", requested},
		}},
		{"Shenandoah", []row{
			{0, evidence.PauseDegenerated, "Pause Degenerated GC (Mark)", "", "", degenerated},
			{1000, evidence.PauseFull, "Pause Full", "", "", degenerated},
		}},
	} {
		var pauses []stop
		var want []reason
		for _, r := range x.rows {
			pauses = append(pauses, stop{at: r.at * ms, took: 10 * ms, of: r.of, name: r.cause, trigger: r.trigger, failure: r.failure})
			want = append(want, r.want)
		}
		g := collectorOf(service{collector: x.collector, pauses: pauses, alone: true}.build())
		all := g.pauseReasons()
		var got []reason
		for _, p := range g.All {
			got = append(got, all[p.Row])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: reasons %v, want %v", x.collector, got, want)
		}
	}
}
