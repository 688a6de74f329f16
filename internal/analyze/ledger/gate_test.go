package ledger

import (
	"math"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// The limit admits two of two requests in the first 100 ms and of eight in the second: no request waits at first, and then three of four do,
// whatever looks around these times saw.
func TestGateSplitsByRequestsUnderWay(t *testing.T) {
	b := newBundle(evidence.Subject{Runtime: "dotnet"})
	s := newSource(b, "trace", exact, 0)
	words, call := s.Name("limit of 2 at Dark.room"), s.Name("sync I/O: Read")
	for i := range int64(8) {
		from := epoch
		if i >= 2 {
			from += 100 * ms
		}
		s.Request(evidence.Request{Lane: evidence.LaneID(i + 1), Start: from, End: epoch + 200*ms, Outcome: evidence.OK})
	}
	s.Close()
	l := one(t, b, Options{})
	wait := share{mechanism: Pool, Segment: evidence.Segment{Kind: evidence.PoolWait, Cause: words}, part: .5}
	calls := share{mechanism: Dependency, Segment: evidence.Segment{Kind: evidence.NetWait, Cause: call}, part: .4}
	g := &gate{words: words, beats: l.listBeats(2)}
	all := []share{wait}
	for _, tt := range []struct {
		name              string
		from, to          int64
		parts             []share
		waiting, elsewise float64
	}{
		{"while two are there", 0, 100 * ms, []share{wait, calls}, 0, .9},
		{"while eight are there", 100 * ms, 200 * ms, []share{wait, calls}, .675, .225},
		{"over both", 0, 200 * ms, []share{wait, calls}, .3375, .5625},
		{"where looks met nobody waiting", 100 * ms, 200 * ms, []share{calls}, .3, .1},
		{"nothing seen", 100 * ms, 200 * ms, nil, 0, 0},
	} {
		var waiting, elsewise float64
		for _, s := range g.splitShares(tt.parts, all, epoch+tt.from, epoch+tt.to) {
			if s.mechanism == Pool {
				waiting += s.part
			} else {
				elsewise += s.part
			}
		}
		if math.Abs(waiting-tt.waiting) > 1e-9 || math.Abs(elsewise-tt.elsewise) > 1e-9 {
			t.Errorf("%s: %.4f wait and %.4f do not, want %.4f and %.4f", tt.name, waiting, elsewise, tt.waiting, tt.elsewise)
		}
	}
	if parts := (*gate)(nil).splitShares([]share{wait}, all, epoch, epoch+ms); len(parts) != 1 || parts[0].part != .5 {
		t.Errorf("without a limit: %v", parts)
	}
}
