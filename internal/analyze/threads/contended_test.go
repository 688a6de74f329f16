package threads

import (
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
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
			looks := Of(r.done(), stacks).Samples(r.subject)
			if got := looks[0].View; got.State != tt.want {
				t.Errorf("in the code that waits for a lock: %s, want %s", got.State, tt.want)
			}
			if got := looks[1].View; got.State != evidence.KindUnknown {
				t.Errorf("in other code: %s", got.State)
			}
		})
	}
}

// TestLockedByEvents: who waits for a lock, by the runtime's own events of that wait, does not run,
// whatever its stack looks like; it waits for who holds the lock, and for what that does.
func TestLockedByEvents(t *testing.T) {
	sync := append([]string{"[Native Frames]", "System.Private.CoreLib!Interop+Sys.FSync(class Microsoft.Win32.SafeHandles.SafeHandle)", "System.Private.CoreLib!System.IO.FileStream.Flush(bool)"}, handler...)
	r := record()
	r.p.Cover(evidence.Coverage{Subject: r.subject, Kind: evidence.CoverWaits, From: 1, Until: 60e9})
	r.p.Interval(evidence.Interval{Subject: r.subject, Lane: 7, Kind: evidence.LockWait, Start: 1e9, End: 1e9 + 5e6, Stack: r.stack(handler), Holder: 8})
	for i := range int64(4) {
		at := 1e9 + i*2e6
		r.look(7, at, handler)
		r.look(8, at+1, sync)
		r.look(9, at+2, handler)
	}
	x := Of(r.done(), stacks)
	for _, l := range x.Samples(r.subject) {
		want := map[evidence.LaneID]evidence.Kind{7: evidence.LockWait, 8: evidence.Syscall, 9: evidence.Running}[l.Lane]
		if l.Lane == 7 && l.Time >= 1e9+5e6 {
			want = evidence.Running
		}
		if l.View.State != want {
			t.Errorf("thread %d at %d: %s, want %s", l.Lane, l.Time, l.View.State, want)
		}
		if l.Lane == 7 && want == evidence.LockWait && (l.Held.Lane != 8 || l.Held.State != evidence.Syscall) {
			t.Errorf("held by %d, %s", l.Held.Lane, l.Held.State)
		}
	}
}

// TestWaitsForMemory: who waits for a large object while generation 2 is collected waits for the collector, not in code of its
// own, and only for as long as the runtime's event of that wait says; who is in the same function otherwise allocates.
func TestWaitsForMemory(t *testing.T) {
	inside := append([]string{"[Native Frames]"}, handler...)
	r := record()
	r.p.Interval(evidence.Interval{Subject: r.subject, Lane: 7, Kind: evidence.AllocStall, Start: 1e9, End: 1e9 + 5e6, Stack: r.stack(handler)})
	other := append([]string{"[Native Frames]", "Shop!Shop.Stock.Count()"}, handler[1:]...)
	for i := range int64(2) {
		r.look(7, 1e9+1e6+i*10e6, inside)
		r.look(8, 1e9+1e6+i*10e6+1, inside)
		r.look(9, 1e9+1e6+i*10e6+2, other)
	}
	for _, l := range Of(r.done(), stacks).Samples(r.subject) {
		want := map[evidence.LaneID]evidence.Kind{7: evidence.Running, 8: evidence.Running, 9: evidence.KindUnknown}[l.Lane]
		if l.Lane == 7 && l.Time < 1e9+5e6 {
			want = evidence.AllocStall
		}
		if l.View.State != want {
			t.Errorf("thread %d at %d: %s, want %s", l.Lane, l.Time, l.View.State, want)
		}
	}
}

// TestStill: threads in native code wait where the process used and asked for next to no CPU time;
// where it computed, or was ready and not run, nobody knows.
func TestStill(t *testing.T) {
	inside := append([]string{"[Native Frames]"}, handler...)
	for _, tt := range []struct {
		name        string
		used, ready float64
		want        evidence.Kind
	}{
		{"idle", .1, .05, evidence.SyncWait},
		{"at work", 1.9, .05, evidence.KindUnknown},
		{"not run", .1, 1.9, evidence.KindUnknown},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := record()
			for lane := range evidence.LaneID(4) {
				r.look(lane+1, 5e9, inside)
			}
			b := r.done()
			for name, v := range map[string]float64{evidence.SeriesProcessCPU: tt.used, evidence.SeriesProcessRunDelay: tt.ready} {
				b.Series = append(b.Series, evidence.Series{Subject: r.subject, Name: name, T: []int64{1e9, 9e9}, V: []float64{v, v}})
			}
			if got := Of(b, stacks).Samples(r.subject)[0].View; got.State != tt.want {
				t.Errorf("%s, want %s", got.State, tt.want)
			}
		})
	}
}
