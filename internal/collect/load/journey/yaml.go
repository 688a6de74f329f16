package journey

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/unstall/unstall/internal/base/suggest"
	"github.com/unstall/unstall/internal/collect/load"
)

// errAt words what is wrong with a file, with the line; it wraps load.ErrPlan.
func (r *reader) errAt(line int, format string, args ...any) error {
	return load.PlanError("%s:%d: %s", r.name, line, fmt.Sprintf(format, args...))
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line ([0-9]+): )?(.*)$`)

// parseDocument parses YAML into nodes without cycles.
func (r *reader) parseDocument(text []byte) (*yaml.Node, error) {
	var n yaml.Node
	if err := yaml.Unmarshal(text, &n); err != nil {
		m := yamlLine.FindStringSubmatch(strings.SplitN(err.Error(), "\n", 2)[0])
		if m == nil {
			return nil, load.PlanError("%s: %v", r.name, err)
		}
		line, _ := strconv.Atoi(m[1])
		return nil, r.errAt(max(line, 1), "this is not YAML: %s", m[2])
	}
	if n.Kind != yaml.DocumentNode || len(n.Content) == 0 {
		return nil, load.PlanError("%s: it is empty: docs/load.md shows a journey", r.name)
	}
	if err := r.checkAcyclic(n.Content[0], map[*yaml.Node]int{}); err != nil {
		return nil, err
	}
	return n.Content[0], nil
}

// checkAcyclic refuses a node that holds itself by an alias.
func (r *reader) checkAcyclic(n *yaml.Node, state map[*yaml.Node]int) error {
	const open, done = 1, 2
	if n == nil || state[n] == done {
		return nil
	}
	if state[n] == open {
		return r.errAt(n.Line, "the value &%s holds itself", n.Anchor)
	}
	state[n] = open
	for _, c := range n.Content {
		if err := r.checkAcyclic(c, state); err != nil {
			return err
		}
	}
	if n.Kind == yaml.AliasNode {
		if err := r.checkAcyclic(n.Alias, state); err != nil {
			return err
		}
	}
	state[n] = done
	return nil
}

const mostNodes = 200_000 // that are read, aliases as often as they stand for something

func (r *reader) resolveAlias(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	r.nodes++
	return n
}

// keys are what a mapping may have, and who reads each.
type keys map[string]func(n *yaml.Node) error

// readMapping reads a mapping; what names it in errors.
func (r *reader) readMapping(n *yaml.Node, what string, known keys) error {
	return r.eachPair(n, what, func(key string, k, v *yaml.Node) error {
		read := known[key]
		if read == nil {
			names := make([]string, 0, len(known))
			for name := range known {
				names = append(names, name)
			}
			return r.errAt(k.Line, "%s: unknown name %q%s", what, key, suggestName(key, names))
		}
		return read(v)
	})
}

// eachPair calls f with a mapping's pairs, those merged with << included.
func (r *reader) eachPair(n *yaml.Node, what string, f func(key string, k, v *yaml.Node) error) error {
	line := n.Line
	n = r.resolveAlias(n)
	if n.Kind != yaml.MappingNode {
		return r.errAt(line, "%s: give names with values, not %s", what, describeNode(n))
	}
	if r.nodes > mostNodes {
		return r.errAt(line, "it is too large: aliases repeat values more than %d times", mostNodes)
	}
	seen := map[string]bool{}
	var merged []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := r.resolveAlias(n.Content[i]), n.Content[i+1]
		if k.Tag == "!!merge" {
			merged = append(merged, v)
			continue
		}
		if k.Kind != yaml.ScalarNode {
			return r.errAt(k.Line, "%s: a name is a word, not %s", what, describeNode(k))
		}
		if seen[k.Value] {
			return r.errAt(k.Line, "%s: %q is given twice", what, k.Value)
		}
		seen[k.Value] = true
		if err := f(k.Value, k, v); err != nil {
			return err
		}
	}
	for _, m := range merged {
		err := r.eachPair(m, what, func(key string, k, v *yaml.Node) error {
			if seen[key] {
				return nil
			}
			seen[key] = true
			return f(key, k, v)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// eachItem calls f with each item of a list, or with one value as a list of one.
func (r *reader) eachItem(n *yaml.Node, f func(n *yaml.Node) error) error {
	n = r.resolveAlias(n)
	if n.Kind != yaml.SequenceNode {
		return f(n)
	}
	if r.nodes > mostNodes {
		return r.errAt(n.Line, "it is too large: aliases repeat values more than %d times", mostNodes)
	}
	for _, c := range n.Content {
		if err := f(c); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) readScalar(n *yaml.Node, what string) (string, error) {
	line := n.Line
	n = r.resolveAlias(n)
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		return "", r.errAt(line, "%s: give a value, not %s", what, describeNode(n))
	}
	if strings.ContainsRune(n.Value, 0) {
		return "", r.errAt(line, "%s: it has a NUL in it", what)
	}
	return n.Value, nil
}

func describeNode(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "names with values"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Tag == "!!null" || n.Value == "":
		return "nothing"
	}
	return strconv.Quote(n.Value)
}

// readConstant reads a scalar and fills in its ${names} now.
func (r *reader) readConstant(n *yaml.Node, what string) (string, error) {
	text, err := r.readScalar(n, what)
	if err != nil {
		return "", err
	}
	t, err := r.parseTemplate(text, n.Line)
	if err != nil {
		return "", err
	}
	return r.fillConstant(t, n.Line, what)
}

func (r *reader) readBoolean(to *bool, what string) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		text, err := r.readConstant(n, what)
		if err != nil {
			return err
		}
		switch strings.ToLower(text) {
		case "true", "yes", "on":
			*to = true
		case "false", "no", "off":
			*to = false
		default:
			return r.errAt(n.Line, "%s: %q is neither true nor false", what, text)
		}
		return nil
	}
}

// readNumber reads a number, or a product such as 100*2.
func (r *reader) readNumber(n *yaml.Node, what string) (float64, error) {
	text, err := r.readConstant(n, what)
	if err != nil {
		return 0, err
	}
	v, ok := parseProduct(text, func(s string) (float64, bool) {
		x, err := strconv.ParseFloat(s, 64)
		return x, err == nil
	})
	if !ok || !(v >= 0) || v > 1e12 {
		return 0, r.errAt(n.Line, "%s: %q is no number: give one such as 100, or a product such as 100*2", what, text)
	}
	return v, nil
}

// readRate reads users per second: 5, 5/s, 300/m, 2*3/h.
func (r *reader) readRate(n *yaml.Node, what string) (float64, error) {
	text, err := r.readConstant(n, what)
	if err != nil {
		return 0, err
	}
	number, unit, _ := strings.Cut(text, "/")
	per, known := map[string]float64{"": 1, "s": 1, "m": 60, "min": 60, "h": 3600}[strings.TrimSpace(unit)]
	v, ok := parseProduct(number, func(s string) (float64, bool) {
		x, err := strconv.ParseFloat(s, 64)
		return x, err == nil
	})
	if !ok || !known || !(v >= 0) || v > 10e6 {
		return 0, r.errAt(n.Line, "%s: %q is no rate: give users per second such as 5, or 300/m", what, text)
	}
	return v / per, nil
}

// readDuration reads a duration, or a product such as 200s*2.
func (r *reader) readDuration(n *yaml.Node, what string) (time.Duration, error) {
	text, err := r.readConstant(n, what)
	if err != nil {
		return 0, err
	}
	v, ok := parseProduct(text, parseSeconds)
	if !ok || !(v >= 0) || v > 1e7 {
		return 0, r.errAt(n.Line, "%s: %q is no time: give one such as 200s, 30m, or 200s*2", what, text)
	}
	return time.Duration(v * 1e9), nil
}

// parseSeconds parses a time in seconds, or a number as a factor.
func parseSeconds(s string) (float64, bool) {
	if x, err := strconv.ParseFloat(s, 64); err == nil {
		return x, true
	}
	d, err := time.ParseDuration(s)
	return d.Seconds(), err == nil
}

func parseProduct(text string, read func(string) (float64, bool)) (float64, bool) {
	v := 1.0
	for factor := range strings.SplitSeq(text, "*") {
		x, ok := read(strings.TrimSpace(factor))
		if !ok {
			return 0, false
		}
		v *= x
	}
	return v, true
}

// suggestName suggests the nearest of the names there are, else lists them.
func suggestName(word string, names []string) string {
	slices.Sort(names)
	best := suggest.Nearest(word, names)
	switch {
	case best != "":
		return fmt.Sprintf("; do you mean %q?", best)
	case len(names) == 0 || len(names) > 30:
		return ""
	}
	return "; there are " + strings.Join(names, ", ")
}
