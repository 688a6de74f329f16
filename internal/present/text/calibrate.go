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
	for _, l := range p.wrapText(r.Sentence(), 0) {
		p.writeLine(p.applyStyle(bold, l))
	}
	p.writeBlank()
	p.writeLine(p.applyStyle(dim, p.cleanText(strings.Repeat(" ", 13)+"CPUs kernel - thousands per second of its CPU time - unlike  class")))
	p.writeLine(p.applyStyle(dim, p.cleanText(strings.Repeat(" ", 25)+"faults  waits  taken packets  pages")))
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
		name := p.cleanText(x.Name)
		if textWidth(name) > 11 {
			name = string([]rune(name)[:11])
		}
		line := padRight(name, 12) + padLeft(formatFixed(x.CPU, 2), 5) + padLeft(formatShare(x.System), 7) + " " +
			padLeft(formatThousands(x.MinorFaults), 6) + padLeft(formatThousands(x.Voluntary), 7) + padLeft(formatThousands(x.Involuntary), 7) + padLeft(formatThousands(x.Segments), 8) + padLeft(formatThousands(pages), 7)
		switch {
		case r.Target != nil && i > 0:
			line += padLeft(formatShare(x.Distance), 7)
		default:
			line += padLeft("", 7)
		}
		p.writeLine(line + "  " + p.cleanText(string(x.Class)))
	}
	p.writeBlank()
	for _, text := range []string{
		"faults: minor page faults; waits: voluntary context switches; taken: involuntary context switches; packets: TCP segments of its sockets; pages: 4 KiB pages written to files or read from disks.",
		"unlike: the share of CPU time spent on other work than in the service.",
	} {
		if r.Target == nil && strings.HasPrefix(text, "unlike") {
			continue
		}
		for _, l := range p.wrapText(text, 0) {
			p.writeLine(p.applyStyle(dim, l))
		}
	}
	for _, n := range r.NotSeen {
		p.writeBlock("NOT SEEN", bold, labels, p.wrapText(fmt.Sprintf("%s: %s; %s", n.What, n.Why, n.Do), labels))
	}
	_, err := io.WriteString(w, strings.TrimRight(p.out.String(), "\n")+"\n")
	return err
}

func formatThousands(v *float64) string {
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
