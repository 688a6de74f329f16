package journey

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// template is text with ${names} in it.
type template []part

type part struct {
	text     string // as it is, or the name
	name     bool
	fallback *string // ${name:-this}
}

var nameOf = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.]*$`)

func (r *reader) parseTemplate(text string, line int) (t template, err error) {
	for {
		i := strings.IndexByte(text, '$')
		if i < 0 || i+1 == len(text) {
			return t.appendText(text), nil
		}
		switch {
		case text[i+1] == '$': // an escaped one
			t, text = t.appendText(text[:i+1]), text[i+2:]
		case text[i+1] == '{':
			end := strings.IndexByte(text[i:], '}')
			if end < 0 {
				return nil, r.errAt(line, "%q: a ${ without its }", text)
			}
			p := part{text: text[i+2 : i+end], name: true}
			if name, otherwise, ok := strings.Cut(p.text, ":-"); ok {
				p.text, p.fallback = name, &otherwise
			}
			if !nameOf.MatchString(p.text) {
				return nil, r.errAt(line, "%q is no name: give ${name}, or $$ for a dollar sign", p.text)
			}
			t = append(t.appendText(text[:i]), p)
			text = text[i+end+1:]
		default:
			t, text = t.appendText(text[:i+1]), text[i+1:]
		}
	}
}

func (t template) appendText(text string) template {
	if text == "" {
		return t
	}
	return append(t, part{text: text})
}

func (t template) usedNames() (out []string) {
	for _, p := range t {
		if p.name {
			out = append(out, p.text)
		}
	}
	return out
}

// variable is a value with a name, given in the file or from outside.
type variable struct {
	name   string
	text   template
	pick   []string // one of these for each user
	random bool     // a whole number of low to high for each user
	low    int64
	high   int64
	line   int
}

// isConstant reports whether the value is the same for all users.
func (v *variable) isConstant() bool { return len(v.pick) == 0 && !v.random }

// ownNames are values that every user has although the journey does not set them.
var ownNames = []string{"user"}

// environment is what names of the environment begin with in a template: ${env.BASE_URL}.
const environment = "env."

// readVars reads the names under vars; set are values from outside, which come first.
func (r *reader) readVars(n *yaml.Node, set map[string]string) error {
	err := r.eachPair(n, "vars", func(name string, k, v *yaml.Node) error {
		switch {
		case !nameOf.MatchString(name) || strings.Contains(name, "."):
			return r.errAt(k.Line, "vars: %q is no name: give letters and digits", name)
		case slices.Contains(ownNames, name):
			return r.errAt(k.Line, "vars: %q is there already: the number of the user", name)
		}
		x := &variable{name: name, line: k.Line}
		r.script.vars[name] = x
		if text, ok := set[name]; ok {
			x.text = template{{text: text}}
			return nil
		}
		return r.readVariable(x, v)
	})
	if err != nil {
		return err
	}
	return nil
}

func (r *reader) readVariable(x *variable, v *yaml.Node) (err error) {
	if n := r.resolveAlias(v); n.Kind == yaml.SequenceNode {
		return r.readPick(x, v)
	} else if n.Kind == yaml.MappingNode {
		return r.readMapping(v, "vars: "+x.name, keys{
			"pick": func(n *yaml.Node) error { return r.readPick(x, n) },
			"random": func(n *yaml.Node) error {
				text, err := r.readScalar(n, "random")
				if err != nil {
					return err
				}
				low, high, _ := strings.Cut(text, "..")
				var err1, err2 error
				x.low, err1 = strconv.ParseInt(low, 10, 64)
				x.high, err2 = strconv.ParseInt(high, 10, 64)
				if err1 != nil || err2 != nil || x.high < x.low || x.high-x.low < 0 {
					return r.errAt(n.Line, "random: %q: give two whole numbers such as 1..1000", text)
				}
				x.random = true
				return nil
			},
		})
	}
	text, err := r.readScalar(v, "vars: "+x.name)
	if err == nil {
		x.text, err = r.parseTemplate(text, v.Line)
	}
	return err
}

func (r *reader) readPick(x *variable, n *yaml.Node) error {
	return r.eachItem(n, func(n *yaml.Node) error {
		text, err := r.readScalar(n, "vars: "+x.name)
		x.pick = append(x.pick, text)
		return err
	})
}

// acyclicVars refuses values that refer to themselves, and names that are not there.
func (r *reader) acyclicVars() error {
	done := map[string]bool{}
	var visit func(name string, path []string) error
	visit = func(name string, path []string) error {
		v := r.script.vars[name]
		if v == nil || done[name] {
			return nil
		}
		if i := slices.Index(path, name); i >= 0 {
			return r.errAt(v.line, "vars: %s refers to itself: %s", name, strings.Join(append(path[i:], name), " → "))
		}
		path = append(path, name)
		for _, p := range v.text {
			if !p.name {
				continue
			}
			if err := r.checkName(p, nil, v.line); err != nil {
				return err
			}
			if err := visit(p.text, path); err != nil {
				return err
			}
		}
		done[name] = true
		return nil
	}
	names := make([]string, 0, len(r.script.vars))
	for name := range r.script.vars {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(r.script.vars[a].line, r.script.vars[b].line), cmp.Compare(a, b))
	})
	for _, name := range names {
		if err := visit(name, nil); err != nil {
			return err
		}
	}
	return nil
}

// checkName returns an error if a name has no value, given those taken so far.
func (r *reader) checkName(p part, taken map[string]bool, line int) error {
	if p.fallback != nil || taken[p.text] || r.script.vars[p.text] != nil || slices.Contains(ownNames, p.text) {
		return nil
	}
	if name, ok := strings.CutPrefix(p.text, environment); ok {
		if _, set := os.LookupEnv(name); set {
			return nil
		}
		return r.errAt(line, "${%s}: %s is not set in the environment: set it, or give ${%s:-a default}", p.text, name, p.text)
	}
	names := slices.Clone(ownNames)
	for name := range r.script.vars {
		names = append(names, name)
	}
	for name := range taken {
		names = append(names, name)
	}
	return r.errAt(line, "${%s}: nothing has that name here%s", p.text, suggestName(p.text, names))
}

// fillConstant fills in a template that is the same for all users.
func (r *reader) fillConstant(t template, line int, what string) (string, error) {
	var b strings.Builder
	for _, p := range t {
		if !p.name {
			b.WriteString(p.text)
			continue
		}
		if err := r.checkName(p, nil, line); err != nil {
			return "", err
		}
		if v := r.script.vars[p.text]; v != nil {
			if !v.isConstant() {
				return "", r.errAt(line, "%s: ${%s} differs from user to user: this is the same for all", what, p.text)
			}
			text, err := r.fillConstant(v.text, v.line, what)
			if err != nil {
				return "", err
			}
			b.WriteString(text)
			continue
		}
		if name, ok := strings.CutPrefix(p.text, environment); ok {
			if text, set := os.LookupEnv(name); set {
				b.WriteString(text)
				continue
			}
		}
		if p.fallback == nil {
			return "", r.errAt(line, "%s: ${%s} differs from user to user: this is the same for all", what, p.text)
		}
		b.WriteString(*p.fallback)
	}
	return b.String(), nil
}

// values are what a user's names stand for.
type values struct {
	script *Script
	user   uint64
	random *rand.Rand
	known  map[string]string
}

func (v *values) fillTemplate(t template) string {
	if len(t) == 1 && !t[0].name {
		return t[0].text
	}
	var b strings.Builder
	for _, p := range t {
		if p.name {
			b.WriteString(v.valueOf(p))
		} else {
			b.WriteString(p.text)
		}
	}
	return b.String()
}

func (v *values) valueOf(p part) string {
	if text, ok := v.known[p.text]; ok {
		return text
	}
	text := ""
	switch x := v.script.vars[p.text]; {
	case p.text == "user":
		return strconv.FormatUint(v.user, 10)
	case x != nil && x.random:
		text = strconv.FormatInt(x.low+v.random.Int64N(x.high-x.low+1), 10)
	case x != nil && len(x.pick) > 0:
		text = x.pick[v.random.IntN(len(x.pick))]
	case x != nil:
		text = v.fillTemplate(x.text)
	case strings.HasPrefix(p.text, environment):
		if env, ok := os.LookupEnv(strings.TrimPrefix(p.text, environment)); ok {
			return env
		}
		fallthrough
	default:
		if p.fallback != nil {
			return *p.fallback
		}
		return ""
	}
	v.setValue(p.text, text)
	return text
}

func (v *values) setValue(name, text string) {
	if v.known == nil {
		v.known = map[string]string{}
	}
	v.known[name] = text
}

// checkOutside returns an error for a value from outside whose name the file does not have.
func (r *reader) checkOutside(set map[string]string) error {
	for name := range set {
		if r.script.vars[name] == nil {
			names := make([]string, 0, len(r.script.vars))
			for v := range r.script.vars {
				names = append(names, v)
			}
			return fmt.Errorf("--var %s: %s has no such name under vars%s", name, r.name, suggestName(name, names))
		}
	}
	return nil
}
