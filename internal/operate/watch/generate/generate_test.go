package generate

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/unstall/unstall/internal/base/goldentest"
	"github.com/unstall/unstall/internal/operate/watch/rule"
	"github.com/unstall/unstall/internal/operate/watch/series"
)

// TestFiles checks that the files in deploy are made from the shipped rules.
func TestFiles(t *testing.T) {
	rules, err := rule.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range Forms {
		var now bytes.Buffer
		if err := f.Write(&now, rules); err != nil {
			t.Fatal(err)
		}
		name := filepath.Join("../../../../deploy", f.File)
		if *goldentest.Update {
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, now.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		old, _ := os.ReadFile(name)
		if diff := cmp.Diff(string(old), now.String()); diff != "" {
			t.Errorf("%s is not what the rules say: %s\n%s", name, goldentest.Command(), diff)
		}
	}
}

// TestNamed checks that each form has every rule, and asks only for metrics that are exported.
func TestNamed(t *testing.T) {
	rules, err := rule.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	metric := regexp.MustCompile(`\b(?:unstall|process|node|jvm|dotnet|go|redis|kestrel|http)_[a-z0-9_A-Z]+`)
	told := map[string]bool{"unstall_alarm": true}
	for _, s := range series.All {
		told[s.Metric.Full()] = true
	}
	for i := range rules {
		expr := Expr(&rules[i])
		for _, m := range metric.FindAllString(expr, -1) {
			if !told[m] && !strings.Contains(expr, m+"=") { // a label
				t.Errorf("%s asks for %s, which nobody tells", rules[i].ID, m)
			}
		}
	}
	var text bytes.Buffer
	if err := Grafana(&text, rules); err != nil {
		t.Fatal(err)
	}
	var d dashboard
	if err := json.Unmarshal(text.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	ids := make(map[int]bool)
	for _, p := range d.Panels {
		if ids[p.ID] || p.Place.W == 0 || p.Place.X+p.Place.W > 24 || p.Type == "timeseries" && (len(p.Targets) != 1 || p.Targets[0].Expr == "") {
			t.Errorf("panel %+v", p)
		}
		ids[p.ID] = true
		for _, x := range p.Targets {
			if strings.Contains(x.Expr, "$$") || strings.Count(x.Expr, "{") != strings.Count(x.Expr, "}") || !strings.Contains(x.Expr, `host=~"$host"`) {
				t.Errorf("%s asks %s", p.Title, x.Expr)
			}
		}
	}
	text.Reset()
	if err := Zabbix(&text, rules); err != nil {
		t.Fatal(err)
	}
	var z any
	if err := yaml.Unmarshal(text.Bytes(), &z); err != nil {
		t.Fatal(err)
	}
	for i := range rules {
		if r := &rules[i]; r.Period == nil && !strings.Contains(strings.ReplaceAll(text.String(), "''", "'"), "{#SERVICE}: "+r.Title) {
			t.Errorf("%s is no trigger", r.ID)
		}
	}
	seen := make(map[string]bool)
	for _, m := range regexp.MustCompile(`uuid: ([0-9a-f]*)`).FindAllStringSubmatch(text.String(), -1) {
		if seen[m[1]] || !regexp.MustCompile(`^[0-9a-f]{12}4[0-9a-f]{3}[89ab][0-9a-f]{15}$`).MatchString(m[1]) {
			t.Errorf("uuid %s", m[1])
		}
		seen[m[1]] = true
	}
}
