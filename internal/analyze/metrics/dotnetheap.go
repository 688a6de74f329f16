package metrics

import (
	"math"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
)

// HeapTrend is what collections of generation 2 left, over time. Only they tell a leak from
// garbage that lies there; what younger ones leave grows between them by design.
type HeapTrend struct {
	Points   []HeapPoint // after each collection of generation 2, in order
	First    float64     // bytes that the first of them left, in the median of a quarter of them; NaN below four
	Last     float64     // bytes that the last of them left, likewise
	Growth   float64     // bytes/s from those to these; NaN unknown
	Rising   float64     // share of steps from one point to the next that went up, 0…1; NaN unknown
	Restarts int         // times that collections were numbered from the beginning again: another process
}

// HeapPoint is the heap after a collection.
type HeapPoint struct {
	At           int64   // ns
	Bytes, Large float64 // of all generations; of large objects
	Live         float64 // of all generations, without what lies free between objects where that is known
	Gen2         float64
}

// trendOf reads it from collections in order, large is how many bytes/s large objects are allocated.
func trendOf(all []Collection, large float64) HeapTrend {
	t := HeapTrend{First: math.NaN(), Last: math.NaN(), Growth: math.NaN(), Rising: math.NaN()}
	last := int64(-1)
	var sizes []float64
	for i := range all {
		c := &all[i]
		if c.Number >= 0 && c.Number < last-maxNested {
			t.Restarts++
			t.Points, sizes = nil, nil // a restart begins with a small heap
		}
		last = max(c.Number, 0)
		if c.Generation != evidence.Gen2 || !(c.After > 0) {
			continue
		}
		t.Points = append(t.Points, HeapPoint{At: c.To, Bytes: c.After, Large: c.Gen[evidence.LargeObjects].After, Live: c.Live(large), Gen2: c.Gen[evidence.Gen2].After})
		sizes = append(sizes, c.After)
	}
	n := len(sizes)
	if n < leastPoints {
		return t
	}
	quarter := max(1, n/4)
	t.First, t.Last = stats.Median(sizes[:quarter]), stats.Median(sizes[n-quarter:])
	if s := float64(t.Points[n-1-quarter/2].At-t.Points[quarter/2].At) / 1e9; s > 0 {
		t.Growth = (t.Last - t.First) / s
	}
	up := 0
	for i := 1; i < n; i++ {
		if sizes[i] > sizes[i-1] {
			up++
		}
	}
	t.Rising = float64(up) / float64(n-1)
	return t
}

// Live is what a collection left without what lies free between objects, and at least without the large
// objects that came while it ran in the background, large of them (bytes) a second: none is moved then,
// what died leaves its room, and what is new counts as alive.
func (c *Collection) Live(large float64) float64 {
	live := c.After
	if c.Free > 0 && c.Free < c.After {
		live -= c.Free
	}
	if c.Kind == evidence.CollectionBackground {
		came := large * float64(c.To-c.From) / 1e9
		live -= orZero(math.Max(0, math.Min(came, c.Gen[evidence.LargeObjects].usedAfter())))
	}
	return live
}

// Small is that without any large objects: a collection of a young generation leaves them as they are.
func (c *Collection) Small() float64 {
	return c.Live(0) - orZero(c.Gen[evidence.LargeObjects].usedAfter())
}

// usedAfter returns the bytes that objects took of a generation after a collection.
func (s GCSizes) usedAfter() float64 { return s.After - s.Free }

// maxNested is how many numbers a collection may be behind the one before it in order of beginning.
const maxNested = 4

// leastPoints are needed to speak of a trend.
const leastPoints = 4
