// Package report lists the forms a diagnosis can be given in. One more form is
// a package below this one and a row of the table.
package report

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/unstall/unstall/diagnose"
	"github.com/unstall/unstall/report/json"
	"github.com/unstall/unstall/report/markdown"
	"github.com/unstall/unstall/report/text"
)

// Reporter renders a diagnosis.
type Reporter func(w io.Writer, d *diagnose.Diagnosis) error

// Form is a reporter and what it is known by.
type Form struct {
	Name       string
	Extensions []string // of files it is the obvious form for
	Report     Reporter
}

// Forms in the order they are offered; the first is the default.
var Forms = []Form{
	{"text", []string{"", ".txt", ".log"}, text.Report},
	{"json", []string{".json"}, json.Report},
	{"markdown", []string{".md", ".markdown"}, markdown.Report},
}

// Choose returns the form of a name or, without one, the form that the name of
// the output file asks for.
func Choose(name, file string) (Form, error) {
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
		return Form{}, fmt.Errorf("%s: its name does not say which form to write: add --format %s", file, Names("|"))
	}
	return Form{}, fmt.Errorf("--format %s: there is no such form: give %s", name, Names("|"))
}

// Names lists the forms.
func Names(separator string) string {
	var names []string
	for _, f := range Forms {
		names = append(names, f.Name)
	}
	return strings.Join(names, separator)
}
