// Package export writes evidence for tools that people already use: profiles
// for go tool pprof (https://github.com/google/pprof), flame charts for
// speedscope (https://www.speedscope.app), traces for Perfetto
// (https://ui.perfetto.dev), tables as CSV (RFC 4180), and the stacks of threads as
// dotnet-stack prints them. One more form is a file and a row of the table.
//
// Its opinion: an export carries what was seen and what it was charged to. Only tables of
// many runs (package internal/present/export/parquet) carry verdicts. Figures equal the ledger's to the
// nanosecond; nothing is sampled or summed on the way. A form leaves out what it cannot
// express. Names are data: routes and function names are quoted as the form demands and
// otherwise left as they are, also where a spreadsheet would take them for a formula.
package export

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
)

// Source is what is exported.
type Source struct {
	Bundle  *evidence.Bundle // an incident's
	Ledgers []*ledger.Ledger // of the bundle

	Omitted []string // evidence that the last export could not express in its form

	titles []string // by subject
}

// Options are what the user decides.
type Options struct {
	Since, Until time.Time     // zero: all there is
	SLO          time.Duration // what counts as slow; 0: found from the requests
}

// Of puts a bundle on one timeline, keeps what lies in the time asked for, and makes its ledgers.
func Of(read *evidence.Bundle, opt Options) *Source {
	i := incident.Of(read, incident.Options{Since: opt.Since, Until: opt.Until, SLO: opt.SLO})
	b := i.Bundle
	if !opt.Since.IsZero() || !opt.Until.IsZero() {
		from, until := unixNanos(opt.Since), unixNanos(opt.Until)
		for i := range b.Series {
			clipSeries(&b.Series[i], from, until)
		}
		b.Series = slices.DeleteFunc(b.Series, func(x evidence.Series) bool { return len(x.T) == 0 })
	}
	return &Source{Bundle: b, Ledgers: i.Ledgers()}
}

// clipSeries keeps the points of a figure within [from, until), ns; 0 is open. The value that
// holds at from becomes a point there; what comes after the last point is not known.
func clipSeries(s *evidence.Series, from, until int64) {
	first, exact := slices.BinarySearch(s.T, from)
	end := len(s.T)
	if until != 0 {
		end, _ = slices.BinarySearch(s.T, until)
	}
	if from == 0 || exact || first == 0 || first == len(s.T) {
		s.T, s.V = s.T[first:max(first, end)], s.V[first:max(first, end)]
		return
	}
	s.T, s.V = slices.Clone(s.T[first-1:end]), slices.Clone(s.V[first-1:end])
	s.T[0] = from
}

func unixNanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// Writer writes an export that is not empty.
type Writer func(w io.Writer) error

// Form is an export format with its name and file extensions.
type Form struct {
	Name       string
	Extensions []string // of files written in this form by default; the first is the usual one
	Binary     bool     // not for a terminal
	Flag       string   // what chooses among Parts: "what", "table"; "" if there are none
	Parts      []string // the first is the default
	Instead    string   // the part that takes the place of the first where there is none of that; "" none
	Viewer     string   // the command that shows such a file in a browser, without the file's name; "" unknown
	Many       bool     // it writes tables of many runs with their verdicts into a directory: package internal/present/export/parquet
	// Prepare returns the writer of a part, or a [Missing] if there is nothing of it.
	Prepare func(s *Source, part string) (Writer, error)
}

// Forms in the order they are offered.
var Forms = []Form{
	{Name: "pprof", Extensions: []string{".pb.gz", ".pprof", ".pb"}, Binary: true, Flag: "what", Parts: pprofParts, Instead: "on-cpu", Viewer: "go tool pprof -http=localhost:", Prepare: preparePprof},
	{Name: "speedscope", Extensions: []string{".speedscope.json"}, Prepare: prepareSpeedscope},
	{Name: "perfetto", Extensions: []string{".pftrace", ".perfetto-trace"}, Binary: true, Prepare: preparePerfetto},
	{Name: "csv", Extensions: []string{".csv"}, Flag: "table", Parts: csvTables, Prepare: csvTable},
	{Name: "stacks", Extensions: []string{".stacks", ".stacks.txt"}, Prepare: prepareStacks},
	{Name: "parquet", Many: true},
}

// Choose returns the form of a name or, without one, the form that the name of
// the output file asks for.
func Choose(name, file string) (Form, error) {
	for _, f := range Forms {
		ends := func(e string) bool { return strings.HasSuffix(strings.ToLower(file), e) }
		if name == f.Name || name == "" && slices.ContainsFunc(f.Extensions, ends) {
			return f, nil
		}
	}
	switch {
	case name != "":
		return Form{}, fmt.Errorf("--to %s: unknown format: give %s", name, Names("|"))
	case file == "" || file == "-":
		return Form{}, fmt.Errorf("no format given: add --to %s", Names("|"))
	}
	return Form{}, fmt.Errorf("-o %s: the file name gives no format: add --to %s", file, Names("|"))
}

// Part returns the part that the value of a form's flag asks for.
func (f *Form) Part(value string) (string, error) {
	switch {
	case f.Flag == "" || value == "" && len(f.Parts) > 0:
		return append(f.Parts, "")[0], nil
	case !slices.Contains(f.Parts, value):
		return "", fmt.Errorf("--%s %s: unknown value: give %s", f.Flag, value, strings.Join(f.Parts, "|"))
	}
	return value, nil
}

// Names lists the forms.
func Names(separator string) string {
	var names []string
	for _, f := range Forms {
		names = append(names, f.Name)
	}
	return strings.Join(names, separator)
}

// Missing is the error for an export whose evidence was not recorded.
type Missing struct {
	What string // "no CPU profile"
	Do   string // how to record it
}

func (m *Missing) Error() string { return m.What + ": " + m.Do }

// subjectTitle returns a name of a subject that differs from the others'.
func (s *Source) subjectTitle(id evidence.SubjectID) string {
	if s.titles == nil {
		s.titles = s.Bundle.Titles()
	}
	return s.titles[id]
}

// processTitles returns the titles of the processes that profiles and ledgers are of.
func (s *Source) processTitles(profiles []taken, ledgers []*ledger.Ledger) (out []string) {
	seen := make(map[evidence.SubjectID]bool)
	add := func(id evidence.SubjectID) {
		if !seen[id] {
			seen[id] = true
			out = append(out, s.subjectTitle(id))
		}
	}
	for _, l := range ledgers {
		add(l.Subject)
	}
	for _, t := range profiles {
		add(t.subject)
	}
	return out
}

// artifactName returns the name of the artifact that a row is from, "" if that is not known.
func (s *Source) artifactName(o evidence.Origin) string {
	a, ok := o.Artifact()
	if !ok || int(a) >= len(s.Bundle.Artifacts) {
		return ""
	}
	return s.Bundle.Artifacts[a].Name
}

// isAnchored says whether a clock tells the time of day.
func (s *Source) isAnchored(c evidence.ClockID) bool { return s.Bundle.Clocks[c].Anchored() }

// addOmitted notes something that is left out, once.
func (s *Source) addOmitted(what string) {
	if !slices.Contains(s.Omitted, what) {
		s.Omitted = append(s.Omitted, what)
	}
}

// ledgerOf returns the ledger that charges a request, nil if none does.
func (s *Source) ledgerOf(row int) *ledger.Ledger {
	r := &s.Bundle.Requests
	a, ok := r.Origin.At(row).Artifact()
	for _, l := range s.Ledgers {
		if ok && l.Subject == r.Subject.At(row) && l.Source == a {
			return l
		}
	}
	return nil
}

// tracedLedgers returns the ledgers whose requests' states are known.
func (s *Source) tracedLedgers() (out []*ledger.Ledger) {
	for _, l := range s.Ledgers {
		if l.Traced {
			out = append(out, l)
		}
	}
	return out
}

// state is what a request did or waited for during an interval, as exports show it.
type state struct {
	evidence.Segment
	mechanism ledger.Mechanism // what most of it was charged to
	several   bool             // it was charged to more than one
}

func stateOf(seg evidence.Segment, c *ledger.Charges) (st state) {
	st.Segment = seg
	st.mechanism = ledger.Unexplained
	var most, charged int64
	for m, v := range c {
		if v > 0 {
			charged++
		}
		if v > most {
			most, st.mechanism = v, ledger.Mechanism(m)
		}
	}
	st.several = charged > 1
	return st
}

// formatTitle returns the state in words, with the lock, pool or dependency it was for.
func (st *state) formatTitle(b *evidence.Bundle) string {
	t := st.mechanism.Title()
	if d := b.Names.Text(st.Cause); d != "" && st.mechanism.Named() {
		t += ": " + d
	}
	return t
}

// formatShortDuration returns a duration (ns) in ms, to three digits where it has decimals.
func formatShortDuration(ns int64) string {
	ms := float64(ns) / 1e6
	if ms >= 100 {
		return strconv.FormatFloat(ms, 'f', 0, 64) + " ms"
	}
	return strconv.FormatFloat(ms, 'g', 3, 64) + " ms"
}
