// Package inspect describes what artifacts hold, without judging it: their recognised formats, clocks, coverage and tables, and for those with a
// collector's events its summary (unstall.gc/v1).
package inspect

import (
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Schemas of the JSON form.
const (
	Schema   = "unstall.inspect/v1"
	GCSchema = "unstall.gc/v1"
)

// Report is what a bundle's artifacts hold. For one artifact with a collector's events, and for the pieces of one process's log, it is that
// collector's summary, with the artifacts beside it.
type Report struct {
	Schema string `json:"schema"`
	*GC
	Artifacts []Artifact `json:"artifacts"`
	Tables    []Table    `json:"tables,omitempty"`  // of the pieces of one log together
	Threads   []Threads  `json:"threads,omitempty"` // of each process with recorded stacks
	Warnings  []Warning  `json:"warnings"`          // that concern no single artifact
}

// Artifact is one artifact as it was read.
type Artifact struct {
	Name      string     `json:"name"`
	Formats   []string   `json:"formats"`
	Envelopes []string   `json:"envelopes"`
	Bytes     *int64     `json:"bytes"`
	Cut       bool       `json:"cut"`
	Clock     *Clock     `json:"clock"` // null: nothing in it has a time
	Coverage  []Coverage `json:"coverage"`
	Tables    []Table    `json:"tables"`
	Warnings  []Warning  `json:"warnings"`
	GC        *GC        `json:"gc"`
}

// Clock is the clock of an artifact's times.
type Clock struct {
	Name        string   `json:"name"`
	Anchored    bool     `json:"anchored"`
	ErrorS      *float64 `json:"error_s"` // null: not anchored
	ResolutionS *float64 `json:"resolution_s"`
}

// Coverage is a time that was watched; times are null where the clock is not anchored.
type Coverage struct {
	Kind    string     `json:"kind"`
	From    *time.Time `json:"from"`
	Until   *time.Time `json:"until"`
	Seconds float64    `json:"seconds"`
	Lost    int64      `json:"lost"`
	Looks   int64      `json:"looks,omitempty"` // number of samples, for sampled states
}

// Table is a table of an artifact; cells are formatted.
type Table struct {
	Title   string     `json:"title"`
	Columns []string   `json:"columns"`
	Rows    [][]string `json:"rows"`
}

// Warning is something that a user should know beside the rest.
type Warning struct {
	Text   string `json:"text"`
	Count  int64  `json:"count"`
	Origin string `json:"origin"`
}

// Of describes a bundle.
func Of(b *evidence.Bundle) *Report {
	r := &Report{Schema: Schema}
	for i, a := range b.Artifacts {
		out := Artifact{Name: a.Name, Formats: a.Formats, Envelopes: a.Envelopes, Cut: a.Tail}
		if a.Bytes >= 0 {
			out.Bytes = &a.Bytes
		}
		id := evidence.ArtifactID(i)
		out.Clock, out.Coverage = coverageOf(b, id)
		out.GC = summarizeGC(b, id)
		r.Artifacts = append(r.Artifacts, out)
	}
	r.Threads = threadsOf(b)
	for _, t := range b.Tables {
		a := &r.Artifacts[t.Artifact]
		a.Tables = append(a.Tables, Table{Title: t.Title, Columns: t.Columns, Rows: t.Rows})
	}
	for _, w := range b.Warnings {
		to := &r.Warnings
		if a, ok := w.Origin.Artifact(); ok && int(a) < len(r.Artifacts) {
			to = &r.Artifacts[a].Warnings
		}
		*to = append(*to, Warning{Text: w.Text, Count: w.Count, Origin: b.OriginText(w.Origin)})
	}
	for i := range r.Artifacts {
		if a := &r.Artifacts[i]; a.GC != nil {
			a.Tables = append(a.GC.renderTables(), a.Tables...)
		} else {
			a.Tables = append(counterTables(b, evidence.ArtifactID(i)), a.Tables...)
			a.Tables = append(redisTables(b, evidence.ArtifactID(i)), a.Tables...)
		}
	}
	switch pieces := piecesOf(b, r.Artifacts); {
	case len(r.Artifacts) == 1 && r.Artifacts[0].GC != nil:
		r.Schema, r.GC = GCSchema, r.Artifacts[0].GC
		r.Artifacts[0].GC = nil // it is the report itself
	case len(pieces) > 1:
		r.Schema, r.GC = GCSchema, summarizeGC(b, pieces...)
		r.Tables = r.GC.renderTables()
	}
	return r
}

// coverageOf returns what an artifact covers, and the clock of the longest coverage.
func coverageOf(b *evidence.Bundle, a evidence.ArtifactID) (clock *Clock, out []Coverage) {
	var widest int64 = -1
	take := func(id evidence.ClockID, span int64) {
		if span > widest {
			widest, clock = span, newClock(&b.Clocks[id])
		}
	}
	for _, c := range b.Coverage {
		if of, ok := c.Origin.Artifact(); !ok || of != a {
			continue
		}
		v := Coverage{Kind: c.Kind, Seconds: float64(c.Until-c.From) / 1e9, Lost: c.Lost}
		if c.Sampled > 0 {
			v.Looks = (c.Until-c.From+c.Sampled/2)/c.Sampled + 1
		}
		if b.Clocks[c.Clock].Anchored() && c.From != 0 && c.Until != 0 {
			v.From, v.Until = utcTime(c.From), utcTime(c.Until)
		}
		out = append(out, v)
		take(c.Clock, c.Until-c.From)
	}
	for i, o := range b.Requests.Origin.All() {
		if of, ok := o.Artifact(); clock == nil && ok && of == a {
			take(b.Requests.Clock.At(i), 0)
		}
	}
	return clock, out
}

func newClock(c *evidence.Clock) *Clock {
	out := &Clock{Name: c.Name, Anchored: c.Anchored()}
	if out.Anchored {
		out.ErrorS = secondsOf(c.Error)
	}
	if c.Resolution > 0 {
		out.ResolutionS = secondsOf(c.Resolution)
	}
	return out
}

func utcTime(ns int64) *time.Time {
	t := time.Unix(0, ns).UTC()
	return &t
}

func secondsOf(ns int64) *float64 {
	s := float64(ns) / 1e9
	return &s
}

// piecesOf returns the artifacts that have pauses, if these are all of one process.
func piecesOf(b *evidence.Bundle, all []Artifact) (pieces []evidence.ArtifactID) {
	subject := evidence.SubjectID(-1)
	v := &b.Intervals
	seen := make(map[evidence.ArtifactID]bool)
	for i := range v.Len() {
		a, ok := v.Origin.At(i).Artifact()
		if !ok || int(a) >= len(all) || all[a].GC == nil || v.Kind[i] != evidence.StopTheWorld {
			continue
		}
		if subject >= 0 && v.Subject.At(i) != subject {
			return nil
		}
		subject = v.Subject.At(i)
		if !seen[a] {
			seen[a] = true
			pieces = append(pieces, a)
		}
	}
	return pieces
}
