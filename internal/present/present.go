// Package present lists the forms in which a diagnosis can be written. One more form
// is a package below this one and a row of the table.
package present

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/analyze/model"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/diagnose/inspect"
	"github.com/unstall/unstall/internal/operate/calibrate"
	"github.com/unstall/unstall/internal/operate/compare"
	"github.com/unstall/unstall/internal/operate/experiment"
	"github.com/unstall/unstall/internal/operate/fleet"
	"github.com/unstall/unstall/internal/operate/host"
	"github.com/unstall/unstall/internal/present/html"
	"github.com/unstall/unstall/internal/present/json"
	"github.com/unstall/unstall/internal/present/junit"
	"github.com/unstall/unstall/internal/present/markdown"
	"github.com/unstall/unstall/internal/present/sarif"
	"github.com/unstall/unstall/internal/present/text"
)

// Reporter renders a diagnosis.
type Reporter func(w io.Writer, d *diagnose.Diagnosis) error

// Inspector renders what the artifacts of a bundle hold.
type Inspector func(w io.Writer, b *evidence.Bundle) error

// Comparer renders a comparison.
type Comparer func(w io.Writer, c *compare.Comparison) error

// Trier renders what a change did while it was tried.
type Trier func(w io.Writer, r *experiment.Result) error

// Hoster renders what is wrong with a machine.
type Hoster func(w io.Writer, r *host.Report) error

// Calibrator renders a service beside loads of a known kind.
type Calibrator func(w io.Writer, r *calibrate.Result) error

// Fleeter renders what many hosts lost.
type Fleeter func(w io.Writer, r *fleet.Report) error

// Form is an output format with its name and file extensions.
type Form struct {
	Name       string
	Extensions []string // of files written in this form by default
	Report     Reporter
	Inspect    Inspector  // nil: not in this form
	Compare    Comparer   // nil: not in this form
	Predict    Predictor  // nil: not in this form
	Sides      Sides      // nil: not in this form
	Try        Trier      // nil: not in this form
	Host       Hoster     // nil: not in this form
	Calibrate  Calibrator // nil: not in this form
	Fleet      Fleeter    // nil: not in this form
	repeated   func(Form, []string) Form
}

// Sides renders a comparison with the diagnoses of what was compared, nil where
// there is none.
type Sides func(w io.Writer, c *compare.Comparison, before, after *diagnose.Diagnosis) error

// WithSides returns the form with the diagnoses of both runs in its comparisons, if the form shows them.
func (f Form) WithSides(before, after *diagnose.Diagnosis) Form {
	if sides := f.Sides; sides != nil {
		f.Compare = func(w io.Writer, c *compare.Comparison) error { return sides(w, c, before, after) }
	}
	return f
}

// Repeat returns the form with the commands that make the report again, if the form shows them.
func (f Form) Repeat(commands ...string) Form {
	if f.repeated == nil {
		return f
	}
	return f.repeated(f, commands)
}

// Forms are in the order in which they are offered; the first is the default.
var Forms = []Form{
	textForm(Look{}),
	{Name: "json", Extensions: []string{".json"}, Report: json.Report, Inspect: inspectJSON, Compare: json.Compare, Predict: json.Predict, Try: tryJSON, Host: hostJSON, Calibrate: calibrateJSON, Fleet: fleetJSON},
	{Name: "markdown", Extensions: []string{".md", ".markdown"}, Report: markdown.Report, Compare: markdown.Compare, Predict: markdown.Predict},
	{Name: "html", Extensions: []string{".html", ".htm"}, Report: html.Report, Compare: html.Compare, Predict: html.Predict, Sides: html.Options{}.Compare, repeated: repeatHTML},
	{Name: "sarif", Extensions: []string{".sarif"}, Report: sarif.Report},
	{Name: "junit", Extensions: []string{".xml"}, Report: junit.Report, Compare: junit.Compare},
}

// Look is how a text is shown.
type Look struct {
	Color   string // "always", "never", or "auto": as suits the writer
	Verbose bool   // lists are not cut
}

// Choose returns the form of a name or, without one, the form that the name of the output file
// asks for. Look matters to text only.
func Choose(name, file string, look Look) (Form, error) {
	f, err := chooseForm(name, file)
	if f.Name == "text" {
		f = textForm(look)
	}
	return f, err
}

func textForm(l Look) Form {
	return Form{Name: "text", Extensions: []string{"", ".txt", ".log"},
		Report:    func(w io.Writer, d *diagnose.Diagnosis) error { return l.textOptions(w).Report(w, d) },
		Inspect:   func(w io.Writer, b *evidence.Bundle) error { return l.textOptions(w).Inspect(w, inspect.Of(b)) },
		Compare:   func(w io.Writer, c *compare.Comparison) error { return l.textOptions(w).Compare(w, c) },
		Predict:   func(w io.Writer, a *model.Answer) error { return l.textOptions(w).Predict(w, a) },
		Try:       func(w io.Writer, r *experiment.Result) error { return l.textOptions(w).Try(w, r) },
		Host:      func(w io.Writer, r *host.Report) error { return l.textOptions(w).Host(w, r) },
		Calibrate: func(w io.Writer, r *calibrate.Result) error { return l.textOptions(w).Calibrate(w, r) },
		Fleet:     func(w io.Writer, r *fleet.Report) error { return l.textOptions(w).Fleet(w, r) },
	}
}

func (l Look) textOptions(w io.Writer) text.Options {
	o := text.For(w)
	if l.Color == "always" || l.Color == "never" {
		o.Color = l.Color == "always"
	}
	o.Verbose = l.Verbose
	return o
}

// FormOf returns the form that the name of a file asks for, "" if it asks for none.
func FormOf(file string) string {
	extension := strings.ToLower(filepath.Ext(file))
	for _, f := range Forms {
		if extension != "" && slices.Contains(f.Extensions, extension) {
			return f.Name
		}
	}
	return ""
}

func chooseForm(name, file string) (Form, error) {
	extension := strings.ToLower(filepath.Ext(file))
	for _, f := range Forms {
		if name == f.Name {
			return f, nil
		}
		for _, e := range f.Extensions {
			if name == "" && e == extension {
				return f, nil
			}
		}
	}
	if name == "" {
		return Form{}, fmt.Errorf("%s: the file name gives no format: add --format %s", file, Names("|"))
	}
	return Form{}, fmt.Errorf("--format %s: unknown format: give %s", name, Names("|"))
}

func repeatHTML(f Form, commands []string) Form {
	o := html.Options{Repeat: commands}
	f.Report, f.Sides, f.Predict = o.Report, o.Compare, o.Predict
	f.Compare = func(w io.Writer, c *compare.Comparison) error { return o.Compare(w, c, nil, nil) }
	return f
}

func tryJSON(w io.Writer, r *experiment.Result) error { return json.Encode(w, r) }

func hostJSON(w io.Writer, r *host.Report) error { return json.Encode(w, r) }

func fleetJSON(w io.Writer, r *fleet.Report) error { return json.Encode(w, r) }

func calibrateJSON(w io.Writer, r *calibrate.Result) error { return json.Encode(w, r) }

func inspectJSON(w io.Writer, b *evidence.Bundle) error {
	return json.Encode(w, inspect.Of(b))
}

// NamesOf lists the forms that have something, such as a [Comparer].
func NamesOf(separator string, has func(Form) bool) string {
	var names []string
	for _, f := range Forms {
		if has(f) {
			names = append(names, f.Name)
		}
	}
	return strings.Join(names, separator)
}

// Names lists the forms.
func Names(separator string) string {
	return NamesOf(separator, func(Form) bool { return true })
}
