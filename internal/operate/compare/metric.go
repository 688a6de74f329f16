package compare

import "slices"

// Better is the direction in which a metric improves.
type Better string

// The directions.
const (
	Lower  Better = "lower"
	Higher Better = "higher"
)

// Metric is a figure that runs are compared by.
type Metric struct {
	Name   string // closed list: added to, never renamed
	Title  string // as reports for people name it
	Unit   string
	Better Better

	// A change below both is no change. MinEffect is relative to the figure before; Floor is absolute, in the
	// metric's unit.
	MinEffect float64
	Floor     float64

	// Gate says that a regression of the metric fails a comparison unless the user names other metrics. Few
	// metrics have it, because each one adds a chance of a false alarm, and the other quantiles move with
	// these.
	Gate bool
}

// Metrics are all known metrics in the order they are shown. A metric that a host or a short run makes less
// precise needs a larger effect.
var Metrics = []Metric{
	{Name: "p50_ms", Title: "p50", Unit: "ms", Better: Lower, MinEffect: .05, Floor: .005, Gate: true},
	{Name: "p90_ms", Title: "p90", Unit: "ms", Better: Lower, MinEffect: .05, Floor: .01},
	{Name: "p99_ms", Title: "p99", Unit: "ms", Better: Lower, MinEffect: .05, Floor: .02, Gate: true},
	{Name: "p999_ms", Title: "p99.9", Unit: "ms", Better: Lower, MinEffect: .1, Floor: .05},
	{Name: "mean_ms", Title: "mean latency", Unit: "ms", Better: Lower, MinEffect: .05, Floor: .005},
	{Name: "slow_share", Title: "slow requests", Unit: "1", Better: Lower, MinEffect: .1, Floor: .001},
	{Name: "rate", Title: "requests finished", Unit: "1/s", Better: Higher, MinEffect: .02, Gate: true},
	{Name: "errors", Title: "errors", Unit: "1", Better: Lower, MinEffect: .1, Floor: .001, Gate: true},
	{Name: "gc_cycles_per_s", Title: "GC cycles", Unit: "1/s", Better: Lower, MinEffect: .1, Floor: .02},
	{Name: "full_collections_per_s", Title: "full collections", Unit: "1/s", Better: Lower, MinEffect: .1, Floor: .02},
	{Name: "gc_cpu_share", Title: "GC CPU", Unit: "1", Better: Lower, MinEffect: .1, Floor: .005},
	{Name: "gc_pause_cpu_share", Title: "GC CPU in pauses", Unit: "1", Better: Lower, MinEffect: .1, Floor: .005}, // a JVM's log lacks concurrent work
	{Name: "assist_ms_per_s", Title: "mark assist", Unit: "ms/s", Better: Lower, MinEffect: .1, Floor: .5},
	{Name: "assist_us_per_request", Title: "mark assist per request", Unit: "µs", Better: Lower, MinEffect: .1, Floor: 1},
	{Name: "stopped_ms_per_s", Title: "paused by GC", Unit: "ms/s", Better: Lower, MinEffect: .1, Floor: .5},
	{Name: "longest_pause_ms", Title: "longest pause", Unit: "ms", Better: Lower, MinEffect: .2, Floor: 5}, // a single pause varies more than a mean
	{Name: "cpu_cores", Title: "process CPU", Unit: "cores", Better: Lower, MinEffect: .03, Floor: .005},
	{Name: "cpu_ms_per_request", Title: "CPU per request", Unit: "ms", Better: Lower, MinEffect: .03, Floor: .001},
	{Name: "user_cores", Title: "process CPU, user", Unit: "cores", Better: Lower, MinEffect: .05, Floor: .005},
	{Name: "system_cores", Title: "process CPU, system", Unit: "cores", Better: Lower, MinEffect: .05, Floor: .005},
	{Name: "run_queue_ms_per_s", Title: "waited for a CPU", Unit: "ms/s", Better: Lower, MinEffect: .2, Floor: 5}, // mostly decided by other programs on the host
	{Name: "throttled_share", Title: "throttled by its quota", Unit: "1", Better: Lower, MinEffect: .2, Floor: .01},
	{Name: "pool_waiters", Title: "waiting for a pool", Unit: "requests", Better: Lower, MinEffect: .2, Floor: .1},
	{Name: "alloc_mib_per_s", Title: "allocation", Unit: "MiB/s", Better: Lower, MinEffect: .05, Floor: .5},
	{Name: "promoted_mib_per_s", Title: "promotion", Unit: "MiB/s", Better: Lower, MinEffect: .1, Floor: .5}, // depends on what is live at the moment
	{Name: "live_heap_mib", Title: "live heap", Unit: "MiB", Better: Lower, MinEffect: .05, Floor: 1},
	{Name: "heap_goal_mib", Title: "heap goal", Unit: "MiB", Better: Lower, MinEffect: .05, Floor: 1},
	{Name: "rss_mib", Title: "resident memory", Unit: "MiB", Better: Lower, MinEffect: .05, Floor: 2},
	{Name: "minor_faults_per_s", Title: "minor page faults", Unit: "1/s", Better: Lower, MinEffect: .2, Floor: 50},
	{Name: "major_faults_per_s", Title: "major page faults", Unit: "1/s", Better: Lower, MinEffect: .2, Floor: 1},
	{Name: "cpu_pressure", Title: "host pressure, CPU", Unit: "1", Better: Lower, MinEffect: .2, Floor: .02},
	{Name: "memory_pressure", Title: "host pressure, memory", Unit: "1", Better: Lower, MinEffect: .2, Floor: .005},
}

// MetricOf returns a metric by its name.
func MetricOf(name string) (Metric, bool) {
	i := slices.IndexFunc(Metrics, func(m Metric) bool { return m.Name == name })
	if i < 0 {
		return Metric{}, false
	}
	return Metrics[i], true
}
