package format

import "bytes"

// What a program printed often stands in a comment of the source code that it is about: behind "//", behind the stars of a block comment, or behind the
// "#", "--" and ";" of scripts, statements and settings.

// commentMarks are what a line of a comment begins with, the longest first.
var commentMarks = [][]byte{[]byte("///"), []byte("//!"), []byte("//"), []byte("--"), []byte("*"), []byte("#"), []byte(";")}

// claimComments claims what stands in the comments among lines; false if there are none, or no format knows them.
func (p *paste) claimComments(formats []Format, lines []Line) (some bool) {
	for _, run := range commentRuns(lines) {
		bare := trimBlank(stripCommentMarks(run))
		if p.claimAny(formats, bare) {
			some = true
			continue
		}
		for _, b := range p.splitBlocks(bare) {
			if len(p.sections) < mostSections && p.claimAny(formats, b) {
				some = true
			}
		}
	}
	p.changed = p.changed || some
	return some
}

// commentRuns returns the stretches of lines that are comments with one mark.
func commentRuns(lines []Line) (runs [][]Line) {
	from, mark := 0, []byte(nil)
	end := func(until int) {
		if len(mark) > 0 && until-from >= leastMarked {
			runs = append(runs, lines[from:until])
		}
	}
	for i := range lines {
		if m := commentMark(lines[i].Text); !bytes.Equal(m, mark) {
			end(i)
			from, mark = i, m
		}
	}
	end(len(lines))
	return runs
}

// commentMark returns the mark that a line begins with, nil if it has none. The ends of a block comment are no lines of it.
func commentMark(l []byte) []byte {
	l = bytes.TrimLeft(l, " \t")
	if bytes.HasPrefix(l, []byte("*/")) {
		return nil
	}
	for _, m := range commentMarks {
		if bytes.HasPrefix(l, m) {
			return m
		}
	}
	return nil
}

// stripCommentMarks takes the marks off lines of a comment, with the blank behind them.
func stripCommentMarks(lines []Line) (out []Line) {
	for _, l := range lines {
		text := bytes.TrimLeft(l.Text, " \t")
		text = text[len(commentMark(text)):]
		l.Text = bytes.TrimPrefix(text, []byte(" "))
		out = append(out, l)
	}
	return out
}
