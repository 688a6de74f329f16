// Package html renders a diagnosis as one page that holds all it shows: it opens
// from disk, fetches nothing, and gives the answer first.
// Its words and figures are those of the terminal ([sentence], [units]); what only
// a picture can show is drawn by the scripts of package app from the diagnosis'
// timeline.
//
// Its opinion: some read a report in a hurry, others keep it because they doubt it.
// So the cause, what it costs and what to change are on the first screen, and all
// evidence for it is below, in the page itself.
//
// The page's policy (https://www.w3.org/TR/CSP3/) allows its own scripts and
// styles by their hashes and nothing else.
package html

import (
	"io"

	"github.com/unstall/unstall/internal/analyze/model"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/operate/compare"
)

// Options are what the page says of itself.
type Options struct {
	// Repeat are the commands that make the page again.
	Repeat []string
	// Home is the address of the list that the page was opened from, "" none.
	Home string
}

// Report renders a diagnosis.
func (o Options) Report(w io.Writer, d *diagnose.Diagnosis) error {
	return Page{Title: diagnosisTitle(d), Version: d.ToolVersion, Repeat: o.Repeat, Home: o.Home, Parts: []Part{Diagnosed{Diagnosis: d}}}.Write(w)
}

// Compare renders a comparison and, where they are known, the diagnoses of both
// sides (nil: not known).
func (o Options) Compare(w io.Writer, c *compare.Comparison, before, after *diagnose.Diagnosis) error {
	p := Page{Title: c.Before + " → " + c.After, Strip: []string{c.Before + " → " + c.After}, Repeat: o.Repeat, Home: o.Home, Parts: []Part{Compared{Comparison: c, Before: before, After: after, Lead: true}}}
	for _, side := range []struct {
		label, name string
		d           *diagnose.Diagnosis
	}{{"Before", c.Before, before}, {"After", c.After, after}} {
		if side.d != nil {
			p.Version = side.d.ToolVersion
			p.Parts = append(p.Parts, Diagnosed{Title: side.label + ": " + side.name, Diagnosis: side.d})
		}
	}
	return p.Write(w)
}

// Predict renders a prediction.
func (o Options) Predict(w io.Writer, a *model.Answer) error {
	return Page{Title: a.Subject + ": " + a.Lead.Text, Version: a.ToolVersion, Repeat: o.Repeat, Home: o.Home, Parts: []Part{Predicted{a}}}.Write(w)
}

// Report renders a diagnosis.
func Report(w io.Writer, d *diagnose.Diagnosis) error { return Options{}.Report(w, d) }

// Compare renders a comparison.
func Compare(w io.Writer, c *compare.Comparison) error { return Options{}.Compare(w, c, nil, nil) }

// Predict renders a prediction.
func Predict(w io.Writer, a *model.Answer) error { return Options{}.Predict(w, a) }
