package load

import (
	"github.com/HdrHistogram/hdrhistogram-go"
)

// Tally adds the requests of a run up that another generator makes, and words its
// result as [Run] does. Its memory does not grow with the run, but for 8 bytes a
// second. It is for one goroutine.
type Tally struct{ t *tally }

// NewTally begins one. Of the plan it needs the URL, the mode, how arrivals are
// distributed and the pattern, which says how long the run is meant to take.
func NewTally(p Plan, o Observer) (*Tally, error) {
	u, err := parseURL(p.URL)
	if err != nil {
		return nil, err
	}
	p.Connections = DefaultOpenConnections // what waits for a connection is told by who opens them
	return &Tally{newTally(&p, u, o)}, nil
}

// Start says when the run begins, ns since the epoch.
func (t *Tally) Start(now int64) { t.t.start(now) }

// Add adds requests as they end; the slice may be reused.
func (t *Tally) Add(rows []Row) { t.t.addRows(rows) }

// Progress shows how the run is getting on, at most once a second. Of the snapshot
// it needs Offered, UnderWay, Waiting, Conns and Users.
func (t *Tally) Progress(now int64, s Snapshot) { t.t.showProgress(now, s) }

// End says when the last request was due that was made.
func (t *Tally) End(now int64) {
	t.t.endSchedule(now)
	t.t.cpu.stop()
}

// Result is what the run came to.
func (t *Tally) Result(offered int64, failures map[string]int64) *Result {
	r := t.t.buildResult(offered, failures)
	r.HTTP = ""
	return r
}

// Spread is how times are distributed, in bounded memory.
type Spread struct{ h *hdrhistogram.Histogram }

// NewSpread tells times apart with so many digits, 1 to 3.
func NewSpread(digits int) *Spread { return &Spread{hdrhistogram.New(100, longest, digits)} }

// Add adds a time in ns.
func (s *Spread) Add(ns int64) { recordNanos(s.h, ns) }

// Latency is what was added.
func (s *Spread) Latency() Latency { return latencyOf(s.h) }

// Lag is what was added, of the generator's own delay.
func (s *Spread) Lag() SendLag {
	if s.h.TotalCount() == 0 {
		return SendLag{}
	}
	return SendLag{P99: toMillis(s.h.ValueAtQuantile(99)), Max: toMillis(s.h.Max())}
}

// Reason is an error in a few words, the same for all of its kind.
func Reason(err error) string { return shortReason(err) }

// Unreachable words an error of a service that nothing was got from; it wraps
// [ErrUnreachable].
func Unreachable(p Plan, err error) error {
	u, bad := parseURL(p.URL)
	if bad != nil {
		return bad
	}
	return unreachableError(&p, u, err)
}

// PlanError wraps [ErrPlan].
func PlanError(format string, args ...any) error { return planError(format, args...) }
