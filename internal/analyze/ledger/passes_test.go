package ledger

import (
	"fmt"
	"slices"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Every test of the package holds each pass to its entry of the list: it charges the beginning of the free time, all
// that it takes and nothing else, to the mechanisms it names.
func init() {
	audit = func(w *walker, p *Pass, f *freeTime) {
		at, free, yield := f.at, f.s.Dur, w.yield
		charged, reached := int64(0), at
		w.yield = func(from int64, s *evidence.Segment, c *Charges, by derivation) {
			if from != reached || s.Dur < 0 || c.Sum() != s.Dur {
				panic(fmt.Sprintf("pass %q charges %v of %d ns at %d, where %d are charged", p.Name, *c, s.Dur, from, reached))
			}
			for m, v := range c {
				if v < 0 || v > 0 && p.Charges != nil && !slices.Contains(p.Charges, Mechanism(m)) {
					panic(fmt.Sprintf("pass %q charges %d ns to %s, which it does not name", p.Name, v, Mechanism(m)))
				}
			}
			reached += s.Dur
			charged += s.Dur
			yield(from, s, c, by)
		}
		p.charge(w, f)
		w.yield = yield
		if charged > free || f.s.Dur != free-charged || f.at != at+charged {
			panic(fmt.Sprintf("pass %q took %d ns of %d free and charged %d", p.Name, free-f.s.Dur, free, charged))
		}
	}
}

// Each pass says what it is for, and the last of each list leaves nothing.
func TestPasses(t *testing.T) {
	seen, unseen := Passes()
	for _, list := range [][]Pass{seen, unseen} {
		names := make(map[string]bool)
		for _, p := range list {
			if p.Name == "" || p.About == "" || names[p.Name] {
				t.Errorf("%+v", p)
			}
			names[p.Name] = true
		}
		if last := list[len(list)-1]; last.Needs != "" {
			t.Errorf("%q charges the rest only with %s", last.Name, last.Needs)
		}
	}
}
