package format

import (
	"bytes"
	"context"
	"encoding/json"
	"html"
	"io"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
)

// A paste is a small text that a user put together: output of tools between words, quoted, in
// fences of Markdown or behind prompts, as in mails, tickets and chats. It is split
// into sections, each of which is recognised by itself, and sections of one format are read
// together. Larger artifacts are never pastes: only text that fits into the head of an artifact is checked.

// paste is an artifact split into sections.
type paste struct {
	name     string         // of the artifact
	lines    []Line         // all lines, without quotation marks, entities and the like
	quoted   []bool         // which lines were quoted
	changed  bool           // some line was changed
	fenced   bool           // a fence stands around a section, which no document has
	coded    map[int64]bool // lines, by their numbers, that stood in marks of code of their own
	sections []section
	skipped  int // lines outside of sections
	asked    int // number of calls to formats
}

// section is a stretch of lines that some formats claim.
type section struct {
	lines  []Line
	chosen []Format
}

// mostPasted bounds a paste's lines, its sections, and the formats that are asked about a section: each is
// asked about each section.
const (
	mostPasted   = 20_000
	mostSections = 200
	mostAsked    = 400
)

// asPaste splits an artifact that fits into its head; nil if it is no paste: then the formats that
// were chosen for the whole read it as it is.
func asPaste(formats []Format, a *Artifact, head []byte, whole []Format) *paste {
	if len(head) >= HeadSize || isBinary(head) || a.Size >= HeadSize || a.lines != nil || a.Series != "" || a.About != (evidence.Subject{}) {
		return nil
	}
	if len(whole) > 0 && !hasPasteMarks(head) && !inBlocks(head) {
		return nil
	}
	p := &paste{name: a.Name}
	if !p.readLines(a) {
		return nil
	}
	p.splitSections(formats)
	found := p.sectionFormats()
	switch {
	case len(found) == 0:
		return nil
	case !p.changed && !(p.fenced && slices.ContainsFunc(found, func(f Format) bool { return f.Whole })) && !slices.ContainsFunc(found, func(f Format) bool { return !hasFormat(whole, f) }):
		return nil // the formats know what stands between
	}
	for _, f := range whole { // for logs whose lines are spread over the text, among words
		if !hasFormat(found, f) && !f.Whole && f.Match(p.joinLines(p.lines)) == Sure && len(p.sections) < mostSections {
			p.sections = append(p.sections, section{p.lines, []Format{f}})
		}
	}
	return p
}

// inBlocks says whether text is small enough to be put together by hand, and in blocks, which may be of different tools.
func inBlocks(head []byte) bool {
	return len(head) < mostLittle && bytes.Contains(bytes.TrimSpace(head), []byte("\n\n"))
}

// mostLittle is how much text may be split without a mark of a paste, bytes.
const mostLittle = 16 << 10

// isBinary says whether bytes are no text: text has no control characters except those of lines, pages and terminals.
func isBinary(b []byte) bool {
	return bytes.IndexFunc(b, func(r rune) bool { return r < ' ' && r != '\n' && r != '\r' && r != '\t' && r != '\f' && r != 0x1b }) >= 0
}

func hasFormat(formats []Format, f Format) bool {
	return slices.ContainsFunc(formats, func(x Format) bool { return x.Name == f.Name })
}

// hasPasteMarks says whether text has the marks of a paste: fences, prompts, quotes, entities of
// HTML or broken lines.
func hasPasteMarks(head []byte) bool {
	quoted, entities := 0, 0
	broken := false
	for l := range bytes.Lines(head) {
		l = bytes.TrimRight(l, "\r\n")
		if broken && goesOn(l) {
			return true
		}
		broken = isBroken(l)
		switch {
		case len(l) == 0:
		case bytes.IndexByte(l, 0x1b) >= 0, isFence(l), isPrompt(l), isMarkedAsCode(l):
			return true
		case l[0] == '>':
			quoted++
		case bytes.IndexByte(l, '&') >= 0 && hasEntity(l):
			entities += countEntities(l)
		case bytes.IndexByte(l, 0xc2) >= 0 && bytes.Contains(l, hardBlank):
			entities++
		}
		if quoted >= 2 || entities >= 2 {
			return true
		}
	}
	return false
}

// readLines reads the lines of an artifact and removes quotation marks and the like. It returns false
// if there are too many lines or reading fails.
func (p *paste) readLines(a *Artifact) bool {
	text, fits := 0, true
	err := a.Lines(func(l Line) bool {
		text += len(l.Text)
		if fits = len(p.lines) < mostPasted && text < HeadSize; !fits {
			return false
		}
		l.Text = bytes.Clone(l.Text)
		l.From = bytes.Clone(l.From)
		p.lines = append(p.lines, l)
		return true
	})
	if err != nil || !fits {
		return false
	}
	p.splitHTMLBreaks()
	p.stripReturnMarks()
	p.splitEscapedLines()
	p.joinArrows()
	p.stripCodeMarks()
	entities, least := 0, 2
	for i := range p.lines {
		l := p.lines[i].Text
		entities += countEntities(l)
		if bytes.HasPrefix(bytes.TrimLeft(l, " \t>"), []byte("<pre")) || bytes.HasPrefix(bytes.TrimLeft(l, " \t>"), []byte("<code")) {
			least = 1
		}
	}
	quoted := 0
	for i := range p.lines {
		l := &p.lines[i]
		text := stripTerminalMarks(l.Text)
		if entities >= least && !bytes.HasPrefix(text, []byte(`{"`)) { // within JSON they are values
			text = []byte(html.UnescapeString(string(text)))
			text = bytes.ReplaceAll(text, []byte("\u00a0"), []byte(" "))
			text = bytes.TrimSuffix(bytes.TrimSuffix(text, []byte("<br>")), []byte("<br/>"))
		}
		if !bytes.Equal(text, l.Text) {
			p.changed = true
			l.Text = text
		}
		if len(text) > 0 && text[0] == '>' {
			quoted++
		}
	}
	p.quoted = make([]bool, len(p.lines))
	for i := range p.lines {
		if l := &p.lines[i]; quoted >= 2 && len(l.Text) > 0 && l.Text[0] == '>' {
			p.quoted[i], p.changed = true, true
			l.Text = stripQuoteMarks(l.Text)
		}
	}
	p.stripLineNumbers()
	p.joinBrokenLines()
	return true
}

// splitSections finds sections: first those between fences and prompts and, if no format
// claims one, those between blank lines.
func (p *paste) splitSections(formats []Format) {
	from := 0
	end := func(until int) {
		p.claimSection(formats, from, until)
		from = until
	}
	for i := range p.lines {
		l := p.lines[i].Text
		if i > 0 && i < len(p.quoted) && p.quoted[i] != p.quoted[i-1] && len(p.lines[i-1].Text) > 0 && len(l) > 0 && !isRule(p.lines[i-1].Text) && !isRule(l) { // an answer, and its quotation
			end(i)
		}
		switch {
		case len(l) == 0:
		case isFence(l):
			p.fenced = true
			end(i)
			if rest := withoutFence(l); len(bytes.TrimSpace(rest)) > 0 {
				p.lines[i].Text = rest
				p.changed = true
				continue
			}
			p.skipped++
			from = i + 1
		case isPrompt(l):
			end(i)
		}
	}
	end(len(p.lines))
}

// claimSection claims lines, or the blocks among them, for formats.
func (p *paste) claimSection(formats []Format, from, until int) {
	lines := trimBlank(p.lines[from:until])
	if len(lines) == 0 || len(p.sections) == mostSections {
		p.skipped += len(lines)
		return
	}
	if p.claimAny(formats, lines) {
		p.claimOtherBlocks(formats, lines)
		return
	}
	if isPrompt(lines[0].Text) && p.claimAny(formats, trimBlank(lines[1:])) {
		p.skipped++
		return
	}
	if first, ok := p.findHeading(from); ok && p.claimAny(formats, append([]Line{first}, lines...)) {
		p.changed = true
		return
	}
	if p.claimComments(formats, lines) || p.claimMembers(formats, lines) {
		return
	}
	if runs := indentedRuns(lines); len(runs) > 0 {
		some := false
		for _, r := range runs {
			some = p.claimLines(formats, dedentLines(r)) || some
		}
		if some {
			p.changed = true
			return
		}
	}
	if p.claimObject(formats, lines) {
		return
	}
	blocks := p.splitBlocks(lines)
	if len(blocks) < 2 {
		p.claimAmongProse(formats, lines)
		return
	}
	for _, b := range blocks {
		if len(p.sections) < mostSections && !p.claimAny(formats, b) {
			p.claimAmongProse(formats, b)
		}
	}
}

// claimObject claims the one document of JSON that stands among words, over several lines.
func (p *paste) claimObject(formats []Format, lines []Line) bool {
	from := slices.IndexFunc(lines, func(l Line) bool { t := bytes.TrimSpace(l.Text); return len(t) > 0 && (t[0] == '{' || t[0] == '[') })
	if from < 0 {
		return false
	}
	until := len(lines)
	for until > from {
		if t := bytes.TrimSpace(lines[until-1].Text); len(t) > 0 && (t[len(t)-1] == '}' || t[len(t)-1] == ']') {
			break
		}
		until--
	}
	object := lines[from:until]
	if len(object) < 2 || len(object) == len(lines) || !json.Valid(p.joinLines(object)) || !p.claimLines(formats, object) {
		return false
	}
	p.skipped += len(lines) - len(object)
	p.changed = true
	return true
}

// findHeading is the heading above a block of code, without its mark: somebody may have made one of the first line of what the block holds.
func (p *paste) findHeading(from int) (l Line, ok bool) {
	for i := from - 1; i >= 0 && i >= from-mostAbove; i-- {
		text := bytes.TrimSpace(p.lines[i].Text)
		switch {
		case len(text) == 0, isFence(text):
		case text[0] == '#':
			l = p.lines[i]
			l.Text = bytes.TrimSpace(bytes.TrimLeft(text, "#"))
			return l, len(l.Text) > 0
		default:
			return l, false
		}
	}
	return l, false
}

// mostAbove is how many lines a heading stands above what it is of, at most: blank ones and the fence lie between.
const mostAbove = 4

// claimOtherBlocks claims blocks for formats that the lines as a whole do not match: the identifying part
// of a log may stand below the output of a tool.
func (p *paste) claimOtherBlocks(formats []Format, lines []Line) {
	whole := p.sections[len(p.sections)-1].chosen
	blocks := p.splitBlocks(lines)
	if len(blocks) < 2 || len(blocks) > mostBeside || slices.ContainsFunc(whole, func(f Format) bool { return f.Whole }) {
		return
	}
	for _, b := range blocks {
		if len(p.sections) == mostSections || p.asked == mostAsked {
			return
		}
		p.asked++
		text := p.joinLines(b)
		var more []Format
		for _, f := range chooseFormats(formats, text) {
			if !hasFormat(whole, f) && f.Match(text) == Sure {
				more = append(more, f)
			}
		}
		if len(more) > 0 {
			p.sections = append(p.sections, section{b, more})
		}
	}
}

// mostBeside is how many blocks lines may have to be checked once more.
const mostBeside = 20

// claimAmongProse claims lines that no blank line separates from the words before them or behind
// them.
func (p *paste) claimAmongProse(formats []Format, lines []Line) {
	n := len(lines)
	if n > mostRagged {
		p.skipped += n
		return
	}
	if n == 2 && isLabel(lines[0].Text) && p.claimLines(formats, lines[1:]) {
		p.skipped++
		p.changed = true
		return
	}
	for off := 1; off <= min(wordsAround, n-2); off++ {
		if isIndented := asCode(lines[off].Text); p.claimLines(formats, lines[off:]) || isIndented && p.claimAny(formats, lines[off:]) {
			p.skipped += off
			p.changed = true
			return
		}
	}
	for off := 1; off <= min(wordsAround, n-2); off++ {
		if p.claimLines(formats, lines[:n-off]) {
			p.skipped += off
			p.changed = true
			return
		}
	}
	if !p.claimCoded(formats, lines) {
		p.skipped += n
	}
}

// claimCoded claims lines among words that stood in marks of code, each of its own.
func (p *paste) claimCoded(formats []Format, lines []Line) (some bool) {
	rest := 0
	for from := 0; from < len(lines); {
		until := from
		for until < len(lines) && p.coded[lines[until].Number] {
			until++
		}
		if until > from && len(p.sections) < mostSections && p.claimAny(formats, lines[from:until]) {
			some = true
		} else {
			rest += max(1, until-from)
		}
		from = max(until, from+1)
	}
	if some {
		p.skipped += rest
		p.changed = true
	}
	return some
}

// Bounds of lines among words, and of these words.
const (
	mostRagged  = 200
	wordsAround = 4
)

// claimAny claims lines as they are, without their indentation, or without the envelope of a log collector.
func (p *paste) claimAny(formats []Format, lines []Line) bool {
	if p.claimLines(formats, lines) {
		return true
	}
	if flat := dedentLines(lines); flat != nil && p.claimLines(formats, flat) {
		p.changed = true
		return true
	}
	text := p.joinLines(lines)
	if bare := unwrapLines(text, lines); bare != nil && p.claimLines(formats, bare) {
		p.changed = true
		return true
	}
	if flat := stripDiffMarks(lines); flat != nil && p.claimLines(formats, flat) {
		p.changed = true
		return true
	}
	if flat := stripPodNames(lines); flat != nil && p.claimLines(formats, flat) {
		p.changed = true
		return true
	}
	if flat := stripCommonPrefix(lines); flat != nil && p.claimLines(formats, flat) {
		p.changed = true
		return true
	}
	if flat := stripProcessNames(lines); flat != nil && p.claimLines(formats, flat) {
		p.changed = true
		return true
	}
	if bare := unescapeMarkdown(lines); bare != nil && p.claimLines(formats, bare) {
		p.changed = true
		return true
	}
	if isPacked(text) {
		inner, _ := unpackMessages(func(f func(Line) bool) error {
			for _, l := range lines {
				if !f(l) {
					break
				}
			}
			return nil
		})
		if inner != nil && p.claimLines(formats, inner) {
			p.changed = true
			return true
		}
	}
	return false
}

// claimLines makes a section of lines if some format is sure of them.
func (p *paste) claimLines(formats []Format, lines []Line) bool {
	if len(lines) == 0 || p.asked == mostAsked {
		return false
	}
	p.asked++
	text := p.joinLines(lines)
	var sure []Format
	for _, f := range chooseFormats(formats, text) {
		if f.Match(text) == Sure {
			sure = append(sure, f)
		}
	}
	if len(sure) == 0 {
		return false
	}
	p.sections = append(p.sections, section{lines, sure})
	return true
}

// splitBlocks splits lines where they are blank.
func (p *paste) splitBlocks(lines []Line) (blocks [][]Line) {
	from := 0
	for i := range lines {
		if len(bytes.TrimSpace(lines[i].Text)) == 0 {
			if b := trimBlank(lines[from:i]); len(b) > 0 {
				blocks = append(blocks, b)
			}
			from = i + 1
		}
	}
	if b := trimBlank(lines[from:]); len(b) > 0 {
		blocks = append(blocks, b)
	}
	return blocks
}

func trimBlank(lines []Line) []Line {
	blank := func(l Line) bool { return len(bytes.TrimSpace(l.Text)) == 0 }
	for len(lines) > 0 && blank(lines[0]) {
		lines = lines[1:]
	}
	for len(lines) > 0 && blank(lines[len(lines)-1]) {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// joinLines returns lines in the form of an artifact, each with its end.
func (p *paste) joinLines(lines []Line) []byte {
	n := 0
	for _, l := range lines {
		n += len(l.Text) + 1
	}
	out := make([]byte, 0, n)
	for _, l := range lines {
		out = append(append(out, l.Text...), '\n')
	}
	return out
}

// sectionFormats returns the formats of all sections, in the order of their first one.
func (p *paste) sectionFormats() (all []Format) {
	for _, s := range p.sections {
		for _, f := range s.chosen {
			if !hasFormat(all, f) {
				all = append(all, f)
			}
		}
	}
	return all
}

// readInto reads the sections into the bundle: those of one format together, except documents, which are
// independent.
func (p *paste) readInto(ctx context.Context, a *Artifact, bundle *evidence.Bundle) error {
	var errs []error
	told := false
	artifact := evidence.ArtifactID(-1)
	read := func(f Format, id evidence.ArtifactID, lines []Line) {
		part := p.newPart(a, lines)
		bundle.Artifacts[id].Formats = append(bundle.Artifacts[id].Formats, f.Name)
		b := bundle.Builder(id, f.Name)
		b.Moments = f.Moments
		if !told {
			if told = true; p.skipped > 0 {
				b.Warnf(0, "read as a paste: %s of text skipped", Count(p.skipped, "line", "lines"))
			} else {
				b.Warnf(0, "read as a paste: what was laid over its lines was taken off")
			}
		}
		err := f.Parse(ctx, part, b)
		b.Close()
		if err != nil {
			errs = append(errs, err)
		}
	}
	add := func() evidence.ArtifactID {
		return bundle.AddArtifact(evidence.Artifact{Name: a.Name, Envelopes: append(a.Envelopes(), "paste"), Bytes: a.Size, Modified: a.Modified, About: a.About, Series: a.Series})
	}
	good := 0
	for _, f := range p.sectionFormats() {
		var together []Line
		for _, s := range p.sections {
			switch {
			case !hasFormat(s.chosen, f):
			case f.Whole && !f.Joins:
				before := len(errs)
				read(f, add(), s.lines)
				if len(errs) == before {
					good++
				}
			default:
				if len(together) > 0 {
					together = append(together, Line{Number: s.lines[0].Number})
				}
				together = append(together, s.lines...)
			}
		}
		if len(together) > 0 {
			if artifact < 0 {
				artifact = add()
			}
			before := len(errs)
			read(f, artifact, together)
			if len(errs) == before {
				good++
			}
		}
	}
	if good > 0 {
		return nil // a section that holds nothing is no error of the others
	}
	return errs[0]
}

// newPart makes an artifact from some lines. Each keeps its number.
func (p *paste) newPart(a *Artifact, lines []Line) *Artifact {
	text := p.joinLines(lines)
	return &Artifact{Name: a.Name, Size: int64(len(text)), Modified: a.Modified, About: a.About, Series: a.Series, lines: lines, start: text,
		Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }}
}
