// Package metrics has the figures that causes, comparisons, inspections, timelines and the ledger use, each computed only here:
// what a host's CPUs did, what a process used, what its collector did, how full its pools were, which threads held its locks,
// how requests came. A file is a kind of figures; each is a type whose fields are [Value]s.
//
// Its opinion: an unknown figure is NaN, never 0; each figure has its origin; and every caller gets the same figure. The
// package takes a bundle, a subject and a window, and knows no cause.
package metrics

import (
	"math"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
)

// Window is a stretch of time, [From, Until), ns.
type Window struct{ From, Until int64 }

// Seconds returns the length of the window.
func (w Window) Seconds() float64 { return float64(w.Until-w.From) / 1e9 }

// Whole is the whole recording.
var Whole = Window{math.MinInt64 / 2, math.MaxInt64 / 2}

// Value is a figure with its origin.
type Value struct {
	Number  float64 // NaN: not known
	Origin  evidence.Origin
	Watched float64 // the share of the window that the figure covers, 0…1
}

// Unknown is the unknown figure.
var Unknown = Value{Number: math.NaN()}

// Known reports whether there is a figure.
func (v Value) Known() bool { return !math.IsNaN(v.Number) }

// OrZero returns the figure, 0 if it is not known: as an addend, or where more of it would speak for a cause.
func (v Value) OrZero() float64 { return stats.ZeroIfNaN(v.Number) }

// Most is the share of a window that must be watched for a figure to stand for all of it.
const Most = .5

// MostlyKnown reports whether the figure covers most of the window.
func (v Value) MostlyKnown() bool { return v.Known() && v.Watched >= Most }

// Mostly returns the figure if it covers most of the window, else [Unknown].
func (v Value) Mostly() Value {
	if v.MostlyKnown() {
		return v
	}
	return Unknown
}

// Mean returns the mean over a window of a subject's series of a name; of several, of the one that covers most of the window.
func Mean(b *evidence.Bundle, subject evidence.SubjectID, name string, w Window) Value {
	return CurveOf(b, subject, name, w).Over(w)
}
