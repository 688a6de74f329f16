package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/diagnose"
)

// A report links to the same time in Grafana, in every form. Without an address of Grafana it has no link.
func TestGrafanaLink(t *testing.T) {
	sick := []string{"../../internal/diagnose/check/testdata/go.gc-rate/sick/trace.out.gz", "../../internal/diagnose/check/testdata/go.gc-rate/sick/access.log.gz"}
	const begins = "https://grafana.example/d/unstall/unstall?from="
	for name, want := range map[string]string{"r.json": begins, "r.txt": "GRAFANA", "r.md": "[The same time in Grafana](" + begins, "r.html": `<a href="https://grafana.example/d/unstall/unstall?from=`} {
		path := filepath.Join(t.TempDir(), name)
		out, code := said(t, append([]string{"diagnose", "--grafana", "https://grafana.example", "-o", path}, sick...)...)
		text, err := os.ReadFile(path)
		if err != nil || code != 0 || !strings.Contains(string(text), want) {
			t.Errorf("%s: exit %d, %v, no %q: %s", name, code, err, want, out)
		}
		if name != "r.json" {
			continue
		}
		var d diagnose.Diagnosis
		if err := json.Unmarshal(text, &d); err != nil || !strings.Contains(d.Dashboard, "&to=") {
			t.Errorf("%v: %q", err, d.Dashboard)
		}
	}
	if out, code := said(t, append([]string{"diagnose", "--format", "json"}, sick...)...); code != 0 || strings.Contains(out, "dashboard\"") {
		t.Errorf("exit %d, and a link nobody asked for", code)
	}
	if out, code := said(t, append([]string{"diagnose", "--grafana", "grafana.example"}, sick...)...); code != 2 || !strings.Contains(out, "give the address of a Grafana") {
		t.Errorf("exit %d: %s", code, out)
	}
}

// The output says which program shows a written profile.
func TestExportSaysViewer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cpu.pb.gz")
	out, code := said(t, "export", "../../internal/diagnose/check/testdata/go.gc-rate/sick/cpu.pb.gz", "--to", "pprof", "-o", path)
	if code != 0 || !strings.Contains(out, "go tool pprof -http=localhost: "+path) {
		t.Errorf("exit %d: %s", code, out)
	}
}
