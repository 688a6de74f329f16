package service

import (
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// TestLargestRoute checks which of several routes counts as spending most of its time on one thing.
func TestLargestRoute(t *testing.T) {
	route := func(name evidence.NameID, requests int, latency int64, spend int, each int64) *routeTime {
		x := &routeTime{route: name}
		for i := range requests {
			x.latencies = append(x.latencies, latency)
			x.took += latency
			if i < spend {
				x.spent = append(x.spent, each)
				x.total += each
			}
		}
		return x
	}
	most := route(1, 100, 100, 90, 80)
	less := route(2, 60, 100, 60, 60)
	rare := route(3, 1000, 1000, 400, 1000) // 60 % of its requests spend nothing
	small := route(4, 1000, 1000, 1000, 400)
	few := route(5, 3, 1e6, 3, 1e6)
	for _, c := range []struct {
		name   string
		routes []*routeTime
		suits  func(*routeTime) bool
		want   *routeTime
	}{
		{"none", nil, nil, nil},
		{"the larger sum", []*routeTime{less, most}, nil, most},
		{"the first of equals", []*routeTime{most, route(6, 100, 100, 90, 80)}, nil, most},
		{"most requests must spend", []*routeTime{rare, less}, nil, less},
		{"half of the time must be spent", []*routeTime{small, less}, nil, less},
		{"few requests say nothing", []*routeTime{few}, nil, nil},
		{"one that suits", []*routeTime{most, less}, func(x *routeTime) bool { return x != most }, less},
	} {
		if got := largestRoute(c.routes, mostSetUp, c.suits); got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
}
