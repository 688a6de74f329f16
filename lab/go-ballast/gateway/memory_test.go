package main

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"
)

// TestMemoryFollows checks that a ballast counts as live heap and follows changes, and so does a limit.
// The memory touched at the start changes in proportion.
func TestMemoryFollows(t *testing.T) {
	t.Cleanup(func() { debug.SetMemoryLimit(math.MaxInt64) })
	live := func() float64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc) / (1 << 20)
	}
	before := live()
	m := newMemory(32, 8)
	for _, mib := range []int{32, 64, 16} {
		if mib != 32 {
			m.changeBallast(mib)
		}
		if got := live() - before; math.Abs(got-float64(mib)) > 4 {
			t.Errorf("a ballast of %d MiB is %.1f MiB of live heap", mib, got)
		}
		if m.pretouch != mib/4 {
			t.Errorf("with %d MiB of ballast %d MiB are touched, want %d", mib, m.pretouch, mib/4)
		}
	}
	m.changeLimit(512)
	m.changeLimit(1024)
	if got := debug.SetMemoryLimit(-1); got != 1024<<20 || m.pretouch != 8 {
		t.Errorf("the limit is %d bytes, %d MiB are touched", got, m.pretouch)
	}
	runtime.KeepAlive(m)
}

func TestSized(t *testing.T) {
	var got int
	set := withMiB(func(mib int) { got = mib })
	if err := set("512"); err != nil || got != 512 {
		t.Error(got, err)
	}
	for _, bad := range []string{"", "x", "0", "-5", "1GiB"} {
		if err := set(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}
