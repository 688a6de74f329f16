package generate

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"time"

	"github.com/unstall/unstall/internal/operate/watch/exporter"
	"github.com/unstall/unstall/internal/operate/watch/rule"
	"github.com/unstall/unstall/internal/operate/watch/series"
)

// Zabbix writes a template
// (https://www.zabbix.com/documentation/current/en/manual/xml_export_import/templates) in the form of 6.0, which later
// servers import, too. For each runtime it has a discovery of services, with an item for each series and a trigger for
// each rule.
func Zabbix(w io.Writer, rules []rule.Rule) error {
	const template = "unstall"
	var out struct {
		Export struct {
			Version   string           `yaml:"version"`
			Groups    []zabbixGroup    `yaml:"groups"`
			Templates []zabbixTemplate `yaml:"templates"`
		} `yaml:"zabbix_export"`
	}
	out.Export.Version = "6.0"
	out.Export.Groups = []zabbixGroup{{stableUUID("group"), "Templates/Applications"}}
	t := zabbixTemplate{UUID: stableUUID("template"), Template: template, Name: "unstall", Description: "Services that unstall watch sends: --zabbix SERVER --zabbix-host NAME", Groups: []zabbixGroup{{"", "Templates/Applications"}}}
	for _, of := range ZabbixRuntimes {
		d := zabbixDiscovery{UUID: stableUUID("discovery " + of), Name: "Services: " + of, Type: "TRAP", Key: exporter.ZabbixItem(exporter.ZabbixDiscovery, of), Delay: "0", Lifetime: "7d"}
		for _, s := range series.All {
			if !ZabbixHas(of, s) {
				continue
			}
			item := zabbixItem{UUID: stableUUID("item " + of + s.ID), Name: "{#SERVICE}: " + s.About, Type: "TRAP", Key: exporter.ZabbixItem(exporter.ZabbixKey(of), "{#SERVICE}", s.ID), Delay: "0", History: "7d", Trends: "90d", ValueType: "FLOAT",
				Units: map[string]string{"%": "%", "bytes": "B", "bytes/s": "Bps", "ms": "!ms", "1/s": "!1/s"}[s.Unit]}
			d.Items = append(d.Items, item)
		}
		for i := range rules {
			if r := &rules[i]; zabbixHolds(of, r) {
				if r.Usual != nil {
					d.Items = append(d.Items, zabbixItem{UUID: stableUUID("bound " + of + r.ID), Name: "{#SERVICE}: bound of " + r.ID, Type: "TRAP", Key: exporter.ZabbixItem(exporter.ZabbixBound(of), "{#SERVICE}", r.ID), Delay: "0", History: "7d", Trends: "90d", ValueType: "FLOAT"})
				}
				d.Triggers = append(d.Triggers, zabbixTrigger{UUID: stableUUID("trigger " + of + r.ID), Expression: zabbixExpr(template, of, r), Mode: "RECOVERY_EXPRESSION", Recovery: zabbixEnd(template, of, r),
					Name: "{#SERVICE}: " + r.Title, Priority: map[string]string{"page": "HIGH", "warn": "WARNING", "note": "INFO"}[r.Severity], Description: r.Look})
			}
		}
		t.Discoveries = append(t.Discoveries, d)
	}
	out.Export.Templates = []zabbixTemplate{t}
	return writeYAML(w, out)
}

// ZabbixRuntimes are the runtimes whose services are discovered. A service of another runtime, or of none, has the items
// of any process.
var ZabbixRuntimes = []string{"jvm", "dotnet", "go", "redis", "process", "host"}

// ZabbixHas says whether services of a runtime have a series.
func ZabbixHas(runtime string, s series.Series) bool {
	if runtime == "host" || s.Host {
		return runtime == "host" && s.Host
	}
	return s.Runtime == "" || s.Runtime == runtime
}

// zabbixHolds says whether a runtime's services have all series of a rule.
func zabbixHolds(runtime string, r *rule.Rule) bool {
	if r.Period != nil {
		return false
	}
	for _, c := range append([]rule.Condition{r.Condition}, r.And...) {
		for _, id := range []string{c.Series, c.Than} {
			if s, ok := series.Of(id); id != "" && (!ok || !ZabbixHas(runtime, s)) {
				return false
			}
		}
	}
	return true
}

// zabbixExpr returns when a rule begins to hold. A trigger has no minimum duration, so its functions also cover the
// rule's For.
func zabbixExpr(template, of string, r *rule.Rule) string {
	out := zabbixCondition(template, of, r, &r.Condition, r.For)
	for i := range r.And {
		out += " and " + zabbixCondition(template, of, r, &r.And[i], r.For)
	}
	return out
}

func zabbixCondition(template, of string, r *rule.Rule, c *rule.Condition, held rule.Duration) string {
	v := zabbixTaken(template, of, c, c.Series, max(c.Over+held, leastRate))
	switch {
	case c.Below != nil:
		return v + "<" + formatNumber(*c.Below)
	case c.Usual != nil:
		return fmt.Sprintf("%s>last(/%s/%s)", v, template, exporter.ZabbixItem(exporter.ZabbixBound(of), "{#SERVICE}", r.ID))
	case c.Than != "":
		return fmt.Sprintf("%s>%s*%s", v, formatNumber(*c.Above), zabbixTaken(template, of, c, c.Than, max(c.Over+held, leastRate)))
	}
	return v + ">" + formatNumber(*c.Above)
}

// zabbixEnd returns when a trigger ends: a tenth below its bound, or at the rule's own end.
func zabbixEnd(template, of string, r *rule.Rule) string {
	c := &r.Condition
	v := zabbixTaken(template, of, c, c.Series, max(r.ClearFor, leastRate))
	switch {
	case c.Below != nil && r.Clear != nil:
		return v + ">" + formatNumber(*r.Clear)
	case c.Below != nil:
		return v + ">" + formatNumber(*c.Below*1.1)
	case c.Usual != nil:
		return fmt.Sprintf("%s<0.9*last(/%s/%s)", v, template, exporter.ZabbixItem(exporter.ZabbixBound(of), "{#SERVICE}", r.ID))
	case c.Than != "":
		return fmt.Sprintf("%s<%s*%s", v, formatNumber(*c.Above*.9), zabbixTaken(template, of, c, c.Than, max(r.ClearFor, leastRate)))
	case r.Clear != nil:
		return v + "<" + formatNumber(*r.Clear)
	case *c.Above <= 0:
		return v + "<=" + formatNumber(*c.Above)
	}
	return v + "<" + formatNumber(*c.Above*.9)
}

// zabbixTaken returns the expression of a condition's value of its series.
func zabbixTaken(template, of string, c *rule.Condition, id string, over rule.Duration) string {
	item := "/" + template + "/" + exporter.ZabbixItem(exporter.ZabbixKey(of), "{#SERVICE}", id)
	seconds := formatNumber(time.Duration(over).Seconds())
	switch c.Take {
	case rule.Sum: // the series is a rate
		return fmt.Sprintf("avg(%s,%s)*%s", item, seconds+"s", seconds)
	case rule.Climb:
		return fmt.Sprintf("(last(%s)-first(%s,%s))/%s", item, item, seconds+"s", seconds)
	case rule.Max, rule.Min:
		return fmt.Sprintf("%s(%s,%s)", c.Take, item, seconds+"s")
	}
	return fmt.Sprintf("avg(%s,%s)", item, seconds+"s")
}

// stableUUID returns the same UUID for the same thing each time, so that an import updates existing things. Its form is
// version 4, as Zabbix requires.
func stableUUID(of string) string {
	sum := sha256.Sum256([]byte("unstall zabbix " + of))
	sum[6] = sum[6]&0x0f | 0x40
	sum[8] = sum[8]&0x3f | 0x80
	return hex.EncodeToString(sum[:16])
}

type zabbixGroup struct {
	UUID string `yaml:"uuid,omitempty"`
	Name string `yaml:"name"`
}

type zabbixTemplate struct {
	UUID        string            `yaml:"uuid"`
	Template    string            `yaml:"template"`
	Name        string            `yaml:"name"`
	Description string            `yaml:"description"`
	Groups      []zabbixGroup     `yaml:"groups"`
	Discoveries []zabbixDiscovery `yaml:"discovery_rules"`
}

type zabbixDiscovery struct {
	UUID     string          `yaml:"uuid"`
	Name     string          `yaml:"name"`
	Type     string          `yaml:"type"`
	Key      string          `yaml:"key"`
	Delay    string          `yaml:"delay"`
	Lifetime string          `yaml:"lifetime"`
	Items    []zabbixItem    `yaml:"item_prototypes"`
	Triggers []zabbixTrigger `yaml:"trigger_prototypes,omitempty"`
}

type zabbixItem struct {
	UUID      string `yaml:"uuid"`
	Name      string `yaml:"name"`
	Type      string `yaml:"type"`
	Key       string `yaml:"key"`
	Delay     string `yaml:"delay"`
	History   string `yaml:"history"`
	Trends    string `yaml:"trends"`
	ValueType string `yaml:"value_type"`
	Units     string `yaml:"units,omitempty"`
}

type zabbixTrigger struct {
	UUID        string `yaml:"uuid"`
	Expression  string `yaml:"expression"`
	Mode        string `yaml:"recovery_mode"`
	Recovery    string `yaml:"recovery_expression"`
	Name        string `yaml:"name"`
	Priority    string `yaml:"priority"`
	Description string `yaml:"description,omitempty"`
}
