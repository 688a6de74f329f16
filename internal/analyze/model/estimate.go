package model

import (
	"encoding/json"
	"math"
)

// Estimate is a figure and the range in which it may lie. NaN is not known; in
// JSON that is null.
type Estimate struct{ Value, Low, High float64 }

// Unknown is no figure.
var Unknown = Estimate{math.NaN(), math.NaN(), math.NaN()}

// Exactly is a figure whose range is not known.
func Exactly(v float64) Estimate { return Estimate{v, math.NaN(), math.NaN()} }

// Between is a figure and its range.
func Between(v, low, high float64) Estimate { return Estimate{v, low, high} }

// Known says whether there is a figure.
func (e Estimate) Known() bool { return !math.IsNaN(e.Value) && !math.IsInf(e.Value, 0) }

// Ranged says whether there is a range, too.
func (e Estimate) Ranged() bool { return e.Known() && e.Low <= e.High && !math.IsInf(e.High, 0) }

// Plus shifts a figure with its range.
func (e Estimate) Plus(v float64) Estimate { return Estimate{e.Value + v, e.Low + v, e.High + v} }

// Times scales a figure with its range.
func (e Estimate) Times(k float64) Estimate { return Estimate{k * e.Value, k * e.Low, k * e.High} }

// MarshalJSON writes {"value", "low", "high"}, null for what is not known.
func (e Estimate) MarshalJSON() ([]byte, error) {
	number := func(v float64) *float64 {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
		return &v
	}
	return json.Marshal(struct {
		Value *float64 `json:"value"`
		Low   *float64 `json:"low"`
		High  *float64 `json:"high"`
	}{number(e.Value), number(e.Low), number(e.High)})
}
