package evidence

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func randomSegment(r *rand.Rand) Segment {
	s := Segment{Kind: Kind(r.IntN(int(numKinds))), Dur: 1 + r.Int64N(1<<40)}
	if r.IntN(2) == 0 {
		s.Dur = (1 + r.Int64N(1<<20)) * ms
	}
	if r.IntN(2) == 0 {
		s.Lane = LaneID(r.Int64N(1 << 40))
	}
	if r.IntN(2) == 0 {
		s.Stack, s.Cause = StackID(r.IntN(1<<20)), NameID(r.IntN(1<<20))
	}
	if r.IntN(2) == 0 {
		s.Holder, s.HolderKind = LaneID(r.IntN(1<<20)), Kind(r.IntN(int(numKinds)))
	}
	if r.IntN(2) == 0 {
		s.HolderCause, s.Via = NameID(r.IntN(1<<20)), NameID(r.IntN(1<<20))
	}
	if r.IntN(4) == 0 {
		s.HolderStack = StackID(r.IntN(1 << 20))
	}
	if r.IntN(2) == 0 {
		for i := range s.Held {
			if r.IntN(2) == 0 {
				s.Held[i] = r.Int64N(1 << 30)
			}
		}
	}
	return s
}

func TestPathRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var p Path
		var want, got []Segment
		for range r.IntN(30) {
			s := randomSegment(r)
			p = p.Append(s)
			want = append(want, s)
		}
		for s := range p.All {
			got = append(got, s)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatal(d)
		}
	}
}

func TestPathOfGarbageEnds(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		p := make(Path, r.IntN(64))
		for i := range p {
			p[i] = byte(r.Uint32())
		}
		n := 0
		for range p.All {
			if n++; n > len(p) {
				t.Fatal("more segments than bytes")
			}
		}
	}
}

// TestRequestsKeepPaths stores more than fits into one block.
func TestRequestsKeepPaths(t *testing.T) {
	var q Requests
	r := rand.New(rand.NewPCG(5, 6))
	var want []Path
	for i := range 20000 {
		var p Path
		if i%7 != 0 {
			for range r.IntN(20) {
				p = p.Append(randomSegment(r))
			}
		}
		want = append(want, p)
		q.addRow(&Request{End: int64(i), Path: p})
	}
	if len(q.paths.blocks) < 2 {
		t.Fatal("the paths fit into one block: the test tests nothing")
	}
	for i, p := range want {
		if string(q.Path(i)) != string(p) {
			t.Fatalf("path %d is not what was stored", i)
		}
	}
}
