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

// Plain writes a table each interval, for files and pipes, until its context or
// its ticks end. The error says that the process is gone, or that nobody reads on.
func Plain(ctx context.Context, out io.Writer, w *Watch, ticks <-chan time.Time) error {
	if err := w.apply(w.collect(ctx)); err != nil { // what rates begin with
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
		x := w.collect(ctx)
		if ctx.Err() == nil { // else that they failed is our doing
			if err := w.apply(x); err != nil {
				return err
			}
			if err := w.table(out); err != nil {
				return err
			}
		}
	}
}

const plainTitle = 40

func (w *Watch) table(out io.Writer) error {
	b := bufio.NewWriter(out)
	fmt.Fprintf(b, "%s  %s\n", w.At().UTC().Format(time.RFC3339), w.Subject.Text)
	for _, note := range w.Missing() {
		fmt.Fprintf(b, "not seen: %s\n", note)
	}
	for _, g := range w.Groups() {
		fmt.Fprintf(b, "%-*s%13s%13s%13s\n", plainTitle+2, g.Title, "now", "min", "max")
		for _, l := range g.Lines {
			line := fmt.Sprintf("%s %s%13s%13s%13s", l.mark(), pad(l.Title, plainTitle), l.figure(l.Now), l.figure(l.Min), l.figure(l.Max))
			if l.Alert != "" {
				line += "  " + l.Alert
			}
			fmt.Fprintln(b, strings.TrimRight(line, " "))
		}
	}
	fmt.Fprintln(b)
	return b.Flush()
}

// mark is "!" where a rule holds, "*" where there is one.
func (l *Line) mark() string {
	switch {
	case l.Alert != "":
		return "!"
	case l.Rule != "":
		return "*"
	}
	return " "
}

// figure is a value with its unit; "-" stands for what is not known.
func (l *Line) figure(v float64) string {
	if math.IsNaN(v) {
		return "-"
	}
	return units.Of(v, l.Unit)
}

// pad cuts or fills a text to a number of characters.
func pad(s string, n int) string {
	r := []rune(s)
	if len(r) > n {
		return string(r[:max(n-1, 0)]) + "…"
	}
	return s + strings.Repeat(" ", n-len(r))
}
