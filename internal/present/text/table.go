package text

import "strings"

// writeColumns writes rows in columns, the first row as the header: names in the first column,
// figures in the others. With room, lines have at most so many characters: names are cut or, where
// hardly anything would be left of them, have lines of their own.
func (p *page) writeColumns(rows [][]string, indent, room int) {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i >= len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], textWidth(p.cleanText(cell)))
		}
	}
	margin, apart := strings.Repeat(" ", indent), false
	last := len(widths) - 1
	if room > 0 {
		room -= indent
		left := room
		for _, w := range widths[1:] {
			left -= w + 2
		}
		apart = widths[0] > left && left < leastName
		if left < 0 && last > 0 {
			widths[last] = min(widths[last], max(leastName, widths[last]+left))
		}
		widths[0] = max(0, min(widths[0], left))
	}
	for n, row := range rows {
		name := p.cleanText(row[0])
		if apart && name != "" {
			p.writeLine(margin + p.cutText(name, room))
			name = ""
		}
		line := margin + padRight(p.cutText(name, widths[0]), widths[0])
		for i, cell := range row[1:] {
			line += "  " + padLeft(p.cutBeforeFigure(p.cleanText(cell), widths[i+1]), widths[i+1])
		}
		switch line = strings.TrimRight(line, " "); {
		case n > 0:
			p.writeLine(line)
		case line != "":
			p.writeLine(p.applyStyle(dim, line))
		}
	}
}

// leastName is how many columns of a line a name needs to be told from others.
const leastName = 20

// dispensable are words without which the title of a mechanism still says which one it is.
var dispensable = strings.NewReplacer(" (stop-the-world)", "", " (wake-up delay)", "", " (no thread held)", "", " (delay or timeout)", "", "runnable, ", "", " began work", "")

// cutBeforeFigure cuts a text to a number of characters, but keeps the percentage that it ends with. A mechanism first loses the
// words that it can do without.
func (p *page) cutBeforeFigure(s string, most int) string {
	if textWidth(s) > most {
		s = dispensable.Replace(s)
	}
	if textWidth(s) <= most {
		return s
	}
	words := strings.Split(s, " ")
	n := len(words) - 2
	if n < 1 || words[len(words)-1] != "%" {
		return p.cutText(s, most)
	}
	figure := " " + strings.Join(words[n:], " ")
	return strings.TrimRight(p.cutText(strings.Join(words[:n], " "), most-textWidth(figure)), " ") + figure
}

// cutText cuts a text to a number of characters.
func (p *page) cutText(s string, most int) string {
	if r := []rune(s); len(r) > most {
		dots := p.cleanText("…")
		return string(r[:max(0, most-textWidth(dots))]) + dots
	}
	return s
}
