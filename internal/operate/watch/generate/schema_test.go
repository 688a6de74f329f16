package generate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/unstall/unstall/dev/tools/tooltest"
	"github.com/unstall/unstall/internal/operate/watch/rule"
)

// TestGrafanaSchema checks the dashboard against Grafana's own schema, and that the check finds violations.
func TestGrafanaSchema(t *testing.T) {
	t.Parallel()
	home := tooltest.Find(t, "grafana")
	rules, err := rule.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := Grafana(&text, rules); err != nil {
		t.Fatal(err)
	}
	check := func(text string) (faults string, ok bool) {
		t.Helper()
		path := filepath.Join(t.TempDir(), "dashboard.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		said, err := exec.Command("node", "../../../../dev/tools/grafana/check.mjs", home, path).CombinedOutput()
		return string(said), err == nil
	}
	if faults, ok := check(text.String()); !ok {
		t.Errorf("the dashboard is not as Grafana has it:\n%s", faults)
	}
	for name, change := range map[string][2]string{
		"a key that Grafana does not know": {`"schemaVersion"`, `"schema"`},
		"a value of another type":          {`"editable": true`, `"editable": "yes"`},
		"an unknown value of a list":       {`"displayMode": "list"`, `"displayMode": "heap"`},
	} {
		if faults, ok := check(strings.Replace(text.String(), change[0], change[1], 1)); ok || !strings.Contains(faults, "line ") {
			t.Errorf("%s is not found: %s", name, faults)
		}
	}
}

// TestGrafanaQueries has Prometheus' own promtool read the query of each panel, and checks that it finds a wrong one.
func TestGrafanaQueries(t *testing.T) {
	t.Parallel()
	path := tooltest.Find(t, "prometheus")
	promtool := filepath.Join(filepath.Dir(path), "root/usr/bin/promtool")
	if _, err := os.Stat(promtool); err != nil {
		if promtool, err = exec.LookPath("promtool"); err != nil {
			t.Skip("no promtool beside Prometheus")
		}
	}
	rules, err := rule.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := Grafana(&text, rules); err != nil {
		t.Fatal(err)
	}
	var d dashboard
	if err := json.Unmarshal(text.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	var group strings.Builder
	group.WriteString("groups:\n- name: panels\n  rules:\n")
	n := 0
	for _, p := range d.Panels {
		for _, x := range p.Targets {
			n++
			fmt.Fprintf(&group, "  - record: panel%d\n    expr: %q\n", n, strings.ReplaceAll(x.Expr, "$__rate_interval", "1m")) // Grafana replaces it
		}
	}
	if n < 30 {
		t.Errorf("%d queries, want one for each rule", n)
	}
	check := func(text string) (string, error) {
		t.Helper()
		file := filepath.Join(t.TempDir(), "panels.yml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		said, err := exec.Command(promtool, "check", "rules", file).CombinedOutput()
		return string(said), err
	}
	if said, err := check(group.String()); err != nil {
		t.Errorf("Prometheus does not understand the queries: %v\n%s", err, said)
	}
	if said, err := check(strings.Replace(group.String(), "rate(", "rat(", 1)); err == nil || !strings.Contains(said, "unknown function") {
		t.Errorf("a wrong query is not found: %s", said)
	}
}
