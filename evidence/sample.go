package evidence

import "slices"

// Sample is one row of [Samples]: a profile's stack with its weight, an
// allocation tick, a goroutine of a dump.
type Sample struct {
	Subject SubjectID
	Time    int64 // ns, 0: somewhere within the artifact's coverage
	Lane    LaneID
	Stack   StackID
	Type    NameID // "cpu", "inuse_space", "contentions", "delay", "goroutine", "thread", …
	Unit    NameID // "nanoseconds", "bytes", "count"
	Class   NameID // what the work was for, as classified by the format; 0: the program's own
	Value   int64
	Origin  Origin
}

// Samples holds samples as columns.
type Samples struct {
	Subject []SubjectID
	Time    []int64
	Lane    []LaneID
	Stack   []StackID
	Type    []NameID
	Unit    []NameID
	Class   []NameID
	Value   []int64
	Origin  []Origin
}

// Len is the number of samples.
func (s *Samples) Len() int { return len(s.Value) }

func (s *Samples) room() {
	s.Subject, s.Time, s.Lane, s.Stack = double(s.Subject), double(s.Time), double(s.Lane), double(s.Stack)
	s.Type, s.Unit, s.Class = double(s.Type), double(s.Unit), double(s.Class)
	s.Value, s.Origin = double(s.Value), double(s.Origin)
}

// grow makes room for n more rows, and for no fewer than doubling them would.
func (s *Samples) grow(n int) {
	if n <= cap(s.Value)-len(s.Value) {
		return
	}
	n = max(n, len(s.Value))
	s.Subject, s.Time, s.Lane, s.Stack = slices.Grow(s.Subject, n), slices.Grow(s.Time, n), slices.Grow(s.Lane, n), slices.Grow(s.Stack, n)
	s.Type, s.Unit, s.Class = slices.Grow(s.Type, n), slices.Grow(s.Unit, n), slices.Grow(s.Class, n)
	s.Value, s.Origin = slices.Grow(s.Value, n), slices.Grow(s.Origin, n)
}

func (s *Samples) row(i int) Sample {
	return Sample{Subject: s.Subject[i], Time: s.Time[i], Lane: s.Lane[i], Stack: s.Stack[i], Type: s.Type[i], Unit: s.Unit[i], Class: s.Class[i],
		Value: s.Value[i], Origin: s.Origin[i]}
}

func (s *Samples) add(x Sample) {
	if len(s.Value) == cap(s.Value) {
		s.room()
	}
	s.Subject = append(s.Subject, x.Subject)
	s.Time = append(s.Time, x.Time)
	s.Lane = append(s.Lane, x.Lane)
	s.Stack = append(s.Stack, x.Stack)
	s.Type = append(s.Type, x.Type)
	s.Unit = append(s.Unit, x.Unit)
	s.Class = append(s.Class, x.Class)
	s.Value = append(s.Value, x.Value)
	s.Origin = append(s.Origin, x.Origin)
}

// Series is a figure over time. Between two points the first one holds.
type Series struct {
	Subject SubjectID
	Clock   ClockID
	Name    string // runtime/metrics names where the runtime has one: /gc/heap/goal:bytes
	Unit    string
	T       []int64 // ns, ascending
	V       []float64
	Origin  Origin
}

// Mean is the figure's mean over the part of [from, until) that lies between its
// points, and how long that part is (ns); 0, 0 if there is none.
func (s *Series) Mean(from, until int64) (mean float64, watched int64) {
	var sum float64
	for i := 0; i+1 < len(s.T); i++ {
		if d := min(s.T[i+1], until) - max(s.T[i], from); d > 0 {
			sum += s.V[i] * float64(d)
			watched += d
		}
	}
	if watched == 0 {
		return 0, 0
	}
	return sum / float64(watched), watched
}

// Names of series about a managed runtime, whatever gave them: .NET's EventCounters
// have these, and what other sources call otherwise is renamed to them. Rates are
// per second.
const (
	SeriesCPU              = "System.Runtime/cpu-usage"                                // percent of all processors
	SeriesWorkingSet       = "System.Runtime/working-set"                              // bytes
	SeriesPoolThreads      = "System.Runtime/threadpool-thread-count"                  // threads
	SeriesPoolQueue        = "System.Runtime/threadpool-queue-length"                  // work items
	SeriesPoolCompleted    = "System.Runtime/threadpool-completed-items-count"         // work items/s
	SeriesTimers           = "System.Runtime/active-timer-count"                       // timers
	SeriesContentions      = "System.Runtime/monitor-lock-contention-count"            // contentions/s
	SeriesGCTime           = "System.Runtime/time-in-gc"                               // percent since the last collection
	SeriesRequestsInFlight = "Microsoft.AspNetCore.Hosting/current-requests"           // requests
	SeriesRequestRate      = "Microsoft.AspNetCore.Hosting/requests-per-second"        // requests/s
	SeriesClientPoolUsed   = "pool/active"                                             // connections of a pool in use; pool's name after a colon: "pool/active:db"
	SeriesClientPoolMax    = "pool/max"                                                // the most it may have
	SeriesClientPoolWaits  = "pool/pending"                                            // who waits for one
	SeriesDependencyMean   = "dependency/mean"                                         // ns a call took as the dependency's own monitor saw it, mean of the readings' time
	SeriesDependencyP99    = "dependency/p99"                                          // ns, likewise
	SeriesDependencyCalls  = "dependency/calls"                                        // calls/s that it saw
	SeriesConnections      = "Microsoft-AspNetCore-Server-Kestrel/current-connections" // connections
)

// Fact is something that was so during a time: a flag, a limit, a version.
type Fact struct {
	Subject SubjectID
	Key     string // one of the Fact… names, or a setting's own name
	Value   string
	Number  float64 // the value as a number in the base unit (bytes, ns, 1), NaN if it is none
	From    int64   // ns, 0: always
	Until   int64   // ns, 0: always
	Origin  Origin
}

// Names of facts that causes ask for.
const (
	FactGOGC             = "GOGC"               // percent; "off" is -1
	FactGOMEMLIMIT       = "GOMEMLIMIT"         // bytes; "off" is -1
	FactGODEBUG          = "GODEBUG"            // as set
	FactGOMAXPROCS       = "GOMAXPROCS"         // as set in the environment
	FactCommand          = "command"            // the command line, secrets taken out
	FactContainerLimit   = "container.memory"   // bytes
	FactContainerCPU     = "container.cpu"      // quota in CPUs
	FactHostMemory       = "host.memory"        // bytes
	FactLinesIgnored     = "lines.ignored"      // lines of an artifact that are known and of no use
	FactLinesUnexplained = "lines.unexplained"  // lines that were not understood
	FactVersionAtLeast   = "go.version.atLeast" // "go1.19": the evidence's own format says so

	// Facts of execution traces that tell processor time from wall time on a
	// processor: on a host that does not run the threads, short things take long.
	FactShortCalls      = "trace.shortCalls"      // system calls on sockets that never block, how many
	FactShortCallMedian = "trace.shortCallMedian" // ns
	FactShortCallMean   = "trace.shortCallMean"   // ns
	FactLongRuns        = "trace.longRuns"        // ns run in stretches over twice the preemption quantum of 10 ms
	FactRunTime         = "trace.runTime"         // ns goroutines were on processors
	// Goroutines that began during a trace and still wait at its end, of the kind
	// with most of them: Value says where they wait, Number how many.
	FactGoroutinesLeft      = "trace.goroutinesLeft"
	FactGoroutinesLeftEarly = "trace.goroutinesLeftEarly" // those begun in its first half

	// Facts of a JVM. Flags are facts by their own names, as "MaxHeapSize", in bytes.
	FactCollector = "collector" // as people call it: "G1", "ParNew+CMS", "Parallel", "Serial", "ZGC", "generational ZGC", "Shenandoah", "generational Shenandoah", "Epsilon"

	// Threads that wait for each other in a circle, as the runtime found: Value are their
	// names, Number how many.
	FactDeadlock = "deadlock"

	FactExpectedRate = "expected.rate" // requests/s that were agreed on (--expect-rate)
	FactBaselineRate = "baseline.rate" // requests/s when all was well (--baseline)
	FactBaselineP50  = "baseline.p50"  // ns that requests took then
	FactBaselineP99  = "baseline.p99"  // ns, likewise

	// The share of an access log's requests that one caller had sent before, with the same
	// query, in the seconds before; Value says within how many.
	FactRepeated = "requests.repeated"

	// What a dependency's own monitor says of all calls of a time, ns and plain numbers.
	FactDependencyMean  = "dependency.mean"
	FactDependencyMax   = "dependency.max" // the slowest call, or the highest mean of one reading: Value says which
	FactDependencyCalls = "dependency.calls"

	FactSpansSampled = "spans.sampled" // the share of requests that tracing kept, 0…1; NaN: some, and not told how many

	FactCPUSamples = "trace.cpuSamples" // profile samples (100 Hz of processor time) in the trace
)

// Names of what can be covered.
const (
	CoverRequests   = "requests"
	CoverStates     = "goroutine states"
	CoverGC         = "gc cycles"
	CoverCPUProfile = "cpu profile"
	CoverGoroutines = "goroutines"
	CoverLocks      = "lock profile"
	CoverHeap       = "heap profile"
	CoverHostCPU    = "host cpu"
	CoverFaults     = "page faults"
	CoverThrottling = "cpu throttling"
	CoverThreads    = "thread stacks"
	CoverThreadPool = "thread pool" // its size and queue over time
	CoverWaits      = "lock waits"  // contended locks of each thread
	CoverSafepoints = "safepoints"  // every stop of the world, not the collector's alone
	CoverStalls     = "allocation stalls"
	CoverSpans      = "spans"       // calls to dependencies within requests
	CoverPool       = "pool gauges" // a connection pool's use over time
	CoverClasses    = "class histogram"
)

// Coverage says that something was watched, from when to when.
type Coverage struct {
	Subject SubjectID
	Clock   ClockID
	Kind    string // one of Cover…
	From    int64  // ns
	Until   int64  // ns
	Lost    int64  // events known to be lost within
	Sampled int64  // ns between two looks, where states were looked at now and then; 0: all the time
	Origin  Origin
}

// LoadResult is what a load generator says about one run. Quantiles are ns.
type LoadResult struct {
	Tool       string
	URL        string
	Mode       string // "open", "closed", "" unknown
	FromSend   bool   // latency is counted from the send, not from the intended time
	Duration   int64  // ns
	Offered    float64
	Rate       float64 // achieved, per second
	Sent       int64
	Completed  int64
	Errors     int64
	Timeouts   int64
	Mean       int64
	Stdev      int64
	Max        int64
	Quantiles  []Quantile
	Codes      map[string]int64 // by class: "2xx"
	BytesPerS  float64
	Connection int // closed loop: how many clients
	Origin     Origin
}

// Quantile is a point of a latency distribution.
type Quantile struct {
	Q  float64 // 0…1
	Ns int64
}
