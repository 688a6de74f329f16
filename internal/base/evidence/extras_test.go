package evidence

import (
	"math"
	"math/rand/v2"
	"testing"
)

// What was put in comes out, whatever its value and however far apart the rows are that
// have figures.
func TestExtrasHoldWhatWasPutIn(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	values := []float64{0, 1, -1, 0.25, 1000, 1023, 1024, 1 << 20, 1<<20 + 1, 3 << 40, 1 << 53, 1 << 60, 1e300, math.Inf(1), math.Inf(-1), math.Copysign(0, -1), math.SmallestNonzeroFloat64}
	var v Intervals
	want := make(map[int]map[Key]float64)
	for i := range 5 * columnRows {
		x := Interval{Start: int64(i)}
		if i < columnRows || i > 3*columnRows && i%3 == 0 {
			want[i] = make(map[Key]float64)
			for k := range NumKeys {
				if r.IntN(3) == 0 {
					value := values[r.IntN(len(values))]
					want[i][k] = value
					x.Extra = append(x.Extra, Extra{k, value})
				}
			}
		}
		v.addRow(&x)
	}
	for i := range v.Len() {
		for k := range NumKeys {
			got, ok := v.Get(i, k)
			value, is := want[i][k]
			if ok != is || math.Float64bits(got) != math.Float64bits(value) {
				t.Fatalf("row %d, %s: %v %v, want %v %v", i, k, got, ok, value, is)
			}
		}
		if got := v.extras.appendTo(nil, i); len(got) != len(want[i]) {
			t.Fatalf("row %d has %d figures, want %d", i, len(got), len(want[i]))
		}
	}
	if !v.Has(HeapBefore) || (&Intervals{}).Has(HeapBefore) {
		t.Error("Has does not know who has")
	}
}

func BenchmarkIntervals(b *testing.B) {
	figures := []Extra{{PauseOf, 1}, {Trigger, 3}, {HeapBefore, 90 << 20}, {HeapAfter, 41 << 20}, {HeapCapacity, 96 << 20}, {YoungBefore, 57 << 20}, {YoungAfter, 3 << 20}, {UserCPU, 10e6}, {SystemCPU, 0}, {RealTime, 10e6}}
	b.ReportAllocs()
	for b.Loop() {
		var v Intervals
		for i := range 100_000 {
			v.addRow(&Interval{Start: int64(i), Extra: figures})
		}
	}
}
