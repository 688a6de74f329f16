package journey

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/unstall/unstall/internal/collect/load/page"
)

// checkAnswer returns which check of an answer failed, "" if none did.
func (s *Step) checkAnswer(a answer, doc *page.Document, took time.Duration, v *values) string {
	c := &s.checks
	good := len(c.status) == 0 && a.status >= 200 && a.status < 400
	for _, r := range c.status {
		good = good || a.status >= r.from && a.status <= r.to
	}
	if !good {
		return fmt.Sprintf("status %d", a.status)
	}
	if c.below > 0 && took > c.below {
		return fmt.Sprintf("it took longer than %s", c.below)
	}
	if len(c.contains)+len(c.lacks)+len(c.selects)+len(c.json) == 0 {
		return ""
	}
	body := string(a.body)
	for _, t := range c.contains {
		if text := v.fillTemplate(t); !strings.Contains(body, text) {
			return fmt.Sprintf("the answer does not contain %s", t.formatSource())
		}
	}
	for _, t := range c.lacks {
		if text := v.fillTemplate(t); strings.Contains(body, text) {
			return fmt.Sprintf("the answer contains %s", t.formatSource())
		}
	}
	for _, sel := range c.selects {
		if doc == nil || cascadia.Query(doc.Root, sel.sel) == nil {
			return fmt.Sprintf("selector %s matches nothing", sel.text)
		}
	}
	for _, p := range c.json {
		found, err := p.findValues(a.body)
		if err != nil {
			return err.Error()
		}
		if len(found) == 0 {
			return fmt.Sprintf("%s is not in the answer", p.text)
		}
	}
	return ""
}

// formatSource returns the source text of a template, quoted.
func (t template) formatSource() string {
	var b strings.Builder
	for _, p := range t {
		if p.name {
			b.WriteString("${" + p.text + "}")
		} else {
			b.WriteString(p.text)
		}
	}
	return fmt.Sprintf("%q", b.String())
}

// takeValues sets the values that a step takes from the answer; it returns what is missing, "" if
// nothing is.
func (s *Step) takeValues(a answer, doc *page.Document, jar http.CookieJar, v *values) string {
	for i := range s.take {
		t := &s.take[i]
		found, missing := t.findValues(a, doc, jar)
		switch {
		case len(found) > 0:
			one := found[0]
			if t.random {
				one = found[v.random.IntN(len(found))]
			}
			v.setValue(t.name, one)
		case t.fallback != nil:
			v.setValue(t.name, *t.fallback)
		default:
			return fmt.Sprintf("%s: %s", t.name, missing)
		}
	}
	return ""
}

// findValues returns the values in the answer to choose from, or what is missing.
func (t *take) findValues(a answer, doc *page.Document, jar http.CookieJar) (found []string, missing string) {
	switch {
	case t.sel != nil:
		if doc == nil {
			return nil, "the answer is not HTML"
		}
		nodes := cascadia.QueryAll(doc.Root, t.sel.sel)
		if len(nodes) == 0 {
			return nil, "selector " + t.sel.text + " matches nothing"
		}
		for _, n := range nodes {
			if t.attr == "" {
				found = append(found, strings.TrimSpace(textOf(n)))
				continue
			}
			if value, ok := findAttribute(n, t.attr); ok {
				found = append(found, value)
			}
		}
		return found, "what selector " + t.sel.text + " matches has no " + t.attr
	case t.json != nil:
		found, err := t.json.findValues(a.body)
		if err != nil {
			return nil, err.Error()
		}
		return found, t.json.text + " is not in the answer"
	case t.regexp != nil:
		for _, m := range t.regexp.FindAllSubmatch(a.body, 1000) {
			found = append(found, string(m[min(1, len(m)-1)]))
		}
		return found, "regexp " + t.regexp.String() + " matches nothing"
	case t.header != "":
		return a.header.Values(t.header), "the answer has no header " + t.header
	}
	for _, c := range jar.Cookies(a.url) {
		if c.Name == t.cookie {
			found = append(found, c.Value)
		}
	}
	return found, "there is no cookie " + t.cookie
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

func findAttribute(n *html.Node, name string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == name && a.Namespace == "" {
			return a.Val, true
		}
	}
	return "", false
}

// chooseLink returns the URL of a step that follows a link of the page, or what is missing.
func (s *Step) chooseLink(doc *page.Document, sel cascadia.SelectorGroup, text string, random *rand.Rand) (*url.URL, string) {
	var to []*url.URL
	for _, n := range cascadia.QueryAll(doc.Root, sel) {
		if href, ok := findAttribute(n, "href"); ok {
			if u := doc.Resolve(href); u != nil {
				to = append(to, u)
			}
		}
	}
	if len(to) == 0 {
		return nil, "follow: selector " + text + " matches no link"
	}
	if s.choose == "random" {
		return to[random.IntN(len(to))], ""
	}
	return to[0], ""
}

// fillForm returns a filled-in form of the page: its own fields, with those of the step added or replaced
// (https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#form-submission-algorithm).
func (s *Step) fillForm(doc *page.Document, sel cascadia.SelectorGroup, text string, v *values) (method string, to *url.URL, data []pair, missing string) {
	form := cascadia.Query(doc.Root, sel)
	for form != nil && form.DataAtom != atom.Form { // a button in it will do, too
		form = form.Parent
	}
	if form == nil {
		return "", nil, nil, "submit: selector " + text + " matches no form"
	}
	to = doc.URL
	if action, ok := findAttribute(form, "action"); ok && strings.TrimSpace(action) != "" {
		to = doc.Resolve(action)
	}
	if to == nil {
		return "", nil, nil, "submit: the form's action is no http URL"
	}
	said := map[string]bool{}
	for _, f := range s.form {
		said[f.name] = true
	}
	button := false
	for n := range form.Descendants() {
		name, _ := findAttribute(n, "name")
		if _, off := findAttribute(n, "disabled"); off || name == "" || said[name] {
			continue
		}
		value, has := findAttribute(n, "value")
		kind, _ := findAttribute(n, "type")
		switch n.DataAtom {
		case atom.Input:
			switch strings.ToLower(kind) {
			case "checkbox", "radio":
				if _, on := findAttribute(n, "checked"); !on {
					continue
				}
				if !has {
					value = "on"
				}
			case "submit":
				if button {
					continue
				}
				button = true
			case "button", "reset", "image", "file":
				continue
			}
			data = append(data, pair{name, value})
		case atom.Button:
			if strings.EqualFold(kind, "submit") || kind == "" {
				if !button {
					data = append(data, pair{name, value})
				}
				button = true
			}
		case atom.Textarea:
			data = append(data, pair{name, strings.TrimPrefix(textOf(n), "\n")})
		case atom.Select:
			if value, ok := selectedOption(n); ok {
				data = append(data, pair{name, value})
			}
		}
	}
	for _, f := range s.form {
		data = append(data, pair{f.name, v.fillTemplate(f.value)})
	}
	method, _ = findAttribute(form, "method")
	if strings.EqualFold(method, "post") {
		return http.MethodPost, to, data, ""
	}
	return http.MethodGet, to, data, ""
}

// selectedOption returns the value of the option that is selected, else of the first.
func selectedOption(n *html.Node) (value string, ok bool) {
	for o := range n.Descendants() {
		if o.DataAtom != atom.Option {
			continue
		}
		_, chosen := findAttribute(o, "selected")
		if ok && !chosen {
			continue
		}
		text, has := findAttribute(o, "value")
		if !has {
			text = strings.TrimSpace(textOf(o))
		}
		value, ok = text, true
		if chosen {
			return value, true
		}
	}
	return value, ok
}

type pair struct{ name, value string }

// encodeForm encodes a form as application/x-www-form-urlencoded, in its order.
func encodeForm(data []pair) string {
	var b strings.Builder
	for i, p := range data {
		if i > 0 {
			b.WriteByte('&')
		}
		b.WriteString(url.QueryEscape(p.name) + "=" + url.QueryEscape(p.value))
	}
	return b.String()
}
