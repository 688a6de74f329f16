// Package queue replays recorded requests through a line before servers. The ledger splits unlabelled time with it, and models of
// latencies are compared with it. Its rules are those of Lindley and of Kiefer & Wolfowitz, see [Queue].
package queue

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/base/units"
)

// Stop is a span of time [From, To) in ns in which the world was stopped.
type Stop struct{ From, To int64 }

// Queue is one line before c equal servers, first come first served: G/G/c. The
// arrivals and their service demands are recorded, not drawn from a distribution.
//
// Requests take the server that is free first; the times at which the servers
// become free are the workload vector of Kiefer & Wolfowitz, On the Theory of
// Queues with Many Servers (Transactions of the AMS 78, 1955), kept as a heap
// of absolute times. With one server that is the recursion of Lindley, The
// Theory of Queues with a Single Server (Mathematical Proceedings 48, 1952):
// Wₙ₊₁ = max(0, Wₙ + Sₙ − Tₙ).
//
// Stops are cut out of the time axis: during one no server works, and a request that arrives starts after it at the earliest.
type Queue struct {
	Servers int
	Stops   []Stop // disjoint and ascending
}

// Times is what a queue did to requests, ns, in the order they were given.
type Times struct {
	Wait    []int64 // from arrival until a server began with it
	Latency []int64 // from arrival until it was done
}

// What a queue cannot run.
var (
	ErrServers = errors.New("a queue needs at least one server")
	ErrStops   = errors.New("stops must be ascending and must not overlap")
	ErrLengths = errors.New("there must be one demand for each arrival")
	ErrOrder   = errors.New("arrivals must be ascending")
	ErrDemand  = errors.New("a demand is negative")
)

// Open runs requests that arrive (ns, ascending) whatever becomes of those
// before them, each with its demand (ns of a server's time, stops not counted).
// It takes O(n log c).
func (q Queue) Open(arrive, demand []int64) (Times, error) {
	axis, err := q.newAxis()
	switch {
	case err != nil:
		return Times{}, err
	case len(arrive) != len(demand):
		return Times{}, ErrLengths
	case !slices.IsSorted(arrive):
		return Times{}, ErrOrder
	case slices.ContainsFunc(demand, isNegative):
		return Times{}, ErrDemand
	}
	t := Times{make([]int64, len(arrive)), make([]int64, len(arrive))}
	s := newServers(q.Servers)
	for i, at := range arrive {
		start, end := s.serveRequest(&axis, at, demand[i])
		t.Wait[i], t.Latency[i] = start-at, end-at
	}
	return t, nil
}

func isNegative(v int64) bool { return v < 0 }

// MinReplay is how many requests a p99 needs to be compared.
const MinReplay = 100

// Tolerance is how far a model's p50 and p99 may lie from what was observed.
const Tolerance = .10

// Fit compares a model's latencies (ns) with the observed ones. A model that does not reproduce them must not predict others.
type Fit struct {
	Used     bool
	Why      string // why it is not used, "" if it is
	P50, P99 struct{ Observed, Model int64 }
	Error    float64 // the larger relative error of the two
}

// FitOf says whether a model may be used. Neither argument is changed; their
// order does not matter.
func FitOf(observed, model []int64) (f Fit) {
	if len(observed) != len(model) || len(observed) < MinReplay {
		f.Why = fmt.Sprintf("a replay needs at least %d requests, and there are %d", MinReplay, min(len(observed), len(model)))
		f.Error = math.Inf(1)
		return f
	}
	o, m := slices.Sorted(slices.Values(observed)), slices.Sorted(slices.Values(model))
	f.P50.Observed, f.P50.Model = stats.Quantile(o, .5), stats.Quantile(m, .5)
	f.P99.Observed, f.P99.Model = stats.Quantile(o, .99), stats.Quantile(m, .99)
	e50, e99 := Off(f.P50.Observed, f.P50.Model), Off(f.P99.Observed, f.P99.Model)
	f.Error = max(e50, e99)
	switch {
	case e50 > Tolerance:
		f.Why = NotReproduced("p50", f.P50.Observed, f.P50.Model)
	case e99 > Tolerance:
		f.Why = NotReproduced("p99", f.P99.Observed, f.P99.Model)
	default:
		f.Used = true
	}
	return f
}

// NotReproduced says in words that a figure (ns) of a model is too far from the observed one.
func NotReproduced(which string, observed, model int64) string {
	return fmt.Sprintf("the replay's %s is %s, but %s was observed: more than %.0f %% off", which, units.Time(float64(model)), units.Time(float64(observed)), 100*Tolerance)
}

// Off returns the relative error of a model's figure.
func Off(observed, model int64) float64 {
	if observed == model {
		return 0
	}
	if observed <= 0 {
		return math.Inf(1)
	}
	return math.Abs(float64(model-observed)) / float64(observed)
}

// Replay is a queue run on recorded requests with its stops and without those that a change
// takes away. Its arrivals are as recorded: clients that wait for answers are not followed.
type Replay struct {
	With, Without Times
	Fit           Fit
}

// Replay runs recorded requests with the stops and with those that a change leaves, and
// compares the former with the latencies observed (ns).
func (q Queue) Replay(arrive, demand, observed []int64, left []Stop) (r Replay, err error) {
	if r.With, err = q.Open(arrive, demand); err != nil {
		return r, err
	}
	if r.Without, err = (Queue{Servers: q.Servers, Stops: left}).Open(arrive, demand); err != nil {
		return r, err
	}
	r.Fit = FitOf(observed, r.With.Latency)
	return r, nil
}
