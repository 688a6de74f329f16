// Package timeline lays out when things happened, for pictures: requests as points, the runtime's and the host's activity as bands and
// curves, the states of the slow requests one by one, the work of each processor, and time by stack.
// Its opinion: a picture may leave out what is usual, never what is extreme. A summary keeps its longest part and gives the number of things
// it stands for, and everything has a bound on its size, whatever was recorded.
//
// It reads a bundle and its ledgers and judges nothing; times are ns since the epoch, or since a recording's own beginning where only that is
// known.
package timeline

import "github.com/unstall/unstall/internal/analyze/ledger"

// Timeline is what happened to one service.
type Timeline struct {
	Subject  string
	From, To int64  // ns: the span that is shown
	Anchored bool   // From is a time of day
	Lanes    string // what the runtime runs requests on: "goroutine", "thread"

	Requests   []Points // of each artifact that saw requests; the report's main one comes first
	Charged    int      // index in Requests: those whose time the ledger charges
	Routes     []Route  // of the ledger, by lost time
	Threshold  int64    // ns: slower requests are slow; 0: no requests, or each route has its own
	Bands      []Band
	Charts     []Chart
	Slow       []Request // with known states, slowest first: the slowest, and some of each route and time
	Typical    []Request // some that were not slow, for comparison
	Processors []Processors
	Flames     []Flame
	Collected  *Collected // nil: no garbage collector was watched
	Omitted    []string   // recorded evidence that is not shown, in words

	ledger *ledger.Ledger // nil: no requests
}

// Points are requests over time. Where there are more than [MaxPoints], a point stands for all requests of a cell of time and latency, and shows
// the slowest of them.
type Points struct {
	Source  string
	Count   int      // requests in all
	Cell    int64    // ns: width of a cell; 0: each request is a point
	Routes  []string // "" unknown
	At      []int64  // ns, ascending: when it began (was meant to be sent, if that is known)
	Latency []int64  // ns
	Number  []uint32 // requests a point stands for; nil: one each
	Route   []uint16 // index in Routes
	Flags   []Flags
	Detail  []int32 // index in Timeline.Slow plus one, 0: its states are not shown
}

// MaxPoints is how many points all sources together have. Each has at least its share. With them and the rest, a page takes less than 2 MB.
const MaxPoints = 80_000

// Flags of a point: of any of the requests it stands for.
type Flags uint8

// Properties of a request that are visible at a glance.
const (
	Slow Flags = 1 << iota
	Failed
	Unfinished // its latency is a lower bound
	Traced     // its states are known
)

// Route is what the slow requests of one route lost, by mechanism.
type Route struct {
	Name  string // "": the requests with an unknown route
	Slow  int
	Time  int64  // ns: their latencies
	Parts []Part // by mechanism, in the order of the ledger; they add up to the time
}

// MaxRoutes is how many routes are kept apart.
const MaxRoutes = 100

// Band is a row of lasting things of one kind: collector cycles, stopped world, a quota's stops.
type Band struct {
	ID     string // "gc-mark", "stop-the-world", "cpu-throttled"; stable, for colours
	Title  string
	Source string
	From   []int64 // ns, ascending
	To     []int64
	Text   []string // a text for each: "cycle 12, live 61 MiB, goal 122 MiB"; nil: none
	// For neighbours that were drawn together: their number, the longest of them and their total time (ns); nil: none were drawn
	// together.
	Number  []uint32
	Longest []int64
	Busy    []int64
	// Watched is the watched time, ns, sorted and disjoint; nil: all the time. Outside it nothing is known.
	Watched [][2]int64
}

// MaxBand is how many things a band has; where most have a text, only the longest keep it.
const (
	MaxBand = 10_000
	maxText = 2000
)

// Chart is figures over time with a common scale.
type Chart struct {
	ID      string // "cpu", "heap", "assist", "rate", "faults": stable
	Title   string
	Unit    string // "cores", "bytes", "1/s", "share" of the time; "ms/s", "s/s": how many at a time
	Stacked bool   // the curves are parts of a whole
	Route   string // only for this route; "": for all
	Curves  []Curve
}

// Curve is one figure over time. Each point's value holds until the next; a NaN is unknown.
type Curve struct {
	ID     string // "user", "system", "steal", "goal"
	Title  string
	Source string
	T      []int64
	V      []float64
	// Readings means that each point is a reading at one moment; between two points the value is unknown.
	Readings bool
	// Sloped means that the value changes linearly between two points, as a heap fills from one collection to the next.
	Sloped bool
	Max    []float64 // the highest value that a point stands for, if that is several; nil: V
}

// MaxCurve is how many points a curve has.
const MaxCurve = 4000

// Request is the timeline of one request. Its states follow each other without gaps and sum to its latency.
type Request struct {
	Source  string
	Origin  string
	Route   string
	Lane    int64 // goroutine or thread, 0 unknown
	At      int64 // ns: began
	Latency int64 // ns
	Outcome string
	Slow    bool // by the ledger's decision; if few are slow, the slowest of the others follow
	Apart   bool // At is by a clock without a place on the timeline
	States  []State
}

// State is what a request did or waited for during a time.
type State struct {
	At, Dur   int64  // ns
	Number    int    // number of the request's states that this one stands for; 0: one
	Kind      string // as observed: evidence.Kind in words, "runnable", "mark assist"; of several, the one with most time
	Mechanism string // the mechanism with most of it: the ledger's id
	Parts     []Part // if it is charged to several
	What      string // the dependency, lock or reason, "" unknown
	Where     string // the innermost frames, "" unknown
	Holder    string // the holder of what it waited for, and what that did: "goroutine 71: mark assist"
}

// Part is a share of a state.
type Part struct {
	Mechanism string
	Dur       int64 // ns
}

// Bounds of the requests with shown states.
const (
	MaxSlow    = 400
	MaxTypical = 20
	MaxStates  = 2000
)

// Processors is the work of a trace's processors.
type Processors struct {
	Source   string
	From, To int64
	Apart    bool   // by a clock without a place on the timeline
	Lanes    []Lane // P0, P1, …
}

// MaxSpans is how many spans all processors of all traces have together.
const MaxSpans = 150_000

// Lane is one processor. Its spans follow each other; in the gaps nothing ran.
type Lane struct {
	Name  string
	Spans []Span
}

// Span is what a processor did during a time: one kind of work, or several where there were too many spans to keep.
type Span struct {
	From, To int64
	Work     Work    // the work with most time
	Request  int32   // index in Timeline.Slow plus one, 0: none of them
	Name     string  // the goroutine's function, "" unknown or several
	Shares   []Share // the other work, if there are several kinds
}

// Share is a part of a span's time, 0…1.
type Share struct {
	Work Work
	Part float64
}

// Work is the use of a processor.
type Work uint8

// Kinds of work, in the order they are drawn.
const (
	Idle       Work = iota
	ForRequest      // runs a request's own code
	Assist          // a goroutine that marks for the collector, to pay for an allocation
	Collector       // a mark worker
	Background      // goroutines that serve no request
	Runtime         // the runtime's own: sweeper, scavenger, finalizers
	Stopped         // the world was stopped
	NumWorks
)

// Flame is time or samples by stack.
type Flame struct {
	ID    string // "cpu", "slow" (slow requests' time by state and stack), "heap"
	Title string
	Unit  string // "ns", "bytes", "1"
	Total int64
	// Nodes are the stacks' frames as a tree, parents before children; the first node is the root.
	Nodes []Node
	// Cut is the value of frames below the least that is shown: it counts in the calling node, and has no node of its own.
	Cut int64
}

// Mechanism begins the kind of a node with the colour of a mechanism of the ledger.
const Mechanism = "m-"

// Node is a frame with everything called from it.
type Node struct {
	Parent int32 // index in Nodes, −1 for the root
	Name   string
	Kind   string // colours: "own", "library", "runtime", "libc", "gc", "kernel", "wait", "idle", or [Mechanism] and the ledger's id of one
	Value  int64  // including all nodes below
}
