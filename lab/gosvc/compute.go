package main

import (
	"fmt"
	"net/http"
	"time"
)

// compute uses CPU time only: it allocates almost nothing and waits for nothing.
func compute(o options) (http.HandlerFunc, error) {
	rounds := roundsFor(o.work)
	return func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%d\n", computePrice(r.URL.Path, rounds))
	}, nil
}

// computePrice computes something from a path in as many rounds.
//
//go:noinline
func computePrice(path string, rounds int) uint64 {
	x := uint64(len(path)) + 88172645463325252
	for i := 0; i < rounds; i++ {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		x += uint64(path[i%len(path)])
	}
	return x
}

// roundsFor measures how many rounds of price take that long. The best of
// several measurements counts, as others may have been disturbed.
func roundsFor(d time.Duration) int {
	const sample = 200_000
	best := time.Duration(1 << 62)
	for i := 0; i < 20; i++ {
		begin := time.Now()
		_ = computePrice("/item/1", sample)
		if took := time.Since(begin); took < best {
			best = took
		}
	}
	return int(float64(sample) * float64(d) / float64(best))
}
