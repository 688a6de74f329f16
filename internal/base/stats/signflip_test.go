package stats

import (
	"math"
	"testing"
)

// signFlip is the test itself, by trying all signs: the share of them that give a sum at
// least as far from zero.
func signFlip(diffs []float64) float64 {
	var sum, scale float64
	for _, d := range diffs {
		sum, scale = sum+d, scale+math.Abs(d)
	}
	far, hits := math.Abs(sum)-1e-9*scale, 0 // sums that are equal but for rounding are ties
	for signs := range 1 << len(diffs) {
		var s float64
		for i, d := range diffs {
			s += d * float64(1-signs>>i&1*2)
		}
		if math.Abs(s) >= far {
			hits++
		}
	}
	return float64(hits) / float64(int(1)<<len(diffs))
}

func TestSignFlip(t *testing.T) {
	for _, c := range []struct {
		name  string
		diffs []float64
		want  float64
	}{
		{"none", nil, 1},
		{"all zero", []float64{0, 0, 0, 0, 0, 0}, 1},
		{"six of one sign", []float64{1, 2, 3, 4, 5, 6}, 2. / 64},
		{"five of one sign", []float64{-1, -2, -3, -4, -5}, 2. / 32},
		{"smallest against", []float64{-1, 2, 3, 4, 5, 6}, 4. / 64},
		{"ties but for rounding", []float64{.1, .2, -.3, .1, .2, -.3}, 1},
		// Darwin's Zea mays, as Fisher computed it by hand: 863 of 2¹⁵ sums on
		// either side are as large as 314 and larger.
		{"Fisher's maize", []float64{49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48}, 2 * 863. / 32768},
	} {
		if got := signFlip(c.diffs); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: p = %v, want %v", c.name, got, c.want)
		}
	}
}

func TestSignFlipInterval(t *testing.T) {
	if got, ok := SignFlipInterval([]float64{3, 1, 2, 6, 5, 4}, .95, 1); !ok || got != (Interval{1, 6}) {
		t.Errorf("six pairs: %v %v, want their range", got, ok)
	}
	for name, diffs := range map[string][]float64{
		"five pairs": {1, 2, 3, 4, 5}, "not a number": {1, 2, 3, 4, 5, math.NaN()},
	} {
		if got, ok := SignFlipInterval(diffs, .95, 1); ok {
			t.Errorf("%s give %v", name, got)
		}
	}
	if got, ok := SignFlipInterval([]float64{1, 2, 3, 4, 5, 6}, .99, 1); ok {
		t.Errorf("six pairs cannot give 99 %%, gave %v", got)
	}
}

// The interval leaves out zero exactly when the test rejects it.
func TestSignFlipIntervalInvertsTheTest(t *testing.T) {
	r := random(4)
	rejected := 0
	for range 400 {
		diffs := make([]float64, 6+r.below(6))
		for i := range diffs {
			diffs[i] = r.float() - .3
		}
		p := signFlip(diffs)
		v, ok := SignFlipInterval(diffs, .95, 1)
		if !ok || v.Contains(0) != (p > .05) {
			t.Fatalf("%v: p = %v but interval %v", diffs, p, v)
		}
		if p <= .05 {
			rejected++
		}
	}
	if rejected < 40 || rejected > 360 {
		t.Errorf("%d of 400 rejected: the comparison says nothing", rejected)
	}
}

func TestSignFlipIntervalCoverage(t *testing.T) {
	r := random(6)
	for _, n := range []int{8, 24} {
		const runs = 400
		hits := 0
		for range runs {
			diffs := make([]float64, n)
			for i := range diffs {
				diffs[i] = 3 + r.exp() - r.exp() // symmetric about 3
			}
			if v, ok := SignFlipInterval(diffs, .95, 1); ok && v.Contains(3) {
				hits++
			}
		}
		if got := float64(hits) / runs; got < .92 || got > .98 {
			t.Errorf("%d pairs: the 95 %% interval holds the truth in %.1f %% of runs", n, 100*got)
		}
	}
}
