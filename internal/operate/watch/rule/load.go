package rule

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/unstall/unstall/internal/base/suggest"
	"github.com/unstall/unstall/internal/operate/watch/series"
)

//go:embed default.yaml
var shipped []byte

// Shipped returns the rules that are part of the program.
func Shipped() ([]Rule, error) { return Load(bytes.NewReader(shipped), "default.yaml", nil) }

// ShippedText returns the text of the shipped rules, which a user can start an own file with.
func ShippedText() []byte { return bytes.Clone(shipped) }

// mostRules bounds the rules of a file.
const mostRules = 1000

// file is a file of rules.
type file struct {
	// Default says which shipped rules apply as well: all (the default) or none.
	Default string      `yaml:"default"`
	Without []string    `yaml:"without"` // IDs of shipped rules that do not apply
	Rules   []yaml.Node `yaml:"rules"`
}

// Load reads a file of rules. It returns the shipped rules, unless the file says otherwise, and then the file's own. If two share
// their IDs, the file's rule replaces the shipped one. also are further known series beside [series.All]. The error has a
// line for each mistake: where, what, what to do.
func Load(r io.Reader, name string, also []string) ([]Rule, error) {
	text, err := io.ReadAll(io.LimitReader(r, 4<<20))
	if err != nil {
		return nil, err
	}
	var f file
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&f); errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: is empty: give rules, as unstall watch --print-rules writes them", name)
	} else if err != nil {
		return nil, explainError(name, err)
	}
	if len(f.Rules) > mostRules {
		return nil, fmt.Errorf("%s: %d rules; at most %d are read", name, len(f.Rules), mostRules)
	}
	var out []Rule
	var wrong []error
	if !bytes.Equal(text, shipped) && f.Default != "none" {
		if f.Default != "" && f.Default != "all" {
			wrong = append(wrong, fmt.Errorf("%s: default: %q: give all or none", name, f.Default))
		}
		out, err = Shipped()
		if err != nil {
			return nil, err
		}
	}
	out, wrong = removeRules(out, f.Without, name, wrong)
	seen := make(map[string]int)
	for i := range f.Rules {
		n := &f.Rules[i]
		var x Rule
		if err := decodeStrict(n, &x); err != nil {
			wrong = append(wrong, explainError(name, err))
			continue
		}
		x.Line = n.Line
		x.setDefaults()
		for _, err := range x.findMistakes(also) {
			wrong = append(wrong, fmt.Errorf("%s:%d: %s: %w", name, n.Line, x.displayName(), err))
		}
		if line, twice := seen[x.ID]; twice {
			wrong = append(wrong, fmt.Errorf("%s:%d: rule %s is already defined in line %d: give it another id", name, n.Line, x.ID, line))
		}
		seen[x.ID] = n.Line
		if at := slices.IndexFunc(out, func(o Rule) bool { return o.ID == x.ID }); at >= 0 {
			out[at] = x
		} else {
			out = append(out, x)
		}
	}
	if len(wrong) > 0 {
		return nil, errors.Join(wrong...)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: has no rules: list some below \"rules:\" in it", name)
	}
	return out, nil
}

// removeRules removes shipped rules by their IDs.
func removeRules(rules []Rule, ids []string, name string, wrong []error) ([]Rule, []error) {
	for _, id := range ids {
		at := slices.IndexFunc(rules, func(r Rule) bool { return r.ID == id })
		if at < 0 {
			var known []string
			for _, r := range rules {
				known = append(known, r.ID)
			}
			wrong = append(wrong, fmt.Errorf("%s: without: unknown rule %s%s", name, id, formatSuggestion(suggest.Nearest(id, known))))
			continue
		}
		rules = slices.Delete(rules, at, at+1)
	}
	return rules, wrong
}

// decodeStrict decodes a rule and rejects unknown fields.
func decodeStrict(n *yaml.Node, x *Rule) error {
	if n.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: a rule has fields: id, title, series, above", n.Line)
	}
	known := []string{"id", "title", "series", "take", "over", "above", "below", "usual", "than", "period", "and", "for", "clear", "clear-for", "look", "causes", "severity"}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if k := n.Content[i]; !slices.Contains(known, k.Value) {
			return fmt.Errorf("line %d: a rule has no field %s%s", k.Line, k.Value, formatSuggestion(suggest.Nearest(k.Value, known)))
		}
	}
	return n.Decode(x)
}

var lineOf = regexp.MustCompile(`^(?:yaml: )?(?:unmarshal errors:\s*)?line (\d+): `)

// explainError returns an error in one line, with the file's name and the line in front.
func explainError(name string, err error) error {
	text := strings.Join(strings.Fields(strings.TrimPrefix(err.Error(), "yaml: ")), " ")
	if m := lineOf.FindStringSubmatch(text); m != nil {
		return fmt.Errorf("%s:%s: %s", name, m[1], strings.TrimPrefix(text, m[0]))
	}
	return fmt.Errorf("%s: %s", name, text)
}

func formatSuggestion(name string) string {
	if name == "" {
		return ""
	}
	return ": do you mean " + name + "?"
}

// Default times.
const (
	defaultOver  = Duration(10 * time.Second)
	leastClear   = Duration(time.Minute)
	leastPeriod  = Duration(10 * time.Second)
	mostPeriod   = Duration(15 * time.Minute)
	defaultTimes = 5
	defaultDays  = 14
	leastDays    = 3
	mostOver     = Duration(24 * time.Hour)
)

func (r *Rule) setDefaults() {
	r.Condition.setDefaults()
	for i := range r.And {
		r.And[i].setDefaults()
	}
	if r.ClearFor == 0 {
		r.ClearFor = max(r.For, leastClear)
	}
	if r.Severity == "" {
		r.Severity = "warn"
	}
}

func (c *Condition) setDefaults() {
	if c.Take == "" {
		c.Take = Mean
	}
	if c.Over == 0 {
		c.Over = defaultOver
	}
	if u := c.Usual; u != nil {
		if u.Days == 0 {
			u.Days = defaultDays
		}
		if u.Least == 0 {
			u.Least = min(leastDays, u.Days)
		}
	}
	if p := c.Period; p != nil {
		if p.Least == 0 {
			p.Least = leastPeriod
		}
		if p.Most == 0 {
			p.Most = mostPeriod
		}
		if p.Times == 0 {
			p.Times = defaultTimes
		}
	}
}

func (r *Rule) displayName() string {
	if r.ID == "" {
		return "rule without id"
	}
	return r.ID
}

var idForm = regexp.MustCompile(`^[a-z0-9]+([.-][a-z0-9]+)*$`)

// findMistakes returns the mistakes of a rule.
func (r *Rule) findMistakes(also []string) (wrong []error) {
	if !idForm.MatchString(r.ID) {
		wrong = append(wrong, fmt.Errorf("id %q: give small letters, digits, dots and dashes: jvm.full-gc", r.ID))
	}
	if r.Title == "" {
		wrong = append(wrong, errors.New("title is missing: describe in one line what happens"))
	}
	if !slices.Contains(severities, r.Severity) {
		wrong = append(wrong, fmt.Errorf("severity %q: give page, warn or note", r.Severity))
	}
	for _, c := range append([]Condition{r.Condition}, r.And...) {
		wrong = append(wrong, c.findMistakes(also)...)
	}
	if r.Clear != nil {
		switch {
		case r.Above != nil && r.Usual == nil && r.Than == "" && *r.Clear > *r.Above:
			wrong = append(wrong, fmt.Errorf("clear %g is above %g, where it begins: give less", *r.Clear, *r.Above))
		case r.Below != nil && *r.Clear < *r.Below:
			wrong = append(wrong, fmt.Errorf("clear %g is below %g, where it begins: give more", *r.Clear, *r.Below))
		}
	}
	return wrong
}

func (c *Condition) findMistakes(also []string) (wrong []error) {
	for _, id := range []string{c.Series, c.Than} {
		if _, ok := series.Of(id); ok || series.Own(id) || slices.Contains(also, id) || id == "" && id == c.Than && c.Series != "" {
			continue
		}
		if id == "" {
			wrong = append(wrong, errors.New("series is missing: unstall watch --series lists them"))
			break
		}
		wrong = append(wrong, fmt.Errorf("unknown series %s%s (unstall watch --series lists them)", id, formatSuggestion(suggest.Nearest(id, append(series.IDs(), also...)))))
	}
	if !slices.Contains([]Take{Mean, Max, Min, Climb, Sum}, c.Take) {
		wrong = append(wrong, fmt.Errorf("take %q: give mean, max, min, climb or sum", c.Take))
	}
	if c.Over > mostOver {
		wrong = append(wrong, fmt.Errorf("over %s: give at most a day", c.Over))
	}
	n := 0
	for _, v := range []*float64{c.Above, c.Below} {
		if v != nil {
			n++
			if math.IsNaN(*v) || math.IsInf(*v, 0) {
				wrong = append(wrong, fmt.Errorf("%v is not a valid bound", *v))
			}
		}
	}
	if c.Period != nil {
		n++
	}
	if n != 1 {
		wrong = append(wrong, fmt.Errorf("%s: give one of above, below and period", c.Series))
	}
	if (c.Usual != nil || c.Than != "") && (c.Above == nil || *c.Above <= 0) {
		wrong = append(wrong, fmt.Errorf("%s: usual and than want above: the factor, such as 1.5", c.Series))
	}
	if u := c.Usual; u != nil && (u.Days < 1 || u.Days > mostDays || u.Least < 1 || u.Least > u.Days) {
		wrong = append(wrong, fmt.Errorf("%s: usual: give 1 to %d days, and least no more than these", c.Series, mostDays))
	}
	if p := c.Period; p != nil && (p.Least >= p.Most || p.Times < 4 || p.Times > 100) {
		wrong = append(wrong, fmt.Errorf("%s: period: give least below most, and 4 to 100 times", c.Series))
	}
	return wrong
}
