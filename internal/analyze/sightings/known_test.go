package sightings

import (
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// TestAppendKnown: where the runtime knows only that a request awaits something or a call, the kernel knows whether the call had begun, and
// what the runtime knows more of stays.
func TestAppendKnown(t *testing.T) {
	const pool, call, socket = evidence.NameID(1), evidence.NameID(2), evidence.NameID(3)
	var own evidence.Path // the kernel's row: read after 2 ns, a wait for the pool until 10, a call until 20, then nothing known
	own = own.Append(evidence.Segment{Kind: evidence.BeforeService, Dur: 2}).Append(evidence.Segment{Kind: evidence.PoolWait, Dur: 8, Cause: pool}).
		Append(evidence.Segment{Kind: evidence.NetWait, Dur: 10, Cause: call}).Append(evidence.Segment{Kind: evidence.Unobserved, Dur: 10})
	for _, x := range []struct {
		runtime evidence.Kind
		want    []evidence.Segment
	}{
		{evidence.Unobserved, []evidence.Segment{{Kind: evidence.Unobserved, Dur: 2}, {Kind: evidence.PoolWait, Dur: 8}, {Kind: evidence.NetWait, Dur: 10, Cause: call}, {Kind: evidence.Unobserved, Dur: 10}}},
		{evidence.Awaiting, []evidence.Segment{{Kind: evidence.Awaiting, Dur: 2}, {Kind: evidence.PoolWait, Dur: 8}, {Kind: evidence.NetWait, Dur: 10, Cause: call}, {Kind: evidence.Awaiting, Dur: 10}}},
		{evidence.NetWait, []evidence.Segment{{Kind: evidence.NetWait, Dur: 2, Cause: socket}, {Kind: evidence.PoolWait, Dur: 8}, {Kind: evidence.NetWait, Dur: 20, Cause: socket}}},
		{evidence.SyncWait, []evidence.Segment{{Kind: evidence.SyncWait, Dur: 30, Cause: socket}}},
	} {
		s := evidence.Segment{Kind: x.runtime, Dur: 30}
		if x.runtime == evidence.NetWait || x.runtime == evidence.SyncWait {
			s.Cause = socket
		}
		var merged []evidence.Segment
		for got := range appendKnown(nil, &s, own, 0).All {
			if n := len(merged); n > 0 && merged[n-1].Kind == got.Kind && merged[n-1].Cause == got.Cause {
				merged[n-1].Dur += got.Dur
				continue
			}
			merged = append(merged, got)
		}
		ok := len(merged) == len(x.want)
		for i := 0; ok && i < len(merged); i++ {
			ok = merged[i].Kind == x.want[i].Kind && merged[i].Dur == x.want[i].Dur && (x.want[i].Cause == 0 || merged[i].Cause == x.want[i].Cause)
		}
		if !ok {
			t.Errorf("%s: %+v, want %+v", x.runtime, merged, x.want)
		}
	}
}
