package stats

import "math"

// WilsonInterval returns the interval with 95 % confidence for the share of successes in n independent trials (Wilson, Probable Inference,
// the Law of Succession, and Statistical Inference, JASA 22, 1927). Unlike the usual interval it stays within 0 and 1 and is not a point
// where all trials succeeded. Successes may be means of repeated trials, which do not count as further trials. False without trials.
func WilsonInterval(successes float64, n int) (Interval, bool) {
	if n <= 0 || !(successes >= 0 && successes <= float64(n)) {
		return Interval{}, false
	}
	const z = 1.959963984540054 // of the normal distribution at 97.5 %
	trials := float64(n)
	p := successes / trials
	scale := 1 + z*z/trials
	centre := (p + z*z/(2*trials)) / scale
	half := z * math.Sqrt(p*(1-p)/trials+z*z/(4*trials*trials)) / scale
	return Interval{max(0, centre-half), min(1, centre+half)}, true
}
