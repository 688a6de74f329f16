package threads

import (
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// A burst of a sampling profiler is taken apart into its rounds, without one that broke off.
func TestMoments(t *testing.T) {
	r := record()
	for burst := range int64(2) {
		for round := range int64(3) {
			for lane := range evidence.LaneID(4) {
				r.look(lane+1, (burst+1)*1e9+round*1e6+int64(lane), blocked)
			}
		}
		r.look(1, (burst+1)*1e9+5e6, blocked)
	}
	moments := Of(r.Bundle, stacks).Moments(r.subject)
	if len(moments) != 2 {
		t.Fatalf("%d bursts, want 2", len(moments))
	}
	for _, burst := range moments {
		if len(burst) != 3 || len(burst[0]) != 4 || len(burst[2]) != 4 {
			t.Errorf("%d rounds, the first of %d threads: want 3 of 4", len(burst), len(burst[0]))
		}
	}
}

// A thread that was stopped at a safe point looks like one in native code; where others run in
// the same function, it computes.
func TestNativeCodeThatComputes(t *testing.T) {
	hash := append([]string{"Shop!Shop.Price.Hash()"}, handler...)
	r := record()
	for i := range int64(10) {
		frames := hash
		if i%3 != 0 {
			frames = append([]string{"[Native Frames]"}, hash...)
		}
		r.look(1, 1e9+i*1e6, frames)
		r.look(2, 1e9+i*1e6+1, append([]string{"[Native Frames]"}, handler...))
	}
	x := Of(r.Bundle, stacks)
	for _, l := range x.Samples(r.subject) {
		want := evidence.Running
		if l.Lane == 2 {
			want = evidence.KindUnknown
		}
		if l.View.State != want {
			t.Errorf("thread %d at %d: %s, want %s", l.Lane, l.Time, l.View.State, want)
		}
	}
}

// Who holds a lock was called by another route than those who wait for it.
func TestHolderByAnotherWay(t *testing.T) {
	r := record()
	r.look(1, 1e9, append([]string{"[Native Frames]", "System.Private.CoreLib!System.Threading.Monitor.Enter()", "Shop!Shop.Ledger.Append()"}, handler...))
	r.look(2, 1e9, append([]string{"[Native Frames]", "System.Net.Sockets!System.Net.Sockets.NetworkStream.Read()", "Shop!Shop.Ledger.Append()", "Shop!Shop.Till.Close()"}, handler...))
	x := Of(r.Bundle, stacks)
	h := at(t, x, r.subject, 1, 1e9).Held
	if h.Lane != 2 || h.State != evidence.NetWait || h.Cause != "sync I/O: NetworkStream.Read in Shop!Ledger.Append()" {
		t.Errorf("held by %d, %s, %q", h.Lane, h.State, h.Cause)
	}
}
