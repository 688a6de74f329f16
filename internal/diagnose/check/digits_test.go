package check_test

import (
	"math"
	"testing"

	"github.com/unstall/unstall/internal/diagnose/check"
)

func TestDigitsHaveNoExponent(t *testing.T) {
	for _, x := range []struct {
		n    int
		v    float64
		want string
	}{
		{2, 100, "100"}, {2, 99.6, "100"}, {2, 132.4, "132"}, {3, 1203.4, "1203"}, {3, 999.6, "1000"}, {3, 98.64, "98.6"},
		{2, 7, "7"}, {2, .0312, "0.031"}, {2, 0, "0"}, {2, -132.4, "-132"}, {2, .00001, "0.00001"}, {2, math.NaN(), "NaN"}, {2, math.Inf(1), "+Inf"},
	} {
		if got := check.Digits(x.n, x.v); got != x.want {
			t.Errorf("%g with %d digits: %s, want %s", x.v, x.n, got, x.want)
		}
	}
}
