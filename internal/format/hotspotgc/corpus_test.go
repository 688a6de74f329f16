package hotspotgc

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

const corpus = "../../../../shared/corpus/gclog"

// disputed are logs on which the other parsers agree and are wrong: see
// docs/decisions/gclogs.md for each.
var disputed = map[string]bool{
	"b67e44-SampleSun1_7_0G1_DateStamp_Detailed-mixedLine1.txt": true,
	"2448cf-sample-ujl-serial-gc-defaults.txt":                  true,
	"d68663-dataset120.txt":                                     true,
	"9b3a90-dataset134.txt":                                     true,
	"54d8a4-dataset139.txt":                                     true,
	"7ff500-dataset146.txt":                                     true,
	"0f0a1a-dataset62.txt":                                      true,
	"986e62-gc_with_overflow.log":                               true,
	"fa17c8-gc_finest.log":                                      true,
}

// TestCorpus reads logs for which at least two other parsers agree on the time that the
// world was stopped.
func TestCorpus(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(corpus, "EXPECTED.json"))
	if err != nil {
		t.Skipf("no corpus of GC logs beside the checkout: %v", err)
	}
	var files []struct {
		File    string
		Seconds float64 `json:"pause_seconds"`
		Pauses  *int
	}
	if err := json.Unmarshal(raw, &files); err != nil {
		t.Fatal(err)
	}
	var lines, unexplained float64
	for _, f := range files {
		b := evidence.NewBundle()
		if err := format.Read(context.Background(), []format.Format{Format}, format.File(filepath.Join(corpus, f.File)), b); err != nil {
			t.Error(err)
			continue
		}
		v := &b.Intervals
		rows := v.Select(evidence.StopTheWorld, -1)
		var total int64
		for _, i := range rows {
			total += v.End[i] - v.Start[i]
		}
		ignored, _ := b.Fact(-1, evidence.FactLinesIgnored)
		strange, _ := b.Fact(-1, evidence.FactLinesUnexplained)
		lines += ignored.Number + strange.Number + float64(v.Len())
		unexplained += strange.Number
		if disputed[f.File] {
			continue
		}
		if s := float64(total) / 1e9; math.Abs(s-f.Seconds) > .005*f.Seconds {
			t.Errorf("%s: %.6f s in pauses, want %.6f", f.File, s, f.Seconds)
		}
		if f.Pauses != nil && len(rows) != *f.Pauses {
			t.Errorf("%s: %d pauses, want %d", f.File, len(rows), *f.Pauses)
		}
	}
	if unexplained > .01*lines {
		t.Errorf("%v of about %v lines not understood", unexplained, lines)
	}
}
