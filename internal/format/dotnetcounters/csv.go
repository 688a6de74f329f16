package dotnetcounters

import (
	"context"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/format"
)

// parseCSV reads rows. Nothing in them is quoted and names may contain commas, so it searches for the
// type from the right.
func (p *parser) parseCSV(ctx context.Context, a *format.Artifact) error {
	return a.Lines(func(l format.Line) bool {
		p.rows = l.Number
		if l.Number%8192 == 0 && ctx.Err() != nil {
			return false
		}
		text := stripQuoteMarks(string(l.Text))
		if text == "" || strings.EqualFold(text, csvHeader) {
			return true
		}
		if strings.EqualFold(text, semicolonHeader) {
			p.semicolons = true
			return true
		}
		fields, n, ok := splitRow(text, p.fieldSeparator(text))
		if !ok || l.Long {
			p.countUnparsed()
			return true
		}
		v, ok := parseFigure(strings.Replace(strings.Join(fields[n+1:], "."), ",", ".", 1))
		if !ok {
			p.countUnparsed()
			return true
		}
		display, tags := strings.Join(fields[2:n], ","), ""
		if i := strings.LastIndexByte(display, '['); i > 0 && strings.HasSuffix(display, "]") {
			display, tags = display[:i], strings.ReplaceAll(display[i+1:len(display)-1], ";", ",")
		}
		if fields[1] == strings.TrimSuffix(runtime, "/") {
			display = perSeconds(display)
		}
		p.addRow(fields[0], fields[1], display, tags, fields[n] == "Rate", v)
		return true
	})
}

// semicolonHeader is the header of files that a spreadsheet with decimal commas saved again.
var semicolonHeader = strings.ReplaceAll(csvHeader, ",", ";")

// fieldSeparator returns the separator of a row's fields.
func (p *parser) fieldSeparator(text string) string {
	if p.semicolons || strings.Count(text, ";") >= 4 && strings.Count(text, ",") < 4 {
		return ";"
	}
	return ","
}

// splitRow splits a row; n is the index of the field with the type.
func splitRow(text, separator string) (fields []string, n int, ok bool) {
	fields = strings.Split(text, separator)
	n = len(fields) - 1
	for n > 3 && fields[n] != "Metric" && fields[n] != "Rate" {
		n--
	}
	return fields, n, n >= 3 && n < len(fields)-1 && len(fields)-n <= 3 && (fields[n] == "Metric" || fields[n] == "Rate")
}

// stripQuoteMarks removes quotation marks of mails and the byte order mark of UTF-8 from a line.
func stripQuoteMarks(line string) string {
	return strings.TrimSpace(strings.TrimLeft(strings.TrimPrefix(line, "\ufeff"), "> \t"))
}

// isRow recognises a row of a file without its header.
func isRow(line string) bool {
	fields, n, ok := splitRow(line, (&parser{}).fieldSeparator(line))
	if !ok {
		return false
	}
	if _, ok = parseStamp(fields[0]); !ok {
		return false
	}
	_, ok = parseFigure(strings.Replace(strings.Join(fields[n+1:], "."), ",", ".", 1))
	return ok
}

// parseFigure reads a finite number; NaN is not understood.
func parseFigure(s string) (float64, bool) {
	v, err := strconv.ParseFloat(s, 64)
	return v, err == nil && v-v == 0
}
