package text

import (
	"fmt"
	"io"
	"strings"

	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/operate/calibrate"
)

// Calibrate renders a service beside loads of a known kind.
func (o Options) Calibrate(w io.Writer, r *calibrate.Result) error {
	if o.Width == 0 {
		o.Width = 80
	}
	p := &page{Options: o}
	for _, l := range p.wrap(r.Sentence(), 0) {
		p.line(p.paint(bold, l))
	}
	p.blank()
	p.line(p.paint(dim, p.clean(strings.Repeat(" ", 13)+"CPUs kernel - thousands per second of its CPU time - unlike  class")))
	p.line(p.paint(dim, p.clean(strings.Repeat(" ", 25)+"faults  waits  taken packets  pages")))
	rows := r.Loads
	if r.Target != nil {
		rows = append([]calibrate.Row{*r.Target}, rows...)
	}
	for i := range rows {
		x := &rows[i]
		pages := x.Dirtied
		if pages != nil && x.Read != nil {
			sum := *x.Dirtied + *x.Read
			pages = &sum
		}
		name := p.clean(x.Name)
		if width(name) > 11 {
			name = string([]rune(name)[:11])
		}
		line := pad(name, 12) + padLeft(fixed(x.CPU, 2), 5) + padLeft(share(x.System), 7) + " " +
			padLeft(thousands(x.MinorFaults), 6) + padLeft(thousands(x.Voluntary), 7) + padLeft(thousands(x.Involuntary), 7) + padLeft(thousands(x.Segments), 8) + padLeft(thousands(pages), 7)
		switch {
		case r.Target != nil && i > 0:
			line += padLeft(share(x.Distance), 7)
		default:
			line += padLeft("", 7)
		}
		p.line(line + "  " + p.clean(string(x.Class)))
	}
	p.blank()
	for _, text := range []string{
		"faults: minor page faults; waits: voluntary context switches; taken: involuntary context switches; packets: TCP segments of its sockets; pages: 4 KiB pages written to files or read from disks.",
		"unlike: the share of CPU time spent on other work than in the service.",
	} {
		if r.Target == nil && strings.HasPrefix(text, "unlike") {
			continue
		}
		for _, l := range p.wrap(text, 0) {
			p.line(p.paint(dim, l))
		}
	}
	for _, n := range r.NotSeen {
		p.block("NOT SEEN", bold, labels, p.wrap(fmt.Sprintf("%s: %s; %s", n.What, n.Why, n.Do), labels))
	}
	_, err := io.WriteString(w, strings.TrimRight(p.out.String(), "\n")+"\n")
	return err
}

func thousands(v *float64) string {
	switch {
	case v == nil:
		return units.Unknown
	case *v < 50:
		return "0"
	case *v >= 99950:
		return units.Fixed(*v/1000, 0)
	}
	return units.Fixed(*v/1000, 1)
}
