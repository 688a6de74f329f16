package text

import (
	"io"
	"strings"

	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/diagnose/inspect"
	"github.com/unstall/unstall/internal/present/sentence"
)

// Inspect renders what artifacts hold.
func (o Options) Inspect(w io.Writer, r *inspect.Report) error {
	if o.Width == 0 {
		o.Width = 80
	}
	p := &page{Options: o}
	for i := range r.Artifacts {
		p.writeBlank()
		p.writeArtifact(&r.Artifacts[i])
	}
	if len(r.Tables) > 0 {
		p.writeBlank()
		p.writeLine(p.applyStyle(bold, "All pieces together"))
		for _, t := range r.Tables {
			p.writeBlank()
			p.writeTable(&t)
		}
	}
	for _, t := range r.Threads {
		p.writeBlank()
		about := t.Subject
		if t.At != nil {
			about += ", " + t.At.Format("15:04:05 UTC")
		}
		p.writeThreads(t.Summary, about, allGroups)
	}
	p.writeBlank()
	p.inspectWarnings(r.Warnings, "")
	_, err := io.WriteString(w, strings.TrimRight(p.out.String(), "\n")+"\n")
	return err
}

func (p *page) writeArtifact(a *inspect.Artifact) {
	about := append([]string(nil), a.Formats...)
	about = append(about, a.Envelopes...)
	if a.Bytes != nil {
		about = append(about, units.Size(float64(*a.Bytes)))
	}
	if a.Cut {
		about = append(about, "cut off")
	}
	name := p.cleanText(a.Name)
	if indent := textWidth(name) + 2; indent <= p.Width/2 {
		p.writeBlock(name, bold, indent, p.flowItems(about, indent))
	} else {
		p.writeLine(p.applyStyle(bold, name))
		p.writeBlock("", "", 2, p.flowItems(about, 2))
	}
	const indent = 10
	if c := a.Clock; c != nil {
		p.writeBlock("  clock", dim, indent, p.flowItems(describeClock(c), indent))
	}
	var covers []string
	for _, c := range a.Coverage {
		when := sentence.Window(diagnose.Window{Start: c.From, End: c.Until, Duration: &c.Seconds})
		if c.From != nil {
			when += " (" + units.Time(c.Seconds*1e9) + ")"
		}
		text := c.Kind + " " + when
		if c.Looks > 1 {
			text += ", sampled " + units.Count(c.Looks) + " times"
		}
		if c.Lost > 0 {
			text += ", " + units.Count(c.Lost) + " lost"
		}
		covers = append(covers, p.wrapText(text, indent)...)
	}
	p.writeBlock("  covers", dim, indent, covers)
	for _, t := range a.Tables {
		p.writeBlank()
		p.writeTable(&t)
	}
	if len(a.Warnings) > 0 {
		p.writeBlank()
		p.inspectWarnings(a.Warnings, "  ")
	}
}

func describeClock(c *inspect.Clock) []string {
	items := []string{c.Name}
	if c.Anchored && c.ErrorS != nil {
		if *c.ErrorS > 0 {
			items = append(items, "± "+units.Time(*c.ErrorS*1e9))
		}
	} else {
		items = append(items, "time of day unknown")
	}
	if c.ResolutionS != nil {
		items = append(items, "in steps of "+units.Time(*c.ResolutionS*1e9))
	}
	return items
}

// writeTable writes a table, however wide it is.
func (p *page) writeTable(t *inspect.Table) {
	if t.Title != "" {
		p.writeLine("  " + p.applyStyle(bold, p.cleanText(t.Title)))
	}
	p.writeColumns(append([][]string{t.Columns}, t.Rows...), 4, 0)
}

func (p *page) inspectWarnings(warnings []inspect.Warning, margin string) {
	indent := len(margin) + labels
	var lines []string
	for _, w := range warnings {
		lines = append(lines, p.wrapText(formatWarning(w.Text, w.Count, w.Origin), indent)...)
	}
	p.writeBlock(margin+"WARNINGS", bold, indent, lines)
}

func formatWarning(text string, count int64, origin string) string {
	if count > 1 {
		text = units.Count(count) + " × " + text
	}
	if origin != "" {
		text += " [" + origin + "]"
	}
	return text
}
