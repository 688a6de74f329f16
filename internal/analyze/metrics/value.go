// Package reading has the figures that causes, comparisons, inspections, time lines and the
// ledger are made of, read once and here only: what a host's CPUs did, what a process used,
// what its collector did, how full its pools were, who held its locks, how requests came. A
// file is a kind of figures; each is a type whose fields are [Value]s.
//
// Its opinion: a figure that is not known is NaN, never 0; each says where it is from; and
// the same figure is the same whoever asks. It takes a bundle, a subject and a window, and
// knows no cause.
package metrics

import (
	"math"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Window is a stretch of time, [From, Until), ns.
type Window struct{ From, Until int64 }

// Seconds is how long it is.
func (w Window) Seconds() float64 { return float64(w.Until-w.From) / 1e9 }

// Whole is all that was recorded of whatever is asked for.
var Whole = Window{math.MinInt64 / 2, math.MaxInt64 / 2}

// Value is a figure and where it is from.
type Value struct {
	Number  float64 // NaN: not known
	Origin  evidence.Origin
	Watched float64 // the share of the window that it is of, 0…1
}

// Unknown is no figure.
var Unknown = Value{Number: math.NaN()}

// Known says whether there is a figure.
func (v Value) Known() bool { return !math.IsNaN(v.Number) }

// Most is how much of a window must be watched for a figure to stand for all of it.
const Most = .5

// MostlyKnown says whether there is a figure of most of the window.
func (v Value) MostlyKnown() bool { return v.Known() && v.Watched >= Most }

// Mostly is the figure if it is of most of the window, else none.
func (v Value) Mostly() Value {
	if v.MostlyKnown() {
		return v
	}
	return Unknown
}

// Mean is the mean over a window of a subject's series of a name; of several that with
// which most of the window was watched.
func Mean(b *evidence.Bundle, subject evidence.SubjectID, name string, w Window) Value {
	return CurveOf(b, subject, name, w).Over(w)
}
