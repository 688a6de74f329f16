package generate

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/unstall/unstall/internal/operate/watch/rule"
	"github.com/unstall/unstall/internal/operate/watch/series"
)

// Grafana writes a dashboard
// (https://grafana.com/docs/grafana/latest/dashboards/build-dashboards/view-dashboard-json-model/). First come
// slow time by mechanism and the active alarms, then a chart for each rule with its bound.
func Grafana(w io.Writer, rules []rule.Rule) error {
	d := dashboard{UID: UID, Title: "unstall", Tags: []string{"unstall"}, SchemaVersion: 39, Version: 1, Editable: true, Refresh: "30s", Timezone: "browser",
		Time: span{"now-6h", "now"}, Panels: []panel{}, Annotations: annotated{List: []any{}}, Links: []any{}}
	d.Templating.List = []variable{
		{Name: "datasource", Label: "Data source", Type: "datasource", Query: "prometheus", Refresh: 1},
		queryVariable("host", "label_values(unstall_up, host)"), queryVariable("service", `label_values(unstall_up{host=~"$host"}, service)`),
	}
	top := []panel{
		newChart("Slow seconds by mechanism, in diagnosed minutes", "s", nil, target{Expr: `sum by (service, mechanism) (increase(unstall_slow_seconds_total{host=~"$host",service=~"$service"}[$__rate_interval]))`, Legend: "{{service}}: {{mechanism}}"}),
		newChart("Causes found by the newest diagnosis", "short", nil, target{Expr: `max by (service, cause) (unstall_verdict{host=~"$host",service=~"$service"}) > 0`, Legend: "{{service}}: {{cause}}"}),
		newChart("Alarms", "short", nil, target{Expr: `max by (service, rule) (unstall_alarm{host=~"$host"}) > 0`, Legend: "{{service}}: {{rule}}"}),
	}
	y := d.addRow(0, "Slow time", top)
	names, of := groupRules(rules)
	for _, name := range names {
		var charts []panel
		seen := make(map[string]bool)
		for _, r := range of[name] {
			if key := Taken(&r.Condition); !seen[key] && r.Period == nil {
				seen[key] = true
				charts = append(charts, newRuleChart(r))
			}
		}
		if len(charts) > 0 {
			y = d.addRow(y, groupTitle(name), charts)
		}
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(d)
}

// newRuleChart returns the chart of a rule's series, with the bound if it is a number.
func newRuleChart(r *rule.Rule) panel {
	s, _ := series.Of(r.Series)
	c := r.Condition
	expr := strings.Replace(Taken(&c), s.Metric.Full(), s.Metric.Full()+"$$", 1)
	filter := `host=~"$host"`
	if !s.Host {
		filter += `,service=~"$service"`
	}
	if strings.Contains(expr, "$${") {
		expr = strings.Replace(expr, "$${", "{"+filter+",", 1)
	} else {
		expr = strings.Replace(expr, "$$", "{"+filter+"}", 1)
	}
	var bound *float64
	if c.Above != nil && c.Usual == nil && c.Than == "" {
		bound = c.Above
	} else if c.Below != nil {
		bound = c.Below
	}
	unit := map[string]string{"%": "percent", "bytes": "bytes", "bytes/s": "Bps", "ms": "ms"}[s.Unit]
	if unit == "" {
		unit = "short"
	}
	legend := "{{service}} {{pid}}"
	if s.Host {
		legend = "{{host}}"
	}
	p := newChart(strings.ToUpper(s.About[:1])+s.About[1:], unit, bound, target{Expr: expr, Legend: legend})
	p.Description = fmt.Sprintf("%s: %s. Then look at %s.", r.ID, r.Title, r.Look)
	return p
}

type dashboard struct {
	UID           string    `json:"uid"`
	Title         string    `json:"title"`
	Tags          []string  `json:"tags"`
	Timezone      string    `json:"timezone"`
	Editable      bool      `json:"editable"`
	SchemaVersion int       `json:"schemaVersion"`
	Version       int       `json:"version"`
	Refresh       string    `json:"refresh"`
	Time          span      `json:"time"`
	Annotations   annotated `json:"annotations"`
	Links         []any     `json:"links"`
	Templating    struct {
		List []variable `json:"list"`
	} `json:"templating"`
	Panels []panel `json:"panels"`
}

type span struct {
	From string `json:"from"`
	To   string `json:"to"`
}

type annotated struct {
	List []any `json:"list"`
}

type source struct {
	Type string `json:"type"`
	UID  string `json:"uid"`
}

var prometheusSource = source{"prometheus", "${datasource}"}

type variable struct {
	Name     string  `json:"name"`
	Label    string  `json:"label,omitempty"`
	Type     string  `json:"type"`
	Query    string  `json:"query"`
	Source   *source `json:"datasource,omitempty"`
	Refresh  int     `json:"refresh"`
	Multi    bool    `json:"multi"`
	All      bool    `json:"includeAll"`
	AllValue string  `json:"allValue,omitempty"`
	Sort     int     `json:"sort,omitempty"`
}

func queryVariable(name, query string) variable {
	return variable{Name: name, Type: "query", Query: query, Source: &prometheusSource, Refresh: 2, Multi: true, All: true, AllValue: ".*", Sort: 1}
}

type place struct {
	H int `json:"h"`
	W int `json:"w"`
	X int `json:"x"`
	Y int `json:"y"`
}

type target struct {
	Source source `json:"datasource"`
	Expr   string `json:"expr"`
	Legend string `json:"legendFormat"`
	Ref    string `json:"refId"`
}

type panel struct {
	ID          int          `json:"id"`
	Type        string       `json:"type"`
	Title       string       `json:"title"`
	Description string       `json:"description,omitempty"`
	Source      *source      `json:"datasource,omitempty"`
	Place       place        `json:"gridPos"`
	Field       *fieldConfig `json:"fieldConfig,omitempty"`
	Options     any          `json:"options,omitempty"`
	Targets     []target     `json:"targets,omitempty"`
	Collapsed   *bool        `json:"collapsed,omitempty"`
	Panels      []panel      `json:"panels,omitempty"`
}

type fieldConfig struct {
	Defaults  defaults `json:"defaults"`
	Overrides []any    `json:"overrides"`
}

type defaults struct {
	Unit       string         `json:"unit"`
	Min        *float64       `json:"min,omitempty"`
	Thresholds thresholds     `json:"thresholds"`
	Custom     map[string]any `json:"custom"`
}

type thresholds struct {
	Mode  string `json:"mode"`
	Steps []step `json:"steps"`
}

type step struct {
	Color string   `json:"color"`
	Value *float64 `json:"value"`
}

func newChart(name, unit string, bound *float64, targets ...target) panel {
	zero := 0.
	t := thresholds{"absolute", []step{{"green", nil}}}
	style := "off"
	if bound != nil {
		t.Steps, style = append(t.Steps, step{"red", bound}), "line"
	}
	for i := range targets {
		targets[i].Source, targets[i].Ref = prometheusSource, string(rune('A'+i))
	}
	return panel{Type: "timeseries", Title: name, Source: &prometheusSource, Targets: targets,
		Field:   &fieldConfig{defaults{unit, &zero, t, map[string]any{"drawStyle": "line", "lineWidth": 1, "fillOpacity": 10, "thresholdsStyle": map[string]any{"mode": style}}}, []any{}},
		Options: map[string]any{"legend": map[string]any{"calcs": []string{}, "displayMode": "list", "placement": "bottom", "showLegend": true}, "tooltip": map[string]any{"mode": "multi", "sort": "desc"}}}
}

// addRow adds a row of charts below y, three beside each other, and returns where it ends.
func (d *dashboard) addRow(y int, name string, charts []panel) int {
	no := false
	d.Panels = append(d.Panels, panel{ID: len(d.Panels) + 1, Type: "row", Title: name, Place: place{1, 24, 0, y}, Collapsed: &no})
	y++
	for i, p := range charts {
		p.ID, p.Place = len(d.Panels)+1, place{8, 8, 8 * (i % 3), y + 8*(i/3)}
		d.Panels = append(d.Panels, p)
	}
	return y + 8*((len(charts)+2)/3)
}
