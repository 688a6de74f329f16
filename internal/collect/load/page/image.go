package page

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/unstall/unstall/internal/base/sorting"
)

// chooseSource returns the source that an img element shows: of its picture's sources the first
// that fits, else its own
// (https://html.spec.whatwg.org/multipage/images.html#select-an-image-source).
func (d *Document) chooseSource(n *html.Node) string {
	if p := n.Parent; p != nil && p.DataAtom == atom.Picture {
		for c := range p.ChildNodes() {
			if c == n {
				break
			}
			if c.DataAtom != atom.Source {
				continue
			}
			set, _ := findAttribute(c, "srcset")
			if media, ok := findAttribute(c, "media"); ok && !Matches(media, d.view) {
				continue
			}
			if kind, ok := findAttribute(c, "type"); ok && !isShownImage(kind) {
				continue
			}
			sizes, _ := findAttribute(c, "sizes")
			if best := pickCandidate(set, "", sizes, d.view); best != "" {
				return best
			}
		}
	}
	src, _ := findAttribute(n, "src")
	set, _ := findAttribute(n, "srcset")
	sizes, _ := findAttribute(n, "sizes")
	return pickCandidate(set, src, sizes, d.view)
}

// isShownImage reports whether Chromium shows images of this type.
func isShownImage(kind string) bool {
	kind, _, _ = strings.Cut(strings.ToLower(kind), ";")
	switch strings.TrimSpace(kind) {
	case "", "image/png", "image/jpeg", "image/jpg", "image/pjpeg", "image/gif", "image/webp", "image/avif", "image/apng",
		"image/svg+xml", "image/bmp", "image/x-icon", "image/vnd.microsoft.icon", "image/x-png":
		return true
	}
	return false
}

// candidate is one image of a srcset.
type candidate struct {
	ref     string
	width   float64 // w, 0 not given
	density float64 // x, < 0 not given
	src     bool    // the src attribute
}

// pickCandidate chooses as Chromium does at a device pixel ratio of 1: of neighbours in density
// the higher one if the lower is below 1 (html_srcset_parser.cc, SelectionLogic).
func pickCandidate(set, src, sizes string, v Viewport) string {
	all := parseSrcset(set)
	if src = strings.TrimSpace(src); src != "" {
		all = append(all, candidate{ref: src, density: -1, src: true})
	}
	byWidth := false
	size := 0.0
	for i := range all {
		c := &all[i]
		switch {
		case c.width > 0:
			if !byWidth {
				size = sourceSize(sizes, v)
			}
			byWidth = true
			c.density = c.width / math.Max(size, 1e-9)
		case c.density < 0:
			c.density = 1
		}
	}
	sorting.Short(all, func(a, b candidate) int { return cmp.Compare(a.density, b.density) })
	var one []candidate
	before := -1.0
	for _, c := range all {
		if c.density != before && !(byWidth && c.src) {
			one = append(one, c)
			before = c.density
		}
	}
	if len(one) == 0 {
		return ""
	}
	for i := range one[:len(one)-1] {
		next := one[i+1].density
		if next < 1 {
			continue
		}
		if 1 > one[i].density || 1 >= math.Sqrt(one[i].density*next) {
			return one[i+1].ref
		}
		return one[i].ref
	}
	return one[len(one)-1].ref
}

// parseSrcset parses a srcset
// (https://html.spec.whatwg.org/multipage/images.html#parsing-a-srcset-attribute).
func parseSrcset(set string) (out []candidate) {
	for {
		set = strings.TrimLeft(set, " \t\r\n\f,")
		if set == "" {
			return out
		}
		end := strings.IndexAny(set, " \t\r\n\f")
		if end < 0 {
			end = len(set)
		}
		c := candidate{ref: set[:end], density: -1}
		set = set[end:]
		if bare := strings.TrimRight(c.ref, ","); bare != c.ref {
			if c.ref = bare; bare != "" {
				out = append(out, c)
			}
			continue
		}
		depth, stop := 0, len(set)
		for i := 0; i < len(set); i++ {
			switch set[i] {
			case '(':
				depth++
			case ')':
				depth--
			}
			if set[i] == ',' && depth <= 0 {
				stop = i
				break
			}
		}
		good := true
		for word := range strings.FieldsSeq(set[:stop]) {
			value, err := strconv.ParseFloat(word[:len(word)-1], 64)
			switch {
			case err != nil || value < 0 || math.IsInf(value, 0) || math.IsNaN(value):
				good = false
			case word[len(word)-1] == 'w' && value > 0:
				c.width = value
			case word[len(word)-1] == 'x':
				c.density = value
			case word[len(word)-1] == 'h':
			default:
				good = false
			}
		}
		if good {
			out = append(out, c)
		}
		set = set[stop:]
	}
}

// sourceSize reads a sizes attribute: the width an image will have, in pixels.
func sourceSize(sizes string, v Viewport) float64 {
	for _, item := range splitTopLevel(sizes, ',') {
		item = strings.TrimSpace(item)
		media, length := "", item
		if strings.HasSuffix(item, ")") && !strings.HasPrefix(item, "(") || !strings.HasSuffix(item, ")") {
			if i := lastSpace(item); i > 0 {
				media, length = item[:i], item[i+1:]
			}
		} else if strings.HasPrefix(item, "(") {
			continue // a condition without a length
		}
		if media != "" && !Matches(media, v) {
			continue
		}
		if px, ok := lengthOf(length, v); ok && px >= 0 {
			return px
		}
	}
	return v.Width
}

// lastSpace is where the last word outside of brackets begins, less one.
func lastSpace(s string) int {
	depth := 0
	for i := len(s) - 1; i >= 0; i-- {
		switch s[i] {
		case ')':
			depth++
		case '(':
			depth--
		case ' ', '\t', '\n':
			if depth == 0 {
				return i
			}
		}
	}
	return -1
}

// splitTopLevel splits at a separator outside of brackets and strings.
func splitTopLevel(s string, at byte) (out []string) {
	depth, from := 0, 0
	var quote byte
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '(' || c == '[':
			depth++
		case c == ')' || c == ']':
			depth--
		case c == at && depth <= 0:
			out = append(out, s[from:i])
			from = i + 1
		}
	}
	return append(out, s[from:])
}
