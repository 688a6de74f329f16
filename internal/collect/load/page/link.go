package page

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// addLink adds what a link element requests, by
// https://html.spec.whatwg.org/multipage/links.html#linkTypes.
func (v *Visit) addLink(n *html.Node, out *[]Resource) {
	href, _ := findAttribute(n, "href")
	u := v.doc.Resolve(href)
	if strings.TrimSpace(href) == "" || u == nil {
		return
	}
	rel := linkRelations(n)
	has := func(r string) bool { return slices.Contains(rel, r) }
	_, disabled := findAttribute(n, "disabled")
	switch {
	case has("stylesheet"):
		if cssType(n) && !disabled {
			media, _ := findAttribute(n, "media")
			*out = v.addSheet(*out, u, media)
		}
	case has("preload"):
		as, _ := findAttribute(n, "as")
		if media, ok := findAttribute(n, "media"); ok && !Matches(media, v.doc.view) {
			return
		}
		if set, ok := findAttribute(n, "imagesrcset"); ok && strings.EqualFold(as, "image") {
			sizes, _ := findAttribute(n, "imagesizes")
			if best := pickCandidate(set, href, sizes, v.doc.view); best != "" {
				u = v.doc.Resolve(best)
			}
		}
		if kind, ok := preloads[strings.ToLower(as)]; ok {
			*out = v.addResource(*out, u, kind)
		}
	case has("modulepreload"):
		*out = v.addResource(*out, u, Script)
	case has("prefetch"):
		*out = v.addResource(*out, u, Other)
	}
}

// preloads are the destinations that are fetched (https://fetch.spec.whatwg.org/#concept-potential-destination),
// as far as Chromium does.
var preloads = map[string]Kind{"font": Font, "image": Image, "script": Script, "style": Style, "track": Other, "fetch": Other}

// Preload is a Link header's request, such as "</a.css>; rel=preload; as=style".
func (v *Visit) Preload(header []string) (out []Resource) {
	for _, line := range header {
		for item := range strings.SplitSeq(line, ",") {
			ref, rest, ok := strings.Cut(strings.TrimSpace(item), ">")
			if !ok || !strings.HasPrefix(ref, "<") {
				continue
			}
			var rel, as string
			for p := range strings.SplitSeq(rest, ";") {
				name, value, _ := strings.Cut(strings.TrimSpace(p), "=")
				switch strings.ToLower(name) {
				case "rel":
					rel = strings.ToLower(strings.Trim(value, `"`))
				case "as":
					as = strings.ToLower(strings.Trim(value, `"`))
				}
			}
			if kind, ok := preloads[as]; ok && rel == "preload" {
				out = v.addResource(out, resolveURL(v.doc.URL, ref[1:]), kind)
			}
		}
	}
	return out
}

// chooseIcon returns the icon that the tab shows: of those the page names the one nearest to 16
// pixels, else /favicon.ico.
func (v *Visit) chooseIcon() *url.URL {
	var best *url.URL
	least := 1 << 30
	for n := range v.doc.Root.Descendants() {
		if n.DataAtom != atom.Link || !slices.Contains(linkRelations(n), "icon") {
			continue
		}
		href, _ := findAttribute(n, "href")
		u := v.doc.Resolve(href)
		if strings.TrimSpace(href) == "" || u == nil {
			if best == nil && strings.HasPrefix(strings.TrimSpace(href), "data:") {
				return nil
			}
			continue
		}
		far := 1000 // no size is said
		sizes, _ := findAttribute(n, "sizes")
		for s := range strings.FieldsSeq(strings.ToLower(sizes)) {
			w, _, _ := strings.Cut(s, "x")
			if px, err := strconv.Atoi(w); err == nil {
				if d := px - 16; d >= 0 {
					far = min(far, d)
				} else {
					far = min(far, -10*d)
				}
			}
		}
		if far <= least {
			best, least = u, far
		}
	}
	if best == nil {
		best = resolveURL(v.doc.URL, "/favicon.ico")
	}
	return best
}
