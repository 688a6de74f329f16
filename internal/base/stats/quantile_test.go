package stats

import "testing"

func TestQuantile(t *testing.T) {
	hundred := make([]int64, 100)
	for i := range hundred {
		hundred[i] = int64(i + 1)
	}
	for _, c := range []struct {
		values []int64
		q      float64
		want   int64
	}{
		{nil, .5, 0},
		{[]int64{7}, 0, 7},
		{[]int64{7}, 1, 7},
		{[]int64{1, 2}, .5, 1},
		{[]int64{1, 2}, .51, 2},
		{[]int64{1, 2, 3}, .5, 2},
		{hundred, 0, 1},
		{hundred, .07, 7}, // .07·100 is a little more than 7
		{hundred, .29, 29},
		{hundred, .5, 50},
		{hundred, .99, 99},
		{hundred, .991, 100},
		{hundred, 1, 100},
		{hundred, 2, 100},
		{hundred, -1, 1},
	} {
		if got := Quantile(c.values, c.q); got != c.want {
			t.Errorf("Quantile of %d values at %v = %d, want %d", len(c.values), c.q, got, c.want)
		}
	}
	if got := Quantile([]float64{.5, 1.5}, .9); got != 1.5 {
		t.Errorf("Quantile of floats = %v", got)
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		values []int64
		want   float64
	}{
		{nil, 0}, {[]int64{4}, 4}, {[]int64{9, 1, 5}, 5}, {[]int64{4, 1, 3, 2}, 2.5},
		{[]int64{1<<63 - 1, 1<<63 - 1}, 1 << 63},
	} {
		if got := Median(c.values); got != c.want {
			t.Errorf("Median(%v) = %v, want %v", c.values, got, c.want)
		}
	}
}
