package model

import "slices"

// Answer is what changes would do to a process, for people and programs. Reports render
// its parts in this order and leave out those that are empty.
type Answer struct {
	ToolVersion string
	Model       string // [Model.ID]
	Subject     string
	Basis       []string // what it rests on, in clauses
	Source      string   // the artifact it is calibrated on; "": Basis says it
	Lead        Lead
	Rows        []Row     // in the order they were asked for
	Frontier    *Frontier // nil: there is no choice to show
	Notes       []string  // what to know beside the figures
	// Own are further keys of the JSON form: under Key, or beside the others where that
	// is "".
	Key string
	Own any
}

// Lead is the answer in brief.
type Lead struct {
	Of      string   // what it is about: "what memory buys"
	Text    string   // "GOGC=off GOMEMLIMIT=850MiB", "await"
	Setting bool     // Text can be copied as it is
	Why     string   // a clause
	Effects []Effect // those that count most
}

// Row is one situation and what comes of it.
type Row struct {
	Text    string // as it was asked
	Effects []Effect
	Facts   []Fact
	At      []Estimate // where it lies beside a frontier, a figure for each of its columns; nil: nowhere
}

// Effect is a figure as recorded and as it would be.
type Effect struct {
	Title, Unit string // the unit as [figure.Of] takes it
	Now, Then   Estimate
}

// Fact is a sentence under a name.
type Fact struct {
	Name    string // in lower case
	Text    string
	Caution bool // it speaks against the situation
}

// Frontier is what more of one thing buys of others: a table, and a chart of the columns
// that are drawn over the first. Its knee is the point from which more is hardly worth it.
type Frontier struct {
	Title   string // "what memory buys"
	How     string // what is drawn, in a sentence
	Columns []Column
	Points  []Point // in order of the first column
	Now     int     // index in Points of things as they are
	Knee    int     // index in Points; −1: things as they are are as good as any
	Brief   string  // what to take, with its figures
	Text    string  // what to take, and why
	Caption string  // both in sentences, for where the chart stands alone
	Facts   []Fact
}

// Column is a figure of a frontier's points.
type Column struct {
	Title string // "gc cycles"
	Short string // of narrow columns, with the unit: "gc/s"; "": figures have their unit beside them
	Unit  string
	Drawn bool
}

// Point is a point of a frontier.
type Point struct {
	Text   string     // what to set for it
	Values []Estimate // of each column
}

// Marked is how a point is called: "now", "knee", or "".
func (f *Frontier) Marked(i int) string {
	switch i {
	case f.Now:
		return "now"
	case f.Knee:
		return "knee"
	}
	return ""
}

// At is the point at the knee, nil where there is none.
func (f *Frontier) At() *Point {
	if f == nil || f.Knee < 0 || f.Knee >= len(f.Points) {
		return nil
	}
	return &f.Points[f.Knee]
}

// Any says whether anything is known of a column.
func (f *Frontier) Any(column int) bool {
	return slices.ContainsFunc(f.Points, func(p Point) bool { return p.Values[column].Known() })
}

// Known are the effects of which something can be said.
func Known(effects ...Effect) (known []Effect) {
	for _, e := range effects {
		if e.Then.Known() {
			known = append(known, e)
		}
	}
	return known
}

// Facts are pairs of name and text; those without a text are left out.
func Facts(pairs ...string) (all []Fact) {
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			all = append(all, Fact{Name: pairs[i], Text: pairs[i+1]})
		}
	}
	return all
}

// Cautions are facts that speak against a situation.
func Cautions(texts ...string) (all []Fact) {
	for _, t := range texts {
		if t != "" {
			all = append(all, Fact{Name: "caution", Text: t, Caution: true})
		}
	}
	return all
}

// Note adds what is to be known, once.
func (a *Answer) Note(text string) {
	if !slices.Contains(a.Notes, text) {
		a.Notes = append(a.Notes, text)
	}
}
