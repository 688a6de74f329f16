package text

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/analyze/workload"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/operate/host"
)

// Host renders what a machine did: what is wrong first, then what its CPUs did and what tasks
// waited for, then its services.
func (o Options) Host(w io.Writer, r *host.Report) error {
	if o.Width == 0 {
		o.Width = 80
	}
	p := &page{Options: o}
	p.hostHeader(r)
	p.writeBlank()
	if len(r.Findings) == 0 {
		lines := p.wrapText(r.Healthy(), labels)
		p.writeBlock("HEALTHY", calm, labels, lines)
	}
	for i := range r.Findings {
		p.writeFinding(&r.Findings[i])
	}
	p.writeBlank()
	p.writeBlock("CPU", bold, labels, p.flowItems(r.CPULine(), labels))
	p.writeBlock("WAITED", bold, labels, p.flowItems(r.WaitLine(), labels))
	p.writeBlank()
	p.writeServices(r)
	p.writeBlank()
	for _, f := range r.Findings {
		p.writeBlock("WHY", bold, labels, p.figureLines(f))
		break
	}
	for _, n := range r.NotSeen {
		p.writeBlock("NOT SEEN", bold, labels, p.wrapText(fmt.Sprintf("%s: %s; %s", n.What, n.Why, n.Do), labels))
	}
	_, err := io.WriteString(w, strings.TrimRight(p.out.String(), "\n")+"\n")
	return err
}

func (p *page) hostHeader(r *host.Report) {
	left := p.cleanText("host " + r.Host)
	if r.CPUs > 0 {
		left += p.cleanText(" · " + units.Plural(r.CPUs, "CPU"))
	}
	left += p.cleanText(" · " + units.Time(float64(r.Window.End.Sub(r.Window.Start))))
	right := p.cleanText(r.Window.Start.Format("2006-01-02 15:04:05") + "–" + r.Window.End.Format(time.TimeOnly) + " UTC")
	if textWidth(left)+2+textWidth(right) > p.Width {
		p.writeLine(p.applyStyle(bold, left))
		left = ""
	}
	p.writeLine(p.applyStyle(bold, left) + strings.Repeat(" ", max(0, p.Width-textWidth(left)-textWidth(right))) + right)
}

// writeFinding writes what is wrong, which services cause it and which wait.
func (p *page) writeFinding(f *host.Finding) {
	id := f.Cause
	if id == "" {
		id = "host"
	}
	p.writeLine(p.applyStyle(alarm, p.cleanText(id)))
	const indent = 2
	lines := p.wrapText(f.Title, indent)
	if len(f.Takes) > 0 {
		lines = append(lines, p.wrapText("Uses most: "+strings.Join(f.Takes, ", "), indent)...)
	}
	if len(f.Pays) > 0 {
		lines = append(lines, p.wrapText("Slowed by it: "+strings.Join(f.Pays, ", "), indent)...)
	}
	p.writeBlock("", "", indent, lines)
	for _, command := range f.Next {
		p.writeLine("  " + p.applyStyle(advice, p.cleanText(command)))
	}
}

// figureLines returns the figures of a finding, in lines.
func (p *page) figureLines(f host.Finding) (lines []string) {
	for _, e := range f.Evidence {
		text := p.wrapText(e.Text, labels+18)
		for i, l := range text {
			value := ""
			if i == 0 {
				value = p.cleanText(units.Of(e.Value, e.Unit))
			}
			lines = append(lines, padLeft(value, 16)+"  "+l)
		}
	}
	return lines
}

// mostServices bounds the table.
const mostServices = 12

// writeServices writes the table of services: how much CPU each uses, how much of it in the
// kernel, how long it waits, and what for.
func (p *page) writeServices(r *host.Report) {
	const does = "most CPU time in"
	name, last := len("SERVICE"), len(does)
	var shown []*host.Service
	for i := range r.Services {
		s := &r.Services[i]
		if len(shown) < mostServices && s.CPU != nil && *s.CPU >= .001 {
			shown = append(shown, s)
			name = max(name, textWidth(p.cleanText(s.Title())))
			last = max(last, textWidth(p.cleanText(describeWork(s))))
		}
	}
	const figures = "   CPUs  kernel   waits  "
	name = min(name, max(20, p.Width-len(figures)-last))
	head := padRight("SERVICE", name) + figures + does
	p.writeLine(p.applyStyle(dim, head))
	for _, s := range shown {
		title := p.cleanText(s.Title())
		if textWidth(title) > name {
			title = string([]rune(title)[:name-1]) + p.cleanText("…")
			if p.ASCII {
				title = string([]rune(p.cleanText(s.Title()))[:name])
			}
		}
		p.writeLine(padRight(title, name) + "  " + padLeft(formatFixed(s.CPU, 2), 5) + "  " + padLeft(formatShare(s.System), 6) + "  " + padLeft(formatShare(s.Waits), 6) + "  " + p.cleanText(describeWork(s)))
	}
	if n := len(r.Services) - len(shown); n > 0 {
		p.writeLine(p.cleanText(fmt.Sprintf("%s more used almost no CPU time", units.Plural(n, "service"))))
	}
}

// describeWork returns what a service's CPU time goes to, in a few words.
func describeWork(s *host.Service) string {
	switch s.Kind {
	case "kernel":
		return "kernel threads' own work"
	case "unlisted":
		return "short-lived, or not visible here"
	}
	if s.Class == workload.Idle || s.ClassShare == nil {
		return "too little CPU time"
	}
	return fmt.Sprintf("%s %s", s.Class.Title(), formatShare(s.ClassShare))
}

func formatFixed(v *float64, decimals int) string {
	if v == nil {
		return units.Unknown
	}
	return units.Fixed(*v, decimals)
}

func formatShare(v *float64) string {
	if v == nil {
		return units.Unknown
	}
	return units.Percent(*v)
}
