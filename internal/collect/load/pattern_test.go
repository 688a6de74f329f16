package load

import (
	"math"
	"testing"
	"time"
)

func times(p Plan) (out []int64) {
	s := p.Pattern.Schedule(p.Arrivals, p.Seed, p.Requests)
	for {
		at, ok := s.Next()
		if !ok {
			return out
		}
		out = append(out, at)
	}
}

// As many requests come as the pattern says, and none while the rate is zero.
func TestScheduleIsExact(t *testing.T) {
	for _, n := range []float64{1, 3, 7, 30, 150, 5000, 123457} {
		for _, d := range []time.Duration{100 * time.Millisecond, time.Second, 200 * time.Second, 30 * time.Minute} {
			rate := n / d.Seconds()
			all := times(Plan{Pattern: Pattern{{20 * time.Minute, 0, 0}, {d, rate, rate}}})
			if len(all) != int(n) || all[0] != int64(20*time.Minute) {
				t.Errorf("%g in %s: %d, the first at %s", n, d, len(all), time.Duration(all[0]))
			}
		}
	}
}

func TestSchedule(t *testing.T) {
	within := func(all []int64, from, to time.Duration) (n int) {
		for _, at := range all {
			if at >= int64(from) && at < int64(to) {
				n++
			}
		}
		return n
	}
	const s = time.Second
	for _, c := range []struct {
		name    string
		pattern Pattern
		want    []int // requests in each second
	}{
		{"steady", Pattern{{3 * s, 100, 100}}, []int{100, 100, 100, 0}},
		{"ramp", Ramp(0, 300, 3*s), []int{50, 150, 250, 0}},
		{"down", Ramp(300, 0, 3*s), []int{250, 150, 50, 0}},
		{"steps", Steps([]float64{10, 0, 30}, 3*s), []int{10, 0, 30, 0}},
		{"spike", Spike(10, 20, 5*s, 2*s, s), []int{10, 10, 200, 10, 10, 0}},
	} {
		constant := times(Plan{Pattern: c.pattern})
		for i, want := range c.want {
			if got := within(constant, time.Duration(i)*s, time.Duration(i+1)*s); got < want-1 || got > want+1 {
				t.Errorf("%s: %d requests in second %d, want %d", c.name, got, i, want)
			}
		}
		var sums [6]float64 // Poisson: the mean of many schedules
		const many = 200
		for seed := range uint64(many) {
			all := times(Plan{Pattern: c.pattern, Arrivals: Poisson, Seed: seed})
			for i := range c.want {
				sums[i] += float64(within(all, time.Duration(i)*s, time.Duration(i+1)*s))
			}
		}
		for i, want := range c.want {
			if off := math.Abs(sums[i]/many - float64(want)); off > 5*math.Sqrt(float64(want)/many) {
				t.Errorf("%s: %.2f Poisson requests in second %d, want %d", c.name, sums[i]/many, i, want)
			}
		}
	}
}

func TestPoissonGapsVaryAsTheyShould(t *testing.T) {
	all := times(Plan{Pattern: Pattern{{20 * time.Second, 1000, 1000}}, Arrivals: Poisson, Seed: 7})
	var sum, squares float64
	for i := 1; i < len(all); i++ {
		gap := float64(all[i] - all[i-1])
		sum += gap
		squares += gap * gap
	}
	n := float64(len(all) - 1)
	mean := sum / n
	if cv := math.Sqrt(squares/n-mean*mean) / mean; cv < .97 || cv > 1.03 {
		t.Errorf("coefficient of variation %.3f, of a Poisson process it is 1", cv)
	}
}

func TestRequestsWithoutEnd(t *testing.T) {
	p, _, err := Plan{URL: "http://a", Rate: 10, Requests: 25}.withDefaults()
	if all := times(p); err != nil || len(all) != 25 || all[24] != 2_400_000_000 {
		t.Errorf("%v %v", all, err)
	}
}
