package metrics

import (
	"math"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
)

// HeapTrend is the heap after collections of generation 2, over time. Only these separate a leak from garbage that is not
// collected yet; what younger collections leave grows between them by design.
type HeapTrend struct {
	Points   []HeapPoint // after each collection of generation 2, in order
	First    float64     // median bytes after the first quarter of them; NaN below four
	Last     float64     // median bytes after the last quarter of them; NaN below four
	Growth   float64     // bytes/s from First to Last; NaN unknown
	Rising   float64     // share of steps between points that went up, 0…1; NaN unknown
	Restarts int         // how often the numbering of collections restarted: another process
}

// HeapPoint is the heap after a collection.
type HeapPoint struct {
	At           int64   // ns
	Bytes, Large float64 // of all generations; of large objects
	Live         float64 // of all generations, without the free space between objects where that is known
	Gen2         float64
}

// trendOf reads the trend from collections in order; large is how many bytes/s of large objects are allocated.
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

// Live returns the heap after a collection without the free space between objects, but at least without the large objects
// that were allocated (large bytes/s) while it ran in the background: a background collection moves nothing, dead objects
// leave their room, and new ones count as alive.
func (c *Collection) Live(large float64) float64 {
	live := c.After
	if c.Free > 0 && c.Free < c.After {
		live -= c.Free
	}
	if c.Kind == evidence.CollectionBackground {
		came := large * float64(c.To-c.From) / 1e9
		live -= stats.ZeroIfNaN(math.Max(0, math.Min(came, c.Gen[evidence.LargeObjects].usedAfter())))
	}
	return live
}

// Small returns Live without any large objects: a collection of a young generation does not collect those.
func (c *Collection) Small() float64 {
	return c.Live(0) - stats.ZeroIfNaN(c.Gen[evidence.LargeObjects].usedAfter())
}

// usedAfter returns the bytes of objects in a generation after a collection.
func (s GCSizes) usedAfter() float64 { return s.After - s.Free }

// maxNested is by how much a collection's number may be lower than that of the one that began before it.
const maxNested = 4

// leastPoints is the number of points that a trend needs.
const leastPoints = 4
