package load

import (
	"github.com/HdrHistogram/hdrhistogram-go"
)

// Tally sums up the requests of a run that another generator makes, and words the result as [Run] does. Its memory does not grow with the run,
// except for 8 bytes a second. It is for one goroutine.
type Tally struct{ t *tally }

// NewTally begins a tally. From the plan it needs the URL, the mode, the distribution of arrivals and the pattern, which gives the intended
// length of the run.
func NewTally(p Plan, o Observer) (*Tally, error) {
	u, err := parseURL(p.URL)
	if err != nil {
		return nil, err
	}
	p.Connections = DefaultOpenConnections // the caller that opens connections also counts waiting requests
	return &Tally{newTally(&p, u, o)}, nil
}

// Start says when the run begins, ns since the epoch.
func (t *Tally) Start(now int64) { t.t.start(now) }

// Add adds requests as they end. The caller may reuse the slice.
func (t *Tally) Add(rows []Row) { t.t.addRows(rows) }

// Progress shows the progress of the run, at most once a second. From the snapshot it needs Offered, UnderWay, Waiting, Conns and Users.
func (t *Tally) Progress(now int64, s Snapshot) { t.t.showProgress(now, s) }

// End says when the last request was due.
func (t *Tally) End(now int64) {
	t.t.endSchedule(now)
	t.t.cpu.stop()
}

// Result returns the result of the run.
func (t *Tally) Result(offered int64, failures map[string]int64) *Result {
	r := t.t.buildResult(offered, failures)
	r.HTTP = ""
	return r
}

// Spread is a distribution of times in bounded memory.
type Spread struct{ h *hdrhistogram.Histogram }

// NewSpread returns an empty spread that distinguishes times by a number of digits, 1 to 3.
func NewSpread(digits int) *Spread { return &Spread{hdrhistogram.New(100, longest, digits)} }

// Add adds a time in ns.
func (s *Spread) Add(ns int64) { recordNanos(s.h, ns) }

// Latency returns the distribution of the added times.
func (s *Spread) Latency() Latency { return latencyOf(s.h) }

// Lag returns the distribution of the added delays of the generator itself.
func (s *Spread) Lag() SendLag {
	if s.h.TotalCount() == 0 {
		return SendLag{}
	}
	return SendLag{P99: toMillis(s.h.ValueAtQuantile(99)), Max: toMillis(s.h.Max())}
}

// Reason returns an error in a few words, equal for all errors of its kind.
func Reason(err error) string { return shortReason(err) }

// Unreachable words an error of a service that gave no response at all; it wraps [ErrUnreachable].
func Unreachable(p Plan, err error) error {
	u, bad := parseURL(p.URL)
	if bad != nil {
		return bad
	}
	return unreachableError(&p, u, err)
}

// PlanError wraps [ErrPlan].
func PlanError(format string, args ...any) error { return planError(format, args...) }
