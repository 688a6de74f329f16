// Package stats holds the few statistics a diagnosis needs: quantiles, intervals
// for figures of one recording, tests for pairs of runs, and change points.
//
// The package's opinion: requests of one service are not independent, so within a recording it resamples only blocks of time, and too few
// blocks give no interval. Between runs the unit is the pair of runs, and the only assumption is that a pair's difference could as well
// have the other sign. Every function is deterministic: random ones take a seed.
package stats

import "math/bits"

// Number is a type that can be counted and averaged: nanoseconds as integers, other figures as floats.
type Number interface {
	~int64 | ~float64
}

// Interval is a confidence interval, both ends included.
type Interval struct {
	Low, High float64
}

// Contains reports whether x lies in the interval.
func (v Interval) Contains(x float64) bool { return v.Low <= x && x <= v.High }

// random is SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number
// Generators, OOPSLA 2014): one word of state, and the same sequence for a seed
// in every release.
type random uint64

func (r *random) next() uint64 {
	*r += 0x9e3779b97f4a7c15
	z := uint64(*r)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below returns a number in [0, n); its bias is n/2⁶⁴.
func (r *random) below(n int) int {
	hi, _ := bits.Mul64(r.next(), uint64(n))
	return int(hi)
}
