package threads

import (
	"testing"

	"github.com/unstall/unstall/evidence"
)

// TestNativeCodeBesideLocks: where the runtime's events tell of waits for a lock, threads
// seen there in native code are waiting for it; elsewhere they are not.
func TestNativeCodeBesideLocks(t *testing.T) {
	inside := append([]string{"[Native Frames]"}, handler...)
	other := append([]string{"[Native Frames]", "Shop!Shop.Stock.Count()"}, handler[1:]...)
	for _, tt := range []struct {
		name   string
		waited int64 // ns of ten seconds
		want   evidence.Kind
	}{
		{"often", 8e9, evidence.LockWait},
		{"hardly ever", 1e8, evidence.KindUnknown},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := record()
			r.p.Cover(evidence.Coverage{Subject: r.subject, Kind: evidence.CoverWaits, From: 1, Until: 10e9 + 1})
			r.p.Interval(evidence.Interval{Subject: r.subject, Lane: 7, Kind: evidence.LockWait, Start: 1, End: 1 + tt.waited, Stack: r.stack(handler)})
			r.look(8, 5e9, inside)
			r.look(9, 5e9, other)
			looks := Of(r.done(), stacks).Looks(r.subject)
			if got := looks[0].View; got.State != tt.want {
				t.Errorf("in the code that waits for a lock: %s, want %s", got.State, tt.want)
			}
			if got := looks[1].View; got.State != evidence.KindUnknown {
				t.Errorf("in other code: %s", got.State)
			}
		})
	}
}
