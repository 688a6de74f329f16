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

func (p *page) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}

func (p *page) row(cells ...string) {
	for i, c := range cells {
		cells[i] = strings.ReplaceAll(strings.ReplaceAll(c, "|", `\|`), "\n", " ")
	}
	p.line("| %s |", strings.Join(cells, " | "))
}

func (p *page) table(head ...string) {
	p.row(head...)
	p.line("|%s", strings.Repeat("---|", len(head)))
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

// markdown is the page.
func (r *Result) markdown(w io.Writer) error {
	p := &page{w: w}
	p.line("%s", cmp.Or(r.Lead, lead))
	p.line("%s", r.measured())
	p.line("")
	p.figures(r)
	p.confusion(r)
	p.cases(r, "Services with something wrong", func(c *Case) bool { return c.asked() && !c.Healthy })
	p.cases(r, "Healthy services", func(c *Case) bool { return c.asked() && c.Healthy })
	p.notRun(r)
	if r.Blind != "" {
		p.line("%s", r.Blind)
	}
	return p.err
}

func (r *Result) measured() string {
	text := "Measured "
	if r.Again {
		text = "Captures of earlier runs, diagnosed "
	}
	text += fmt.Sprintf("%s with unstall %s on %s, %s, %s", r.Date.Format("2006-01-02"), r.Tool, r.Machine.Kernel, units.Plural(r.Machine.CPUs, "CPU"), r.Machine.Arch)
	if r.Machine.Memory != nil {
		text += ", " + units.Size(float64(*r.Machine.Memory)) + " of memory"
	}
	text += fmt.Sprintf(", %s, %s.", r.Machine.Go, units.Plural(r.Runs, "run"))
	if r.Again {
		text += "\nSome rules changed after these captures existed: expect less on services that the rules have not met."
	}
	return text
}

// figures are those that were asked for.
func (p *page) figures(r *Result) {
	p.table("", "asked for", "measured")
	a := r.Accuracy
	right := "no service with something wrong was asked"
	if a.Share != nil {
		right = fmt.Sprintf("%s (%s of %d services; 95 %% interval %s to %s)", percent(a.Share), units.Num(a.Right), a.Of, percent(a.Low), percent(a.High))
	}
	p.row("first verdict right", "≥ 95 %", right)
	alarms := fmt.Sprintf("%d of %d healthy services", len(r.FalseAlarms), r.Healthy)
	if len(r.FalseAlarms) > 0 {
		alarms += ": " + strings.Join(r.FalseAlarms, ", ")
	}
	p.row("false alarms", "none", alarms)
	unknown := percent(r.Unknown)
	if r.Unknown != nil {
		unknown += fmt.Sprintf(" (of %d in which requests were seen to be slow)", r.Slow)
	}
	p.row("unexplained and unobserved share of slow time, median", "≤ 10 %", unknown)
	p.row("the same, at the 90th percentile", "≤ 30 %", percent(r.MostUnknown))
	if r.Runs > 1 {
		p.row("services not judged alike in all runs", "none", list(r.Changed))
	}
	if len(r.Failed) > 0 {
		p.row("services that could not be run", "none", list(r.Failed))
	}
	p.row("pages that contradict themselves", "none", list(r.contradicting()))
	if text := r.fromFiles(); text != "" {
		p.row("from files alone: verdict right, healthy ones included", "≥ 90 %", text)
	}
	if text := r.withoutRows(); text != "" {
		p.row("without rows: first verdict right", "≥ 80 %", text)
	}
	if first, ok := r.asRecorded(); ok {
		p.row("the same, when they were recorded", "≥ 95 %", first)
	}
	p.line("")
}

// contradicting are the services of whose diagnosis one figure contradicts another.
func (r *Result) contradicting() (names []string) {
	for _, c := range r.Cases {
		if len(c.Contradictions) > 0 {
			names = append(names, c.Service)
		}
	}
	return names
}

// fromFiles is how often what is said of files alone was right, "" where nobody asked.
func (r *Result) fromFiles() string {
	right, of := 0, 0
	for _, c := range r.Cases {
		if c.Files != nil {
			right, of = right+order(c.Files.Right), of+1
		}
	}
	if of == 0 {
		return ""
	}
	share := float64(right) / float64(of)
	return fmt.Sprintf("%s (%d of %d services)", percent(&share), right, of)
}

// withoutRows is how often the first verdict on a service with something wrong was right
// without rows of requests, "" where that was not asked.
func (r *Result) withoutRows() string {
	right, of := 0, 0
	for _, c := range r.Cases {
		if c.Bare != nil && c.Bare.asked() && !c.Healthy {
			right, of = right+order(c.Bare.Right), of+1
		}
	}
	if of == 0 {
		return ""
	}
	share := float64(right) / float64(of)
	return fmt.Sprintf("%s (%d of %d recordings)", percent(&share), right, of)
}

// asRecorded is how often the first verdict was right by the binary that recorded, of
// services with something wrong of which that was kept; not ok where it says no more
// than the result itself.
func (r *Result) asRecorded() (text string, ok bool) {
	right, of := 0, 0
	for _, c := range r.Cases {
		if c.Said != nil && !c.Healthy && c.asked() {
			right, of = right+order(c.Said.Right), of+1
		}
	}
	return fmt.Sprintf("%d of %d recordings", right, of), r.Again && of > 0
}

func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return fmt.Sprintf("%d: %s", len(names), strings.Join(names, ", "))
}

// confusion has a row for each pair of what was expected and what was found first.
func (p *page) confusion(r *Result) {
	if len(r.Confusion) == 0 {
		return
	}
	p.line("## Expected against found first")
	p.line("")
	p.table("expected", "found first", "times", "right", "services")
	for _, x := range r.Confusion {
		p.row(x.Expected, x.Found, units.Count(x.Count), units.Count(x.Right), strings.Join(x.Services, ", "))
	}
	p.line("")
}

// cases has a row for each service in each run.
func (p *page) cases(r *Result, title string, of func(*Case) bool) {
	if !slices.ContainsFunc(r.Cases, func(c Case) bool { return of(&c) }) {
		return
	}
	p.line("## %s", title)
	p.line("")
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
	p.table(head...)
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
		cells := []string{c.Service, about, c.First(), c.verdict(), percent(c.Unknown), took}
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
		p.row(cells...)
	}
	p.line("")
}

// saysOfFiles is what was found in files alone, or without rows, "—" where that was not asked.
func (c *Case) saysOfFiles() string {
	switch {
	case c == nil:
		return "—"
	case !c.asked():
		return "**error**: " + c.Error
	}
	return c.First() + ": " + c.verdict()
}

// verdict says whether a case was judged rightly and what is to be known of it.
func (c *Case) verdict() string {
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

// notRun lists what could not be run, and what this host has not.
func (p *page) notRun(r *Result) {
	var some bool
	for _, c := range r.Cases {
		if c.asked() {
			continue
		}
		if !some {
			p.line("## Not run")
			p.line("")
			p.table("service", "what it is", "why")
			some = true
		}
		why := "skipped: " + c.Skipped
		if c.Error != "" {
			why = "**error**: " + c.Error
		}
		p.row(c.Service, c.About, why)
	}
	if some {
		p.line("")
	}
}

// percent is a share; "—" where it is not known.
func percent(v *float64) string {
	if v == nil || math.IsNaN(*v) {
		return "—"
	}
	return fmt.Sprintf("%.0f %%", 100**v)
}
