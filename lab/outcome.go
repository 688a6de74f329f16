package lab

import (
	"time"

	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/operate/compare"
)

// Schema is the version of the JSON form of an [Outcome]. Keys are added, never
// renamed; unknown is null, never 0.
const Schema = "unstall.lab/v1"

// Outcome is what came of a lab.
type Outcome struct {
	Schema      string                `json:"schema"`
	ToolVersion string                `json:"tool_version"`
	Lab         string                `json:"lab"`
	Host        Host                  `json:"host"`
	Plan        Plan                  `json:"plan"`
	Variants    []Result              `json:"variants"`
	Comparisons []*compare.Comparison `json:"comparisons"`
	Predictions []Prediction          `json:"predictions"`
	Checks      []Check               `json:"checks"`
	Runs        []Measured            `json:"runs"`
	Knees       []Knee                `json:"knees"`         // of the variants that were asked for
	Repeated    int                   `json:"repeated_runs"` // that others on the host had spoilt
	Warnings    []string              `json:"warnings"`
	Pass        bool                  `json:"pass"` // every variant is ok, and every check that is required
}

// Host is where a lab ran.
type Host struct {
	CPUs      int       `json:"cpus"`
	Toolchain string    `json:"toolchain"` // that built the services
	Go        *string   `json:"go"`        // its version, where it is Go's
	Start     time.Time `json:"start"`
	DurationS float64   `json:"duration_s"`
}

// Plan is the load of the blocks, requests/s: what is null is of another shape of
// load.
type Plan struct {
	SLOMs *float64 `json:"slo_ms"`
	Base  *float64 `json:"base_rate"`
	Peak  *float64 `json:"peak_rate"`
	// Knee is the highest rate at which the fixed variant kept the SLO, null where it was not searched. KneeLow and KneeHigh are
	// null: earlier versions tried a rate on either side of it.
	Knee     *float64 `json:"knee_rate"`
	KneeLow  *float64 `json:"knee_low"`
	KneeHigh *float64 `json:"knee_high"`
	StormS   *float64 `json:"storm_s"`
	// Connections of a closed loop, and how long each run was.
	Connections *int     `json:"connections"`
	RunS        *float64 `json:"run_s"`

	Blocks int    `json:"blocks"`
	Seed   uint64 `json:"seed"`

	// Only are the variants that were asked for, where not all were: nothing was compared or checked.
	Only []string `json:"only,omitempty"`
}

// Result is what was found of one variant.
type Result struct {
	Name      string              `json:"name"`
	About     string              `json:"about"`
	Command   string              `json:"command"`
	Expected  Expected            `json:"expected"`
	Found     []string            `json:"found"` // supported, by rank
	Diagnosis *diagnose.Diagnosis `json:"diagnosis"`
	Capture   string              `json:"capture,omitempty"` // where it was kept
	Others    float64             `json:"others"`            // share of the host's processors, meanwhile
	Served    *Served             `json:"served"`            // to the clients, meanwhile
	Attempts  int                 `json:"attempts"`
	OK        bool                `json:"ok"`

	figures map[string]float64 // that the diagnosis does not give
}

// Served is what clients got of a variant while it was diagnosed, at its rate.
type Served struct {
	Sent   int64   `json:"sent"`
	Rate   float64 `json:"rate"` // answers/s
	MeanMs float64 `json:"mean_ms"`
	P50Ms  float64 `json:"p50_ms"`
	P99Ms  float64 `json:"p99_ms"`
	// Slow is the share that took longer than the SLO or got no answer, null without one.
	Slow *float64 `json:"slow_share"`
}

// newServed sums up the answers that clients got.
func newServed(d Delivered, slo time.Duration) *Served {
	s := &Served{Sent: d.Sent, Rate: d.Achieved, MeanMs: d.Mean, P50Ms: d.P50, P99Ms: d.P99}
	if slo > 0 {
		s.Slow = &d.Slow
	}
	return s
}

// Figure returns a figure from the capture of a variant's diagnosis, such as
// [PoolThreads]; false without one.
func (r *Result) Figure(name string) (float64, bool) {
	if r == nil {
		return 0, false
	}
	v, ok := r.figures[name]
	return v, ok
}

// Prediction holds what the diagnosis of the sick variant said a fix would do
// against what it did.
type Prediction struct {
	Metric        string   `json:"metric"`
	Unit          string   `json:"unit"`
	Variant       string   `json:"variant"`
	Predicted     *float64 `json:"predicted"`
	Measured      *float64 `json:"measured"`
	RelativeError *float64 `json:"relative_error"` // of the prediction
}

// Check is a figure that was asked for.
type Check struct {
	Name    string   `json:"name"`
	Unit    string   `json:"unit"`
	Asked   string   `json:"asked"` // in words: "8–10"
	Got     *float64 `json:"got"`
	Low     *float64 `json:"low"` // its interval, null: none
	High    *float64 `json:"high"`
	Article *float64 `json:"article"` // what the field report found, null: it does not say
	OK      bool     `json:"ok"`
	// Told says that a miss is told and does not fail the lab.
	Told bool   `json:"told"`
	Why  string `json:"why,omitempty"` // it was missed, or is not known

	change bool // got is a relative change
}

// Measured is one variant in one block.
type Measured struct {
	Variant  string             `json:"variant"`
	Block    int                `json:"block"` // from 1
	Start    time.Time          `json:"start"`
	Offered  *float64           `json:"offered_rate"` // null: a closed loop
	Achieved float64            `json:"rate"`
	Limited  bool               `json:"generator_limited"`
	Others   float64            `json:"others"` // share of the host's processors
	Metrics  map[string]float64 `json:"metrics"`
}

// KneeOf returns the knee of a variant, nil if it is unknown.
func (o *Outcome) KneeOf(variant string) *float64 {
	for _, k := range o.Knees {
		if k.Variant == variant {
			return k.Rate
		}
	}
	return nil
}

// HasRoom reports whether there is a rate well above one variant's knee and well below that of another, as far as both are known.
func (o *Outcome) HasRoom(above, below string) bool {
	first, second := o.KneeOf(above), o.KneeOf(below)
	return first == nil || second == nil || beyondKnee**first <= belowKnee**second
}

// Comparison returns the comparison of the sick variant with another, nil without one.
func (o *Outcome) Comparison(after string) *compare.Comparison {
	for _, c := range o.Comparisons {
		if c.After == after {
			return c
		}
	}
	return nil
}

// Result returns the result of a variant, nil without one.
func (o *Outcome) Result(name string) *Result {
	for i := range o.Variants {
		if o.Variants[i].Name == name {
			return &o.Variants[i]
		}
	}
	return nil
}

// Of returns a metric of a variant in all blocks.
func (o *Outcome) Of(variant, metric string) (values []float64) {
	for _, r := range o.Runs {
		if v, ok := r.Metrics[metric]; ok && r.Variant == variant {
			values = append(values, v)
		}
	}
	return values
}

// Delivered returns the share of the offered requests that a variant answered, in each block.
func (o *Outcome) Delivered(variant string) (shares []float64) {
	for _, r := range o.Runs {
		if r.Variant == variant && r.Offered != nil && *r.Offered > 0 {
			shares = append(shares, r.Achieved / *r.Offered)
		}
	}
	return shares
}

// Changed checks that a metric of a variant, relative to the sick one, changes by at
// most that much: −.3 is 30 % less. If it only has to be better (0), the whole interval
// must be.
func (o *Outcome) Changed(variant, metric string, most float64) Check {
	c := Check{change: true}
	comparison := o.Comparison(variant)
	if comparison == nil {
		c.Why = "it was not compared"
		return c
	}
	m, ok := comparison.Of(metric)
	if !ok || m.Change == nil {
		c.Why = "the runs cannot be compared"
		if comparison.Why != "" {
			c.Why = comparison.Why
		}
		return c
	}
	c.Got, c.Low, c.High, c.Why = m.Change, m.Low, m.High, m.Why
	c.OK = *m.Change <= most && m.Result == compare.Improved
	return c
}

// CollectorShare returns the part of the process's CPU time that GC used, by the profile
// in the variant's capture; false without one.
func (r *Result) CollectorShare() (float64, bool) { return r.Figure(collectorFigure) }

func (o *Outcome) decidePass() {
	o.Pass = len(o.Variants) > 0
	for _, v := range o.Variants {
		o.Pass = o.Pass && v.OK
	}
	for _, c := range o.Checks {
		o.Pass = o.Pass && (c.OK || c.Told)
	}
}
