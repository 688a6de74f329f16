package generate

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/operate/watch/rule"
	"github.com/unstall/unstall/internal/operate/watch/series"
)

// Prometheus writes a file of alerting rules
// (https://prometheus.io/docs/prometheus/latest/configuration/alerting_rules/), which vmalert reads, too. Only the
// watcher finds periods, so a rule about a period asks for the watcher's own alarm.
func Prometheus(w io.Writer, rules []rule.Rule) error {
	type alert struct {
		Alert       string            `yaml:"alert"`
		Expr        string            `yaml:"expr"`
		For         string            `yaml:"for,omitempty"`
		Keep        string            `yaml:"keep_firing_for,omitempty"`
		Labels      map[string]string `yaml:"labels"`
		Annotations map[string]string `yaml:"annotations"`
	}
	type named struct {
		Name  string  `yaml:"name"`
		Each  string  `yaml:"interval"`
		Rules []alert `yaml:"rules"`
	}
	var out struct {
		Groups []named `yaml:"groups"`
	}
	names, of := groupRules(rules)
	for _, name := range names {
		g := named{Name: "unstall-" + name, Each: pushed.String()}
		for _, r := range of[name] {
			g.Rules = append(g.Rules, alert{
				Alert: alertName(r.ID), Expr: Expr(r), For: notZero(r.For), Keep: notZero(r.ClearFor),
				Labels:      map[string]string{"severity": r.Severity, "rule": r.ID},
				Annotations: ruleAnnotations(r),
			})
		}
		out.Groups = append(out.Groups, g)
	}
	return writeYAML(w, out)
}

func ruleAnnotations(r *rule.Rule) map[string]string {
	a := map[string]string{"summary": "{{ $labels.service }} on {{ $labels.host }}: " + r.Title}
	if r.Look != "" {
		a["look"] = r.Look
	}
	if len(r.Causes) > 0 {
		a["causes"] = strings.Join(r.Causes, ", ")
	}
	return a
}

func notZero(d rule.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}

// alertName returns UnstallJvmYoungGc for jvm.young-gc.
func alertName(id string) string {
	out := "Unstall"
	for part := range strings.FieldsFuncSeq(id, func(c rune) bool { return c == '.' || c == '-' }) {
		out += strings.ToUpper(part[:1]) + part[1:]
	}
	return out
}

// whose are the labels that distinguish subjects.
const whose = "host, service, pid"

// Expr returns a rule's condition in PromQL.
func Expr(r *rule.Rule) string {
	if r.Period != nil {
		return fmt.Sprintf("unstall_alarm{rule=%q} > 0", r.ID)
	}
	out := conditionExpr(&r.Condition)
	for i := range r.And {
		out += fmt.Sprintf("\nand on (%s) (%s)", matchingLabels(r.Series, r.And[i].Series), conditionExpr(&r.And[i]))
	}
	return out
}

// matchingLabels returns the labels by which two series belong together. Series of the machine have no service.
func matchingLabels(a, b string) string {
	x, _ := series.Of(a)
	y, _ := series.Of(b)
	if x.Host != y.Host {
		return "host"
	}
	return whose
}

// conditionExpr returns the expression that compares one series with its bound.
func conditionExpr(c *rule.Condition) string {
	v := Taken(c)
	switch {
	case c.Below != nil:
		return v + " < " + formatNumber(*c.Below)
	case c.Usual != nil:
		v = "max by (host, service) (" + v + ")" // one series over restarts
		day := fmt.Sprintf("max_over_time(%s[1d:5m])", v)
		out := fmt.Sprintf("%s > %s * quantile_over_time(0.5, %s[%dd:1d] offset 1d)", v, formatNumber(*c.Above), day, c.Usual.Days)
		if c.Usual.Floor > 0 {
			out += fmt.Sprintf("\nand %s > %s", v, formatNumber(c.Usual.Floor))
		}
		return out
	case c.Than != "":
		other := *c
		other.Series = c.Than
		return fmt.Sprintf("%s > on (%s) %s * %s", v, matchingLabels(c.Series, c.Than), formatNumber(*c.Above), Taken(&other))
	}
	return v + " > " + formatNumber(*c.Above)
}

// Taken returns the expression of a condition's value of its series, in the series' unit.
func Taken(c *rule.Condition) string {
	s, ok := series.Of(c.Series)
	if !ok { // a variable of the program's own
		s = series.Series{ID: c.Series, Metric: series.Metric{Name: "unstall_expvar", Labels: "name=" + strings.TrimPrefix(c.Series, "expvar/")}}
	}
	m := s.Metric.Full()
	if s.Metric.Labels != "" {
		var of []string
		for pair := range strings.SplitSeq(s.Metric.Labels, ",") {
			name, value, _ := strings.Cut(pair, "=")
			of = append(of, fmt.Sprintf("%s=%q", name, value))
		}
		m += "{" + strings.Join(of, ",") + "}"
	}
	times := ""
	if f := s.Metric.Factor(); f != 1 {
		times = " * " + formatNumber(f)
	}
	over := max(c.Over, leastGauge)
	if s.Metric.Counter {
		over = max(c.Over, leastRate)
		rate := fmt.Sprintf("rate(%s[%s])", m, leastRate)
		switch c.Take {
		case rule.Sum:
			return fmt.Sprintf("increase(%s[%s])%s", m, over, times)
		case rule.Max, rule.Min:
			return fmt.Sprintf("%s_over_time(%s[%s:10s])%s", c.Take, rate, over, times)
		case rule.Climb:
			return fmt.Sprintf("deriv(%s[%s:10s])%s", rate, over, times)
		}
		return fmt.Sprintf("rate(%s[%s])%s", m, over, times)
	}
	switch c.Take {
	case rule.Sum:
		return fmt.Sprintf("avg_over_time(%s[%s]) * %s", m, over, formatNumber(s.Metric.Factor()*time.Duration(over).Seconds()))
	case rule.Max, rule.Min:
		return fmt.Sprintf("%s_over_time(%s[%s])%s", c.Take, m, over, times)
	case rule.Climb:
		return fmt.Sprintf("deriv(%s[%s])%s", m, over, times)
	}
	return fmt.Sprintf("avg_over_time(%s[%s])%s", m, over, times)
}

func formatNumber(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
