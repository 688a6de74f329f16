package format

import (
	"bytes"
	"context"
	"html"
	"io"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
)

// A paste is a small text that somebody put together: output of tools between words, quoted, in
// fences of Markdown or behind prompts, as it stands in mails, tickets and chats. It is taken apart
// into sections, each of which is recognised by itself, and sections of one format are read
// together. Larger artifacts are never pastes: only what fits into the head of an artifact is looked at.

// paste is an artifact taken apart.
type paste struct {
	name     string // of the artifact
	lines    []Line // of all of it, without quotes, entities and the like
	quoted   []bool // which of them were quoted
	changed  bool   // some line was not as it is now
	fenced   bool   // a fence stands around a section, which a document does not know
	sections []section
	skipped  int // lines that are of no section
	asked    int // how often the formats were asked
}

// section is a stretch of lines that some formats claim.
type section struct {
	lines  []Line
	chosen []Format
}

// mostPasted is how many lines a paste has at most, how many sections, and how many of these formats are asked about: each is
// asked of each.
const (
	mostPasted   = 20_000
	mostSections = 200
	mostAsked    = 400
)

// asPaste takes an artifact apart that fits into its head; nil if it is none: then the formats that
// were chosen for the whole read it as it is.
func asPaste(formats []Format, a *Artifact, head []byte, whole []Format) *paste {
	if len(head) >= HeadSize || isBinary(head) || a.Size >= HeadSize || a.lines != nil || a.Series != "" || a.About != (evidence.Subject{}) {
		return nil
	}
	if len(whole) > 0 && !framed(head) && !inBlocks(head) {
		return nil
	}
	p := &paste{name: a.Name}
	if !p.read(a) {
		return nil
	}
	p.split(formats)
	found := p.formats()
	switch {
	case len(found) == 0:
		return nil
	case !p.changed && !(p.fenced && slices.ContainsFunc(found, func(f Format) bool { return f.Whole })) && !slices.ContainsFunc(found, func(f Format) bool { return !contains(whole, f) }):
		return nil // the formats know what stands between
	}
	for _, f := range whole { // what is told all over the text, as lines of a log among words
		if !contains(found, f) && !f.Whole && f.Match(p.text(p.lines)) == Sure && len(p.sections) < mostSections {
			p.sections = append(p.sections, section{p.lines, []Format{f}})
		}
	}
	return p
}

// inBlocks says whether text is as little as somebody puts together, and in blocks: these may be of different tools.
func inBlocks(head []byte) bool {
	return len(head) < mostLittle && bytes.Contains(bytes.TrimSpace(head), []byte("\n\n"))
}

// mostLittle is how much text may be that is taken apart without a mark of a paste, bytes.
const mostLittle = 16 << 10

// isBinary says whether bytes are no text: text has no control characters but those of lines, pages and terminals.
func isBinary(b []byte) bool {
	return bytes.IndexFunc(b, func(r rune) bool { return r < ' ' && r != '\n' && r != '\r' && r != '\t' && r != '\f' && r != 0x1b }) >= 0
}

func contains(formats []Format, f Format) bool {
	return slices.ContainsFunc(formats, func(x Format) bool { return x.Name == f.Name })
}

// framed says whether text has marks of a paste.
func framed(head []byte) bool {
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
		case bytes.IndexByte(l, 0x1b) >= 0, isFence(l), isPrompt(l):
			return true
		case l[0] == '>':
			quoted++
		case bytes.IndexByte(l, '&') >= 0 && entity(l):
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

// read takes the lines of an artifact and what is laid over them off; false if there are too many.
func (p *paste) read(a *Artifact) bool {
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
	p.broken()
	p.returns()
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
		text := plainly(l.Text)
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
			l.Text = unquoted(l.Text)
		}
	}
	p.unnumber()
	p.unwrap()
	return true
}

// split finds sections: what fences and prompts set apart, and within that, where no format claims
// it, what blank lines do.
func (p *paste) split(formats []Format) {
	from := 0
	end := func(until int) {
		p.section(formats, from, until)
		from = until
	}
	for i := range p.lines {
		l := p.lines[i].Text
		if i > 0 && i < len(p.quoted) && p.quoted[i] != p.quoted[i-1] && len(p.lines[i-1].Text) > 0 && len(l) > 0 { // an answer, and what it quotes
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

// section claims lines, or the blocks among them, for formats.
func (p *paste) section(formats []Format, from, until int) {
	lines := trimBlank(p.lines[from:until])
	if len(lines) == 0 || len(p.sections) == mostSections {
		p.skipped += len(lines)
		return
	}
	if p.claimAny(formats, lines) {
		p.beside(formats, lines)
		return
	}
	if isPrompt(lines[0].Text) && p.claimAny(formats, trimBlank(lines[1:])) {
		p.skipped++
		return
	}
	if first, ok := p.headingBefore(from); ok && p.claimAny(formats, append([]Line{first}, lines...)) {
		p.changed = true
		return
	}
	if runs := indentedRuns(lines); len(runs) > 0 {
		some := false
		for _, r := range runs {
			some = p.claim(formats, dedent(r)) || some
		}
		if some {
			p.changed = true
			return
		}
	}
	blocks := p.blocks(lines)
	if len(blocks) < 2 {
		p.ragged(formats, lines)
		return
	}
	for _, b := range blocks {
		if len(p.sections) < mostSections && !p.claimAny(formats, b) {
			p.ragged(formats, b)
		}
	}
}

// headingBefore is the heading above a block of code, without its mark: somebody may have made one of the first line of what the block holds.
func (p *paste) headingBefore(from int) (l Line, ok bool) {
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

// beside claims blocks for formats that the lines as a whole do not show: what a log is told by may stand below the output of a tool.
func (p *paste) beside(formats []Format, lines []Line) {
	whole := p.sections[len(p.sections)-1].chosen
	blocks := p.blocks(lines)
	if len(blocks) < 2 || len(blocks) > mostBeside || slices.ContainsFunc(whole, func(f Format) bool { return f.Whole }) {
		return
	}
	for _, b := range blocks {
		if len(p.sections) == mostSections || p.asked == mostAsked {
			return
		}
		p.asked++
		text := p.text(b)
		var more []Format
		for _, f := range choose(formats, text) {
			if !contains(whole, f) && f.Match(text) == Sure {
				more = append(more, f)
			}
		}
		if len(more) > 0 {
			p.sections = append(p.sections, section{b, more})
		}
	}
}

// mostBeside is how many blocks lines have at most that are asked about once more.
const mostBeside = 20

// ragged claims a few lines among words that no blank line sets apart from them: words before them, words behind them, or both.
func (p *paste) ragged(formats []Format, lines []Line) {
	n := len(lines)
	if n > mostRagged {
		p.skipped += n
		return
	}
	for off := 1; off <= min(wordsAround, n-2); off++ {
		if isIndented := asCode(lines[off].Text); p.claim(formats, lines[off:]) || isIndented && p.claimAny(formats, lines[off:]) {
			p.skipped += off
			p.changed = true
			return
		}
	}
	for off := 1; off <= min(wordsAround, n-2); off++ {
		if p.claim(formats, lines[:n-off]) {
			p.skipped += off
			p.changed = true
			return
		}
	}
	p.skipped += n
}

// Bounds of lines among words, and of those.
const (
	mostRagged  = 200
	wordsAround = 4
)

// claimAny claims lines as they are, without what they are indented by, or without what a log collector put before them.
func (p *paste) claimAny(formats []Format, lines []Line) bool {
	if p.claim(formats, lines) {
		return true
	}
	if flat := dedent(lines); flat != nil && p.claim(formats, flat) {
		p.changed = true
		return true
	}
	text := p.text(lines)
	if bare := bared(text, lines); bare != nil && p.claim(formats, bare) {
		p.changed = true
		return true
	}
	if flat := undiffed(lines); flat != nil && p.claim(formats, flat) {
		p.changed = true
		return true
	}
	if flat := unprefixed(lines); flat != nil && p.claim(formats, flat) {
		p.changed = true
		return true
	}
	if flat := behindBar(lines); flat != nil && p.claim(formats, flat) {
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
		if inner != nil && p.claim(formats, inner) {
			p.changed = true
			return true
		}
	}
	return false
}

// claim asks which formats are sure of lines.
func (p *paste) claim(formats []Format, lines []Line) bool {
	if len(lines) == 0 || p.asked == mostAsked {
		return false
	}
	p.asked++
	text := p.text(lines)
	var sure []Format
	for _, f := range choose(formats, text) {
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

// blocks are what blank lines set apart.
func (p *paste) blocks(lines []Line) (blocks [][]Line) {
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

// text is lines as an artifact holds them.
func (p *paste) text(lines []Line) []byte {
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

// formats are those of all sections, in the order of their first one.
func (p *paste) formats() (all []Format) {
	for _, s := range p.sections {
		for _, f := range s.chosen {
			if !contains(all, f) {
				all = append(all, f)
			}
		}
	}
	return all
}

// readInto reads the sections into the bundle: those of one format together, but for documents, which each
// tell of something else.
func (p *paste) readInto(ctx context.Context, a *Artifact, bundle *evidence.Bundle) error {
	var errs []error
	told := false
	artifact := evidence.ArtifactID(-1)
	read := func(f Format, id evidence.ArtifactID, lines []Line) {
		part := p.part(a, lines)
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
	for _, f := range p.formats() {
		var together []Line
		for _, s := range p.sections {
			switch {
			case !contains(s.chosen, f):
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

// part is some lines as an artifact of their own. Each keeps its number.
func (p *paste) part(a *Artifact, lines []Line) *Artifact {
	text := p.text(lines)
	return &Artifact{Name: a.Name, Size: int64(len(text)), Modified: a.Modified, About: a.About, Series: a.Series, lines: lines, start: text,
		Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }}
}
