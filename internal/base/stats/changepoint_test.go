package stats

import (
	"math"
	"slices"
	"testing"
)

func TestChangePoints(t *testing.T) {
	for _, c := range []struct {
		name   string
		points int
		height func(i int) float64
		spikes float64 // chance of a value a thousand times as large
		want   []int
	}{
		{"even", 500, func(i int) float64 { return 5 }, 0, nil},
		{"one step", 500, func(i int) float64 { return map[bool]float64{true: 1, false: 4}[i < 300] }, 0, []int{300}},
		{"step under spikes", 500, func(i int) float64 { return map[bool]float64{true: 1, false: 4}[i < 300] }, .05, []int{300}},
		{"up and back", 600, func(i int) float64 { return map[bool]float64{true: 4, false: 1}[i >= 200 && i < 260] }, 0, []int{200, 260}},
		{"late onset", 600, func(i int) float64 { return map[bool]float64{true: 1, false: 9}[i < 575] }, 0, []int{575}},
		{"spikes only", 600, func(i int) float64 { return 1 }, .05, nil},
	} {
		r := random(11)
		series := make([]float64, c.points)
		for i := range series {
			series[i] = c.height(i) + r.float()
			if r.float() < c.spikes {
				series[i] *= 1000
			}
		}
		got := ChangePoints(series, 5)
		near := len(got) == len(c.want)
		for i := range min(len(got), len(c.want)) {
			near = near && math.Abs(float64(got[i]-c.want[i])) <= 2
		}
		if !near {
			t.Errorf("%s: changes at %v, want %v", c.name, got, c.want)
		}
	}
}

func TestChangePointsEdges(t *testing.T) {
	for name, series := range map[string][]float64{
		"none": nil, "few": {1, 2, 3}, "all the same": make([]float64, 100),
		"NaN": {math.NaN(), math.NaN(), math.NaN(), math.NaN()},
	} {
		if got := ChangePoints(series, 2); got != nil {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Pruning must not lose the segmentation of least cost.
func TestChangePointsIsTheBestSegmentation(t *testing.T) {
	r := random(8)
	found := 0
	for range 60 {
		series := make([]float64, 60)
		level := 0.0
		for i := range series {
			if i%15 == 0 {
				level = 3 * r.float()
			}
			series[i] = level + r.float()
		}
		got, want := ChangePoints(series, 4), exhaustive(series, 4)
		if !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
		found += len(got)
	}
	if found < 60 {
		t.Errorf("only %d changes in 60 series: the comparison says nothing", found)
	}
}

// exhaustive is optimal partitioning without pruning.
func exhaustive(series []float64, shortest int) []int {
	n := len(series)
	r := rankValues(series)
	cost := func(v []float64) (c float64) {
		var mean float64
		for _, x := range v {
			mean += x / float64(len(v))
		}
		for _, x := range v {
			c += (x - mean) * (x - mean)
		}
		return c
	}
	variance := cost(r) / float64(n)
	penalty := 3 * math.Log(float64(n))
	best, points := make([]float64, n+1), make([][]int, n+1)
	for i := 1; i <= n; i++ {
		best[i] = math.Inf(1)
		for j := 0; j <= i-shortest; j++ {
			if j > 0 && j < shortest {
				continue
			}
			c := best[j] + cost(r[j:i])/variance
			if j > 0 {
				c += penalty
			}
			if c < best[i] {
				best[i] = c
				points[i] = slices.Clone(points[j])
				if j > 0 {
					points[i] = append(points[i], j)
				}
			}
		}
	}
	return points[n]
}

func TestChangePointsFalseAlarms(t *testing.T) {
	r := random(12)
	alarms := 0
	for range 200 {
		series := make([]float64, 300)
		for i := range series {
			series[i] = r.exp()
		}
		if ChangePoints(series, 5) != nil {
			alarms++
		}
	}
	if alarms > 10 {
		t.Errorf("%d of 200 series without a change have one", alarms)
	}
}

func BenchmarkChangePoints(b *testing.B) {
	r := random(1)
	series := make([]float64, 3600)
	for i := range series {
		series[i] = r.exp()
	}
	for b.Loop() {
		ChangePoints(series, 5)
	}
}
