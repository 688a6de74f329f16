package metrics_test

import (
	"context"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
	"github.com/unstall/unstall/internal/format/perfmon"
)

func TestGCCounters(t *testing.T) {
	read := func(rows ...string) *metrics.GCCounters {
		t.Helper()
		text := `"(PDH-CSV 4.0) (UTC)(0)","\\W\.NET CLR Memory(w3wp)\# Gen 0 Collections","\\W\.NET CLR Memory(w3wp)\# Gen 2 Collections","\\W\.NET CLR Memory(w3wp)\# Induced GC","\\W\.NET CLR Memory(w3wp)\% Time in GC"` + "\n" + strings.Join(rows, "\n") + "\n"
		b := evidence.NewBundle()
		if err := format.Read(context.Background(), []format.Format{perfmon.Format}, formattest.Artifact("counters.csv", []byte(text)), b); err != nil {
			t.Fatal(err)
		}
		return metrics.ReadGCCounters(b, 0, metrics.Whole)
	}
	sick := read(`"11/21/2026 09:00:00","100","90","5","12"`, `"11/21/2026 09:01:00","160","140","8","14"`)
	if f := sick.Findings(); len(f) != 3 || sick.Gen0.Number != 1 || sick.Induced.Number != .05 || sick.Large.Known() {
		t.Errorf("%+v, %+v", sick, f)
	}
	if f := read(`"11/21/2026 09:00:00","100","1","0","1"`, `"11/21/2026 09:01:00","400","2","0","2"`).Findings(); len(f) > 0 {
		t.Errorf("healthy: %+v", f)
	}
	if metrics.ReadGCCounters(evidence.NewBundle(), 0, metrics.Whole) != nil {
		t.Error("figures of nothing")
	}
}
