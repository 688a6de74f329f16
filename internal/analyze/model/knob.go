package model

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Knob is a name that --set takes: a setting of the process, or something else that may change, such as its load.
type Knob struct {
	Name    string
	Example string // of a value; "": the knob has no value
	Load    bool   // it changes what the process has to do, not a setting of the process
	Sets    string // the knob for which it is another name; ""
	// Parse reads a value; nil if the knob has none.
	Parse func(text string) (float64, error)
}

// String returns the knob with an example of a value, as --set takes it: "GOGC=200".
func (k Knob) String() string {
	if k.Example == "" {
		return k.Name
	}
	return k.Name + "=" + k.Example
}

// Wanted is one situation to predict: values of knobs. Knobs without a value stay as recorded.
type Wanted struct {
	Text   string // as typed
	Model  *Model // the model with these knobs; nil: no knob has a value
	values map[string]float64
}

// Value returns the value of a knob; false: it stays as recorded.
func (w Wanted) Value(knob string) (v float64, ok bool) {
	v, ok = w.values[knob]
	return v, ok
}

// Has says whether any of the knobs has a value.
func (w Wanted) Has(knobs ...string) bool {
	return slices.ContainsFunc(knobs, func(k string) bool { _, ok := w.values[k]; return ok })
}

// Or returns the value of a knob, v if it has none.
func (w Wanted) Or(knob string, v float64) float64 {
	if x, ok := w.values[knob]; ok {
		return x
	}
	return v
}

// With returns the situation with a value for one more knob.
func (w Wanted) With(knob string, v float64) Wanted {
	w.values = maps.Clone(w.values)
	if w.values == nil {
		w.values = make(map[string]float64)
	}
	w.values[knob] = v
	return w
}

// mostRows bounds a question: each row is a simulation of up to some seconds.
const mostRows = 100

// ParseSets reads the texts of --set and returns the rows to predict. A text with several NAME=VALUE, with spaces between, is one row.
// Texts with one each are combined: every value of a name with every value of the other names.
func ParseSets(models []*Model, texts []string) ([]Wanted, error) {
	rows := []Wanted{}
	var of *Model
	var names []string
	single := make(map[string][]turned)
	for _, text := range texts {
		words := strings.Fields(text)
		if len(words) == 0 {
			return nil, fmt.Errorf(`--set "": give %s`, settingExamples(models))
		}
		row := Wanted{Text: text}
		for _, word := range words {
			m, t, err := parseSetting(models, word)
			switch {
			case err != nil:
				return nil, fmt.Errorf("--set %s: %w", word, err)
			case of != nil && of != m:
				return nil, fmt.Errorf("--set %s: this setting is for another runtime than the ones before it: give %s alone", word, word)
			}
			of = m
			if len(words) == 1 {
				if single[t.knob.Name] == nil {
					names = append(names, t.knob.Name)
				}
				single[t.knob.Name] = append(single[t.knob.Name], t)
			}
			row = t.applyTo(row)
		}
		if len(words) > 1 {
			rows = append(rows, row)
		}
	}
	product := []Wanted{}
	if len(names) > 0 {
		product = append(product, Wanted{})
	}
	for _, name := range names {
		var more []Wanted
		for _, w := range product {
			for _, t := range single[name] {
				x := t.applyTo(w)
				x.Text = strings.TrimSpace(x.Text + " " + t.text)
				more = append(more, x)
			}
		}
		product = more
	}
	if rows = append(product, rows...); len(rows) > mostRows {
		return nil, fmt.Errorf("--set: these combine to more than %d rows: give fewer at a time", mostRows)
	}
	for i := range rows {
		rows[i].Model = of
	}
	return rows, nil
}

// turned is a knob with a value.
type turned struct {
	knob  *Knob
	text  string
	value float64
}

func (t turned) applyTo(w Wanted) Wanted {
	if t.knob.Sets != "" {
		return w.With(t.knob.Sets, t.value)
	}
	return w.With(t.knob.Name, t.value)
}

// parseSetting reads one NAME=VALUE, or NAME where it has no value.
func parseSetting(models []*Model, word string) (*Model, turned, error) {
	name, text, valued := strings.Cut(word, "=")
	for _, m := range models {
		for i := range m.Knobs {
			k := &m.Knobs[i]
			switch {
			case k.Name != name:
				continue
			case k.Parse == nil && valued:
				return nil, turned{}, errors.New("it takes no value: give " + name)
			case k.Parse == nil:
				return m, turned{k, word, 1}, nil
			case !valued:
				return nil, turned{}, errors.New("give NAME=VALUE, such as " + k.String())
			}
			v, err := k.Parse(text)
			return m, turned{k, word, v}, err
		}
	}
	if !valued {
		return nil, turned{}, errors.New("give " + settingExamples(models))
	}
	var all []string
	for _, m := range models {
		all = append(all, m.knobNames()+" of "+m.About)
	}
	return nil, turned{}, errors.New("unknown setting: give " + strings.Join(all, ", "))
}

// settingExamples returns a setting with a value and, where there is one, one without.
func settingExamples(models []*Model) string {
	valued, bare := "", ""
	for _, m := range models {
		for _, k := range m.Knobs {
			if k.Parse != nil && valued == "" {
				valued = "NAME=VALUE, such as " + k.String()
			}
			if k.Parse == nil && bare == "" {
				bare = ", or " + k.Name
			}
		}
	}
	return valued + bare
}

// knobNames lists what a model can be asked.
func (m *Model) knobNames() string {
	var all []string
	for _, k := range m.Knobs {
		all = append(all, k.Name)
	}
	return joinList(all, "or")
}

// Help says what can be asked for by --set: "GOGC=200, GOMEMLIMIT=800MiB, under live=120MiB".
func (m *Model) Help() string {
	var told, load []string
	for _, k := range m.Knobs {
		switch {
		case k.Sets != "":
		case k.Load:
			load = append(load, k.String())
		default:
			told = append(told, k.String())
		}
	}
	text := strings.Join(told, ", ")
	if len(load) > 0 {
		text += ", under " + joinList(load, "or")
	}
	return text
}

// Defaults says what is predicted where nothing is asked for.
func Defaults(models []*Model) string {
	var all []string
	for _, m := range models {
		all = append(all, m.Default)
	}
	return strings.Join(all, "; ")
}
