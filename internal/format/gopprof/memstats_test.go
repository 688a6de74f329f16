package gopprof

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// heapText returns a heap profile after some cycles, at seconds from the epoch's
// 1000th, of a runtime whose ring has four entries.
func heapText(cycles int, ends ...int64) string {
	ring, pauses := make([]int64, 4), make([]int64, 4)
	var last int64
	for i, at := range ends {
		last = (1000 + at) * 1e9
		n := cycles - len(ends) + i // the cycle's number less 1
		ring[n%4], pauses[n%4] = last, int64(n+1)*1000
	}
	return fmt.Sprintf("heap profile: 0: 0 [0: 0] @ heap/1048576\n\n# runtime.MemStats\n# TotalAlloc = 5000\n# HeapAlloc = 700\n# NextGC = 4096\n# LastGC = %d\n# PauseNs = %d\n# PauseEnd = %d\n# NumGC = %d\n",
		last, pauses, ring, cycles)
}

func readRecorded(t *testing.T, text string, modified int64, about evidence.Subject) *evidence.Bundle {
	t.Helper()
	b := evidence.NewBundle()
	a := &format.Artifact{Name: "heap-0001.txt", Size: int64(len(text)), Modified: modified, About: about,
		Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
	if err := format.Read(t.Context(), []format.Format{Format}, a, b); err != nil {
		t.Fatal(err)
	}
	return b
}

func TestCyclesOfMemStats(t *testing.T) {
	b := readRecorded(t, heapText(6, 11, 12, 13, 15), 0, evidence.Subject{})
	s := b.SeriesOf(0, evidence.SeriesGoCycles)
	if s == nil || !slices.Equal(s.T, []int64{1011e9, 1012e9, 1013e9, 1015e9}) || !slices.Equal(s.V, []float64{3, 4, 5, 6}) {
		t.Fatalf("cycles %+v", s)
	}
	if p := b.SeriesOf(0, evidence.SeriesGoPauses); p == nil || !slices.Equal(p.V, []float64{3000, 4000, 5000, 6000}) {
		t.Errorf("pauses %+v", p)
	}
	if b.SeriesOf(0, "/gc/heap/goal:bytes") != nil {
		t.Error("a file's date was taken for the snapshot's")
	}
	if c := b.Covered(0, evidence.CoverHeap); len(c) != 1 || c[0].From != 1015e9 || !b.Clocks[0].Anchored() {
		t.Errorf("covered %+v", c)
	}
	if b.Intervals.Len() > 0 {
		t.Error("cycles would be counted twice beside a trace")
	}
}

func TestRecordedMemStats(t *testing.T) {
	srv := evidence.Subject{Name: "srv", PID: 7, Runtime: "go"}
	b := readRecorded(t, heapText(2, 11, 12), 1017e9, srv)
	if s := b.SeriesOf(0, evidence.SeriesGoCycles); s == nil || !slices.Equal(s.T, []int64{1011e9, 1012e9, 1017e9}) || !slices.Equal(s.V, []float64{1, 2, 2}) {
		t.Errorf("cycles %+v", s)
	}
	for name, want := range map[string]float64{"/gc/heap/goal:bytes": 4096, "/gc/heap/allocs:bytes": 5000, "memstats.HeapAlloc": 700} {
		if s := b.SeriesOf(0, name); s == nil || !slices.Equal(s.T, []int64{1017e9}) || s.V[0] != want {
			t.Errorf("%s: %+v", name, s)
		}
	}
	if f, ok := b.Fact(0, "NumGC"); !ok || f.From != 1017e9 || f.Until != 1017e9 {
		t.Errorf("fact %+v", f)
	}
	// Copied with a date before its last cycle: not the time it was recorded.
	if b := readRecorded(t, heapText(2, 11, 12), 1003e9, srv); b.SeriesOf(0, "/gc/heap/goal:bytes") != nil {
		t.Error("a date before the last cycle was believed")
	}
}

func TestRingOfAnotherTime(t *testing.T) {
	text := heapText(2, 11, 12)
	for _, wrong := range []string{
		strings.Replace(text, "# LastGC = 1012", "# LastGC = 1014", 1),
		strings.Replace(text, "# NumGC = 2", "# NumGC = 3", 1),
		strings.Replace(text, "# PauseEnd = [", "# PauseEnd = [x ", 1),
	} {
		if b := readRecorded(t, wrong, 0, evidence.Subject{}); len(b.Series) > 0 {
			t.Errorf("believed: %s", wrong)
		}
	}
	// The clock was set back between the cycles.
	b := readRecorded(t, heapText(3, 11, 5, 6), 0, evidence.Subject{})
	if s := b.SeriesOf(0, evidence.SeriesGoCycles); s != nil && len(s.T) > 2 {
		t.Errorf("cycles %+v", s)
	}
}

func TestLiveRing(t *testing.T) {
	runtime.GC()
	runtime.GC()
	var buf bytes.Buffer
	if err := pprof.Lookup("heap").WriteTo(&buf, 1); err != nil {
		t.Fatal(err)
	}
	b := suite.MustRead(t, buf.Bytes())
	s := b.SeriesOf(0, evidence.SeriesGoCycles)
	if s == nil || s.V[len(s.V)-1] != number(t, b, "NumGC") || float64(s.T[len(s.T)-1]) != number(t, b, "LastGC") {
		t.Errorf("cycles %+v", s)
	}
}
