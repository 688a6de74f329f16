package sentence

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/unstall/unstall/internal/analyze/model"
	"github.com/unstall/unstall/internal/base/units"
)

// Effect returns what a figure is now and what it would be.
func Effect(e model.Effect) string {
	return units.Change(finiteOrNil(e.Now.Value), finiteOrNil(e.Then.Value), finiteOrNil(e.Then.Low), finiteOrNil(e.Then.High), e.Unit)
}

// finiteOrNil returns a pointer to a figure, nil if it is not known.
func finiteOrNil(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// Basis returns what a prediction rests on.
func Basis(a *model.Answer) []string {
	if a.Source == "" {
		return a.Basis
	}
	return append(a.Basis[:len(a.Basis):len(a.Basis)], "from "+a.Source)
}

// Head returns the title of a frontier's column.
func Head(c model.Column) string {
	if c.Short != "" {
		return c.Short
	}
	return c.Title
}

// Cell returns a figure of a frontier, without its unit where the column's title has it. Sizes are
// in one unit, so that they can be compared.
func Cell(f *model.Frontier, point, column int) string {
	e, c := f.Points[point].Values[column], f.Columns[column]
	switch {
	case !e.Known():
		return units.Unknown
	case c.Unit == "bytes":
		return units.Num(math.Round(e.Value/(1<<20))) + " MiB"
	case c.Short != "":
		number, _, _ := strings.Cut(units.Of(e.Value, c.Unit), " ")
		return number
	}
	return units.Of(e.Value, c.Unit)
}

// Capital returns a text with a capital letter at its beginning.
func Capital(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return s
	}
	return string(unicode.ToUpper(r)) + s[n:]
}
