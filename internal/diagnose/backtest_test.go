package diagnose_test

import (
	"math"

	"github.com/unstall/unstall/internal/analyze/model/younggen"
)

// halves are how a young generation that was fitted to the first half of a log foretells
// the second. Errors are relative: .1 is a tenth too much.
type halves struct {
	Pauses   int // of the second half
	Count    foretold
	Total    foretold // s
	Interval foretold // s
}

// foretold is a figure of the second half, as it was and as it was foretold.
type foretold struct {
	Measured float64
	Load     float64 // given how fast the second half allocated, and how large its young generation was
	Blind    float64 // as if the first half went on
}

// Error is how far a figure is from the measured one, relative.
func (f foretold) Error(told float64) float64 { return (told - f.Measured) / f.Measured }

// halvesOf fits the first half of the collections and asks about the second.
func halvesOf(p []younggen.Pause) (b halves, err error) {
	half := len(p) / 2
	first, err := younggen.Fit(p[:half])
	if err != nil {
		return b, err
	}
	second, err := younggen.Fit(p[half:])
	if err != nil {
		return b, err
	}
	eden := 1.
	if first.Size > 0 && second.Size > 0 {
		eden = second.Size / first.Size
	}
	span := p[len(p)-1].At - p[half].At
	n := float64(len(p) - half - 1) // intervals
	var total float64
	for _, x := range p[half+1:] {
		total += x.Took
	}
	b.Pauses = len(p) - half
	told, blind := first.Predict(eden, second.Alloc/first.Alloc), first.Predict(1, 1)
	b.Interval = foretold{span / n, told.Interval.Value, blind.Interval.Value}
	b.Count = foretold{n, span / told.Interval.Value, span / blind.Interval.Value}
	b.Total = foretold{total, b.Count.Load * told.Pause.Value / 1e3, b.Count.Blind * blind.Pause.Value / 1e3}
	if math.IsNaN(b.Total.Load) || span <= 0 {
		return b, younggen.ErrFew
	}
	return b, nil
}
