package goheap

import (
	"math"
	"testing"
)

func TestFindSlower(t *testing.T) {
	for _, c := range []struct {
		name  string
		is    func(slower float64) float64 // ns
		ends  float64                      // 0: where the latency is the sought one
		tries int
	}{
		{"even growth", func(s float64) float64 { return 1e6 * s / 2.3 }, 0, 6},
		{"requests pile up", func(s float64) float64 { return 1e6 * math.Exp(math.Pow(max(0, s-1.4), 3)*.4) * (.9 + .1*s/1.7) }, 0, mostTries},
		{"too long already", func(s float64) float64 { return 1.2e6 * s }, 1, 1},
		{"never long enough", func(s float64) float64 { return .9e6 }, mostSlower, 2},
		{"a step", func(s float64) float64 { return 1e6 * math.Floor(s) / 2.5 }, 3, mostTries},
	} {
		tries, last := 0, 0.
		err := findSlower(1e6, func(slower float64) (float64, error) {
			tries, last = tries+1, slower
			return c.is(slower), nil
		})
		if err != nil || tries > c.tries {
			t.Errorf("%s: %d tries, %v", c.name, tries, err)
		}
		switch is := c.is(last); {
		case c.ends > 0 && math.Abs(last-c.ends) > .05:
			t.Errorf("%s: ends with %.3f times slower, not %.3f", c.name, last, c.ends)
		case c.ends == 0 && math.Abs(is-1e6) > .005e6:
			t.Errorf("%s: ends with %.3f times slower, which takes %.0f ns", c.name, last, is)
		}
	}
}
