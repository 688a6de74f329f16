package journey

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/unstall/unstall/internal/collect/load"
	"github.com/unstall/unstall/internal/collect/load/page"
)

// reader reads one file.
type reader struct {
	name   string
	script *Script
	nodes  int

	base     string
	baseLine int
	header   []field
	browser  settings
	steps    int
}

// mostSteps are the steps one file may have, as each keeps what its latencies were.
const mostSteps = 1000

// Read reads a file of journeys; name stands in errors, which are one line and wrap
// load.ErrPlan. Set are values from outside for names under vars.
func Read(name string, text []byte, set map[string]string) (*Script, error) {
	r := &reader{name: name, script: &Script{Name: name, View: page.Desktop, vars: map[string]*variable{}},
		browser: settings{redirects: true, cache: true, connections: 6, timeout: load.DefaultTimeout}}
	root, err := r.parseDocument(text)
	if err != nil {
		return nil, err
	}
	if err := r.readFile(root, set); err != nil {
		return nil, err
	}
	return r.script, nil
}

// readFile reads in an order of its own: values, then what all steps have in common, then the
// rest.
func (r *reader) readFile(root *yaml.Node, set map[string]string) error {
	later := map[string]*yaml.Node{}
	put := func(name string) func(*yaml.Node) error {
		return func(n *yaml.Node) error {
			later[name] = n
			return nil
		}
	}
	known := keys{}
	for _, name := range []string{"about", "vars", "base", "headers", "journeys", "scenarios", "viewport", "seed"} {
		known[name] = put(name)
	}
	for name := range r.settingKeys(&r.browser) {
		known[name] = put(name)
	}
	if err := r.readMapping(root, "the file", known); err != nil {
		return err
	}
	if n := later["vars"]; n != nil {
		if err := r.readVars(n, set); err != nil {
			return err
		}
	}
	if err := r.checkOutside(set); err != nil {
		return load.PlanError("%v", err)
	}
	if err := r.acyclicVars(); err != nil {
		return err
	}
	common := r.settingKeys(&r.browser)
	common["base"] = r.readBase(&r.base, &r.baseLine)
	common["headers"] = func(n *yaml.Node) (err error) {
		r.header, err = r.readFields(n, "headers")
		return err
	}
	common["viewport"] = r.readViewport
	common["seed"] = func(n *yaml.Node) error {
		v, err := r.readNumber(n, "seed")
		r.script.Seed = uint64(v)
		return err
	}
	for _, name := range []string{"base", "headers", "viewport", "seed", "resources", "redirects", "cache", "http", "connections", "insecure", "timeout"} {
		if n := later[name]; n != nil {
			if err := common[name](n); err != nil {
				return err
			}
		}
	}
	if later["journeys"] == nil {
		return load.PlanError("%s: it has no journeys: give journeys with steps", r.name)
	}
	if err := r.readJourneys(later["journeys"]); err != nil {
		return err
	}
	if later["scenarios"] == nil {
		return load.PlanError("%s: it has no scenarios: say under scenarios when users arrive", r.name)
	}
	return r.readScenarios(later["scenarios"])
}

func (r *reader) settingKeys(s *settings) keys {
	return keys{
		"resources": r.readBoolean(&s.resources, "resources"),
		"redirects": r.readBoolean(&s.redirects, "redirects"),
		"cache":     r.readBoolean(&s.cache, "cache"),
		"insecure":  r.readBoolean(&s.insecure, "insecure"),
		"http": func(n *yaml.Node) error {
			text, err := r.readConstant(n, "http")
			switch {
			case err != nil:
				return err
			case text == "auto":
				text = ""
			case text != "1.1" && text != "2":
				return r.errAt(n.Line, "http: %q: give auto, 1.1 or 2", text)
			}
			s.protocol = text
			return nil
		},
		"connections": func(n *yaml.Node) error {
			v, err := r.readNumber(n, "connections")
			if err == nil && (v < 1 || v > 1000) {
				err = r.errAt(n.Line, "connections: give how many a user opens to a host at most, 1 to 1000")
			}
			s.connections = int(v)
			return err
		},
		"timeout": func(n *yaml.Node) error {
			d, err := r.readDuration(n, "timeout")
			if err == nil && d <= 0 {
				err = r.errAt(n.Line, "timeout: give a time above zero")
			}
			s.timeout = d
			return err
		},
	}
}

func (r *reader) readBase(to *string, line *int) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		text, err := r.readConstant(n, "base")
		if err != nil {
			return err
		}
		u, err := url.Parse(text)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return r.errAt(n.Line, "base: %q: give http://host:port or https://host", text)
		}
		*to, *line = text, n.Line
		return nil
	}
}

func (r *reader) readViewport(n *yaml.Node) error {
	text, err := r.readConstant(n, "viewport")
	if err != nil {
		return err
	}
	w, h, _ := strings.Cut(text, "x")
	width, err1 := strconv.ParseUint(strings.TrimSpace(w), 10, 16)
	height, err2 := strconv.ParseUint(strings.TrimSpace(h), 10, 16)
	if err1 != nil || err2 != nil || width == 0 || height == 0 {
		return r.errAt(n.Line, "viewport: %q: give width and height such as 1280x720", text)
	}
	r.script.View = page.Viewport{Width: float64(width), Height: float64(height)}
	return nil
}

// readFields reads names with values that may have ${names} in them.
func (r *reader) readFields(n *yaml.Node, what string) (out []field, err error) {
	err = r.eachPair(n, what, func(name string, _, v *yaml.Node) error {
		return r.eachItem(v, func(v *yaml.Node) error {
			text, err := r.readScalar(v, what+": "+name)
			if err != nil {
				return err
			}
			t, err := r.parseTemplate(text, v.Line)
			out = append(out, field{name, t})
			return err
		})
	})
	return out, err
}

func (r *reader) readJourneys(n *yaml.Node) error {
	return r.eachPair(n, "journeys", func(name string, k, v *yaml.Node) error {
		if !isName(name) {
			return r.errAt(k.Line, "journeys: %q: a name is 1 to 100 letters on one line", name)
		}
		j := &Journey{Name: name, at: len(r.script.Journeys)}
		r.script.Journeys = append(r.script.Journeys, j)
		s := stepReader{r: r, journey: j, base: r.base, browser: r.browser, header: r.header, taken: map[string]bool{}}
		if x := r.resolveAlias(v); x.Kind == yaml.SequenceNode {
			return s.readSteps(v, 1)
		}
		var steps *yaml.Node
		known := r.settingKeys(&s.browser)
		line := 0
		known["base"] = r.readBase(&s.base, &line)
		known["headers"] = func(n *yaml.Node) error {
			more, err := r.readFields(n, "headers")
			s.header = overrideFields(s.header, more)
			return err
		}
		known["about"] = func(*yaml.Node) error { return nil }
		known["steps"] = func(n *yaml.Node) error {
			steps = n
			return nil
		}
		if err := r.readMapping(v, "journey "+name, known); err != nil {
			return err
		}
		if steps == nil {
			return r.errAt(k.Line, "journey %s: it has no steps", name)
		}
		if err := s.readSteps(steps, 1); err != nil {
			return err
		}
		if len(j.Steps) == 0 {
			return r.errAt(k.Line, "journey %s: it has no steps", name)
		}
		return nil
	})
}

// isName reports whether a name can stand in a line of rows and of a table.
func isName(s string) bool {
	return s != "" && len(s) <= 100 && !strings.ContainsFunc(s, func(c rune) bool { return c < ' ' || c == 0x7f })
}

// overrideFields returns the fields with those of the same name replaced.
func overrideFields(base, more []field) []field {
	var out []field
	for _, f := range base {
		if !slices.ContainsFunc(more, func(m field) bool { return strings.EqualFold(m.name, f.name) }) {
			out = append(out, f)
		}
	}
	return append(out, more...)
}

func (r *reader) readScenarios(n *yaml.Node) error {
	err := r.eachPair(n, "scenarios", func(name string, k, v *yaml.Node) error {
		c := &Scenario{Name: name}
		random := false
		err := r.readMapping(v, "scenario "+name, keys{
			"about":   func(*yaml.Node) error { return nil },
			"poisson": r.readBoolean(&random, "poisson"),
			"journey": func(n *yaml.Node) error { return r.readChoice(c, n, 1) },
			"journeys": func(n *yaml.Node) error {
				return r.eachPair(n, "journeys", func(_ string, k, v *yaml.Node) error {
					weight, err := r.readNumber(v, "weight")
					if err != nil {
						return err
					}
					return r.readChoice(c, k, weight)
				})
			},
			"arrivals": func(n *yaml.Node) error { return r.eachItem(n, func(n *yaml.Node) error { return r.readPhase(c, n) }) },
		})
		if err != nil {
			return err
		}
		if random {
			c.Random = load.Poisson
		}
		var weight float64
		for _, x := range c.Choices {
			weight += x.Weight
		}
		switch {
		case weight <= 0:
			return r.errAt(k.Line, "scenario %s: it names no journey", name)
		case c.Arrivals.Duration() == 0:
			return r.errAt(k.Line, "scenario %s: it says under arrivals neither how many users come nor when", name)
		}
		r.script.Scenarios = append(r.script.Scenarios, c)
		return nil
	})
	if err == nil && len(r.script.Scenarios) == 0 {
		err = r.errAt(n.Line, "scenarios: there is none")
	}
	return err
}

func (r *reader) readChoice(c *Scenario, n *yaml.Node, weight float64) error {
	name, err := r.readScalar(n, "journey")
	if err != nil {
		return err
	}
	for _, j := range r.script.Journeys {
		if j.Name == name {
			c.Choices = append(c.Choices, Choice{j, weight})
			return nil
		}
	}
	var names []string
	for _, j := range r.script.Journeys {
		names = append(names, j.Name)
	}
	return r.errAt(n.Line, "scenario %s: unknown journey %q%s", c.Name, name, suggestName(name, names))
}

// readPhase reads one part of the arrivals.
func (r *reader) readPhase(c *Scenario, n *yaml.Node) error {
	var p struct {
		lasts, at, nothing time.Duration
		spikeFor           time.Duration
		users, rate        float64
		spike              float64
		ramp, steps        []float64
		has                []string
	}
	number := func(name string, to *float64, read func(*yaml.Node, string) (float64, error)) func(*yaml.Node) error {
		return func(n *yaml.Node) (err error) {
			p.has = append(p.has, name)
			*to, err = read(n, name)
			return err
		}
	}
	time := func(name string, to *time.Duration) func(*yaml.Node) error {
		return func(n *yaml.Node) (err error) {
			p.has = append(p.has, name)
			*to, err = r.readDuration(n, name)
			return err
		}
	}
	rates := func(name string, to *[]float64) func(*yaml.Node) error {
		return func(n *yaml.Node) error {
			p.has = append(p.has, name)
			return r.eachItem(n, func(n *yaml.Node) error {
				v, err := r.readRate(n, name)
				*to = append(*to, v)
				return err
			})
		}
	}
	err := r.readMapping(n, "arrivals", keys{"for": time("for", &p.lasts), "nothing": time("nothing", &p.nothing), "at": time("at", &p.at),
		"lasts": time("lasts", &p.spikeFor), "users": number("users", &p.users, r.readNumber), "rate": number("rate", &p.rate, r.readRate),
		"spike": number("spike", &p.spike, r.readNumber), "ramp": rates("ramp", &p.ramp), "steps": rates("steps", &p.steps)})
	if err != nil {
		return err
	}
	has := func(name string) bool { return slices.Contains(p.has, name) }
	wrong := func() error {
		return r.errAt(n.Line, "arrivals: give one of {nothing: 20m}, {users: 100, for: 200s}, {rate: 5, for: 2m}, {ramp: [1, 10], for: 2m}, {steps: [1, 2, 4], for: 3m}, {rate: 5, spike: 20, at: 40s, lasts: 20s, for: 100s}")
	}
	if has("nothing") {
		if len(p.has) > 1 || p.nothing <= 0 {
			return wrong()
		}
		c.Arrivals = append(c.Arrivals, load.Stage{For: p.nothing})
		return nil
	}
	if p.lasts <= 0 {
		return wrong()
	}
	extra := func(names ...string) bool {
		return slices.ContainsFunc(p.has, func(h string) bool { return h != "for" && !slices.Contains(names, h) })
	}
	switch {
	case has("users") && !extra("users"):
		c.Arrivals = append(c.Arrivals, load.Stage{For: p.lasts, From: p.users / p.lasts.Seconds(), To: p.users / p.lasts.Seconds()})
	case has("spike") && has("rate") && !extra("spike", "rate", "at", "lasts"):
		if !has("at") {
			p.at = p.lasts * 2 / 5
		}
		if !has("lasts") {
			p.spikeFor = p.lasts / 5
		}
		c.Arrivals = append(c.Arrivals, load.Spike(p.rate, p.spike, p.lasts, p.at, p.spikeFor)...)
	case has("rate") && !extra("rate"):
		c.Arrivals = append(c.Arrivals, load.Stage{For: p.lasts, From: p.rate, To: p.rate})
	case has("ramp") && !extra("ramp") && len(p.ramp) == 2:
		c.Arrivals = append(c.Arrivals, load.Ramp(p.ramp[0], p.ramp[1], p.lasts)...)
	case has("steps") && !extra("steps") && len(p.steps) > 0:
		c.Arrivals = append(c.Arrivals, load.Steps(p.steps, p.lasts)...)
	default:
		return wrong()
	}
	return nil
}
