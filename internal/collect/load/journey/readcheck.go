package journey

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/andybalholm/cascadia"
	"go.yaml.in/yaml/v3"
)

// readCheck reads 200, and the mapping with all checks there are.
func (r *reader) readCheck(to *checks, n *yaml.Node) error {
	if x := r.resolveAlias(n); x.Kind != yaml.MappingNode {
		return r.readStatuses(to, n)
	}
	templates := func(to *[]template, what string) func(*yaml.Node) error {
		return func(n *yaml.Node) error {
			return r.eachItem(n, func(n *yaml.Node) error {
				text, err := r.readScalar(n, what)
				if err != nil {
					return err
				}
				t, err := r.parseTemplate(text, n.Line)
				*to = append(*to, t)
				return err
			})
		}
	}
	return r.readMapping(n, "check", keys{
		"status":   func(n *yaml.Node) error { return r.readStatuses(to, n) },
		"contains": templates(&to.contains, "contains"),
		"lacks":    templates(&to.lacks, "lacks"),
		"selector": func(n *yaml.Node) error {
			return r.eachItem(n, func(n *yaml.Node) error {
				sel, err := r.readSelector(n)
				if err == nil {
					to.selects = append(to.selects, *sel)
				}
				return err
			})
		},
		"json": func(n *yaml.Node) error {
			return r.eachItem(n, func(n *yaml.Node) error {
				p, err := r.readJSONPath(n)
				if err == nil {
					to.json = append(to.json, *p)
				}
				return err
			})
		},
		"below": func(n *yaml.Node) (err error) { to.below, err = r.readDuration(n, "below"); return err },
	})
}

func (r *reader) readStatuses(to *checks, n *yaml.Node) error {
	return r.eachItem(n, func(n *yaml.Node) error {
		text, err := r.readConstant(n, "status")
		if err != nil {
			return err
		}
		if class, ok := strings.CutSuffix(text, "xx"); ok && len(class) == 1 && class >= "1" && class <= "5" {
			from := int(class[0]-'0') * 100
			to.status = append(to.status, statusRange{from, from + 99})
			return nil
		}
		code, err := strconv.Atoi(text)
		if err != nil || code < 100 || code > 599 {
			return r.errAt(n.Line, "status: %q: give a status such as 200, or 2xx", text)
		}
		to.status = append(to.status, statusRange{code, code})
		return nil
	})
}

func (r *reader) readSelector(n *yaml.Node) (*selector, error) {
	text, err := r.readScalar(n, "selector")
	if err != nil {
		return nil, err
	}
	sel, err := cascadia.ParseGroup(text)
	if err != nil {
		return nil, r.errAt(n.Line, "selector: %q is no CSS selector: %v", text, err)
	}
	return &selector{text, sel}, nil
}

func (r *reader) readJSONPath(n *yaml.Node) (*jsonPath, error) {
	text, err := r.readScalar(n, "json")
	if err != nil {
		return nil, err
	}
	p, err := parsePath(text)
	if err != nil {
		return nil, r.errAt(n.Line, "json: %q: %v", text, err)
	}
	return p, nil
}

// readTake reads what is taken from the answer.
func (s *stepReader) readTake(step *Step, n *yaml.Node) error {
	r := s.r
	return r.eachPair(n, "take", func(name string, k, v *yaml.Node) error {
		if !nameOf.MatchString(name) || strings.Contains(name, ".") {
			return r.errAt(k.Line, "take: %q is no name: give letters and digits", name)
		}
		t := take{name: name, line: k.Line}
		from := 0
		err := r.readMapping(v, "take "+name, keys{
			"selector":  func(n *yaml.Node) (err error) { from++; t.sel, err = r.readSelector(n); return err },
			"attribute": func(n *yaml.Node) (err error) { t.attr, err = r.readScalar(n, "attribute"); return err },
			"json":      func(n *yaml.Node) (err error) { from++; t.json, err = r.readJSONPath(n); return err },
			"header":    func(n *yaml.Node) (err error) { from++; t.header, err = r.readScalar(n, "header"); return err },
			"cookie":    func(n *yaml.Node) (err error) { from++; t.cookie, err = r.readScalar(n, "cookie"); return err },
			"default": func(n *yaml.Node) error {
				text, err := r.readScalar(n, "default")
				t.fallback = &text
				return err
			},
			"choose": func(n *yaml.Node) error {
				text, err := r.readScalar(n, "choose")
				if err == nil && text != "first" && text != "random" {
					err = r.errAt(n.Line, "choose: %q: give first or random", text)
				}
				t.random = text == "random"
				return err
			},
			"regexp": func(n *yaml.Node) error {
				from++
				text, err := r.readScalar(n, "regexp")
				if err != nil {
					return err
				}
				if t.regexp, err = regexp.Compile(text); err != nil {
					return r.errAt(n.Line, "regexp: %q: %s", text, strings.TrimPrefix(err.Error(), "error parsing regexp: "))
				}
				return nil
			},
		})
		switch {
		case err != nil:
			return err
		case from != 1:
			return r.errAt(k.Line, "take %s: give one of selector, json, regexp, header, cookie", name)
		case t.attr != "" && t.sel == nil:
			return r.errAt(k.Line, "take %s: an attribute is that of a selector's element", name)
		}
		step.take = append(step.take, t)
		s.taken[name] = true
		return nil
	})
}
