package sentence

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/unstall/unstall/internal/analyze/model"
	"github.com/unstall/unstall/internal/base/units"
)

// Effect writes what a figure is now and what it would be.
func Effect(e model.Effect) string {
	return units.Change(number(e.Now.Value), number(e.Then.Value), number(e.Then.Low), number(e.Then.High), e.Unit)
}

// number is nil for what is not known.
func number(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// Basis says what a prediction rests on.
func Basis(a *model.Answer) []string {
	if a.Source == "" {
		return a.Basis
	}
	return append(a.Basis[:len(a.Basis):len(a.Basis)], "from "+a.Source)
}

// Head is the title of a frontier's column.
func Head(c model.Column) string {
	if c.Short != "" {
		return c.Short
	}
	return c.Title
}

// Cell is a figure of a frontier: without its unit where the column's title has that.
// Sizes are in one unit, so that they can be compared.
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

// Capital begins a text with a capital letter.
func Capital(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return s
	}
	return string(unicode.ToUpper(r)) + s[n:]
}
