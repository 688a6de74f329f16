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

// Host renders what a machine did: what is wrong first, then what its CPUs did and who waited, then its services.
func (o Options) Host(w io.Writer, r *host.Report) error {
	if o.Width == 0 {
		o.Width = 80
	}
	p := &page{Options: o}
	p.hostHeader(r)
	p.blank()
	if len(r.Findings) == 0 {
		lines := p.wrap(r.Healthy(), labels)
		p.block("HEALTHY", calm, labels, lines)
	}
	for i := range r.Findings {
		p.finding(&r.Findings[i])
	}
	p.blank()
	p.block("CPU", bold, labels, p.flow(r.CPULine(), labels))
	p.block("WAITED", bold, labels, p.flow(r.WaitLine(), labels))
	p.blank()
	p.services(r)
	p.blank()
	for _, f := range r.Findings {
		p.block("WHY", bold, labels, p.figures(f))
		break
	}
	for _, n := range r.NotSeen {
		p.block("NOT SEEN", bold, labels, p.wrap(fmt.Sprintf("%s: %s; %s", n.What, n.Why, n.Do), labels))
	}
	_, err := io.WriteString(w, strings.TrimRight(p.out.String(), "\n")+"\n")
	return err
}

func (p *page) hostHeader(r *host.Report) {
	left := p.clean("host " + r.Host)
	if r.CPUs > 0 {
		left += p.clean(" · " + units.Plural(r.CPUs, "CPU"))
	}
	left += p.clean(" · " + units.Time(float64(r.Window.End.Sub(r.Window.Start))))
	right := p.clean(r.Window.Start.Format("2006-01-02 15:04:05") + "–" + r.Window.End.Format(time.TimeOnly) + " UTC")
	if width(left)+2+width(right) > p.Width {
		p.line(p.paint(bold, left))
		left = ""
	}
	p.line(p.paint(bold, left) + strings.Repeat(" ", max(0, p.Width-width(left)-width(right))) + right)
}

// finding says what is wrong, who takes and who pays.
func (p *page) finding(f *host.Finding) {
	id := f.Cause
	if id == "" {
		id = "host"
	}
	p.line(p.paint(alarm, p.clean(id)))
	const indent = 2
	lines := p.wrap(f.Title, indent)
	if len(f.Takes) > 0 {
		lines = append(lines, p.wrap("Uses most: "+strings.Join(f.Takes, ", "), indent)...)
	}
	if len(f.Pays) > 0 {
		lines = append(lines, p.wrap("Slowed by it: "+strings.Join(f.Pays, ", "), indent)...)
	}
	p.block("", "", indent, lines)
	for _, command := range f.Next {
		p.line("  " + p.paint(advice, p.clean(command)))
	}
}

// figures is the figures of a finding.
func (p *page) figures(f host.Finding) (lines []string) {
	for _, e := range f.Evidence {
		text := p.wrap(e.Text, labels+18)
		for i, l := range text {
			value := ""
			if i == 0 {
				value = p.clean(units.Of(e.Value, e.Unit))
			}
			lines = append(lines, padLeft(value, 16)+"  "+l)
		}
	}
	return lines
}

// mostServices bounds the table.
const mostServices = 12

// services is the table: who uses the CPUs, how much of that is the kernel's, who waits, what for.
func (p *page) services(r *host.Report) {
	const does = "most CPU time in"
	name, last := len("SERVICE"), len(does)
	var shown []*host.Service
	for i := range r.Services {
		s := &r.Services[i]
		if len(shown) < mostServices && s.CPU != nil && *s.CPU >= .001 {
			shown = append(shown, s)
			name = max(name, width(p.clean(s.Title())))
			last = max(last, width(p.clean(doing(s))))
		}
	}
	const figures = "   CPUs  kernel   waits  "
	name = min(name, max(20, p.Width-len(figures)-last))
	head := pad("SERVICE", name) + figures + does
	p.line(p.paint(dim, head))
	for _, s := range shown {
		title := p.clean(s.Title())
		if width(title) > name {
			title = string([]rune(title)[:name-1]) + p.clean("…")
			if p.ASCII {
				title = string([]rune(p.clean(s.Title()))[:name])
			}
		}
		p.line(pad(title, name) + "  " + padLeft(fixed(s.CPU, 2), 5) + "  " + padLeft(share(s.System), 6) + "  " + padLeft(share(s.Waits), 6) + "  " + p.clean(doing(s)))
	}
	if n := len(r.Services) - len(shown); n > 0 {
		p.line(p.clean(fmt.Sprintf("%s more used almost no CPU time", units.Plural(n, "service"))))
	}
}

// doing is what a service's CPU time goes to, in a few words.
func doing(s *host.Service) string {
	switch s.Kind {
	case "kernel":
		return "kernel threads' own work"
	case "unlisted":
		return "short-lived, or not visible here"
	}
	if s.Class == workload.Idle || s.ClassShare == nil {
		return "too little CPU time"
	}
	return fmt.Sprintf("%s %s", s.Class.Title(), share(s.ClassShare))
}

func fixed(v *float64, decimals int) string {
	if v == nil {
		return units.Unknown
	}
	return units.Fixed(*v, decimals)
}

func share(v *float64) string {
	if v == nil {
		return units.Unknown
	}
	return units.Percent(*v)
}
