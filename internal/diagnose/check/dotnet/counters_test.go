package dotnet

import (
	"context"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
	"github.com/unstall/unstall/internal/format/perfmon"
)

// TestCountersOnly is judged by counters alone, which decide nothing and name what is as it should not be.
func TestCountersOnly(t *testing.T) {
	judge := func(rows string) string {
		t.Helper()
		text := `"(PDH-CSV 4.0) (UTC)(0)","\\W\.NET CLR Memory(w3wp)\# Gen 0 Collections","\\W\.NET CLR Memory(w3wp)\# Gen 2 Collections","\\W\.NET CLR Memory(w3wp)\# Induced GC","\\W\.NET CLR Memory(w3wp)\% Time in GC"` + "\n" + rows
		b := evidence.NewBundle()
		if err := format.Read(context.Background(), []format.Format{perfmon.Format}, formattest.Artifact("counters.csv", []byte(text)), b); err != nil {
			t.Fatal(err)
		}
		v := judgeInduced(&check.Case{Bundle: b})
		if v.State != check.Inconclusive || len(v.Needs) == 0 {
			t.Errorf("%+v", v)
		}
		return v.Summary
	}
	if got := judge("\"11/21/2026 09:00:00\",\"100\",\"90\",\"5\",\"12\"\n\"11/21/2026 09:01:00\",\"160\",\"140\",\"8\",\"14\"\n"); !strings.HasSuffix(got, "but the counters show % Time in GC 12 %, # Induced GC 0.05/s, # Gen 2 Collections 0.833/s") {
		t.Error(got)
	}
	if got := judge("\"11/21/2026 09:00:00\",\"100\",\"1\",\"0\",\"1\"\n\"11/21/2026 09:01:00\",\"400\",\"2\",\"0\",\"2\"\n"); strings.Contains(got, "counters") {
		t.Error(got)
	}
}
