package compare

import "slices"

// Schema is the version of the JSON form of a [Comparison]. Keys are added, never
// renamed; unknown is null, never 0.
const Schema = "unstall.compare/v1"

// Results of a metric.
const (
	Improved  = "improved"
	Regressed = "regressed"
	Same      = "same"    // no change that would matter
	Unclear   = "unclear" // neither a change nor its absence is shown
)

// What a figure did, whether or not the load of the runs is known.
const (
	MovedDown    = "down"
	MovedUp      = "up"
	MovedNowhere = "nowhere"
)

// Comparison is what a change did.
type Comparison struct {
	Schema string `json:"schema"`
	Before string `json:"before"`
	After  string `json:"after"`

	// Comparable is false if the loads differ; then there are no results. Null: it
	// is not known under which load the runs were made; then there are figures, and
	// every result is unclear.
	Comparable *bool  `json:"comparable"`
	Why        string `json:"why"`

	Pairs   int      `json:"pairs"`
	Level   float64  `json:"level"`
	Metrics []Result `json:"metrics"`
	Loads   Loads    `json:"loads"`

	// Causes are those that a diagnosis of either run names, as both diagnoses judge them. Diagnosed is false if the runs were not
	// diagnosed, as when there are several of each side.
	Causes    []CauseChange `json:"causes"`
	Diagnosed bool          `json:"diagnosed"`

	Warnings []string `json:"warnings"`
	Seed     *uint64  `json:"seed"` // of the order in which interleaved blocks were run
}

// Loads are what each side was measured under.
type Loads struct {
	Before Side `json:"before"`
	After  Side `json:"after"`
}

// Side sums up the load of one side's runs: what they have in common, or medians.
type Side struct {
	Runs        []string `json:"runs"`
	URL         string   `json:"url"`
	Mode        string   `json:"mode"`
	OfferedRate *float64 `json:"offered_rate"`
	Rate        *float64 `json:"rate"`
	Connections *int     `json:"connections"`
	DurationS   *float64 `json:"duration_s"`
	Errors      *float64 `json:"errors"` // share
	Others      *float64 `json:"others"` // share of the host's processors

	// LatencyFrom is what the latencies are measured by: "intended" (a client, from when a request was due), "send" (a client, from
	// when it was sent), "server" (the service or the kernel beside it), "" unknown.
	LatencyFrom string `json:"latency_from"`
}

// Result is what happened to one metric. Before and After are medians over the
// runs; Change is that of the pairs, relative to before (−0.45: 45 % less), which
// need not be exactly that of the medians; Low and High are its interval.
type Result struct {
	Name   string   `json:"name"`
	Title  string   `json:"title"`
	Unit   string   `json:"unit"`
	Better Better   `json:"better"`
	Before *float64 `json:"before"`
	After  *float64 `json:"after"`
	Change *float64 `json:"change"` // null: there was none before
	Low    *float64 `json:"low"`
	High   *float64 `json:"high"`

	// The interval of after minus before, in Unit, where there was none before and a relative change has no meaning.
	DifferenceLow  *float64 `json:"difference_low"`
	DifferenceHigh *float64 `json:"difference_high"`

	Level     *float64 `json:"level"` // of the interval
	Basis     *string  `json:"basis"` // of the interval: "pairs", "within_runs", null
	Result    string   `json:"result"`
	Why       string   `json:"why"` // of an unclear one
	Pairs     int      `json:"pairs"`
	MinEffect float64  `json:"min_effect"`
	Floor     float64  `json:"floor"`
	Gate      bool     `json:"gate"`

	// Moved is what the figure did: MovedDown, MovedUp or MovedNowhere; null: not shown. Under an unknown load it is all that can be said, and
	// Result is unclear.
	Moved *string `json:"moved"`

	// Allowed is by how much two runs of the same were taken to differ, relative, where there
	// are too few pairs to decide; null: the pairs decided, or nothing could.
	Allowed *float64 `json:"allowed"`
}

// Bases of intervals.
const (
	BasisPairs  = "pairs"       // sign-flip test over pairs of runs
	BasisWithin = "within_runs" // the requests of each run: not what differs between runs
)

// Refused says that the loads differ.
func (c *Comparison) Refused() bool { return c.Comparable != nil && !*c.Comparable }

// Regressed lists the regressions of metrics that fail the comparison: the named
// ones, else those that do by default.
func (c *Comparison) Regressed(names ...string) (out []Result) {
	for _, m := range c.Metrics {
		if m.Result == Regressed && (m.Gate && len(names) == 0 || slices.Contains(names, m.Name)) {
			out = append(out, m)
		}
	}
	return out
}

// IsLoadUnknown says that there are figures, but nothing that says under which load they were measured.
func (c *Comparison) IsLoadUnknown() bool { return c.Comparable == nil && c.Why != "" }

// HasMoved says whether a figure went up or down.
func (r *Result) HasMoved() bool { return r.Moved != nil && *r.Moved != MovedNowhere }

// Of returns the result of a metric.
func (c *Comparison) Of(name string) (Result, bool) {
	i := slices.IndexFunc(c.Metrics, func(m Result) bool { return m.Name == name })
	if i < 0 {
		return Result{}, false
	}
	return c.Metrics[i], true
}
