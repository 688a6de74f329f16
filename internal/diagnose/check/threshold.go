package check

import (
	"time"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/units"
)

// Threshold is a figure that a check compares with, and why it is what it is. A check compares with the Value itself, so that what
// is printed of it cannot differ from what decides.
type Threshold struct {
	Name   string  `json:"name"` // what is compared: "share of slow time from which a cause is named"
	Value  float64 `json:"value"`
	Unit   string  `json:"unit"` // as of figures: "1" for a share, "count", "ns", "1/s"; "times" for a factor
	Why    string  `json:"why"`
	Source string  `json:"source"` // a document with its section, a formula, a measurement, or what a judgement weighs
}

// Judgement begins the source of thresholds that nothing outside the project gives. It says what was weighed against what; the
// recordings with known causes hold it, and dev/thresholds measures how far they lie on either side.
const Judgement = "judgement"

// Int returns the value of a count.
func (t Threshold) Int() int { return int(t.Value) }

// Int64 returns the value in whole units, mostly ns.
func (t Threshold) Int64() int64 { return int64(t.Value) }

// Duration returns the value of a threshold in ns.
func (t Threshold) Duration() time.Duration { return time.Duration(t.Value) }

// String returns the value with its unit: "25 %", "20 ms", "3 times".
func (t Threshold) String() string { return t.Of(t.Value) }

// Of writes a figure that is compared with the threshold.
func (t Threshold) Of(v float64) string {
	switch t.Unit {
	case "1":
		return units.Percent(v)
	case "threads", "count":
		return units.Num(v)
	}
	return units.Of(v, t.Unit)
}

// MaterialBeyond is [Material] of what exceeds the usual.
var MaterialBeyond = Threshold{Name: "share of slow time above what is usual, from which a cause is named", Value: Material.Value, Unit: "1",
	Why: "what all requests have makes none of them slower than others", Source: Material.Source}

// MaterialUnseen is [Material] of what was not observed.
var MaterialUnseen = Threshold{Name: "share of slow time not observed, large enough to hide a cause", Value: Material.Value, Unit: "1",
	Why: "as much would be material", Source: Material.Source}

// MinRequests is how many requests a ledger must have for shares of their time to mean something.
var MinRequests = Threshold{Name: "requests from which shares of their time mean something", Value: ledger.MinRequests, Unit: "count",
	Why: "of fewer, chance decides shares", Source: "binomial error: a share of 25 % of 20 requests is known within 10 % (√(0.25·0.75/20)), of 10 within 14 %"}
