package text

import "strings"

// columns aligns rows, the first of which heads them: names in the first column, figures in the others. With room, lines have
// at most so many characters: names are cut, or, where hardly anything would be left of them, have lines of their own.
func (p *page) columns(rows [][]string, indent, room int) {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i >= len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], width(p.clean(cell)))
		}
	}
	margin, apart := strings.Repeat(" ", indent), false
	if room > 0 {
		room -= indent
		left := room
		for _, w := range widths[1:] {
			left -= w + 2
		}
		apart = widths[0] > left && left < leastName
		widths[0] = max(0, min(widths[0], left))
	}
	for n, row := range rows {
		name := p.clean(row[0])
		if apart && name != "" {
			p.line(margin + p.cut(name, room))
			name = ""
		}
		line := margin + pad(p.cut(name, widths[0]), widths[0])
		for i, cell := range row[1:] {
			line += "  " + padLeft(p.clean(cell), widths[i+1])
		}
		switch line = strings.TrimRight(line, " "); {
		case n > 0:
			p.line(line)
		case line != "":
			p.line(p.paint(dim, line))
		}
	}
}

// leastName is how many columns of a line a name needs to be told from others.
const leastName = 20

// cut is a text that has room for so many characters.
func (p *page) cut(s string, most int) string {
	if r := []rune(s); len(r) > most {
		dots := p.clean("…")
		return string(r[:max(0, most-width(dots))]) + dots
	}
	return s
}
