package probe

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/base/units"
)

// Latencies are the latencies of the requests that the recorder itself sends, as they end. They show whether something that was switched on slows
// requests. A nil Latencies knows no requests. It is safe for concurrent use.
type Latencies struct {
	mu   sync.Mutex
	ends []int64 // ns since the epoch, roughly in order
	took []int64 // ns
}

// mostLatencies is how many latencies are kept, of the latest requests.
const mostLatencies = 1 << 18

// Spread describes the latencies of a time.
type Spread struct {
	N        int
	P50, P99 time.Duration
}

const (
	compared     = 5 * time.Second // longest time before a moment whose latencies are compared
	leastAnswers = 50              // answers needed to know how long requests take
	tailAnswers  = 300             // … and how long the slowest hundredth of them takes

	// A slowdown must be larger than bad luck: by this factor, and by more than a timer is inexact.
	slowerMedian, slowerTail = 1.5, 2
	slowerBy, slowerTailBy   = 2 * time.Millisecond, 20 * time.Millisecond
)

// Add notes a request that ended.
func (l *Latencies) Add(end, took int64) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.ends) == mostLatencies {
		l.ends = slices.Delete(l.ends, 0, mostLatencies/2)
		l.took = slices.Delete(l.took, 0, mostLatencies/2)
	}
	l.ends, l.took = append(l.ends, end), append(l.took, took)
}

// Sent says whether there are any requests of the recorder's own.
func (l *Latencies) Sent() bool {
	if l == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.ends) > 0
}

// Before returns the spread of requests that ended shortly before a moment.
func (l *Latencies) Before(at time.Time) Spread { return l.spreadBetween(at.Add(-compared), at) }

// Enough says whether a spread can be compared.
func (s Spread) Enough() bool { return s.N >= leastAnswers }

func (l *Latencies) spreadBetween(from, to time.Time) (s Spread) {
	if l == nil {
		return s
	}
	var took []int64
	l.mu.Lock()
	for n := len(l.ends) - 1; n >= 0; n-- {
		if l.ends[n] >= from.UnixNano() && l.ends[n] < to.UnixNano() {
			took = append(took, l.took[n])
		}
	}
	l.mu.Unlock()
	if s.N = len(took); s.N == 0 {
		return s
	}
	stats.SortInts(took)
	at := func(q float64) time.Duration { return time.Duration(took[min(len(took)-1, int(q*float64(len(took))))]) }
	s.P50, s.P99 = at(.5), at(.99)
	return s
}

// Slower says how requests that ended shortly before a moment, and after from, took longer than earlier ones; "" if they did not, or if
// there are too few to say so.
func (l *Latencies) Slower(before Spread, from, at time.Time) string {
	if f := at.Add(-compared); f.After(from) {
		from = f
	}
	now := l.spreadBetween(from, at)
	if !before.Enough() || !now.Enough() {
		return ""
	}
	rose := func(what string, was, is time.Duration) string {
		return fmt.Sprintf("%s rose from %s to %s", what, units.Time(float64(was)), units.Time(float64(is)))
	}
	switch {
	case min(before.N, now.N) >= tailAnswers && now.P99 > time.Duration(slowerTail*float64(before.P99))+slowerTailBy:
		return rose("p99", before.P99, now.P99)
	case now.P50 > time.Duration(slowerMedian*float64(before.P50))+slowerBy:
		return rose("p50", before.P50, now.P50)
	}
	return ""
}
