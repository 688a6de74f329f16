package journey

import (
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/andybalholm/cascadia"
	"go.yaml.in/yaml/v3"
)

// stepReader reads the steps of one journey.
type stepReader struct {
	r       *reader
	journey *Journey
	base    string
	header  []field
	browser settings
	taken   map[string]bool // names that have a value by now
}

// readSteps reads a list of steps, times over.
func (s *stepReader) readSteps(n *yaml.Node, times int) error {
	from := len(s.journey.Steps)
	if x := s.r.resolveAlias(n); x.Kind != yaml.SequenceNode {
		return s.r.errAt(n.Line, "journey %s: steps are a list: begin each with a hyphen", s.journey.Name)
	}
	err := s.r.eachItem(n, s.readOne)
	once := s.journey.Steps[from:]
	if err == nil && len(once)*times > 100_000 {
		err = s.r.errAt(n.Line, "repeat: these are %d steps: at most 100,000", len(once)*times)
	}
	if err != nil {
		return err
	}
	once = append([]*Step(nil), once...)
	for range times - 1 {
		s.journey.Steps = append(s.journey.Steps, once...)
	}
	return nil
}

func (s *stepReader) readOne(n *yaml.Node) error {
	r := s.r
	if x := r.resolveAlias(n); x.Kind == yaml.MappingNode && len(x.Content) > 0 && hasKey(x, "repeat") {
		times := 0.0
		var steps *yaml.Node
		err := r.readMapping(n, "repeat", keys{
			"repeat": func(n *yaml.Node) (err error) {
				if times, err = r.readNumber(n, "repeat"); err == nil && (times < 1 || times > 10_000) {
					err = r.errAt(n.Line, "repeat: give how often, 1 to 10000")
				}
				return err
			},
			"steps": func(n *yaml.Node) error {
				steps = n
				return nil
			}})
		if err == nil && steps == nil {
			err = r.errAt(n.Line, "repeat: it has no steps")
		}
		if err != nil {
			return err
		}
		return s.readSteps(steps, int(times))
	}
	step := &Step{journey: s.journey, line: n.Line, header: s.header, browser: s.browser, at: r.steps}
	if r.steps++; r.steps > mostSteps {
		return r.errAt(n.Line, "a file has at most %d steps", mostSteps)
	}
	if err := s.readStep(step, n); err != nil {
		return err
	}
	if err := s.finishStep(step); err != nil {
		return err
	}
	if step.by != requests {
		if len(s.journey.Steps) == 0 {
			return r.errAt(step.line, "step %s: no page comes before it", step.Name)
		}
		s.journey.Steps[len(s.journey.Steps)-1].needs = true
	}
	s.journey.Steps = append(s.journey.Steps, step)
	s.journey.Named = append(s.journey.Named, step)
	return nil
}

func hasKey(n *yaml.Node, key string) bool {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return true
		}
	}
	return false
}

// methods of a step's key.
var methods = []string{"get", "post", "put", "patch", "delete", "head", "options"}

func (s *stepReader) readStep(step *Step, n *yaml.Node) error {
	r := s.r
	base := s.base
	verbs := 0
	text := func(to *template, what string) func(*yaml.Node) error {
		return func(n *yaml.Node) error {
			text, err := r.readScalar(n, what)
			if err != nil {
				return err
			}
			*to, err = r.parseTemplate(text, n.Line)
			return err
		}
	}
	line := 0
	known := r.settingKeys(&step.browser)
	maps.Copy(known, keys{
		"name": func(n *yaml.Node) (err error) {
			if step.Name, err = r.readConstant(n, "name"); err == nil && !isName(step.Name) {
				err = r.errAt(n.Line, "name: %q: a name is 1 to 100 letters on one line", step.Name)
			}
			return err
		},
		"base": r.readBase(&base, &line),
		"headers": func(n *yaml.Node) error {
			more, err := r.readFields(n, "headers")
			step.header = overrideFields(step.header, more)
			return err
		},
		"body": text(&step.body, "body"),
		"form": func(n *yaml.Node) (err error) {
			step.isForm = true
			step.form, err = r.readFields(n, "form")
			return err
		},
		"think": func(n *yaml.Node) error { return r.readThink(&step.think, n) },
		"check": func(n *yaml.Node) error { return r.readCheck(&step.checks, n) },
		"take":  func(n *yaml.Node) error { return s.readTake(step, n) },
		"choose": func(n *yaml.Node) (err error) {
			if step.choose, err = r.readConstant(n, "choose"); err == nil && step.choose != "first" && step.choose != "random" {
				err = r.errAt(n.Line, "choose: %q: give first or random", step.choose)
			}
			return err
		},
		"continue": r.readBoolean(&step.goOn, "continue"),
	})
	for _, m := range methods {
		known[m] = func(n *yaml.Node) error {
			verbs++
			step.method = strings.ToUpper(m)
			return text(&step.target, m)(n)
		}
	}
	for name, by := range map[string]verb{"follow": follows, "submit": submits} {
		known[name] = func(n *yaml.Node) error {
			verbs++
			step.by, step.method = by, http.MethodGet
			return text(&step.target, name)(n)
		}
	}
	if err := r.readMapping(n, "a step", known); err != nil {
		return err
	}
	step.base = template{{text: base}}
	if verbs != 1 {
		return r.errAt(n.Line, "a step makes one request: give one of get, post, put, patch, delete, head, options, follow (a link), submit (a form)")
	}
	return nil
}

// finishStep checks what needs the whole step, and names it.
func (s *stepReader) finishStep(step *Step) error {
	r := s.r
	if step.Name == "" {
		words := map[verb]string{requests: step.method, follows: "follow", submits: "submit"}[step.by] + " "
		for _, p := range step.target {
			if p.name {
				words += "{" + p.text + "}"
			} else {
				words += p.text
			}
		}
		if step.Name = words; !isName(words) {
			step.Name = "step " + strconv.Itoa(len(s.journey.Named)+1)
		}
	}
	for _, other := range s.journey.Named {
		if other.Name == step.Name {
			step.Name += " #" + strconv.Itoa(len(s.journey.Named)+1)
			break
		}
	}
	all := []template{step.target, step.body}
	all = append(all, step.checks.contains...)
	all = append(all, step.checks.lacks...)
	for _, f := range append(append([]field(nil), step.header...), step.form...) {
		all = append(all, f.value)
	}
	before := maps.Clone(s.taken)
	for _, t := range step.take {
		delete(before, t.name) // its own are there only afterwards
		if s.isTakenBefore(t.name) {
			before[t.name] = true
		}
	}
	for _, t := range all {
		for _, p := range t {
			if p.name {
				if err := r.checkName(p, before, step.line); err != nil {
					return err
				}
			}
		}
	}
	if step.body != nil && step.isForm {
		return r.errAt(step.line, "step %s: give a body or a form", step.Name)
	}
	if step.by != requests {
		if step.body != nil {
			return r.errAt(step.line, "step %s: what a page offers has no body of its own: give form values", step.Name)
		}
		if len(step.target.usedNames()) == 0 {
			if _, err := cascadia.ParseGroup(step.target[0].text); err != nil {
				return r.errAt(step.line, "step %s: %q is no CSS selector: %v", step.Name, step.target[0].text, err)
			}
		}
		return nil
	}
	if len(step.target) == 0 {
		return r.errAt(step.line, "step %s: it has no path", step.Name)
	}
	if first := step.target[0]; !first.name && !strings.Contains(first.text, "://") && step.base[0].text == "" {
		return r.errAt(step.line, "step %s: %s is relative to nothing: give base, or a whole URL", step.Name, first.text)
	}
	if r.script.Base == "" {
		r.script.Base = step.base[0].text
		if text, err := r.fillConstant(step.target, step.line, "URL"); err == nil {
			if u, err := url.Parse(text); err == nil && u.Host != "" {
				r.script.Base = u.Scheme + "://" + u.Host + "/"
			}
		}
		if r.script.Base == "" {
			return r.errAt(step.line, "step %s: its URL is not known before a user comes: give base", step.Name)
		}
	}
	return nil
}

// isTakenBefore reports whether a step before took a value of this name.
func (s *stepReader) isTakenBefore(name string) bool {
	for _, step := range s.journey.Named {
		for _, t := range step.take {
			if t.name == name {
				return true
			}
		}
	}
	return false
}

// readThink reads 2s, and 1s..3s.
func (r *reader) readThink(to *think, n *yaml.Node) error {
	text, err := r.readConstant(n, "think")
	if err != nil {
		return err
	}
	low, high, ranged := strings.Cut(text, "..")
	if !ranged {
		high = low
	}
	a, ok1 := parseProduct(low, parseSeconds)
	b, ok2 := parseProduct(high, parseSeconds)
	if !ok1 || !ok2 || !(a >= 0) || !(b >= a) || b > 1e6 {
		return r.errAt(n.Line, "think: %q: give a time such as 2s, or a range such as 1s..3s", text)
	}
	*to = think{time.Duration(a * 1e9), time.Duration(b * 1e9)}
	return nil
}
