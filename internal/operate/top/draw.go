package top

import (
	"fmt"
	"strings"
	"time"
)

// Look says how a board is drawn.
type Look struct {
	Width, Height int // of the window, in characters
	Color, ASCII  bool
	Paused        bool
	Scroll        int // lines above the window
}

// shownOver is the time span of a counter's bars, in intervals.
const shownOver = 120

// Styles of ECMA-48 (SGR); all of them end with "0".
const (
	bold  = "1"
	faint = "2"
	alert = "1;31"
)

func (o Look) applyStyle(code, text string) string {
	if !o.Color || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// widths are the widths of the columns, in characters; 0: the column is left out.
type widths struct{ title, number, spark int }

// fitColumns divides the width: first figures, then titles, then bars.
func (o Look) fitColumns() widths {
	w := widths{number: 11}
	rest := o.Width - 2 - 3*w.number
	if rest < 24 { // too narrow for min and max
		return widths{title: max(o.Width-2-11, 8), number: 0}
	}
	w.title = min(rest, 42)
	if rest > 40 {
		w.title = min(42, max(24, rest*6/10))
		w.spark = min(rest-w.title-2, shownOver)
	}
	return w
}

// Draw draws a board as lines that fit into the window.
func Draw(w *Watch, o Look) string {
	head := o.drawHead(w)
	foot := o.drawFoot(w)
	body := o.drawBody(w, o.Height-len(head)-len(foot))
	room := max(o.Height-len(head)-len(foot), 1)
	from := max(0, min(o.Scroll, len(body)-room))
	body = body[from:min(len(body), from+room)]
	for len(body) < room {
		body = append(body, "")
	}
	all := append(append(head, body...), foot...)
	return strings.Join(all[:min(len(all), max(o.Height, 1))], "\n")
}

// MostScroll returns how many lines a board can be scrolled down in a window.
func MostScroll(w *Watch, o Look) int {
	room := max(o.Height-len(o.drawHead(w))-len(o.drawFoot(w)), 1)
	return max(0, len(o.drawBody(w, room))-room)
}

func (o Look) drawHead(w *Watch) []string {
	at := w.At().UTC().Format("15:04:05 UTC")
	if w.At().IsZero() {
		at = ""
	}
	if o.Paused {
		at = "paused, " + at
	}
	room := max(o.Width-len(at)-2, 0)
	lines := []string{o.applyStyle(bold, padText(w.Subject.Text, room)) + "  " + at}
	if len(at) > o.Width {
		lines[0] = padText(w.Subject.Text, o.Width)
	}
	for _, note := range w.Missing() {
		lines = append(lines, o.applyStyle(faint, strings.TrimRight(padText("not seen: "+note, o.Width), " ")))
	}
	return append(lines, "")
}

func (o Look) drawFoot(w *Watch) []string {
	keys := "p pause   r resume   q quit   ↑ ↓ scroll"
	if o.ASCII {
		keys = "p pause   r resume   q quit   up/down scroll"
	}
	over := (shownOver * w.Every).Round(time.Second)
	text := fmt.Sprintf("%s   every %s, bars: %s   ! rule applies  * has a rule", keys, w.Every, strings.TrimSuffix(over.String(), "0s"))
	return []string{"", o.applyStyle(faint, strings.TrimRight(padText(text, o.Width), " "))}
}

// drawBody returns all lines of the counters. It writes the rules below their counters if there is room.
func (o Look) drawBody(w *Watch, room int) []string {
	groups := w.Groups()
	lines := 0
	for _, g := range groups {
		lines += 2 + len(g.Lines)
		for _, l := range g.Lines {
			if l.Rule != "" {
				lines++
			}
		}
	}
	written := lines-1 <= room
	var out []string
	c := o.fitColumns()
	for i, g := range groups {
		if i > 0 {
			out = append(out, "")
		}
		heading := padText(g.Title, c.title+2) + fmt.Sprintf("%*s", 11, "now")
		if c.number > 0 {
			heading += fmt.Sprintf("%*s%*s", c.number, "min", c.number, "max")
		}
		out = append(out, o.applyStyle(bold, heading))
		for _, l := range g.Lines {
			out = append(out, o.drawLine(w, c, &l))
			switch below := "  "; {
			case l.Alert != "":
				out = append(out, o.applyStyle(alert, strings.TrimRight(padText(below+o.alertPointer()+l.Alert, o.Width), " ")))
			case l.Rule != "" && written:
				out = append(out, o.applyStyle(faint, strings.TrimRight(padText(below+"  "+l.Rule, o.Width), " ")))
			}
		}
	}
	return out
}

func (o Look) alertPointer() string {
	if o.ASCII {
		return "> "
	}
	return "→ "
}

func (o Look) drawLine(w *Watch, c widths, l *Line) string {
	mark, title := l.ruleMark(), padText(l.Title, c.title)
	if l.Alert != "" {
		mark, title = o.applyStyle(alert, mark), o.applyStyle(bold, title)
	}
	text := mark + " " + title + fmt.Sprintf("%11s", l.formatFigure(l.Now))
	if c.number > 0 {
		text += o.applyStyle(faint, fmt.Sprintf("%*s%*s", c.number, l.formatFigure(l.Min), c.number, l.formatFigure(l.Max)))
	}
	if c.spark > 0 {
		steps := bars
		if o.ASCII {
			steps = ascii
		}
		text += "  " + drawSparkline(fillGaps(l.history.maxColumns(c.spark, shownOver*w.Every, w.At())), steps)
	}
	return strings.TrimRight(text, " ")
}
