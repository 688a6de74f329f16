package stats

import (
	"math"
	"slices"
	"testing"
)

const second = int64(1e9)

// float returns a number in [0, 1).
func (r *random) float() float64 { return float64(r.next()>>11) / (1 << 53) }

func (r *random) exp() float64 { return -math.Log(1 - r.float()) }

// stalls simulates a service that is slow for 50–200 ms about every second:
// requests at 100/s, of which those that begin in a stall wait for its end.
func stalls(r *random, length int64) (at, latency []int64) {
	var stallFrom, stallEnd int64
	for now := 0.0; int64(now) < length; now += r.exp() * 10e6 {
		t := int64(now)
		for stallEnd < t {
			stallFrom = stallEnd + int64(r.exp()*1e9)
			stallEnd = stallFrom + 50e6 + int64(r.float()*150e6)
		}
		l := int64(1e6 + r.exp()*1e6)
		if t >= stallFrom {
			l += stallEnd - t
		}
		at, latency = append(at, t), append(latency, l)
	}
	return at, latency
}

// coverage is how often the interval holds the truth, which is what very long
// recordings show.
func coverage(t *testing.T, truth func(at, v []int64, length int64) float64, interval func(at, v []int64, length int64, seed uint64) (Interval, bool)) float64 {
	t.Helper()
	const runs, length, long = 300, 60, 20000
	r := random(1)
	at, v := stalls(&r, long*second)
	want := truth(at, v, long*second)
	hits := 0
	for i := range runs {
		at, v := stalls(&r, length*second)
		got, ok := interval(at, v, length*second, uint64(i))
		if !ok {
			t.Fatal("no interval")
		}
		if got.Contains(want) {
			hits++
		}
	}
	return float64(hits) / runs
}

func TestSumIntervalCoverage(t *testing.T) {
	got := coverage(t,
		func(at, v []int64, length int64) float64 {
			var sum float64
			for _, x := range v {
				sum += float64(x)
			}
			return sum * 60 * float64(second) / float64(length)
		},
		func(at, v []int64, length int64, seed uint64) (Interval, bool) {
			return SumInterval(at, v, 0, length, second, seed)
		})
	if got < .91 || got > .98 {
		t.Errorf("the 95 %% interval holds the truth in %.1f %% of runs", 100*got)
	}
}

func TestQuantileIntervalCoverage(t *testing.T) {
	for _, q := range []float64{.5, .9, .99} {
		got := coverage(t,
			func(at, v []int64, length int64) float64 {
				slices.Sort(v)
				return float64(Quantile(v, q))
			},
			func(at, v []int64, length int64, seed uint64) (Interval, bool) {
				return QuantileInterval(at, v, q, 0, length, second, seed)
			})
		if got < .91 || got > .99 {
			t.Errorf("q %v: the 95 %% interval holds the truth in %.1f %% of runs", q, 100*got)
		}
	}
}

// Taking requests as independent is what the blocks are there to avoid.
func TestBlocksWidenDependentData(t *testing.T) {
	r := random(3)
	at, v := stalls(&r, 60*second)
	blocked, _ := SumInterval(at, v, 0, 60*second, second, 1)
	shuffled := slices.Clone(v)
	for i := range shuffled {
		j := i + r.below(len(shuffled)-i)
		shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
	}
	free, _ := SumInterval(at, shuffled, 0, 60*second, second, 1)
	if blocked.High-blocked.Low < 1.5*(free.High-free.Low) {
		t.Errorf("dependent %v is not wider than independent %v", blocked, free)
	}
}

func TestIntervalNeedsTwentyBlocks(t *testing.T) {
	at, v := []int64{5 * second}, []int64{1}
	for _, c := range []struct {
		name               string
		from, until, block int64
		want               bool
	}{
		{"20 blocks", 0, 20 * second, second, true},
		{"19.9 blocks", 0, 20*second - 1, second, false},
		{"no block", 0, 20 * second, 0, false},
		{"no window", 20 * second, 20 * second, second, false},
		{"nothing inside", 10 * second, 40 * second, second, false},
	} {
		if _, ok := SumInterval(at, v, c.from, c.until, c.block, 1); ok != c.want {
			t.Errorf("%s: SumInterval ok = %v", c.name, ok)
		}
		if _, ok := QuantileInterval(at, v, .5, c.from, c.until, c.block, 1); ok != c.want {
			t.Errorf("%s: QuantileInterval ok = %v", c.name, ok)
		}
	}
}

func TestIntervalOfEvenData(t *testing.T) {
	var at, v []int64
	for i := range int64(4000) {
		at, v = append(at, i*second/100), append(v, 5e6)
	}
	if got, _ := SumInterval(at, v, 0, 40*second, second, 1); got.Low != 2e10 || got.High != 2e10 {
		t.Errorf("sum of even data = %v, want exactly 2e10", got)
	}
	if got, _ := QuantileInterval(at, v, .99, 0, 40*second, second, 1); got.Low != got.High || math.Abs(got.Low-5e6) > 5e4 {
		t.Errorf("quantile of even data = %v, want 5e6 to 1 %%", got)
	}
}

func TestIntervalsRepeat(t *testing.T) {
	r := random(9)
	at, v := stalls(&r, 60*second)
	a, _ := SumInterval(at, v, 0, 60*second, second, 7)
	b, _ := SumInterval(at, v, 0, 60*second, second, 7)
	c, _ := SumInterval(at, v, 0, 60*second, second, 8)
	if a != b || a == c {
		t.Errorf("seed 7 gives %v and %v, seed 8 %v", a, b, c)
	}
}

func million() (at, v []int64) {
	r := random(1)
	for i := range int64(1e6) {
		at, v = append(at, i*60*second/1e6), append(v, int64(1e6*r.exp()))
	}
	return at, v
}

func BenchmarkSumInterval(b *testing.B) {
	at, v := million()
	for b.Loop() {
		SumInterval(at, v, 0, 60*second, second/4, 1)
	}
}

func BenchmarkQuantileInterval(b *testing.B) {
	at, v := million()
	for b.Loop() {
		QuantileInterval(at, v, .99, 0, 60*second, second/4, 1)
	}
}

// TestQuantileOfCounts compares the quantiles of resamples with those of the values themselves, put into buckets.
func TestQuantileOfCounts(t *testing.T) {
	r := random(11)
	at, v := stalls(&r, 60*second)
	b, _ := newBlocks(0, 60*second, second)
	h, _ := newHistogram(&b, func(i int) int64 { return at[i] }, v)
	starts := make([]int, b.count)
	for range 200 {
		b.drawStarts(&r, starts)
		q := []float64{.01, .5, .99, 1}[r.below(4)]
		var drawn []int64
		for _, s := range starts {
			for i := range v {
				if c, ok := b.cellOf(at[i]); ok && (c-s+b.cells)%b.cells < cellsPerBlock {
					drawn = append(drawn, v[i])
				}
			}
		}
		slices.Sort(drawn)
		want := math.Exp((float64(bucketOf(float64(Quantile(drawn, q)))) + .5) * bucketWidth)
		if got := h.quantileOf(starts, q); got != want {
			t.Fatalf("q %v: %v, not %v", q, got, want)
		}
	}
}
