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
	for _, l := range p.wrapText(sentence.Tried(r), 0) {
		p.writeLine(p.applyStyle(bold, l))
	}
	p.writeBlank()
	p.writeMetrics(r.Comparison)
	p.writeBlank()
	p.writeBlock("CHANGED", bold, labels, p.wrapText(sentence.TriedHow(r), labels))
	restored := calm
	if r.Restored == nil || r.Restored.Kept {
		restored = alarm
	}
	p.writeBlock("RESTORED", restored, labels, p.wrapText(sentence.PutBack(r), labels))
	p.writeBlock("LOAD", bold, labels, p.flowItems(sentence.Side(&r.Comparison.Loads.After), labels))
	var lines []string
	for _, d := range sentence.Doubts(r.Comparison) {
		lines = append(lines, p.wrapText(d.String(), labels)...)
	}
	p.writeBlock("UNCLEAR", bold, labels, lines)
	lines = nil
	for _, warning := range r.Comparison.Warnings {
		lines = append(lines, p.wrapText(warning, labels)...)
	}
	p.writeBlock("WARNINGS", bold, labels, lines)
	_, err := io.WriteString(w, strings.TrimRight(p.out.String(), "\n")+"\n")
	return err
}
