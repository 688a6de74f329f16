package model

import "slices"

// Answer is what changes would do to a process, for people and programs. Reports render its parts in this order and skip
// empty ones.
type Answer struct {
	ToolVersion string
	Model       string // [Model.ID]
	Subject     string
	Basis       []string // what it rests on, in clauses
	Source      string   // the artifact it is calibrated on; "": Basis says it
	Lead        Lead
	Rows        []Row     // in the order they were asked for
	Frontier    *Frontier // nil: there is no trade-off to show
	Notes       []string  // caveats beside the figures
	// Own holds further keys of the JSON form: under Key, or beside the others if Key is "".
	Key string
	Own any
}

// Lead is the answer in brief.
type Lead struct {
	Of      string   // the subject: "what memory buys"
	Text    string   // "GOGC=off GOMEMLIMIT=850MiB", "await"
	Setting bool     // Text can be copied as it is
	Why     string   // a clause
	Effects []Effect // those that count most
}

// Row is one situation and what comes of it.
type Row struct {
	Text    string // as the user asked
	Effects []Effect
	Facts   []Fact
	At      []Estimate // its place beside a frontier, a figure per column; nil: none
}

// Effect is a figure as recorded and as it would be.
type Effect struct {
	Title, Unit string // the unit as [units.Of] takes it
	Now, Then   Estimate
}

// Fact is a sentence under a name.
type Fact struct {
	Name    string // in lower case
	Text    string
	Caution bool // it argues against the situation
}

// Frontier is what more of one quantity buys of others: a table, and a chart of the columns drawn over the first. More is
// hardly worth it beyond its knee.
type Frontier struct {
	Title   string // "what memory buys"
	How     string // what is drawn, in a sentence
	Columns []Column
	Points  []Point // in order of the first column
	Now     int     // index in Points of the present situation
	Knee    int     // index in Points; −1: no point is better than the present situation
	Brief   string  // the recommendation with its figures
	Text    string  // the recommendation and its reason
	Caption string  // both in sentences, for a chart that stands alone
	Facts   []Fact
}

// Column is a figure of a frontier's points.
type Column struct {
	Title string // "gc cycles"
	Short string // for narrow columns, with the unit: "gc/s"; "": figures have their unit beside them
	Unit  string
	Drawn bool
}

// Point is a point of a frontier.
type Point struct {
	Text   string     // what to set for it
	Values []Estimate // of each column
}

// Marked returns a point's label: "now", "knee", or "".
func (f *Frontier) Marked(i int) string {
	switch i {
	case f.Now:
		return "now"
	case f.Knee:
		return "knee"
	}
	return ""
}

// At returns the point at the knee, nil if there is none.
func (f *Frontier) At() *Point {
	if f == nil || f.Knee < 0 || f.Knee >= len(f.Points) {
		return nil
	}
	return &f.Points[f.Knee]
}

// Any reports whether anything is known of a column.
func (f *Frontier) Any(column int) bool {
	return slices.ContainsFunc(f.Points, func(p Point) bool { return p.Values[column].Known() })
}

// Known returns the effects with a known figure.
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

// Cautions are facts that argue against a situation.
func Cautions(texts ...string) (all []Fact) {
	for _, t := range texts {
		if t != "" {
			all = append(all, Fact{Name: "caution", Text: t, Caution: true})
		}
	}
	return all
}

// Note adds a caveat, once.
func (a *Answer) Note(text string) {
	if !slices.Contains(a.Notes, text) {
		a.Notes = append(a.Notes, text)
	}
}
