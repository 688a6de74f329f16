package watch

import (
	"fmt"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/collect/capture"
)

// Requests of several shapes are not slow while they take as long as always. Those that take longer are.
func TestUsually(t *testing.T) {
	for _, c := range []struct {
		about string
		took  func(i int) (route string, ms int) // returns the route and latency of the i-th request
		now   func(i int) (route string, ms int)
		want  float64 // %
	}{
		{"a report of 400 ms beside pages of 5 ms", report(5, 400), report(5, 400), 0},
		{"a cache that misses one in twelve times", misses(5, 400), misses(5, 400), 0},
		{"its pages take ten times as long", report(5, 400), report(50, 400), 88},
		{"its report takes ten times as long", report(5, 400), report(5, 4000), 12},
		{"what misses takes five times as long", misses(5, 400), misses(5, 2000), 8},
	} {
		t.Run(c.about, func(t *testing.T) {
			r := new(requests)
			look := func(of func(int) (string, int), from int) (share float64) {
				write := r.followLog(capture.Meta{Name: "access.log", Lines: true, Found: true})
				for i := range 100 {
					route, ms := of(from + i)
					write(fmt.Appendf(nil, "127.0.0.1 - - [26/Nov/2026:10:00:00 +0000] \"GET %s HTTP/1.1\" 200 512 \"-\" \"-\" rt=%.3f\n", route, float64(ms)/1e3))
				}
				for _, p := range r.countNewRequests(time.Unix(1_800_000_000, 0)) {
					if p.ID == "requests/slow-share" {
						share = p.V
					}
				}
				return share
			}
			for n := range 30 {
				if share := look(c.took, 100*n); share != 0 {
					t.Fatalf("look %d: %g %% are slow", n, share)
				}
			}
			if share := look(c.now, 0); share < c.want-1 || share > c.want+1 {
				t.Errorf("%g %% are slow, want %g", share, c.want)
			}
		})
	}
}

// report gives one in eight requests a route of its own.
func report(page, long int) func(int) (string, int) {
	return func(i int) (string, int) {
		if i%8 == 0 {
			return "/report", long
		}
		return "/page", page
	}
}

// misses makes cache misses on the same route as hits.
func misses(hit, miss int) func(int) (string, int) {
	return func(i int) (string, int) {
		if i%12 == 0 {
			return "/page", miss
		}
		return "/page", hit
	}
}
