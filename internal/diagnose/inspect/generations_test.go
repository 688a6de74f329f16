package inspect_test

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/inspect"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/nettrace"
)

// TestGenerations holds the summary of a recorded .NET program against what the program
// printed itself.
func TestGenerations(t *testing.T) {
	path := filepath.Join("../../../../shared/corpus/nettrace", "truth8.nettrace.gz")
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no corpus of traces beside the checkout: %v", err)
	}
	b := evidence.NewBundle()
	if err := format.Read(context.Background(), []format.Format{nettrace.Format}, format.File(path), b); err != nil {
		t.Fatal(err)
	}
	r := inspect.Of(b)
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Schema  string
		Induced int
		Pauses  struct {
			TotalS float64 `json:"total_s"`
		}
		TimeInGC    float64 `json:"time_in_gc"`
		Generations []struct {
			Name       string
			Count      int
			Background int
			Induced    int
		}
		Collections []struct {
			Label  string
			PauseS float64 `json:"pause_s"`
			Sizes  []any
		}
		Triggers []struct {
			Induced bool
			Caller  string
			Count   int
		}
		LargeWaits  *struct{} `json:"large_waits"`
		Allocations struct {
			Objects float64 `json:"large_objects"`
			Sites   []struct{ Type string }
		}
		HeapTrend struct{ Rising float64 } `json:"heap_trend"`
	}
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if got.Schema != inspect.GCSchema || got.Induced != 3 || math.Abs(got.Pauses.TotalS/.855595-1) > .01 || !(got.TimeInGC > .3) {
		t.Errorf("%+v", got)
	}
	var counts []int
	for _, g := range got.Generations {
		counts = append(counts, g.Count)
	}
	if len(counts) != 4 || counts[0] != 29 || counts[1] != 13 || counts[2] != 8 || counts[3] != 50 || len(got.Collections) != 50 || len(got.Collections[0].Sizes) != 5 {
		t.Errorf("generations %+v", got.Generations)
	}
	if got.Allocations.Objects != 6005 || got.Allocations.Sites[0].Type != "System.Byte[]" || got.LargeWaits != nil || !(got.HeapTrend.Rising > .5) {
		t.Errorf("allocations %+v, waits %v, heap %+v", got.Allocations, got.LargeWaits, got.HeapTrend)
	}
	titles := make(map[string]inspect.Table)
	for _, x := range r.Artifacts[0].Tables {
		titles[x.Title] = x
		for _, row := range x.Rows {
			if len(row) != len(x.Columns) {
				t.Errorf("%s: %d cells, %d columns", x.Title, len(row), len(x.Columns))
			}
		}
	}
	if g := titles["GC by generation"]; len(g.Rows) != 4 || strings.Join(g.Rows[2][:4], " ") != "gen 2 8 4 3" {
		t.Errorf("%v", g)
	}
}
