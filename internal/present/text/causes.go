package text

import (
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/present/sentence"
)

// writeEvidence writes the evidence of a verdict: the figures in a column, what they are, and
// where they are from.
func (p *page) writeEvidence(v *diagnose.Verdict, label string, first bool) {
	begin := textWidth(label) + 2
	most := p.at.beside
	if first {
		most = p.at.evidence
	}
	shown := v.Evidence[:p.shownCount(len(v.Evidence), most)]
	if len(shown) == 0 {
		return
	}
	one := p.at.short && !first
	common := sentence.Origin(shown)
	column := 0
	for i := range shown {
		column = max(column, textWidth(p.cleanText(sentence.Figure(&shown[i]))))
	}
	indent := begin
	if column > 0 {
		indent += column + 2
	}
	var lines []string
	for i, e := range shown {
		text := e.Text
		if e.Origin != "" && common == "" {
			text = strings.TrimSpace(text + " " + p.shortenOrigin(e.Origin))
		}
		if common != "" && i == len(shown)-1 {
			if from := p.shortenOrigin(common); from != "" {
				text += " [all from " + strings.TrimPrefix(from, "[")
			}
		}
		wrapped := p.wrapOrShorten(text, indent, one)
		if p.at.shorter && first {
			wrapped = p.wrapWithin(text, indent, 2)
		}
		for n, l := range wrapped {
			lead := ""
			if n == 0 {
				lead = p.cleanText(sentence.Figure(&e))
			}
			if column > 0 {
				l = padLeft(lead, column) + "  " + l
			}
			lines = append(lines, l)
		}
	}
	if first || !p.at.short {
		lines = append(lines, p.moreLine(len(v.Evidence)-len(shown))...)
	}
	p.writeBlock(label, bold, begin, lines)
}

// writeFixes writes the first fix, then the alternatives, each with what it would do.
func (p *page) writeFixes(v *diagnose.Verdict, label string, first bool) {
	indent := textWidth(label) + 2
	most := p.at.others
	if first {
		most = p.at.fixes
	}
	n := p.shownCount(len(v.Fix), most)
	if !first && p.at.short {
		n = min(len(v.Fix), most)
	}
	shown := chooseFixes(v.Fix, n)
	var lines []string
	for k, i := range shown {
		f := v.Fix[i]
		f.Text = strings.TrimPrefix(strings.TrimPrefix(f.Text, "or, "), "or ") // the list has its own
		if k > 0 && p.at.short {
			if text, here := strings.CutSuffix(f.Text, " here"); here && f.Code != "" { // the code has no line of its own
				f.Text = text + " in " + strings.TrimSpace(f.Code)
			}
			lines = append(lines, p.wrapOrShorten("or "+strings.Trim(f.Setting+": "+f.Text, ": "), indent, true)...)
			continue
		}
		if k > 0 {
			lines = append(lines, "or")
		}
		if f.Setting != "" {
			lines = append(lines, p.applyStyle(advice, p.cleanText(f.Setting)))
		}
		lines = append(lines, p.wrapOrShorten(f.Text, indent, p.at.short && !first)...)
		for l := range strings.Lines(f.Code) {
			// Code keeps its line breaks and its indentation.
			text := strings.TrimRight(l, "\r\n")
			inner := strings.TrimLeft(text, " \t")
			tabs := strings.ReplaceAll(text[:len(text)-len(inner)], "\t", "    ")
			inner = p.cleanText(inner)
			if strings.Count(f.Code, "\n") == 0 && textWidth(inner) > p.Width-indent-2 { // the name of a function, and what it calls
				for _, part := range p.wrapText(inner, indent+2) {
					lines = append(lines, p.applyStyle(advice, "  "+part))
				}
				continue
			}
			lines = append(lines, p.applyStyle(advice, "  "+tabs+inner))
		}
		if first || !p.at.tight {
			lines = append(lines, p.flowItems(sentence.Predictions(v, i), indent)...)
		}
	}
	if len(v.Fix) == 0 {
		lines = p.flowItems(sentence.Predictions(v, 0), indent)
	}
	if first || !p.at.short {
		lines = append(lines, p.moreLine(len(v.Fix)-len(shown))...)
	}
	p.writeBlock(label, bold, indent, lines)
}

// chooseFixes returns the places of n fixes in their order: if not all are shown, those that say where in the code, or which
// setting, come before those that do not.
func chooseFixes(all []diagnose.Fix, n int) (shown []int) {
	for _, placed := range []bool{true, false} {
		for i, f := range all {
			if (f.Code != "" || f.Setting != "") == placed && len(shown) < n {
				shown = append(shown, i)
			}
		}
	}
	slices.Sort(shown)
	return shown
}

// ruledOut writes the causes that were ruled out, those with a figure first.
func (p *page) ruledOut(verdicts []diagnose.Verdict) {
	var with, without []diagnose.Verdict
	for _, v := range verdicts {
		if v.Summary == "" {
			without = append(without, v)
		} else {
			with = append(with, v)
		}
	}
	all := append(with, without...)
	column := 0
	for _, v := range all {
		column = max(column, textWidth(v.Cause)+2)
	}
	column = min(column, 30)
	left := p.at.ruledOut
	var shown []diagnose.Verdict
	tell := func(v diagnose.Verdict) []string {
		return p.wrapText(p.shortenSources(v.Summary), labels+max(column, textWidth(v.Cause)+1))
	}
	fits := slices.ContainsFunc(all, func(v diagnose.Verdict) bool { return len(tell(v)) <= left })
	for i, v := range all {
		told := tell(v)
		room := left
		if len(all)-len(shown) == 1 && i == len(shown) { // to leave out only one would save nothing
			room = max(room, 1)
		}
		used := 1
		if p.at.brief { // each cause is told whole, so a long one is left out for one that fits
			used = max(1, len(told))
		}
		if used > room && (fits || len(shown) > 0 || room < 1) {
			continue
		}
		left -= used
		shown = append(shown, v)
	}
	column = 0 // as wide as the longest that is shown
	for _, v := range shown {
		column = max(column, textWidth(v.Cause)+2)
	}
	column = min(column, 30)
	var lines []string
	for _, v := range shown {
		told := tell(v)
		if len(told) == 0 {
			told = []string{""}
		}
		id := p.cleanText(v.Cause)
		for _, l := range told {
			lines = append(lines, strings.TrimRight(padRight(id, column-1)+" "+l, " "))
			id = ""
		}
	}
	p.writeBlock("RULED OUT", bold, labels, append(lines, p.moreLine(len(verdicts)-len(shown))...))
}

// notSeen writes what could not be judged or recorded, and then what would change that, each
// command once.
func (p *page) notSeen(verdicts []diagnose.Verdict, unseen []diagnose.NotSeen) {
	const indent = labels
	var says []string
	var do []diagnose.Need
	want := func(n diagnose.Need) {
		if !slices.ContainsFunc(do, func(o diagnose.Need) bool { return o.Command == n.Command }) {
			do = append(do, n)
		}
	}
	for _, u := range unseen {
		says = append(says, sentence.Unseen(u))
		if u.Do != "" {
			want(diagnose.Need{Command: u.Do})
		}
	}
	for _, g := range sentence.NotSeen(verdicts) {
		text := strings.Join(g.Causes, ", ")
		switch {
		case g.Summary != "" && p.at.brief && len(g.Causes) > 2: // the reason comes first, as the line is cut
			text = g.Summary + ": " + text
		case g.Summary != "":
			text += ": " + g.Summary
		}
		for _, n := range g.Needs {
			if n.Command == "" {
				text += "; it needs: " + n.What
				continue
			}
			want(n)
		}
		says = append(says, text)
	}
	shown := p.shownCount(len(says), p.at.unseen)
	var lines []string
	for _, s := range says[:shown] {
		lines = append(lines, p.wrapBriefly(s, indent)...)
	}
	left := len(says) - shown
	for _, n := range do[:min(len(do), p.at.commands)] {
		if n.What != "" {
			lines = append(lines, p.wrapBriefly(n.What+":", indent)...)
		}
		if !sentence.IsCommand(n.Command) {
			lines = append(lines, p.wrapText(n.Command, indent)...)
			continue
		}
		lines = append(lines, "  "+p.applyStyle(advice, p.cleanText(n.Command))) // on one line, so that it can be copied
	}
	lines = append(lines, p.moreLine(left)...)
	p.writeBlock("NOT SEEN", bold, indent, lines)
}

func (p *page) writeWarnings(warnings []diagnose.Warning) {
	const indent = labels
	var lines []string
	shown := p.shownCount(len(warnings), p.at.warnings)
	for _, w := range warnings[:shown] {
		lines = append(lines, p.wrapBriefly(p.shortenSources(formatWarning(w.Text, w.Count, w.Origin)), indent)...)
	}
	lines = append(lines, p.moreLine(len(warnings)-shown)...)
	p.writeBlock("WARNINGS", bold, indent, lines)
}
