package meter

import (
	"math"
	"reflect"
	"testing"
)

// TestEven checks that the figure of a comparison is in the unit of its threshold, however the comparison is written.
func TestEven(t *testing.T) {
	for _, x := range []struct {
		name string
		gap  func(t float64) float64
		want float64
	}{
		{"figure >= t", func(t float64) float64 { return .31 - t }, .31},
		{"part >= t*all", func(t float64) float64 { return 62 - t*200 }, .31},
		{"after >= (1-t)*before", func(t float64) float64 { return 69 - (1-t)*100 }, .31},
		{"n > 1/t", func(t float64) float64 { return 4 - 1/t }, .25},
		{"rows < int(t)", func(t float64) float64 { return float64(7 - int(100*t)) }, .07},
		{"late < slope/t", func(t float64) float64 { return .5 - 2/t }, 4},
		{"without t", func(float64) float64 { return 3 }, math.NaN()},
		{"neither linear nor 1/t", func(t float64) float64 { return 2 - t*t }, math.NaN()},
		{"unknown", func(float64) float64 { return math.NaN() }, math.NaN()},
	} {
		got := Even(.25, x.gap)
		if math.IsNaN(got) != math.IsNaN(x.want) || math.Abs(got-x.want) > 1e-9 {
			t.Errorf("%s: %g, want %g", x.name, got, x.want)
		}
	}
}

// TestOnceIsNotedForAll checks that what the first check reads once counts for others that read it, too.
func TestOnceIsNotedForAll(t *testing.T) {
	of, compared := new(int), 0
	read := func() int { // as check.Once does
		compared++
		Compare(true, "a threshold", 1, func(v float64) float64 { return 3 - v })
		return 5
	}
	key := reflect.TypeFor[int]()
	lines := map[string]recorder{}
	ask := func(cause string, judge func()) {
		stack = append(stack, recorder{})
		judge()
		lines[cause], stack = stack[len(stack)-1], stack[:len(stack)-1]
	}
	ask("first", func() { Once(of, key, read) })
	ask("second", func() { Again(of, key) })
	for cause, r := range lines {
		if x := r["a threshold"]; x == nil || x.Most == nil || *x.Most != 3 || x.Times != 1 {
			t.Errorf("%s: %+v", cause, x)
		}
	}
	if compared != 1 || len(stack) != 0 {
		t.Errorf("read %d times, %d left on the stack", compared, len(stack))
	}
}
