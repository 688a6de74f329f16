package page

import (
	"bytes"
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Kind is what a resource is for; it decides what a browser says it accepts.
type Kind uint8

// Kinds.
const (
	Other Kind = iota
	Image
	Style
	Script
	Frame
	Icon
	Font
	Media
)

// Resource is something a browser requests.
type Resource struct {
	URL   *url.URL
	Kind  Kind
	Media string // of a stylesheet: what it is for, "": everything
}

// Viewport is the window, in CSS pixels.
type Viewport struct{ Width, Height float64 }

// Desktop is the window where none is given: that of a laptop.
var Desktop = Viewport{1280, 720}

// Document is a page that was parsed. It is not changed afterwards, and safe for several goroutines.
type Document struct {
	Root *html.Node
	URL  *url.URL // where it was got
	base *url.URL
	view Viewport
	text string // what its fonts must show
}

// Parse reads a page as a browser does, which takes anything.
func Parse(body []byte, at *url.URL, view Viewport) (*Document, error) {
	root, err := html.Parse(bytes.NewReader(body)) // as with scripts: what is in noscript is text
	if err != nil {
		return nil, err
	}
	d := &Document{Root: root, URL: at, base: at, view: view}
	var text strings.Builder
	based := false
	for n := range root.Descendants() {
		switch {
		case n.Type == html.TextNode && text.Len() < 64<<10:
			text.WriteString(n.Data)
		case n.DataAtom == atom.Base && !based:
			if href, ok := findAttribute(n, "href"); ok {
				if u, err := at.Parse(strings.TrimSpace(href)); err == nil {
					d.base, based = u, true
				}
			}
		}
	}
	d.text = text.String()
	return d, nil
}

// Resolve makes a URL of the page absolute; nil for what is not fetched over HTTP.
func (d *Document) Resolve(ref string) *url.URL { return resolveURL(d.base, ref) }

func resolveURL(base *url.URL, ref string) *url.URL {
	ref = strings.Map(func(r rune) rune { // https://url.spec.whatwg.org/#concept-basic-url-parser
		if r == '\n' || r == '\r' || r == '\t' {
			return -1
		}
		return r
	}, strings.TrimSpace(ref))
	u, err := base.Parse(strings.ReplaceAll(ref, " ", "%20"))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil
	}
	if u.Path == "" {
		u.Path = "/"
	}
	u.Fragment, u.RawFragment = "", ""
	return u
}

// Visit is one time the page is looked at: it knows what was requested for it already.
type Visit struct {
	doc   *Document
	seen  map[string]bool
	faces []face
	used  map[string]bool // families of fonts that rules name which match
	depth int             // of frames that are written in one another
}

const deepestWritten = 4

// Visit begins one.
func (d *Document) Visit() *Visit {
	v := &Visit{doc: d, seen: map[string]bool{}, used: map[string]bool{}}
	v.seen[withoutFragment(d.URL)] = true
	return v
}

func withoutFragment(u *url.URL) string {
	c := *u
	c.Fragment, c.RawFragment = "", ""
	return c.String()
}

// Resources are what the page's HTML has requested, in its order, the icon last.
func (v *Visit) Resources() []Resource {
	var out []Resource
	v.walkNode(v.doc.Root, &out)
	if icon := v.chooseIcon(); icon != nil {
		out = v.addResource(out, icon, Icon)
	}
	return out
}

// Sheet is what a stylesheet has requested that was got from a URL, for a resource; the page's own
// style elements are in Resources.
func (v *Visit) Sheet(s *Sheet, at *url.URL, of Resource) []Resource {
	return v.applySheet(nil, s, at, of.Media)
}

func (v *Visit) addResource(out []Resource, u *url.URL, kind Kind) []Resource {
	if u == nil {
		return out
	}
	key := u.String()
	if v.seen[key] {
		return out
	}
	v.seen[key] = true
	return append(out, Resource{URL: u, Kind: kind})
}

// addSheet adds a stylesheet that is for some media.
func (v *Visit) addSheet(out []Resource, u *url.URL, media string) []Resource {
	before := len(out)
	if out = v.addResource(out, u, Style); len(out) > before {
		out[before].Media = media
	}
	return out
}

// addSrcdoc adds what a frame requests whose document is written in the page.
func (v *Visit) addSrcdoc(text string, out *[]Resource) {
	if v.depth >= deepestWritten {
		return
	}
	doc, err := Parse([]byte(text), v.doc.base, v.doc.view)
	if err != nil {
		return
	}
	inner := doc.Visit()
	inner.seen, inner.depth = v.seen, v.depth+1
	inner.walkNode(doc.Root, out)
}

func (v *Visit) walkNode(n *html.Node, out *[]Resource) {
	if n.Type == html.ElementNode {
		v.addElement(n, out)
		if n.DataAtom == atom.Template { // inert until a script uses it
			return
		}
	}
	for c := range n.ChildNodes() {
		v.walkNode(c, out)
	}
}

// addElement adds what one element requests.
func (v *Visit) addElement(n *html.Node, out *[]Resource) {
	get := func(name string, kind Kind) {
		if ref, ok := findAttribute(n, name); ok && strings.TrimSpace(ref) != "" {
			*out = v.addResource(*out, v.doc.Resolve(ref), kind)
		}
	}
	switch n.DataAtom {
	case atom.Img:
		if ref := v.doc.chooseSource(n); ref != "" {
			*out = v.addResource(*out, v.doc.Resolve(ref), Image)
		}
	case atom.Input:
		if kind, _ := findAttribute(n, "type"); strings.EqualFold(kind, "image") {
			get("src", Image)
		}
	case atom.Body, atom.Table, atom.Td, atom.Th:
		get("background", Image)
	case atom.Video:
		get("poster", Image)
		v.addMedia(n, out)
	case atom.Audio:
		v.addMedia(n, out)
	case atom.Embed:
		get("src", Other)
	case atom.Object:
		get("data", Other)
	case atom.Iframe:
		if written, ok := findAttribute(n, "srcdoc"); ok {
			v.addSrcdoc(written, out)
		} else {
			get("src", Frame)
		}
	case atom.Frame:
		get("src", Frame)
	case atom.Script:
		if isFetched(n) {
			get("src", Script)
		}
	case atom.Style:
		if n.FirstChild != nil && cssType(n) && n.Namespace == "" {
			media, _ := findAttribute(n, "media")
			*out = v.applySheet(*out, ParseSheet([]byte(n.FirstChild.Data)), v.doc.base, media)
		}
	case atom.Link:
		v.addLink(n, out)
	case atom.Image: // of SVG: in HTML the parser makes it an img
		get("href", Image)
	default:
		switch n.Data {
		case "use", "feImage", "feimage":
			if href, _ := findAttribute(n, "href"); !strings.HasPrefix(href, "#") {
				get("href", Image)
			}
		}
	}
	if style, ok := findAttribute(n, "style"); ok && strings.Contains(style, "(") {
		for _, ref := range parseDeclarations(style).refs {
			*out = v.addResource(*out, resolveURL(v.doc.base, ref), Image)
		}
	}
}

// addMedia adds the file of a video or audio: its source, or the first that can be played. The
// beginning of it is fetched unless the element says preload=none.
func (v *Visit) addMedia(n *html.Node, out *[]Resource) {
	if preload, _ := findAttribute(n, "preload"); strings.EqualFold(preload, "none") {
		return
	}
	ref, ok := findAttribute(n, "src")
	for c := range n.ChildNodes() {
		if ok {
			break
		}
		if c.DataAtom == atom.Source {
			ref, ok = findAttribute(c, "src")
		}
	}
	if ok {
		*out = v.addResource(*out, v.doc.Resolve(ref), Media)
	}
}

func linkRelations(n *html.Node) []string {
	rel, _ := findAttribute(n, "rel")
	return strings.Fields(strings.ToLower(rel))
}

// cssType says whether a link or style is CSS.
func cssType(n *html.Node) bool {
	kind, _ := findAttribute(n, "type")
	kind, _, _ = strings.Cut(kind, ";")
	kind = strings.TrimSpace(kind)
	return kind == "" || strings.EqualFold(kind, "text/css")
}

// isFetched reports whether a script is fetched: one of a type that is run, and not for browsers
// without modules
// (https://html.spec.whatwg.org/multipage/scripting.html#prepare-the-script-element).
func isFetched(n *html.Node) bool {
	kind, _ := findAttribute(n, "type")
	kind = strings.ToLower(strings.TrimSpace(kind))
	if _, old := findAttribute(n, "nomodule"); old && kind != "module" {
		return false
	}
	switch kind {
	case "", "module", "text/javascript", "application/javascript", "application/x-javascript", "text/ecmascript",
		"application/ecmascript", "text/jscript", "text/livescript", "text/x-javascript", "text/x-ecmascript":
		return true
	}
	return false
}

// findAttribute returns an attribute of an element, in any namespace (xlink:href).
func findAttribute(n *html.Node, name string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val, true
		}
	}
	return "", false
}
