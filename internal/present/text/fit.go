package text

import (
	"math"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/unstall/unstall/internal/base/units"
)

// screen is the most lines of a report, unless all of it is asked for: as many as a window that fills a screen shows.
// Smaller windows scroll.
const screen = 45

// limits is how much of each list a report shows. Every report has the cause, its certainty, its first fix with the
// effect, and the routes.
type limits struct {
	evidence int // figures of the first cause
	beside   int // of each other cause
	fixes    int // ways to change something, of the first cause
	others   int // of each other cause
	ledger   int // rows
	routes   int
	threads  int // groups
	ruledOut int
	unseen   int
	commands int // that would show what was not seen
	warnings int
	sources  int  // lines of them
	measured bool // of a load generator only what it measured, not how
	brief    bool // two lines for each cause that is ruled out, each warning, and what was not seen
	briefest bool // one line for each of these
	short    bool // one line for each item that is not about the first cause
	shorter  bool // two lines at most for each figure of the first cause
	plain    bool // of the requests and each other cause only the first lines, and no load whose figures ROUTES has
	single   bool // items that were to take one line take no second
	tight    bool // no empty lines between the proofs, and nothing on what the fixes of other causes would do
}

var everything = limits{evidence: math.MaxInt, beside: math.MaxInt, fixes: math.MaxInt, others: math.MaxInt, ledger: math.MaxInt, routes: math.MaxInt,
	threads: topGroups, ruledOut: math.MaxInt, unseen: math.MaxInt, commands: math.MaxInt, warnings: math.MaxInt, sources: math.MaxInt}

// usual are the limits of a report that fits the screen with them.
var usual = limits{evidence: 6, beside: 6, fixes: 4, others: 4, ledger: 9, routes: 5, threads: topGroups, ruledOut: 8, unseen: 5, commands: 4, warnings: 4, sources: 4}

// less are the steps that shorten a report until it fits: what says least about the cause goes first. Ruled-out causes and
// warnings go before the words of why and of the fixes.
var less = []func(*limits){
	func(l *limits) { l.brief = true },
	func(l *limits) { l.threads, l.commands, l.sources = 2, 2, 3 },
	func(l *limits) { l.ruledOut, l.unseen = 6, 4 },
	func(l *limits) { l.threads, l.sources = 1, 2 },
	func(l *limits) { l.ruledOut, l.unseen, l.warnings = 5, 3, 2 },
	func(l *limits) { l.ledger, l.commands = 8, 1 },
	func(l *limits) { l.ruledOut, l.beside, l.others = 4, 4, 3 },
	func(l *limits) { l.unseen, l.routes = 2, 4 },
	func(l *limits) { l.ruledOut, l.warnings = 3, 1 },
	func(l *limits) { l.threads, l.ledger = 0, 7 },
	func(l *limits) { l.ruledOut, l.unseen = 2, 1 },
	func(l *limits) { l.beside, l.sources = 3, 1 },
	func(l *limits) { l.ledger, l.others = 6, 2 },
	func(l *limits) { l.routes, l.ruledOut = 3, 1 },
	func(l *limits) { l.measured = true },
	func(l *limits) { l.commands = 0 },
	func(l *limits) { l.ledger, l.beside = 5, 2 },
	func(l *limits) { l.fixes = 3 },
	func(l *limits) { l.evidence = 5 },
	func(l *limits) { l.short = true },
	func(l *limits) { l.others, l.beside = 1, 1 },
	func(l *limits) { l.tight = true },
	func(l *limits) { l.fixes, l.ledger = 2, 4 },
	func(l *limits) { l.evidence = 4 },
	func(l *limits) { l.evidence = 3 },
	func(l *limits) { l.fixes = 1 },
	func(l *limits) { l.shorter = true },
	func(l *limits) { l.evidence, l.routes = 2, 2 },
	func(l *limits) { l.briefest = true },
	func(l *limits) { l.evidence, l.routes = 1, 1 },
	func(l *limits) { l.plain = true },
	func(l *limits) { l.ledger = 3 },
	func(l *limits) { l.single = true },
}

// renderFitted renders a page that fits the screen, or the shortest there is; with Verbose all of
// it.
func (o Options) renderFitted(render func(*page)) string {
	at, most := usual, screen*80/min(80, o.Width)
	if o.Verbose {
		at = everything
	}
	out := o.renderWithin(at, render)
	steps := 0
	for !o.Verbose && steps < len(less) && strings.Count(out, "\n") > most {
		less[steps](&at)
		steps++
		out = o.renderWithin(at, render)
	}
	// A step may save more lines than were missing: steps before it that fit, too, are not taken.
	skipped := make(map[int]bool)
	for skip := steps - 2; skip >= 0 && strings.Count(out, "\n") < most; skip-- {
		at, skipped[skip] = usual, true
		for i := range steps {
			if !skipped[i] {
				less[i](&at)
			}
		}
		if longer := o.renderWithin(at, render); strings.Count(longer, "\n") <= most {
			out = longer
		} else {
			delete(skipped, skip)
		}
	}
	return out
}

// renderWithin renders a page that shows no more than the limits.
func (o Options) renderWithin(at limits, render func(*page)) string {
	p := &page{Options: o, at: at, cited: make(map[string]bool)}
	render(p)
	if len(p.cited) > 0 { // again, as the files that are cited are known now
		p = &page{Options: o, at: at, cited: p.cited}
		render(p)
	}
	return strings.TrimRight(p.out.String(), "\n") + "\n"
}

// wrapOrShorten breaks a text into lines or, with one, shortens it.
func (p *page) wrapOrShorten(text string, indent int, one bool) []string {
	if !one {
		return p.wrapText(text, indent)
	}
	return p.wrapWithin(text, indent, 1)
}

// wrapWithin breaks a text into so many lines. What does not fit loses what is in parentheses at its end, then takes one line
// more unless the page has no room for it; only what is longer still is cut, where a clause ends if one does.
func (p *page) wrapWithin(text string, indent, most int) []string {
	lines := p.wrapText(text, indent)
	if len(lines) <= most {
		return lines
	}
	room := max(20, p.Width-indent)
	text = p.cleanText(text)
	for shorter := text; ; {
		from, until := strings.LastIndexByte(shorter, '('), strings.LastIndexByte(shorter, ')')
		if from <= 0 || until < from || shorter[from-1] != ' ' || textWidth(shorter[:from]) < room/2 {
			break
		}
		shorter = shorter[:from-1] + shorter[until+1:]
		if fewer := p.wrapText(shorter, indent); len(fewer) <= most {
			return fewer
		}
	}
	if !p.at.single {
		most++
	}
	if len(lines) <= most {
		return lines
	}
	if without := parenthesis().ReplaceAllString(text, ""); without != text { // an aside is worth less than the end of the sentence
		if lines = p.wrapText(without, indent); len(lines) <= most {
			return lines
		}
		text = without
	}
	if ended := p.cutAtClause(text, indent, most); ended != nil {
		return ended
	}
	return append(lines[:most-1:most-1], p.shortenToLine(strings.Join(lines[most-1:], " "), room))
}

// parenthesis matches an aside between words, not the parameters of a function.
var parenthesis = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(` \([^()]*\)`) })

// cutAtClause breaks the clauses of a text that fit so many lines, without those that follow; nil where these are less than
// half of the lines.
func (p *page) cutAtClause(text string, indent, most int) []string {
	for at := len(text); ; {
		at = strings.LastIndexAny(text[:at], ",;")
		if at < 0 || textWidth(text[:at]) < (p.Width-indent)*most/2 {
			return nil
		}
		if before := strings.LastIndexByte(text[:at], ';'); before > 0 && len(strings.Fields(text[before:at])) <= leads { // "; until then" says nothing alone
			continue
		}
		if lines := p.wrapText(text[:at]+p.cleanText("…"), indent); strings.HasPrefix(text[at+1:], " ") && len(lines) <= most {
			return lines
		}
	}
}

// leads is how many words after a semicolon, with it, only lead to what follows.
const leads = 3

// shortenToLine cuts a text to one line. A line that would end just before its object ("blocked
// at") keeps the object and drops what is before it.
func (p *page) shortenToLine(text string, room int) string {
	dots := p.cleanText("…")
	head := p.fitWords(splitWords(text), room-textWidth(dots))
	if n := len(head); n > 1 && n < len(splitWords(text)) && links[strings.ToLower(head[n-1])] && isPlace(splitWords(text)[n]) {
		object := strings.TrimRight(splitWords(text)[n], ".,;:")
		if most := room / 2; textWidth(object) > most {
			object = dots + lastOf(object, most-textWidth(dots))
		}
		tail := dots + " " + head[n-1] + " " + object
		return joinHead(p.fitWords(head[:n-1], room-textWidth(tail))) + tail
	}
	return joinHead(head) + dots
}

// joinHead joins the first words of a sentence without those at its end that lead to what is gone.
func joinHead(words []string) string {
	for n := len(words) - 1; n > 0 && (links[strings.ToLower(words[n])] || words[n] == "as" || !strings.ContainsFunc(words[n], isNamed)); n-- {
		words = words[:n]
	}
	return strings.TrimRight(strings.Join(words, " "), " ,;:(")
}

// isNamed says whether a character is part of a name or a figure: an arrow alone is no word.
func isNamed(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// wrapBriefly breaks a text into lines, of which a short report has two and the shortest one.
func (p *page) wrapBriefly(text string, indent int) []string {
	switch {
	case p.at.briefest:
		return p.wrapWithin(text, indent, 1)
	case p.at.brief:
		return p.wrapWithin(text, indent, 2)
	}
	return p.wrapText(text, indent)
}

// isPlace says whether a word names a place in code or a file: what a sentence that leads to it is about.
func isPlace(word string) bool {
	word = strings.Trim(word, ".,;:()")
	return len(word) > 4 && strings.ContainsAny(word, "./:$!(") && strings.ContainsFunc(word, unicode.IsLetter)
}

// links are words after which the point of a sentence comes.
var links = map[string]bool{"at": true, "in": true, "on": true, "by": true, "of": true, "for": true, "from": true, "to": true, "with": true, "than": true, "where": true,
	"until": true, "is": true, "are": true, "was": true, "were": true, "calls": true, "waits": true, "takes": true, "and": true, "or": true, "the": true, "a": true}

// fitWords returns as many words as fit into a line, at least one.
func (p *page) fitWords(all []string, room int) []string {
	size := 0
	for i, w := range all {
		if size += textWidth(w); i > 0 && size+i > room {
			return all[:i]
		}
	}
	return all
}

// lastOf returns the end of a dotted name or path that fits: "Store.get" of
// "com.example.shop.Store.get".
func lastOf(name string, room int) string {
	for textWidth(name) > room {
		i := strings.IndexAny(name[1:], "./$")
		if i < 0 {
			r := []rune(name)
			return string(r[max(0, len(r)-room):])
		}
		name = name[1+i+1:]
	}
	return name
}

// shownCount returns how many of n are shown: to leave out only one would save nothing.
func (p *page) shownCount(n, most int) int {
	if n-1 <= most {
		return n
	}
	return most
}

// moreLine returns the line about n entries that are not shown, none for 0.
func (p *page) moreLine(n int) []string {
	if n <= 0 {
		return nil
	}
	return []string{p.applyStyle(dim, "and "+units.Count(n)+" more: --verbose")}
}

// shortenSources replaces the names of sources in a text by their base names, where these are
// unambiguous, and the source at its end by its number.
func (p *page) shortenSources(text string) string {
	for _, s := range p.sources {
		base := path.Base(s.name)
		if before, ok := strings.CutSuffix(text, " ["+base+"]"); ok && s.number != "" {
			p.noteCited(s.number)
			text = before + " [" + s.number + "]"
		}
		if base != s.name && !slices.ContainsFunc(p.sources, func(o source) bool { return o.name != s.name && path.Base(o.name) == base }) {
			text = strings.ReplaceAll(text, s.name, base)
		}
	}
	return text
}
