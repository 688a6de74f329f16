package text

import (
	"io"
	"strings"

	"github.com/unstall/unstall/internal/operate/experiment"
	"github.com/unstall/unstall/internal/present/sentence"
)

// Try renders what a change did while it was tried: that first, then the metrics, then what
// was changed, and that it was put back.
func (o Options) Try(w io.Writer, r *experiment.Result) error {
	if o.Width == 0 {
		o.Width = 80
	}
	p := &page{Options: o}
	for _, l := range p.wrap(sentence.Tried(r), 0) {
		p.line(p.paint(bold, l))
	}
	p.blank()
	p.metrics(r.Comparison)
	p.blank()
	p.block("CHANGED", bold, labels, p.wrap(sentence.TriedHow(r), labels))
	restored := calm
	if r.Restored == nil || r.Restored.Kept {
		restored = alarm
	}
	p.block("RESTORED", restored, labels, p.wrap(sentence.PutBack(r), labels))
	p.block("LOAD", bold, labels, p.flow(sentence.Side(&r.Comparison.Loads.After), labels))
	var lines []string
	for _, d := range sentence.Doubts(r.Comparison) {
		lines = append(lines, p.wrap(d.String(), labels)...)
	}
	p.block("UNCLEAR", bold, labels, lines)
	lines = nil
	for _, warning := range r.Comparison.Warnings {
		lines = append(lines, p.wrap(warning, labels)...)
	}
	p.block("WARNINGS", bold, labels, lines)
	_, err := io.WriteString(w, strings.TrimRight(p.out.String(), "\n")+"\n")
	return err
}
