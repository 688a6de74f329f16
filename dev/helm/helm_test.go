// Package helm renders the chart of deploy/helm with Helm's own code, and checks it with Helm's linter.
package helm

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
)

const folder = "../../deploy/helm/unstall"

// tree is a part of a YAML document.
type tree = map[string]any

// TestPlain checks that the chart without settings is the DaemonSet of deploy/kubernetes: the same pod, but for the labels and the
// policy for pulling the image.
func TestPlain(t *testing.T) {
	text, err := os.ReadFile("../../deploy/kubernetes/daemonset.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var plain tree
	for document := range bytes.SplitSeq(text, []byte("\n---\n")) {
		plain = parseYAML(t, document) // the DaemonSet is the last
	}
	chart := render(t, nil)
	if chart["kind"] != "DaemonSet" || chart["apiVersion"] != plain["apiVersion"] {
		t.Errorf("the chart has %v of %v", chart["kind"], chart["apiVersion"])
	}
	if m := at(chart, "metadata"); m["name"] != "watcher" || m["namespace"] != "prod" {
		t.Errorf("the release watcher in prod is %v in %v", m["name"], m["namespace"])
	}
	want, got := at(plain, "spec", "template", "spec"), at(chart, "spec", "template", "spec")
	delete(container(t, got), "imagePullPolicy")
	if !bytes.Equal(formatYAML(t, want), formatYAML(t, got)) {
		t.Errorf("the pods differ; of the chart:\n%s\nof deploy/kubernetes:\n%s", formatYAML(t, got), formatYAML(t, want))
	}
	if want, got := at(plain, "spec", "template", "metadata", "annotations"), at(chart, "spec", "template", "metadata", "annotations"); !bytes.Equal(formatYAML(t, want), formatYAML(t, got)) {
		t.Errorf("annotations %v, want %v", got, want)
	}
	selector, labels := at(chart, "spec", "selector", "matchLabels"), at(chart, "spec", "template", "metadata", "labels")
	for name, value := range selector {
		if labels[name] != value {
			t.Errorf("the selector asks for %s: %v, the pods have %v", name, value, labels[name])
		}
	}
}

// TestSettings checks where the settings of values.yaml end up.
func TestSettings(t *testing.T) {
	chart := render(t, tree{
		"webhookSecret": "hooks", "args": []any{"--slo", "300ms"}, "nodeSelector": tree{"pool": "web"}, "tolerations": []any{},
		"metrics": tree{"port": 9999}, "image": tree{"tag": "v1"}, "stateDir": "/data/unstall", "resources": tree{"limits": tree{"memory": "2Gi"}},
	})
	pod := at(chart, "spec", "template", "spec")
	c := container(t, pod)
	if _, is := pod["tolerations"]; is {
		t.Errorf("tolerations are %v, want none", pod["tolerations"])
	}
	if args := c["args"].([]any); !slices.Equal(args[len(args)-3:], []any{":9999", "--slo", "300ms"}) {
		t.Errorf("arguments %v", args)
	}
	for what, x := range map[string]struct{ got, want any }{
		"selector":   {pod["nodeSelector"], tree{"pool": "web"}},
		"image":      {c["image"], "registry.example/unstall:v1"},
		"port":       {c["ports"].([]any)[0].(tree)["containerPort"], 9999},
		"annotation": {at(chart, "spec", "template", "metadata", "annotations")["prometheus.io/port"], "9999"},
		"limit":      {at(c, "resources", "limits")["memory"], "2Gi"},
		"request":    {at(c, "resources", "requests")["memory"], "64Mi"}, // a setting leaves those beside it
		"folder":     {at(pod["volumes"].([]any)[0].(tree), "hostPath")["path"], "/data/unstall"},
		"webhook":    {c["env"].([]any)[1], tree{"name": "UNSTALL_WEBHOOK", "valueFrom": tree{"secretKeyRef": tree{"name": "hooks", "key": "url"}}}},
	} {
		if !bytes.Equal(formatYAML(t, x.got), formatYAML(t, x.want)) {
			t.Errorf("%s: %v, want %v", what, x.got, x.want)
		}
	}
}

// TestLint checks that Helm's linter has nothing against the chart, and that it finds a fault.
func TestLint(t *testing.T) {
	for _, m := range lint.All(folder, tree{}, "prod", true).Messages {
		if m.Severity > support.InfoSev {
			t.Errorf("%v", m)
		}
	}
	broken := t.TempDir()
	if err := os.CopyFS(broken, os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	template := filepath.Join(broken, "templates", "daemonset.yaml")
	text, err := os.ReadFile(template)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(template, []byte(strings.Replace(string(text), "nindent 8", "nindent 3", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := lint.All(broken, tree{}, "prod", true).HighestSeverity; got < support.ErrorSev {
		t.Errorf("a template with a wrong indent has severity %d", got)
	}
}

// render returns the only document of the chart, as Helm installs it with settings.
func render(t *testing.T, settings tree) tree {
	t.Helper()
	chart, err := loader.Load(folder)
	if err != nil {
		t.Fatal(err)
	}
	for name := range settings {
		if _, known := chart.Values[name]; !known {
			t.Errorf("values.yaml does not say that %s can be set", name)
		}
	}
	values, err := chartutil.ToRenderValues(chart, settings, chartutil.ReleaseOptions{Name: "watcher", Namespace: "prod", Revision: 1, IsInstall: true}, chartutil.DefaultCapabilities)
	if err != nil {
		t.Fatal(err)
	}
	files, err := engine.Engine{Strict: true}.Render(chart, values)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 1 {
		t.Fatalf("the chart has %d files, want one", len(files))
	}
	return parseYAML(t, []byte(files["unstall/templates/daemonset.yaml"]))
}

// at returns the part of a document under these names, nil if there is none.
func at(document tree, names ...string) tree {
	for _, name := range names {
		document, _ = document[name].(tree)
	}
	return document
}

// container returns the only container of a pod.
func container(t *testing.T, pod tree) tree {
	t.Helper()
	all, _ := pod["containers"].([]any)
	if len(all) != 1 {
		t.Fatalf("%d containers, want one", len(all))
	}
	return all[0].(tree)
}

func parseYAML(t *testing.T, text []byte) (out tree) {
	t.Helper()
	if err := yaml.Unmarshal(text, &out); err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	return out
}

func formatYAML(t *testing.T, v any) []byte {
	t.Helper()
	text, err := yaml.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
