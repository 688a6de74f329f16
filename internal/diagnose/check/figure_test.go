package check

import "testing"

func TestUnitOf(t *testing.T) {
	for id, want := range map[string]string{
		"gc.cycles_per_s": "1/s", "alloc.bytes_per_s": "bytes/s", "alloc.request_bytes": "bytes", "quota.cpus": "CPUs", "gc.heaps": "count",
		"heap.growth_bytes_per_h": "bytes/h", "gc.paused_ms_per_s": "ms/s", "slow.own_ms": "ms", "alloc.stalls_thread_s": "thread s",
	} {
		if got := UnitOf(id); got != want {
			t.Errorf("%s is in %q, want %q", id, got, want)
		}
	}
	for _, id := range []string{"", "gc", "gc.", "GC.rate", "gc.cycles-per-s", "go.gc-rate"} {
		if FigureID(id) {
			t.Errorf("%q is an id", id)
		}
	}
}
