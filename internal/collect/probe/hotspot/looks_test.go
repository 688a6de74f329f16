package hotspot

import (
	"io"
	"strings"
	"testing"
	"time"
)

func TestStops(t *testing.T) {
	for _, c := range []struct {
		name, log string
		want      time.Duration
	}{
		{"JDK 17", `[2026-11-22T13:20:34.471+0000][1.261s][info][safepoint] Safepoint "PrintThreads", Time since last: 225976692 ns, Reaching safepoint: 128531 ns, Cleanup: 12461 ns, At safepoint: 319520 ns, Total: 460512 ns
[2026-11-22T13:20:34.473+0000][1.262s][info][safepoint] Safepoint "G1CollectFull", Time since last: 99699 ns, Reaching safepoint: 197516 ns, Cleanup: 3538 ns, At safepoint: 1118737 ns, Total: 1319791 ns
[2026-11-22T13:20:34.476+0000][1.266s][info][safepoint] Safepoint "FindDeadlocks", Time since last: 79511 ns, Reaching safepoint: 1486559 ns, Cleanup: 10897 ns, At safepoint: 2064192 ns, Total: 3561648 ns
`, 460512 + 3561648},
		{"JDK 11", `[…][safepoint] Entering safepoint region: PrintThreads
[…][safepoint] Total time for which application threads were stopped: 0.0004605 seconds, Stopping threads took: 0.0000100 seconds
[…][safepoint] Entering safepoint region: G1CollectForAllocation
[…][safepoint] Total time for which application threads were stopped: 0.5 seconds, Stopping threads took: 0.0000100 seconds
`, 460500},
		{"cut off", `[…][safepoint] Safepoint "PrintThreads", Time since last: 2259`, 0},
	} {
		var s stops
		if _, err := io.WriteString(&s, c.log); err != nil || s.meanStop(1) != c.want {
			t.Errorf("%s: %v, %v; want %v", c.name, s.meanStop(1), err, c.want)
		}
	}
}

func TestCrowd(t *testing.T) {
	var c crowd
	dump := func(blocked int) bool {
		_, _ = io.WriteString(&c, strings.Repeat("   java.lang.Thread.State: BLOCKED (on object monitor)\n", blocked))
		return c.isCrowded()
	}
	for range 3 {
		if dump(2) {
			t.Error("more than usual, as always")
		}
	}
	if !dump(9) || dump(2) {
		t.Error("the dump with more is not told from the others")
	}
}
