package template

import (
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"strings"
	"text/template/parse"
)

// place is where in a document something stands.
type place struct {
	kind  kind
	quote byte   // of an attribute's value; 0: it has none yet
	name  string // of the attribute, in lower case
	query bool   // of an address: behind ? or #
	begun bool   // of an address: something stands before
	tag   string // the element that is being opened
}

type kind int

const (
	text   kind = iota
	tag         // inside <…>, between attributes
	value       // of an attribute
	script      // in a script or style, which ends with its own tag only
	style
)

// place finds out where the actions of a template stand. A template begins and ends in the text.
func (s *Set) place(name string, tree *parse.Tree) error {
	end, err := s.list(tree.Root, place{})
	if err == nil && end != (place{}) {
		err = errors.New("it ends inside a tag")
	}
	if err != nil {
		return fmt.Errorf("template %s: %w", name, err)
	}
	return nil
}

func (s *Set) list(l *parse.ListNode, at place) (place, error) {
	if l == nil {
		return at, nil
	}
	for _, n := range l.Nodes {
		var err error
		switch n := n.(type) {
		case *parse.TextNode:
			at, err = at.after(string(n.Text))
		case *parse.ActionNode:
			if len(n.Pipe.Decl) == 0 {
				s.where[n] = at
				err = at.allowed()
				at.begun = at.kind == value
			}
		case *parse.IfNode:
			at, err = s.branches(&n.BranchNode, at)
		case *parse.WithNode:
			at, err = s.branches(&n.BranchNode, at)
		case *parse.RangeNode:
			at, err = s.branches(&n.BranchNode, at)
		case *parse.TemplateNode:
			if s.trees[n.Name] == nil {
				err = fmt.Errorf("there is no template %s", n.Name)
			} else if at != (place{}) {
				err = fmt.Errorf("%s stands inside a tag", n)
			}
		}
		if err != nil {
			return at, err
		}
	}
	return at, nil
}

// branches must lead to the same place.
func (s *Set) branches(n *parse.BranchNode, at place) (place, error) {
	one, err := s.list(n.List, at)
	if err != nil {
		return one, err
	}
	other, err := s.list(n.ElseList, at)
	if err != nil {
		return other, err
	}
	one.begun, one.query = one.begun || other.begun, one.query || other.query
	other.begun, other.query = one.begun, one.query
	if one != other {
		return one, fmt.Errorf("its branches end at different places: %s", n.Pipe)
	}
	return one, nil
}

// after is where something stands after more of the document.
func (p place) after(s string) (place, error) {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch p.kind {
		case text:
			if c == '<' && i+1 < len(s) && s[i+1] != '!' {
				end := i + 1
				for end < len(s) && !strings.ContainsRune(" \t\n/>", rune(s[end])) || end == i+1 && end < len(s) && s[end] == '/' {
					end++
				}
				p, i = place{kind: tag, tag: strings.ToLower(s[i+1 : end])}, end-1
			}
		case tag:
			switch {
			case c == '>' && (p.tag == "script" || p.tag == "style"):
				p = place{kind: map[string]kind{"script": script, "style": style}[p.tag]}
			case c == '>':
				p = place{}
			case strings.IndexByte(" \t\n/", c) >= 0:
				p.name = ""
			case c == '=':
				if i+1 == len(s) || s[i+1] != '"' && s[i+1] != '\'' {
					return p, fmt.Errorf("the value of %s has no quotes", p.name)
				}
				i++
				p.kind, p.quote, p.begun, p.query = value, s[i], false, false
			default:
				p.name += strings.ToLower(string(c))
			}
		case value:
			if c == p.quote {
				p = place{kind: tag, tag: p.tag}
				continue
			}
			p.begun = true
			p.query = p.query || c == '?' || c == '#'
		case script, style:
			if c == '<' && i+1 < len(s) && s[i+1] == '/' {
				p = place{}
				i--
			}
		}
	}
	if p.kind == tag {
		p.name = ""
	}
	return p, nil
}

// allowed refuses places for which nothing here can escape.
func (p place) allowed() error {
	switch {
	case p.kind == tag:
		return fmt.Errorf("an action makes an attribute of %s", p.tag)
	case p.kind == value && (p.name == "style" || p.name == "srcdoc" || strings.HasPrefix(p.name, "on")):
		return fmt.Errorf("an action stands in %s", p.name)
	}
	return nil
}

// escape is a value as text for its place.
func (p place) escape(v reflect.Value) (string, error) {
	v = indirect(v)
	if !v.IsValid() {
		return "", nil
	}
	s := fmt.Sprint(v.Interface())
	switch x := v.Interface().(type) {
	case HTML:
		if p.kind == text {
			return string(x), nil
		}
	case CSS:
		if p.kind == style {
			return string(x), nil
		}
	case JS:
		if p.kind == script {
			return string(x), nil
		}
	}
	switch {
	case p.kind == script || p.kind == style:
		return "", errors.New("what stands in a script or a style must be meant for it")
	case p.kind == value && (p.name == "href" || p.name == "src" || p.name == "action" || p.name == "formaction"):
		return plain.Replace(p.address(s)), nil
	}
	return plain.Replace(s), nil
}

// plain also hides +, so that no browser takes what follows for another charset.
var plain = strings.NewReplacer("\x00", "\ufffd", `"`, "&#34;", "'", "&#39;", "&", "&amp;", "<", "&lt;", ">", "&gt;", "+", "&#43;")

// address is a part of one, which cannot become another part than it stands in.
func (p place) address(s string) string {
	switch {
	case p.query:
		return strings.ReplaceAll(url.QueryEscape(s), "+", "%20")
	case p.begun:
		parts := strings.Split(s, "/")
		for i, part := range parts {
			parts[i] = url.PathEscape(part)
		}
		return strings.Join(parts, "/")
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "" && u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "mailto" {
		return "#refused"
	}
	return u.String()
}
