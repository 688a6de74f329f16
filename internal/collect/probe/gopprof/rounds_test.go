package gopprof

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestTracesMeetEveryPhase lays out the traces of recordings. None overlaps the one before, each period has one, and work of any period is met in
// all its moments.
func TestTracesMeetEveryPhase(t *testing.T) {
	chance := rand.New(rand.NewPCG(7, 7))
	const end = 300 * time.Second
	met := map[time.Duration][]int{ // tenths of a cycle in which a trace began
		7 * time.Second: make([]int, 10), 7500 * time.Millisecond: make([]int, 10), 15 * time.Second: make([]int, 10), 2500 * time.Millisecond: make([]int, 10),
	}
	for range 20 {
		period, now, n := 0, firstTrace, 0
		for {
			var at time.Duration
			last := period
			if period, at = nextTrace(period, now, end, chance.Float64()); period == 0 {
				break
			}
			switch {
			case at < now:
				t.Fatalf("a trace at %v begins before the last ended at %v", at, now)
			case period != last+1 || at < time.Duration(period)*tracePeriod:
				t.Fatalf("a trace of period %d at %v follows that of %d", period, at, last)
			case at+leastTrace > end:
				t.Fatalf("a trace at %v of a recording of %v", at, end)
			}
			now = at + traceRound
			n++
			for cycle, tenths := range met {
				tenths[at%cycle*10/cycle]++
			}
		}
		if n != int(end/tracePeriod)-1 {
			t.Fatalf("%d traces", n)
		}
	}
	for cycle, tenths := range met {
		for i, n := range tenths {
			if n < 39 { // of 78
				t.Errorf("of a cycle of %v, %d traces began in its tenth %d", cycle, n, i+1)
			}
		}
	}
}

func TestNextTrace(t *testing.T) {
	const s = time.Second
	for _, x := range []struct {
		about    string
		last     int
		now, end time.Duration
		chance   float64
		period   int
		at       time.Duration
	}{
		{"the first", 0, 3 * s, 60 * s, 0, 1, 7500 * time.Millisecond},
		{"late in its period", 0, 3 * s, 60 * s, .8, 1, 13500 * time.Millisecond},
		{"one went on into the next period", 1, 15500 * time.Millisecond, 60 * s, 0, 2, 15500 * time.Millisecond},
		{"periods without any answer", 1, 40 * s, 60 * s, 0, 5, 40 * s},
		{"whole before the end", 0, 3 * s, 15 * s, .999999, 1, 13999993500 * time.Nanosecond},
		{"a piece before the end", 1, 9 * s, 15500 * time.Millisecond, .9, 2, 15 * s},
		{"none before the end", 1, 9 * s, 15 * s, .9, 0, 0},
	} {
		if period, at := nextTrace(x.last, x.now, x.end, x.chance); period != x.period || at != x.at {
			t.Errorf("%s: of period %d at %v", x.about, period, at)
		}
	}
}
