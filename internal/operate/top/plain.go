package top

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/base/units"
)

// Plain writes a table each interval, for files and pipes, until its context or its ticks end. The error says that
// the process has ended, or that out cannot be written.
func Plain(ctx context.Context, out io.Writer, w *Watch, ticks <-chan time.Time) error {
	if err := w.applyBatch(w.collectReadings(ctx)); err != nil { // the first values, from which rates begin
		return err
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case _, ok := <-ticks:
			if !ok {
				return nil
			}
		}
		x := w.collectReadings(ctx)
		if ctx.Err() == nil { // if it has ended, the sources failed because of it
			if err := w.applyBatch(x); err != nil {
				return err
			}
			if err := w.writeTable(out); err != nil {
				return err
			}
		}
	}
}

const plainTitle = 40

func (w *Watch) writeTable(out io.Writer) error {
	b := bufio.NewWriter(out)
	fmt.Fprintf(b, "%s  %s\n", w.At().UTC().Format(time.RFC3339), w.Subject.Text)
	for _, note := range w.Missing() {
		fmt.Fprintf(b, "not seen: %s\n", note)
	}
	for _, g := range w.Groups() {
		fmt.Fprintf(b, "%-*s%13s%13s%13s\n", plainTitle+2, g.Title, "now", "min", "max")
		for _, l := range g.Lines {
			line := fmt.Sprintf("%s %s%13s%13s%13s", l.ruleMark(), padText(l.Title, plainTitle), l.formatFigure(l.Now), l.formatFigure(l.Min), l.formatFigure(l.Max))
			if l.Alert != "" {
				line += "  " + l.Alert
			}
			fmt.Fprintln(b, strings.TrimRight(line, " "))
		}
	}
	fmt.Fprintln(b)
	return b.Flush()
}

// ruleMark returns "!" if a counter's rule holds, "*" if it has a rule.
func (l *Line) ruleMark() string {
	switch {
	case l.Alert != "":
		return "!"
	case l.Rule != "":
		return "*"
	}
	return " "
}

// formatFigure returns a value with its unit; "-" if it is not known.
func (l *Line) formatFigure(v float64) string {
	if math.IsNaN(v) {
		return "-"
	}
	return units.Of(v, l.Unit)
}

// padText cuts or pads a text to a number of characters.
func padText(s string, n int) string {
	r := []rune(s)
	if len(r) > n {
		return string(r[:max(n-1, 0)]) + "…"
	}
	return s + strings.Repeat(" ", n-len(r))
}
