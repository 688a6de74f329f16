package page

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/andybalholm/cascadia"
)

// Sheet is what of a stylesheet can request something. It is not changed afterwards, and safe for
// several goroutines.
type Sheet struct {
	imports []imported
	rules   []rule
	faces   []face
}

type imported struct{ ref, media string }

// rule is one with a URL or a font in it.
type rule struct {
	media    []string // of the blocks it stands in: all must be true
	elements cascadia.SelectorGroup
	any      bool // its selector is not one we understand: it may match
	declarations
}

// declarations are what of a block requests something.
type declarations struct {
	refs     []string
	families []string
}

// face is a font that is there to be used.
type face struct {
	media  []string
	family string
	ref    string
	runes  [][2]rune // nil: all
}

// applySheet adds what a stylesheet requests for this page: what it imports, images of rules that
// match an element, and fonts named by rules that match. It does not decide which of several rules
// wins.
func (v *Visit) applySheet(out []Resource, s *Sheet, at *url.URL, media string) []Resource {
	for _, i := range s.imports {
		if u := resolveURL(at, i.ref); u != nil {
			out = v.addSheet(out, u, joinMedia(media, i.media))
		}
	}
	if !Matches(media, v.doc.view) {
		return out
	}
	for i := range s.rules {
		r := &s.rules[i]
		if !v.matchesAll(r.media) || !r.any && cascadia.Query(v.doc.Root, r.elements) == nil {
			continue
		}
		for _, ref := range r.refs {
			out = v.addResource(out, resolveURL(at, ref), Image)
		}
		for _, f := range r.families {
			v.used[f] = true
		}
	}
	for _, f := range s.faces {
		if !v.matchesAll(f.media) {
			continue
		}
		if u := resolveURL(at, f.ref); u != nil {
			f.ref = u.String()
			v.faces = append(v.faces, f)
		}
	}
	left := v.faces[:0:0]
	for _, f := range v.faces { // of this sheet and of those before: either may name it first
		if !v.used[f.family] || !v.doc.hasCharacters(f.runes) {
			left = append(left, f)
			continue
		}
		if u, err := url.Parse(f.ref); err == nil {
			out = v.addResource(out, u, Font)
		}
	}
	v.faces = left
	return out
}

// joinMedia returns a list of media queries that is true where both lists are, as far as one list
// can say that.
func joinMedia(a, b string) string {
	switch {
	case strings.TrimSpace(a) == "" || strings.EqualFold(strings.TrimSpace(a), "all"):
		return b
	case strings.TrimSpace(b) == "":
		return a
	}
	var all []string
	for _, x := range splitTopLevel(a, ',') {
		for _, y := range splitTopLevel(b, ',') {
			all = append(all, strings.TrimSpace(x)+" and "+strings.TrimSpace(y))
		}
	}
	return strings.Join(all, ", ")
}

func (v *Visit) matchesAll(media []string) bool {
	for _, m := range media {
		if !Matches(m, v.doc.view) {
			return false
		}
	}
	return true
}

// hasCharacters reports whether the page's text has a character of these ranges.
func (d *Document) hasCharacters(ranges [][2]rune) bool {
	if ranges == nil {
		return true
	}
	for _, c := range d.text {
		for _, r := range ranges {
			if c >= r[0] && c <= r[1] && c > ' ' {
				return true
			}
		}
	}
	return false
}

// ParseSheet reads CSS as far as it can request something (https://www.w3.org/TR/css-syntax-3/); it takes anything.
func ParseSheet(css []byte) *Sheet {
	p := &sheetParser{in: stripComments(string(css)), sheet: &Sheet{}}
	p.parseBlock(nil, 0)
	return p.sheet
}

type sheetParser struct {
	in    string
	at    int
	sheet *Sheet
}

const (
	deepest   = 16     // blocks in blocks that are followed
	mostRules = 20_000 // of one stylesheet that are kept
)

// parseBlock parses rules until the end of the block that was begun.
func (p *sheetParser) parseBlock(media []string, depth int) {
	for p.at < len(p.in) {
		switch c := p.in[p.at]; {
		case c == '}':
			p.at++
			if depth > 0 {
				return
			}
		case c <= ' ' || c == ';':
			p.at++
		case strings.HasPrefix(p.in[p.at:], "<!--"):
			p.at += 4
		case strings.HasPrefix(p.in[p.at:], "-->"):
			p.at += 3
		case c == '@':
			p.atRule(media, depth)
		default:
			head, open := p.readPrelude()
			if !open {
				return
			}
			p.parseRule(head, media)
		}
	}
}

func (p *sheetParser) atRule(media []string, depth int) {
	head, open := p.readPrelude()
	name, rest, _ := strings.Cut(head[1:], " ")
	if i := strings.IndexAny(name, "(\"'\n\t"); i >= 0 {
		name, rest = head[1:1+i], head[1+i:]
	}
	rest = strings.TrimSpace(rest)
	switch strings.ToLower(name) {
	case "import":
		if !open && depth == 0 {
			p.parseImport(rest)
		}
	case "media":
		if open && depth < deepest {
			p.parseBlock(append(media[:len(media):len(media)], rest), depth+1)
			return
		}
	case "supports", "layer", "container", "scope", "starting-style":
		if open && depth < deepest && !strings.HasPrefix(rest, "not") {
			p.parseBlock(media, depth+1)
			return
		}
	case "font-face":
		if open {
			p.parseFace(p.readBody(), media)
			return
		}
	}
	if open {
		p.readBody()
	}
}

// parseImport parses what stands behind @import: a URL or a string, and for which media.
func (p *sheetParser) parseImport(rest string) {
	var ref string
	end := 0
	if s, ok := parseString(rest); ok {
		ref, end = s, closingQuote(rest, 0)+1
	} else if refs := parseURLs(rest); len(refs) > 0 && strings.HasPrefix(strings.ToLower(rest), "url(") {
		ref = refs[0]
		_, end = cutBrackets(rest)
	}
	if ref == "" {
		return
	}
	media := strings.TrimSpace(rest[min(end, len(rest)):])
	for _, word := range []string{"layer(", "layer", "supports("} {
		if inner, ok := strings.CutPrefix(media, word); ok {
			if strings.HasSuffix(word, "(") {
				_, end := cutBrackets("(" + inner)
				inner = ("(" + inner)[end:]
			}
			media = strings.TrimSpace(inner)
		}
	}
	p.sheet.imports = append(p.sheet.imports, imported{ref, media})
}

// readPrelude reads up to the block it opens, or the semicolon or end that ends it.
func (p *sheetParser) readPrelude() (text string, open bool) {
	from := p.at
	depth := 0
	for ; p.at < len(p.in); p.at++ {
		switch c := p.in[p.at]; c {
		case '\\':
			p.at++
		case '"', '\'':
			p.at = closingQuote(p.in, p.at)
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case '{':
			p.at++
			return strings.TrimSpace(p.in[from : p.at-1]), true
		case ';', '}':
			if depth > 0 && c == ';' {
				continue
			}
			text = strings.TrimSpace(p.in[from:p.at])
			if c == ';' {
				p.at++
			}
			return text, false
		}
	}
	p.at = min(p.at, len(p.in))
	return strings.TrimSpace(p.in[from:p.at]), false
}

// readBody reads the rest of a block, blocks in it included.
func (p *sheetParser) readBody() string {
	from, depth := p.at, 0
	for ; p.at < len(p.in); p.at++ {
		switch p.in[p.at] {
		case '\\':
			p.at++
		case '"', '\'':
			p.at = closingQuote(p.in, p.at)
		case '{':
			depth++
		case '}':
			if depth--; depth < 0 {
				p.at++
				return p.in[from : p.at-1]
			}
		}
	}
	p.at = min(p.at, len(p.in))
	return p.in[from:p.at]
}

func (p *sheetParser) parseRule(selectors string, media []string) {
	body := p.readBody()
	if !strings.Contains(body, "(") && !strings.Contains(body, "font") && !strings.Contains(body, "FONT") {
		return
	}
	d := parseDeclarations(body)
	if len(d.refs)+len(d.families) == 0 || len(p.sheet.rules) >= mostRules {
		return
	}
	r := rule{media: media, declarations: d}
	var kept []string
	for _, s := range splitTopLevel(selectors, ',') {
		if s, ok := stripPseudo(s); ok {
			if sel, err := cascadia.Parse(s); err == nil {
				r.elements = append(r.elements, sel)
			} else {
				r.any = true
			}
			kept = append(kept, s)
		}
	}
	if len(kept) > 0 {
		p.sheet.rules = append(p.sheet.rules, r)
	}
}

// stripPseudo takes pseudo-elements off a selector; false if it matches only what a user does to a
// page.
func stripPseudo(s string) (string, bool) {
	s = strings.TrimSpace(s)
	for _, state := range []string{":hover", ":active", ":focus", ":target", ":visited", ":-webkit-", ":-moz-", "::-moz-", "::selection", "::backdrop"} {
		if strings.Contains(s, state) {
			return "", false
		}
	}
	for _, part := range []string{"::before", "::after", ":before", ":after", "::marker", "::first-line", "::first-letter", ":first-line", ":first-letter", "::placeholder", "::file-selector-button"} {
		s = strings.TrimSuffix(s, part)
	}
	if s == "" || strings.HasSuffix(s, " ") || strings.HasSuffix(s, ">") {
		s += "*"
	}
	return s, true
}

// parseDeclarations returns what a block of declarations requests: of each property the last value
// counts.
func parseDeclarations(body string) (d declarations) {
	refs := map[string][]string{}
	var order []string
	for _, item := range splitTopLevel(body, ';') {
		if i := strings.IndexByte(item, '{'); i >= 0 { // rules in a rule
			continue
		}
		name, value, ok := strings.Cut(item, ":")
		if !ok {
			continue
		}
		name = strings.ToLower(strings.TrimSpace(name))
		switch property, ok := images[strings.TrimPrefix(name, "-webkit-")]; {
		case ok:
			if _, known := refs[property]; !known {
				order = append(order, property)
			}
			refs[property] = parseURLs(value)
		case name == "font-family":
			d.families = parseFamilies(value)
		case name == "font":
			if i := lastSize(value); i >= 0 {
				d.families = parseFamilies(value[i:])
			}
		}
	}
	for _, property := range order {
		d.refs = append(d.refs, refs[property]...)
	}
	return d
}

// images are the properties whose URLs are fetched for an element, by what they stand for.
var images = map[string]string{"background": "background", "background-image": "background", "list-style": "list", "list-style-image": "list",
	"border-image": "border", "border-image-source": "border", "content": "content", "cursor": "cursor", "mask": "mask", "mask-image": "mask",
	"mask-border-source": "maskborder", "mask-box-image": "maskborder", "shape-outside": "shape", "filter": "filter", "clip-path": "clip"}

// parseFamilies parses the families of a font-family value, in lower case and without quotes.
func parseFamilies(value string) (out []string) {
	for _, f := range splitTopLevel(value, ',') {
		f = strings.Trim(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(f), "!important")), `"'`)
		if f != "" {
			out = append(out, strings.ToLower(f))
		}
	}
	return out
}

// lastSize is where the families begin in a font value: behind the size.
func lastSize(value string) int {
	at := 0
	for word := range strings.FieldsSeq(value) {
		i := strings.Index(value[at:], word)
		at += i + len(word)
		size, _, _ := strings.Cut(word, "/")
		if _, ok := lengthOf(size, Desktop); ok && strings.ContainsAny(size, "pxremvhti") || strings.HasSuffix(size, "%") {
			return at
		}
		switch size {
		case "small", "medium", "large", "smaller", "larger", "x-small", "x-large", "xx-small", "xx-large":
			return at
		}
	}
	return -1
}

func (p *sheetParser) parseFace(body string, media []string) {
	f := face{media: media}
	for _, item := range splitTopLevel(body, ';') {
		name, value, _ := strings.Cut(item, ":")
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "font-family":
			if all := parseFamilies(value); len(all) > 0 {
				f.family = all[0]
			}
		case "src":
			f.ref = fontSource(value)
		case "unicode-range":
			f.runes = parseRanges(value)
		}
	}
	if f.family != "" && f.ref != "" && len(p.sheet.faces) < mostRules {
		p.sheet.faces = append(p.sheet.faces, f)
	}
}

// fontSource returns the first file of a src value whose format Chromium knows.
func fontSource(value string) string {
	for _, s := range splitTopLevel(value, ',') {
		refs := parseURLs(s)
		if len(refs) == 0 {
			continue // local()
		}
		lower := strings.ToLower(s)
		if strings.Contains(lower, "embedded-opentype") || strings.Contains(lower, `"svg`) || strings.Contains(lower, "'svg") ||
			strings.Contains(lower, "format(svg") {
			continue
		}
		return refs[0]
	}
	return ""
}

// parseRanges parses U+26, U+0-7F, U+0025-00FF, U+4??.
func parseRanges(value string) (out [][2]rune) {
	for item := range strings.SplitSeq(value, ",") {
		item = strings.ToUpper(strings.TrimSpace(item))
		item, ok := strings.CutPrefix(item, "U+")
		if !ok {
			continue
		}
		low, high, ranged := strings.Cut(item, "-")
		if !ranged {
			low, high = strings.ReplaceAll(item, "?", "0"), strings.ReplaceAll(item, "?", "F")
		}
		a, err1 := strconv.ParseInt(low, 16, 32)
		b, err2 := strconv.ParseInt(high, 16, 32)
		if err1 == nil && err2 == nil {
			out = append(out, [2]rune{rune(a), rune(b)})
		}
	}
	return out
}
