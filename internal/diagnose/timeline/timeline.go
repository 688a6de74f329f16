// Package timeline lays out when things happened, for looking at: requests as
// points, what the runtime and the host did meanwhile as bands and curves, the
// states of the slow requests one by one, what each processor did, and where time
// went by stack.
//
// Its opinion: a picture may leave out what is usual, never what is extreme.
// Whatever is summed up keeps its longest part and says how much it stands for,
// and everything has a bound on how large it gets, whatever was recorded.
//
// It reads a bundle and its ledgers and judges nothing; times are ns since the
// epoch, or since a recording's own beginning where that is all that is known.
package timeline

// Timeline is what happened to one service.
type Timeline struct {
	Subject  string
	From, To int64  // ns: the span that is shown
	Anchored bool   // From is a time of day
	Lanes    string // what the runtime runs requests on: "goroutine", "thread"

	Requests   []Points // of each artifact that saw requests, the one that heads the report first
	Charged    int      // index in Requests: of those whose time the ledger charges
	Routes     []Route  // of the ledger, those first that lost most
	Threshold  int64    // ns: slow is above; 0: no requests
	Bands      []Band
	Charts     []Chart
	Slow       []Request // whose states are known, slowest first: the slowest, and some of each route and time
	Typical    []Request // some that were not slow, to hold the slow ones against
	Processors []Processors
	Flames     []Flame
	Collected  *Collected // nil: nobody watched a garbage collector
	Omitted    []string   // what was recorded and is not shown, in words
}

// Points are requests over time. Where there are more than [MaxPoints], a point
// stands for all requests of a cell of time and latency, and is the slowest of it.
type Points struct {
	Source  string
	Count   int      // requests in all
	Cell    int64    // ns of time a cell is wide; 0: each request is a point
	Routes  []string // "" where it is not known
	At      []int64  // ns, ascending: when it began (was meant to be sent, if that is known)
	Latency []int64  // ns
	Number  []uint32 // requests a point stands for; nil: one each
	Route   []uint16 // index in Routes
	Flags   []Flags
	Detail  []int32 // index in Timeline.Slow plus one, 0: its states are not shown
}

// MaxPoints is how many points all sources together have. Each has at least its
// share. With them and all else a page takes less than 2 MB.
const MaxPoints = 80_000

// Flags of a point: of any of the requests it stands for.
type Flags uint8

// What is to be seen of a request at a glance.
const (
	Slow Flags = 1 << iota
	Failed
	Unfinished // its latency is a lower bound
	Traced     // its states are known
)

// Route is what the slow requests of one route lost, and by what.
type Route struct {
	Name  string // "" the requests whose route is not known
	Slow  int
	Time  int64  // ns: their latencies
	Parts []Part // by mechanism, in the order of the ledger; they add up to the time
}

// MaxRoutes is how many routes are told apart.
const MaxRoutes = 100

// Band is a kind of thing that lasts, in a row of its own: collector cycles,
// stopped world, a quota's stops.
type Band struct {
	ID     string // "gc-mark", "stop-the-world", "cpu-throttled"; stable, for colours
	Title  string
	Source string
	From   []int64 // ns, ascending
	To     []int64
	Text   []string // what is to be said of each: "cycle 12, live 61 MiB, goal 122 MiB"; nil: nothing
	// Where neighbours were drawn together: how many each is, the longest of them and how
	// long all of them lasted (ns); nil: each is itself.
	Number  []uint32
	Longest []int64
	Busy    []int64
	// Watched is when it was looked at, ns, in order and apart; nil: all the time.
	// Elsewhere nothing is known.
	Watched [][2]int64
}

// MaxBand is how many things a band has; of most of so many, the longest are told of in
// words.
const (
	MaxBand = 10_000
	maxText = 2000
)

// Chart is figures over time that share a scale.
type Chart struct {
	ID      string // "cpu", "heap", "assist", "rate", "faults": stable
	Title   string
	Unit    string // "cores", "bytes", "1/s", "share" of the time; "ms/s", "s/s": how many at a time
	Stacked bool   // the curves are parts of a whole
	Route   string // it is of this route alone; "": of all
	Curves  []Curve
}

// Curve is one figure over time. Between two points the first one holds, unless
// its value is NaN: then nothing is known.
type Curve struct {
	ID     string // "user", "system", "steal", "goal"
	Title  string
	Source string
	T      []int64
	V      []float64
	// Readings: each point is a look at one moment; nothing is known between two.
	Readings bool
	// Sloped: between two points the value changes evenly, as a heap fills from one collection to the next.
	Sloped bool
	Max    []float64 // the highest of what a point stands for, where that is more than one; nil: V
}

// MaxCurve is how many points a curve has.
const MaxCurve = 4000

// Request is one request's own time line. Its states follow each other without
// gaps and sum to its latency.
type Request struct {
	Source  string
	Origin  string
	Route   string
	Lane    int64 // goroutine or thread, 0 unknown
	At      int64 // ns: began
	Latency int64 // ns
	Outcome string
	Slow    bool // by the ledger's decision; where few were, the slowest of the others follow
	Apart   bool // At is by a clock that has no place on the time line
	States  []State
}

// State is what a request did or waited for during a time.
type State struct {
	At, Dur   int64  // ns
	Number    int    // how many states of the request this stands for; 0: one
	Kind      string // as observed: evidence.Kind in words, "runnable", "mark assist"; of several, what most was
	Mechanism string // what most of it is charged to: the ledger's id
	Parts     []Part // where it is charged to several
	What      string // the dependency, lock or reason, "" unknown
	Where     string // the innermost frames, "" unknown
	Holder    string // who held what it waited for, and what that did: "goroutine 71: mark assist"
}

// Part is a share of a state.
type Part struct {
	Mechanism string
	Dur       int64 // ns
}

// Bounds of the requests whose states are shown.
const (
	MaxSlow    = 400
	MaxTypical = 20
	MaxStates  = 2000
)

// Processors is what a trace's processors did.
type Processors struct {
	Source   string
	From, To int64
	Apart    bool   // by a clock that has no place on the time line
	Lanes    []Lane // P0, P1, …
}

// MaxSpans is how many spans all processors of all traces have together.
const MaxSpans = 150_000

// Lane is one processor. Its spans follow each other; between two nothing ran.
type Lane struct {
	Name  string
	Spans []Span
}

// Span is what a processor did during a time: one thing, or, where spans were too
// many to keep, several.
type Span struct {
	From, To int64
	Work     Work    // what most of it was
	Request  int32   // index in Timeline.Slow plus one, 0: none of those
	Name     string  // the goroutine's function, "" unknown or several
	Shares   []Share // where it is several: what else
}

// Share is a part of a span's time, 0…1.
type Share struct {
	Work Work
	Part float64
}

// Work is what a processor is used for.
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
	// Nodes are the stacks' frames as a tree, parents before children; the first is
	// the root.
	Nodes []Node
	// Cut is what fell below the least that is shown: it is in the node it was
	// called from and in none of its own.
	Cut int64
}

// Mechanism begins the kind of a node that is coloured as a mechanism of the ledger.
const Mechanism = "m-"

// Node is a frame with all that was called from it.
type Node struct {
	Parent int32 // index in Nodes, −1 for the root
	Name   string
	Kind   string // colours: "own", "library", "runtime", "libc", "gc", "kernel", "wait", "idle", or [Mechanism] and the ledger's id of one
	Value  int64  // with all below
}
