// Package generate writes rules in the form of other monitoring systems: rules for Prometheus and vmalert, a dashboard
// for Grafana, a template for Zabbix. All of them then watch for the same things as unstall. Files in deploy/ are made
// from the shipped rules, and a test keeps them equal.
package generate

import (
	"cmp"
	"io"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/operate/watch/rule"
)

// Form is a system that rules are written for.
type Form struct {
	Name  string
	File  string // its name in deploy/
	About string
	Write func(w io.Writer, rules []rule.Rule) error
}

// Forms are all known forms.
var Forms = []Form{
	{"prometheus", "prometheus/unstall.rules.yml", "rules for Prometheus and vmalert", Prometheus},
	{"grafana", "grafana/unstall.json", "a dashboard for Grafana", Grafana},
	{"zabbix", "zabbix/unstall.yaml", "a template for Zabbix 6.0 and later", Zabbix},
}

// Names returns the names of all forms.
func Names() (names []string) {
	for _, f := range Forms {
		names = append(names, f.Name)
	}
	return names
}

// Of finds a form.
func Of(name string) (Form, bool) {
	i := slices.IndexFunc(Forms, func(f Form) bool { return f.Name == name })
	if i < 0 {
		return Form{}, false
	}
	return Forms[i], true
}

// ruleGroup returns the beginning of a rule's ID: "jvm".
func ruleGroup(r *rule.Rule) string {
	before, _, _ := strings.Cut(r.ID, ".")
	return before
}

// groupRules returns the names of the rules' groups in order of appearance, and the rules of each.
func groupRules(rules []rule.Rule) (names []string, of map[string][]*rule.Rule) {
	of = make(map[string][]*rule.Rule)
	for i := range rules {
		g := ruleGroup(&rules[i])
		if of[g] == nil {
			names = append(names, g)
		}
		of[g] = append(of[g], &rules[i])
	}
	return names, of
}

// groupTitle returns a group in words.
func groupTitle(group string) string {
	return cmp.Or(map[string]string{"host": "Machine", "process": "Processes", "requests": "Requests"}[group], platform.ByID(group).Title)
}

// pushed is the default time between two pushes to a store. A value over a time needs at least two points of a gauge,
// and one more of a rate, because a point may come late.
const (
	pushed     = rule.Duration(10 * time.Second)
	leastGauge = 2 * pushed
	leastRate  = 4 * pushed
)

// writeYAML writes YAML after a line that says what it was made from.
func writeYAML(w io.Writer, v any) error {
	if _, err := io.WriteString(w, "# Made of the rules that come with unstall (internal/operate/watch/rule/default.yaml): change those.\n"); err != nil {
		return err
	}
	e := yaml.NewEncoder(w)
	e.SetIndent(2)
	if err := e.Encode(v); err != nil {
		return err
	}
	return e.Close()
}
