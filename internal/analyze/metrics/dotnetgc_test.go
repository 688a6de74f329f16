package metrics_test

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/nettrace"
)

// recorded reads a trace of the corpus beside the checkout.
func recorded(t *testing.T, name string) *evidence.Bundle {
	t.Helper()
	path := filepath.Join("../../../../shared/corpus/nettrace", name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no corpus of traces beside the checkout: %v", err)
	}
	b := evidence.NewBundle()
	if err := format.Read(context.Background(), []format.Format{nettrace.Format}, format.File(path), b); err != nil {
		t.Fatal(err)
	}
	return b
}

// The program printed its GC.CollectionCount and GC.GetTotalPauseDuration when it ended, and
// allocated 6,000 arrays of 200,000 bytes.
func TestDotnetGC(t *testing.T) {
	b := recorded(t, "truth8.nettrace.gz")
	g := metrics.ReadDotnetGC(b, 0, metrics.Whole)
	if g == nil {
		t.Fatal("nobody watched")
	}
	var counts [3]int
	induced := 0
	for i, r := range g.Generations {
		counts[i] = r.Count
		induced += r.Induced
	}
	if counts != [3]int{29, 13, 8} || induced != 3 || g.All.Count != 50 || g.All.Background != 4 {
		t.Errorf("collections %v, %d induced, %+v", counts, induced, g.All)
	}
	if math.Abs(g.Paused.Number/.855595-1) > .01 || math.Abs(g.All.Paused-g.Paused.Number) > 1e-6 {
		t.Errorf("paused %g s, of collections %g s, want .8556", g.Paused.Number, g.All.Paused)
	}
	labels := make(map[string]int)
	for i := range g.Collections {
		c := &g.Collections[i]
		labels[c.Label()]++
		if !(c.Before > 0) || !(c.After > 0) || !(c.Pause > 0) || !(c.Promoted >= 0) || i > 0 && !(c.Allocated > 0) {
			t.Errorf("collection %d: %+v", c.Number, c)
		}
	}
	if labels["2I"] != 3 || labels["2B"] != 4 || labels["2N"] != 1 || labels["0N"] != 29 || labels["1N"] != 13 {
		t.Errorf("labels %v", labels)
	}
	if x := g.Induced(); len(x) != 1 || x[0].Count != 3 || x[0].Caller != "truth!Program.Main(string[])" || x[0].Began != "main thread" {
		t.Errorf("induced %+v", x)
	}
	a := metrics.ReadAllocations(b, 0, threadstack.Dotnet)
	if a == nil || a.Count != 6005 || a.Sites[0].Type != "System.Byte[]" || a.Sites[0].Count != 6000 || !strings.Contains(a.Sites[0].Owner, "Main") {
		t.Fatalf("allocations %+v", a)
	}
	if math.Abs(a.Sites[0].Large/(6000*200024)-1) > .01 {
		t.Errorf("%g bytes of large objects", a.Sites[0].Large)
	}
	// What the heap grew by between collections is what the program allocated meanwhile.
	if rate := a.Bytes / a.Span; math.Abs(g.Alloc.Number/rate-1) > .5 {
		t.Errorf("allocated %g bytes/s between collections, %g by ticks", g.Alloc.Number, rate)
	}
}

// TestDeaths follows sampled arrays to their end: a service that keeps large ones for a while.
func TestDeaths(t *testing.T) {
	b := recorded(t, "surv10.nettrace.gz")
	a := metrics.ReadAllocations(b, 0, threadstack.Dotnet)
	if a == nil || len(a.Deaths) == 0 || a.Deaths[0].Type != "System.Byte[]" || !strings.Contains(a.Deaths[0].Owner, "LohUser.AllocateBig") {
		t.Fatalf("%+v", a)
	}
	dead := 0.
	for _, d := range a.Deaths {
		dead += d.Bytes
	}
	if dead > a.Bytes || dead < .5*a.Bytes { // it keeps a few at a time
		t.Errorf("%g of %g bytes died", dead, a.Bytes)
	}
	// Histories of collections in the background come after these end.
	g := metrics.ReadDotnetGC(b, 0, metrics.Whole)
	if rate := a.Large / a.Span; math.Abs(g.LargeAlloc.Number/rate-1) > .1 {
		t.Errorf("large objects: %g bytes/s between collections, %g by ticks", g.LargeAlloc.Number, rate)
	}
}
