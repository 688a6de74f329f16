package wire

import (
	"math/rand/v2"
	"testing"
)

// TestByID holds a table against a map, over numbers that are close to each other and far apart.
func TestByID(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var got ByID[int64]
		want := make(map[int64]*int64)
		number := func() int64 {
			if rng.IntN(8) == 0 {
				return int64(rng.Uint64() >> rng.IntN(64))
			}
			return rng.Int64N(300) - 1
		}
		for range 5000 {
			id := number()
			if got.Find(id) != want[id] {
				t.Fatalf("seed %d: %d is %v, not %v", seed, id, got.Find(id), want[id])
			}
			switch {
			case rng.IntN(2) == 0:
				got.Remove(id)
				delete(want, id)
			case want[id] == nil:
				want[id] = &id
				got.Add(id, &id)
			}
			if got.Len() != len(want) {
				t.Fatalf("seed %d: %d, not %d", seed, got.Len(), len(want))
			}
		}
		n := 0
		for v := range got.All() {
			if n++; want[*v] != v {
				t.Errorf("seed %d: %d is not there", seed, *v)
			}
		}
		if n != len(want) {
			t.Errorf("seed %d: yields %d of %d", seed, n, len(want))
		}
	}
}
