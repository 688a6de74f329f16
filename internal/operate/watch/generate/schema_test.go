package generate

import (
	"bytes"
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
