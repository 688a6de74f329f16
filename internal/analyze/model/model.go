// Package model is what models of a process have in common: what they can be asked
// (knobs), what they answer, and how sure they are of it. A model is a package below this
// one that exports a [Model] and names the public formula or source of each of its rules
// and what it leaves out; the runtime it is of names it.
//
// Its opinion: a model is calibrated on one recording and says nothing about what that
// recording does not contain. What it needs and does not know is an error that says how to
// find it, never a guess; a figure without a range says that its range is not known. An
// [Answer] is rows, tables and sentences that can be rendered without knowing the model.
package model

import (
	"strings"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
)

// Model says what changes would do to a process.
type Model struct {
	ID      string // "go.heap"; never renamed
	About   string // what it models, in a clause: "Go's heap"
	From    string // the recordings it is calibrated on, in a clause
	Covers  string // the coverage that tells the process meant from others in the same evidence
	Default string // what it predicts where nothing is asked for, in a clause
	Knobs   []Knob
	// Ask calibrates the model on what was recorded and asks it. What cannot be are errors,
	// joined, beside an answer of the rest; an answer is nil where nothing can be said.
	Ask func(Question) (*Answer, error)
}

// Question is what is asked of a model: what settings would do to a process.
type Question struct {
	Bundle  *evidence.Bundle // unified and aligned
	Subject evidence.SubjectID
	Name    string         // of the subject, for people
	AtLeast string         // the oldest release of its runtime that the evidence leaves possible; "" unknown
	Ledger  *ledger.Ledger // of its requests; nil: there are none
	Wanted  []Wanted       // all of this model; none: what is worth knowing without
}

// About says what there are models of, and what each is calibrated on.
func About(models []*Model) string {
	var all []string
	for _, m := range models {
		all = append(all, "of "+m.About+" ("+m.From+")")
	}
	return joinList(all, "and")
}

// joinList writes "a, b or c".
func joinList(all []string, word string) string {
	if len(all) < 2 {
		return strings.Join(all, "")
	}
	return strings.Join(all[:len(all)-1], ", ") + " " + word + " " + all[len(all)-1]
}
