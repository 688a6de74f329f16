package ledger

import (
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// A slow request that was not traced is like those of its route and latency, else like any of its latency, else like those of its route that took
// half as long; not like quicker ones.
func TestNearest(t *testing.T) {
	b := evidence.NewBundle()
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "requests.txt"}), "loadresult")
	rooms, bookings := p.Name("GET /rooms"), p.Name("POST /bookings")
	var rows [4]int
	for i, x := range []struct {
		route evidence.NameID
		ms    int64
	}{{rooms, 300}, {rooms, 600}, {rooms, 1500}, {bookings, 300}} {
		rows[i] = b.Requests.Len()
		p.Request(evidence.Request{Route: x.route, Start: 1e18, End: 1e18 + x.ms*1e6})
	}
	r := &b.Requests
	s := &tracedSample{traced: evidence.NewRows(r.Len()), slow: evidence.NewRows(r.Len()), of: make(map[likeKey]*like)}
	for _, row := range rows {
		s.slow.Add(row)
	}
	near, any := s.keysOf(r, rows[0])[0], s.keysOf(r, rows[0])[1]
	s.of[near] = &like{requests: leastAlike}
	s.of[any] = &like{requests: leastAlike}
	few := s.keysOf(r, rows[1])[0]
	s.of[few] = &like{requests: leastAlike - 1}
	for i, want := range []struct {
		key   likeKey
		known bool
	}{{near, true}, {near, true}, {likeKey{}, false}, {any, true}} {
		if key, known := s.findNearest(r, rows[i]); key != want.key || known != want.known {
			t.Errorf("request %d is like %+v, %v; want %+v, %v", i, key, known, want.key, want.known)
		}
	}
}
