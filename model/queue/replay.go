// Package queue replays recorded requests through a line before servers: what the ledger
// splits unlabelled time with, and what models of latencies are held against. Its rules are
// those of Lindley and of Kiefer & Wolfowitz, see [Queue].
package queue

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/unstall/unstall/figure"
	"github.com/unstall/unstall/stats"
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
// Stops are cut out of the time axis: no server works during one, and no demand
// is used up. What arrives during one starts after it at the earliest.
type Queue struct {
	Servers int
	Stops   []Stop // disjoint and ascending
}

// Times is what a queue did to requests, ns, in the order they were given.
type Times struct {
	Wait    []int64 // from arrival until a server began with it
	Latency []int64 // from arrival until it was done
}

// Client is one client of a closed loop: it sends its first request at
// Start + Think[0], and each next one its think time after the answer to the one
// before. Thinking goes on while the world is stopped: clients are elsewhere.
type Client struct {
	Start  int64   // ns
	Think  []int64 // ns before each request
	Demand []int64 // ns of service of each request
}

// What a queue cannot run.
var (
	ErrServers = errors.New("a queue needs at least one server")
	ErrStops   = errors.New("stops must be ascending and must not overlap")
	ErrLengths = errors.New("there must be one demand for each arrival")
	ErrOrder   = errors.New("arrivals must be ascending")
	ErrDemand  = errors.New("a demand or a think time is negative")
)

// Open runs requests that arrive (ns, ascending) whatever becomes of those
// before them, each with its demand (ns of a server's time, stops not counted).
// It takes O(n log c).
func (q Queue) Open(arrive, demand []int64) (Times, error) {
	axis, err := q.axis()
	switch {
	case err != nil:
		return Times{}, err
	case len(arrive) != len(demand):
		return Times{}, ErrLengths
	case !slices.IsSorted(arrive):
		return Times{}, ErrOrder
	case slices.ContainsFunc(demand, negative):
		return Times{}, ErrDemand
	}
	t := Times{make([]int64, len(arrive)), make([]int64, len(arrive))}
	s := newServers(q.Servers)
	for i, at := range arrive {
		start, end := s.serve(&axis, at, demand[i])
		t.Wait[i], t.Latency[i] = start-at, end-at
	}
	return t, nil
}

// Closed runs the clients' loops. The times are in order of the clients, and of
// each client's requests. It takes O(n (log c + log N)).
func (q Queue) Closed(clients []Client) (Times, error) {
	axis, err := q.axis()
	if err != nil {
		return Times{}, err
	}
	total := 0
	next := make(sends, 0, len(clients))
	for c, k := range clients {
		switch {
		case len(k.Think) != len(k.Demand):
			return Times{}, ErrLengths
		case slices.ContainsFunc(k.Think, negative), slices.ContainsFunc(k.Demand, negative):
			return Times{}, ErrDemand
		}
		if len(k.Think) > 0 {
			next = append(next, send{at: k.Start + k.Think[0], client: c, row: total})
		}
		total += len(k.Think)
	}
	slices.SortFunc(next, func(a, b send) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.client, b.client)) })
	t := Times{make([]int64, total), make([]int64, total)}
	s := newServers(q.Servers)
	// A client's next request is never sent before the one it now sends, so the
	// first of all pending sends is the next to arrive.
	for len(next) > 0 {
		x := &next[0]
		k := &clients[x.client]
		start, end := s.serve(&axis, x.at, k.Demand[x.n])
		t.Wait[x.row], t.Latency[x.row] = start-x.at, end-x.at
		x.n++
		x.row++
		if x.n < len(k.Think) {
			x.at = end + k.Think[x.n]
		} else {
			next[0] = next[len(next)-1]
			next = next[:len(next)-1]
		}
		next.down()
	}
	return t, nil
}

func negative(v int64) bool { return v < 0 }

// MinReplay is how many requests a p99 needs to be compared.
const MinReplay = 100

// Tolerance is how far a model's p50 and p99 may lie from what was observed.
const Tolerance = .10

// Fit compares a model's latencies (ns) with the observed ones. A model that
// does not reproduce what was must not be asked what would have been.
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
		f.Why = fmt.Sprintf("a replay needs at least %d requests, there are %d", MinReplay, min(len(observed), len(model)))
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

// NotReproduced words that a figure (ns) of a model lies too far off.
func NotReproduced(which string, observed, model int64) string {
	return fmt.Sprintf("the replay's %s is %s ms where %s ms were observed: more than %.0f %% off", which, figure.Num(float64(model)/1e6), figure.Num(float64(observed)/1e6), 100*Tolerance)
}

// Off is how far a model is from what was observed, relative.
func Off(observed, model int64) float64 {
	if observed == model {
		return 0
	}
	if observed <= 0 {
		return math.Inf(1)
	}
	return math.Abs(float64(model-observed)) / float64(observed)
}

// Replay is a queue run on recorded requests with its stops and without them.
type Replay struct {
	With, Without Times
	Fit           Fit
}

// Replay runs recorded requests with the stops and without, and compares the
// former with the latencies observed (ns).
func (q Queue) Replay(arrive, demand, observed []int64) (r Replay, err error) {
	return q.ReplayLeft(arrive, demand, observed, nil)
}

// ReplayLeft is Replay for a change that leaves some of the stops as they are.
func (q Queue) ReplayLeft(arrive, demand, observed []int64, left []Stop) (r Replay, err error) {
	if r.With, err = q.Open(arrive, demand); err != nil {
		return r, err
	}
	if r.Without, err = (Queue{Servers: q.Servers, Stops: left}).Open(arrive, demand); err != nil {
		return r, err
	}
	r.Fit = FitOf(observed, r.With.Latency)
	return r, nil
}

// ReplayClosed is Replay for clients that wait for their answers. Observed is in
// the order of [Queue.Closed].
func (q Queue) ReplayClosed(clients []Client, observed []int64) (r Replay, err error) {
	if r.With, err = q.Closed(clients); err != nil {
		return r, err
	}
	if r.Without, err = (Queue{Servers: q.Servers}).Closed(clients); err != nil {
		return r, err
	}
	r.Fit = FitOf(observed, r.With.Latency)
	return r, nil
}
