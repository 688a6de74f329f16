package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/units"
)

// page writes Markdown.
type page struct {
	w   io.Writer
	err error
}

func (p *page) writeLine(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}

func (p *page) writeRow(cells ...string) {
	for i, c := range cells {
		cells[i] = strings.ReplaceAll(strings.ReplaceAll(c, "|", `\|`), "\n", " ")
	}
	p.writeLine("| %s |", strings.Join(cells, " | "))
}

func (p *page) writeTableHead(head ...string) {
	p.writeRow(head...)
	p.writeLine("|%s", strings.Repeat("---|", len(head)))
}

const lead = `# Accuracy

This page says how often the first verdict is right on the small services of ` + "`lab/accuracy`" + `, each
sick in one known way or healthy, and on the variants of the [incidents](incidents.md). The run
starts each one, puts it under its load and records it as a user does: the diagnosis gets the PID
and nothing else, or, where the page says *rows*, also a line for each request from the load
generator. The answer is written down before the service runs for the first time.

    make accuracy                    # everything, half a minute for each service, and the labs; writes this page
    make accuracy ONLY=redis         # some, by a regular expression
    go run ./dev/accuracy -keep DIR  # keeps the captures …
    go run ./dev/accuracy -again DIR # … and diagnoses them again, with no service running
`

// writeMarkdown writes the page.
func (r *Result) writeMarkdown(w io.Writer) error {
	p := &page{w: w}
	p.writeLine("%s", cmp.Or(r.Lead, lead))
	p.writeLine("%s", r.formatMeasured())
	p.writeLine("")
	p.writeFigures(r)
	p.writeConfusion(r)
	p.writeCases(r, "Services with something wrong", func(c *Case) bool { return c.wasDiagnosed() && !c.Healthy })
	p.writeCases(r, "Healthy services", func(c *Case) bool { return c.wasDiagnosed() && c.Healthy })
	p.notRun(r)
	if r.Blind != "" {
		p.writeLine("%s", r.Blind)
	}
	return p.err
}

func (r *Result) formatMeasured() string {
	text := "Measured "
	first, last := sittingDays(r.Cases)
	switch {
	case r.Again:
		text = "Captures of earlier runs, diagnosed "
	case first != last:
		text += "in sittings from " + first + " to "
	}
	text += fmt.Sprintf("%s with unstall %s on %s, %s, %s", r.Date.Format("2006-01-02"), r.Tool, r.Machine.Kernel, units.Plural(r.Machine.CPUs, "CPU"), r.Machine.Arch)
	if r.Machine.Memory != nil {
		text += ", " + units.Size(float64(*r.Machine.Memory)) + " of memory"
	}
	text += fmt.Sprintf(", %s, %s.", r.Machine.Go, units.Plural(r.Runs, "run"))
	if r.Left > 0 {
		text += fmt.Sprintf("\nThe run is made in sittings, in an order drawn by lot, and has not reached %s yet.", units.Plural(r.Left, "service"))
	}
	if _, ok := r.asRecorded(); ok || r.Again {
		text += "\nSome rules changed after these captures existed: expect less on services that the rules have not met."
	}
	return text
}

// writeFigures writes the figures that are required, beside the measured ones.
func (p *page) writeFigures(r *Result) {
	p.writeTableHead("", "asked for", "measured")
	a := r.Accuracy
	right := "no service with something wrong was asked"
	if a.Share != nil {
		right = fmt.Sprintf("%s (%s of %d services; 95 %% interval %s to %s)", formatPercent(a.Share), units.Num(a.Right), a.Of, formatPercent(a.Low), formatPercent(a.High))
	}
	p.writeRow("first verdict right", "≥ 95 %", right)
	alarms := fmt.Sprintf("%d of %d healthy services", len(r.FalseAlarms), r.Healthy)
	if len(r.FalseAlarms) > 0 {
		alarms += ": " + strings.Join(r.FalseAlarms, ", ")
	}
	p.writeRow("false alarms", "none", alarms)
	unknown := formatPercent(r.Unknown)
	if r.Unknown != nil {
		unknown += fmt.Sprintf(" (of %d in which requests were seen to be slow)", r.Slow)
	}
	p.writeRow("unexplained and unobserved share of slow time, median", "≤ 10 %", unknown)
	p.writeRow("the same, at the 90th percentile", "≤ 30 %", formatPercent(r.MostUnknown))
	if r.Runs > 1 {
		p.writeRow("services not judged alike in all runs", "none", formatList(r.Changed))
	}
	if len(r.Failed) > 0 {
		p.writeRow("services that could not be run", "none", formatList(r.Failed))
	}
	p.writeRow("pages that contradict themselves", "none", formatList(r.contradictingServices()))
	if text := r.fromFiles(); text != "" {
		p.writeRow("from files alone: verdict right, healthy ones included", "≥ 90 %", text)
	}
	if text := r.withoutRows(); text != "" {
		p.writeRow("without rows: first verdict right", "≥ 80 %", text)
	}
	if first, ok := r.asRecorded(); ok {
		p.writeRow("the same, when they were recorded", "≥ 95 %", first)
	}
	p.writeLine("")
}

// contradictingServices returns the services in whose diagnosis one figure contradicts another.
func (r *Result) contradictingServices() (names []string) {
	for _, c := range r.Cases {
		if len(c.Contradictions) > 0 {
			names = append(names, c.Service)
		}
	}
	return names
}

// fromFiles says how often the answer from files alone was right, "" if that was not chosen.
func (r *Result) fromFiles() string {
	right, of := 0, 0
	for _, c := range r.Cases {
		if c.Files != nil {
			right, of = right+boolToInt(c.Files.Right), of+1
		}
	}
	if of == 0 {
		return ""
	}
	share := float64(right) / float64(of)
	return fmt.Sprintf("%s (%d of %d services)", formatPercent(&share), right, of)
}

// withoutRows says how often the first verdict on a service with a fault was right
// without rows of requests, "" if that was not chosen.
func (r *Result) withoutRows() string {
	right, of := 0, 0
	for _, c := range r.Cases {
		if c.Bare != nil && c.Bare.wasDiagnosed() && !c.Healthy {
			right, of = right+boolToInt(c.Bare.Right), of+1
		}
	}
	if of == 0 {
		return ""
	}
	share := float64(right) / float64(of)
	return fmt.Sprintf("%s (%d of %d recordings)", formatPercent(&share), right, of)
}

// asRecorded says how often the first verdict of the recording binary was right, for services with a fault whose verdict
// was kept; ok is false where none was judged again.
func (r *Result) asRecorded() (text string, ok bool) {
	right, of := 0, 0
	for _, c := range r.Cases {
		if c.Said != nil && !c.Healthy && c.wasDiagnosed() {
			right, of, ok = right+boolToInt(c.Said.Right), of+1, ok || r.Again || c.Said.Right != c.Right
		}
	}
	return fmt.Sprintf("%d of %d recordings", right, of), ok
}

func formatList(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return fmt.Sprintf("%d: %s", len(names), strings.Join(names, ", "))
}

// writeConfusion writes a row for each pair of expected cause and first cause found.
func (p *page) writeConfusion(r *Result) {
	if len(r.Confusion) == 0 {
		return
	}
	p.writeLine("## Expected against found first")
	p.writeLine("")
	p.writeTableHead("expected", "found first", "times", "right", "services")
	for _, x := range r.Confusion {
		p.writeRow(x.Expected, x.Found, units.Count(x.Count), units.Count(x.Right), strings.Join(x.Services, ", "))
	}
	p.writeLine("")
}

// writeCases writes a row for each service in each run.
func (p *page) writeCases(r *Result, title string, of func(*Case) bool) {
	if !slices.ContainsFunc(r.Cases, func(c Case) bool { return of(&c) }) {
		return
	}
	p.writeLine("## %s", title)
	p.writeLine("")
	head := []string{"service", "what it is", "found first", "", "unknown", "took"}
	files := slices.ContainsFunc(r.Cases, func(c Case) bool { return of(&c) && c.Files != nil })
	if files {
		head = append(head, "from files alone")
	}
	bare := slices.ContainsFunc(r.Cases, func(c Case) bool { return of(&c) && c.Bare != nil })
	if bare {
		head = slices.Insert(head, 2, "expected")
		head = append(head, "without rows")
	}
	if r.Runs > 1 {
		head = append(head, "run")
	}
	p.writeTableHead(head...)
	for i := range r.Cases {
		c := &r.Cases[i]
		if !of(c) {
			continue
		}
		about := c.About
		if c.Rows {
			about += " (*rows*)"
		}
		took := "—"
		if c.Seconds > 0 {
			took = fmt.Sprintf("%.0f s", c.Seconds)
		}
		cells := []string{c.Service, about, c.First(), c.formatVerdict(), formatPercent(c.Unknown), took}
		if files {
			cells = append(cells, c.Files.saysOfFiles())
		}
		if bare {
			cells = slices.Insert(cells, 2, strings.Join(c.Expected, " or "))
			cells = append(cells, c.Bare.saysOfFiles())
		}
		if r.Runs > 1 {
			cells = append(cells, units.Count(c.Run))
		}
		p.writeRow(cells...)
	}
	p.writeLine("")
}

// saysOfFiles returns what was found in files alone, or without rows, "—" if that was not chosen.
func (c *Case) saysOfFiles() string {
	switch {
	case c == nil:
		return "—"
	case !c.wasDiagnosed():
		return "**error**: " + c.Error
	}
	return c.First() + ": " + c.formatVerdict()
}

// formatVerdict says whether a case was judged right, and why.
func (c *Case) formatVerdict() string {
	text := "right"
	if !c.Right {
		text = "**wrong**"
	}
	if c.Why != "" {
		text += ": " + c.Why
	}
	if c.Said != nil && c.Said.Right != c.Right {
		text += fmt.Sprintf(" (when it was recorded: %s)", c.Said.First)
	}
	if c.Others >= spoilt {
		text += fmt.Sprintf(" (others used %.0f %% of the host)", 100*c.Others)
	}
	return text
}

// notRun lists the services that could not be run, and what this host lacks.
func (p *page) notRun(r *Result) {
	var some bool
	for _, c := range r.Cases {
		if c.wasDiagnosed() {
			continue
		}
		if !some {
			p.writeLine("## Not run")
			p.writeLine("")
			p.writeTableHead("service", "what it is", "why")
			some = true
		}
		why := "skipped: " + c.Skipped
		if c.Error != "" {
			why = "**error**: " + c.Error
		}
		p.writeRow(c.Service, c.About, why)
	}
	if some {
		p.writeLine("")
	}
}

// formatPercent formats a share; "—" if it is not known.
func formatPercent(v *float64) string {
	if v == nil || math.IsNaN(*v) {
		return "—"
	}
	return fmt.Sprintf("%.0f %%", 100**v)
}
