package sentence

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/unstall/unstall/internal/analyze/model"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/base/units"
)

// Effect returns what a figure is now and what it would be.
func Effect(e model.Effect) string {
	return units.Change(stats.FiniteOrNil(e.Now.Value), stats.FiniteOrNil(e.Then.Value), stats.FiniteOrNil(e.Then.Low), stats.FiniteOrNil(e.Then.High), e.Unit)
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
